"""Login by login id and password: success, errors and rate limits."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher, make_password

from accounts.models import AuthSession, Member, RateLimit
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_problem

PATH = "/api/auth/login"
WRONG = "wrong-battery-8"


class CountingHasher(MD5PasswordHasher):
    """Counts computed hashes."""

    algorithm = "md5"
    computed = 0

    def encode(self, password: str, salt: str) -> str:
        type(self).computed += 1
        return super().encode(password, salt)


@pytest.fixture
def counting_hasher(settings: Any) -> type[CountingHasher]:
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    return CountingHasher


def log_in(login_id: str, password: str = PASSWORD, **extra: str) -> Any:
    body = {"loginId": login_id, "password": password}
    return JSONClient().send("POST", PATH, body, **extra)


def fail(login_id: str, times: int = 10, **extra: str) -> list[int]:
    """Send wrong passwords; return the statuses of the responses."""
    return [log_in(login_id, WRONG, **extra).status_code for _ in range(times)]


def make_idp_member() -> Member:
    return make_member(provider="IDP", idp_id="subject-1", password=None)


def test_login_answers_token_expiry_and_member() -> None:
    member = make_member(login_id="Minji.Kim")
    response = log_in("mINJI.kIM")
    assert response.status_code == 200
    assert set(response.data) == {"token", "expiresAt", "member"}
    assert response.data["member"]["id"] == member.pk
    assert "password" not in response.data["member"]
    cookie = response.cookies["sessionid"]
    assert cookie.value == response.data["token"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_session_remembers_where_it_was_started() -> None:
    member = make_member()
    agent = "Browser/1.0 " + "x" * 300
    log_in(member.login_id, REMOTE_ADDR="192.0.2.7", HTTP_USER_AGENT=agent)
    row = AuthSession.objects.get()
    assert (row.member, row.ip_address) == (member, "192.0.2.7")
    assert row.user_agent == agent[:200]


@pytest.mark.parametrize("cause", ["unknown", "wrong", "idp", "suspended"])
def test_every_wrong_pair_gets_the_same_answer_after_the_same_work(
    counting_hasher: type[CountingHasher], cause: str
) -> None:
    members = {
        "unknown": Member(login_id="nobody"),
        "wrong": make_member(),
        "idp": make_idp_member(),
        "suspended": make_member(status="SUSPENDED"),
    }
    counting_hasher.computed = 0
    response = log_in(members[cause].login_id, WRONG)
    assert counting_hasher.computed == 1
    assert response.status_code == 401
    assert "sessionid" not in response.cookies
    assert response.data == {
        "type": "about:blank",
        "title": "Unauthorized",
        "status": 401,
        "detail": "The login id or password is incorrect.",
        "code": "INVALID_CREDENTIALS",
    }


def test_right_pair_takes_the_same_work(counting_hasher: type[CountingHasher]) -> None:
    member = make_member()
    counting_hasher.computed = 0
    assert log_in(member.login_id).status_code == 200
    assert counting_hasher.computed == 1


def test_suspension_is_revealed_only_after_the_right_password() -> None:
    member = make_member(status="SUSPENDED")
    assert_problem(log_in(member.login_id), 403, "MEMBER_SUSPENDED")
    assert not AuthSession.objects.exists()


def test_identity_provider_account_has_no_password_to_guess() -> None:
    member = make_idp_member()
    passwords = ("", "!", member.password, PASSWORD)
    statuses = [log_in(member.login_id, each).status_code for each in passwords]
    assert statuses == [400, 401, 401, 401]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"loginId": "abc"},
        {"password": PASSWORD},
        {"loginId": None, "password": PASSWORD},
        {"loginId": ["abc"], "password": PASSWORD},
        {"loginId": "abc", "password": 123},
        {"loginId": "a\x00bc", "password": PASSWORD},
        {"loginId": "x" * 201, "password": PASSWORD},
        {"loginId": "abc", "password": "x" * 129},
    ],
)
def test_malformed_login_is_a_validation_error(body: dict[str, Any]) -> None:
    assert_problem(JSONClient().send("POST", PATH, body), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("login_id", ["minji", "nobody"])
def test_tenth_failure_is_answered_and_the_eleventh_attempt_is_refused(
    counting_hasher: type[CountingHasher], login_id: str
) -> None:
    make_member(login_id="minji")
    assert fail(login_id) == [401] * 10
    counting_hasher.computed = 0
    response = log_in(login_id)
    assert_problem(response, 429, "RATE_LIMITED")
    assert 0 < int(response.headers["Retry-After"]) <= 900
    assert counting_hasher.computed == 0


@pytest.mark.parametrize(
    "variant", ["SITEADMIN", "ſiteadmin", "ｓiteadmin", "ＳＩＴＥＡＤＭＩＮ"]
)
def test_case_and_look_alikes_make_no_new_login_to_guess(variant: str) -> None:
    make_member(login_id="siteadmin")
    assert fail("Siteadmin") == [401] * 10
    assert log_in(variant).status_code == 429


@pytest.mark.parametrize("variant", ["ſiteadmin", "siteadmın", "ｓiteadmin"])
def test_look_alike_is_no_login_id(variant: str) -> None:
    make_member(login_id="siteadmin")
    assert_problem(log_in(variant), 401, "INVALID_CREDENTIALS")


def test_failures_lock_out_neither_other_addresses_nor_other_logins() -> None:
    victim, neighbour = make_member(), make_member()
    assert fail(victim.login_id, 11)[-1] == 429
    elsewhere = log_in(victim.login_id, REMOTE_ADDR="192.0.2.1")
    assert elsewhere.status_code == 200
    assert log_in(neighbour.login_id).status_code == 200


def test_right_logins_do_not_count() -> None:
    member = make_member()
    for _ in range(12):
        assert log_in(member.login_id).status_code == 200
    assert fail(member.login_id) == [401] * 10


def test_right_login_does_not_wipe_out_failures() -> None:
    # Otherwise the owner of one account could guess the password of another.
    member = make_member()
    fail(member.login_id, 9)
    assert log_in(member.login_id).status_code == 200
    assert fail(member.login_id, 2) == [401, 429]


def test_fifty_failures_of_one_address_are_enough() -> None:
    member = make_member()
    for number in range(50):
        assert fail(f"guess{number}", 1) == [401]
    assert log_in(member.login_id).status_code == 429
    assert log_in(member.login_id, REMOTE_ADDR="192.0.2.2").status_code == 200


def test_failures_are_forgotten_after_a_quarter_of_an_hour() -> None:
    member = make_member()
    fail(member.login_id)
    for limit in RateLimit.objects.all():
        limit.attempts = [at - timedelta(minutes=15) for at in limit.attempts]
        limit.save()
    assert log_in(member.login_id).status_code == 200


def test_older_hash_is_renewed_at_login(settings: Any) -> None:
    hashers = "django.contrib.auth.hashers"
    settings.PASSWORD_HASHERS = [
        f"{hashers}.MD5PasswordHasher",
        f"{hashers}.PBKDF2PasswordHasher",
    ]
    member = make_member()
    member.password = make_password(PASSWORD, hasher="pbkdf2_sha256")
    member.save()
    assert log_in(member.login_id).status_code == 200
    member.refresh_from_db()
    assert member.password.startswith("md5$")
    assert log_in(member.login_id).status_code == 200


def test_earlier_sessions_of_the_member_stay() -> None:
    member = make_member()
    phone = JSONClient(member)
    assert log_in(member.login_id).status_code == 200
    assert phone.get_json("/api/auth/session")["id"] == member.pk
