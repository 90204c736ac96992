"""Login by login id and password: success, errors and rate limits."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher, make_password

from accounts.models import AuthSession, Member, RateLimit
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member

PATH = "/api/auth/login"
WRONG = "wrong-battery-8"


class CountingHasher(MD5PasswordHasher):
    """Counts how often a hash is computed; otherwise the test run's own."""

    algorithm = "md5"
    computed = 0

    def encode(self, password: str, salt: str) -> str:
        type(self).computed += 1
        return super().encode(password, salt)


@pytest.fixture
def counting_hasher(settings: Any) -> type[CountingHasher]:
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher"]
    return CountingHasher


def log_in(
    client: JSONClient, login_id: str, password: str = PASSWORD, **extra: str
) -> Any:
    body = {"loginId": login_id, "password": password}
    return client.send("POST", PATH, body, **extra)


def make_idp_member(**fields: Any) -> Member:
    member = make_member(provider="IDP", idp_id="subject-1", **fields)
    member.set_unusable_password()
    member.save()
    return member


def test_login_answers_token_expiry_and_member(anonymous: JSONClient) -> None:
    member = make_member()
    response = log_in(anonymous, member.login_id)
    assert response.status_code == 200
    assert set(response.data) == {"token", "expiresAt", "member"}
    assert response.data["member"]["id"] == member.pk
    assert "password" not in response.data["member"]
    cookie = response.cookies["sessionid"]
    assert cookie.value == response.data["token"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_login_id_is_found_in_any_letter_case(anonymous: JSONClient) -> None:
    make_member(login_id="Minji.Kim")
    assert log_in(anonymous, "mINJI.kIM").status_code == 200


def test_session_remembers_where_it_was_started(anonymous: JSONClient) -> None:
    member = make_member()
    log_in(
        anonymous,
        member.login_id,
        REMOTE_ADDR="192.0.2.7",
        HTTP_USER_AGENT="Browser/1.0 " + "x" * 300,
    )
    row = AuthSession.objects.get()
    assert (row.member, row.ip_address) == (member, "192.0.2.7")
    assert row.user_agent.startswith("Browser/1.0 ")
    assert len(row.user_agent) == 200


@pytest.mark.parametrize("cause", ["unknown", "wrong", "idp", "suspended"])
def test_every_wrong_pair_gets_the_same_answer_after_the_same_work(
    anonymous: JSONClient, counting_hasher: type[CountingHasher], cause: str
) -> None:
    login_ids: dict[str, Callable[[], str]] = {
        "unknown": lambda: "nobody",
        "wrong": lambda: make_member().login_id,
        "idp": lambda: make_idp_member().login_id,
        "suspended": lambda: make_member(status="SUSPENDED").login_id,
    }
    login_id = login_ids[cause]()
    counting_hasher.computed = 0
    response = log_in(anonymous, login_id, WRONG)
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


def test_right_pair_takes_the_same_work(
    anonymous: JSONClient, counting_hasher: type[CountingHasher]
) -> None:
    member = make_member()
    counting_hasher.computed = 0
    assert log_in(anonymous, member.login_id).status_code == 200
    assert counting_hasher.computed == 1


def test_suspension_is_revealed_only_after_the_right_password(
    anonymous: JSONClient,
) -> None:
    member = make_member(status="SUSPENDED")
    response = log_in(anonymous, member.login_id)
    assert response.status_code == 403
    assert response.data["code"] == "MEMBER_SUSPENDED"
    assert not AuthSession.objects.exists()


def test_identity_provider_account_has_no_password_to_guess(
    anonymous: JSONClient,
) -> None:
    member = make_idp_member()
    for password in ("", "!", member.password, PASSWORD):
        assert log_in(anonymous, member.login_id, password).status_code in {400, 401}


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
def test_malformed_login_is_a_validation_error(
    anonymous: JSONClient, body: dict[str, Any]
) -> None:
    response = anonymous.send("POST", PATH, body)
    assert response.status_code == 400
    assert response.data["code"] == "VALIDATION_ERROR"


def test_tenth_failure_is_answered_and_the_eleventh_attempt_is_refused(
    anonymous: JSONClient,
) -> None:
    member = make_member()
    for _ in range(10):
        assert log_in(anonymous, member.login_id, WRONG).status_code == 401
    response = log_in(anonymous, member.login_id, WRONG)
    assert response.status_code == 429
    assert response.data["code"] == "RATE_LIMITED"
    assert 0 < int(response.headers["Retry-After"]) <= 900


def test_throttled_login_is_refused_before_its_password_is_hashed(
    anonymous: JSONClient, counting_hasher: type[CountingHasher]
) -> None:
    member = make_member()
    for _ in range(10):
        log_in(anonymous, member.login_id, WRONG)
    counting_hasher.computed = 0
    assert log_in(anonymous, member.login_id).status_code == 429
    assert counting_hasher.computed == 0


def test_login_ids_that_do_not_exist_are_throttled_alike(
    anonymous: JSONClient,
) -> None:
    for _ in range(10):
        assert log_in(anonymous, "nobody", WRONG).status_code == 401
    assert log_in(anonymous, "nobody", WRONG).status_code == 429


def test_letter_case_makes_no_new_login_to_guess(anonymous: JSONClient) -> None:
    make_member(login_id="minji")
    for login_id in ("minji", "MINJI", "Minji", "mInji", "miNji") * 2:
        assert log_in(anonymous, login_id, WRONG).status_code == 401
    assert log_in(anonymous, "minjI", WRONG).status_code == 429


@pytest.mark.parametrize("variant", ["ſiteadmin", "ｓiteadmin", "ＳＩＴＥＡＤＭＩＮ"])
def test_look_alike_characters_make_no_new_login_to_guess(
    anonymous: JSONClient, variant: str
) -> None:
    make_member(login_id="siteadmin")
    for _ in range(10):
        assert log_in(anonymous, "siteadmin", WRONG).status_code == 401
    assert log_in(anonymous, variant).status_code == 429


@pytest.mark.parametrize("variant", ["ſiteadmin", "siteadmın", "ｓiteadmin"])
def test_look_alike_is_no_login_id(anonymous: JSONClient, variant: str) -> None:
    make_member(login_id="siteadmin")
    response = log_in(anonymous, variant)
    assert (response.status_code, response.data["code"]) == (401, "INVALID_CREDENTIALS")


def test_other_addresses_cannot_lock_out_a_member(anonymous: JSONClient) -> None:
    member = make_member()
    for _ in range(11):
        log_in(anonymous, member.login_id, WRONG, REMOTE_ADDR="192.0.2.66")
    assert (
        log_in(anonymous, member.login_id, REMOTE_ADDR="192.0.2.1").status_code == 200
    )


def test_other_logins_of_the_address_still_get_in(anonymous: JSONClient) -> None:
    victim, neighbour = make_member(), make_member()
    for _ in range(11):
        log_in(anonymous, victim.login_id, WRONG)
    assert log_in(anonymous, neighbour.login_id).status_code == 200


def test_right_logins_do_not_count(anonymous: JSONClient) -> None:
    member = make_member()
    for _ in range(12):
        assert log_in(anonymous, member.login_id).status_code == 200
    for _ in range(10):
        assert log_in(anonymous, member.login_id, WRONG).status_code == 401


def test_right_login_does_not_wipe_out_failures(anonymous: JSONClient) -> None:
    # Otherwise the owner of one account could guess the password of another.
    member = make_member()
    for _ in range(9):
        log_in(anonymous, member.login_id, WRONG)
    assert log_in(anonymous, member.login_id).status_code == 200
    assert log_in(anonymous, member.login_id, WRONG).status_code == 401
    assert log_in(anonymous, member.login_id, WRONG).status_code == 429


def test_hundred_failures_of_one_address_are_enough(anonymous: JSONClient) -> None:
    member = make_member()
    for number in range(100):
        assert log_in(anonymous, f"guess{number}", WRONG).status_code == 401
    assert log_in(anonymous, member.login_id).status_code == 429
    elsewhere = log_in(anonymous, member.login_id, REMOTE_ADDR="192.0.2.2")
    assert elsewhere.status_code == 200


def test_failures_are_forgotten_after_a_quarter_of_an_hour(
    anonymous: JSONClient,
) -> None:
    member = make_member()
    for _ in range(10):
        log_in(anonymous, member.login_id, WRONG)
    for limit in RateLimit.objects.all():
        limit.attempts = [at - timedelta(minutes=15) for at in limit.attempts]
        limit.save()
    assert log_in(anonymous, member.login_id).status_code == 200


def test_older_hash_is_renewed_at_login(anonymous: JSONClient, settings: Any) -> None:
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.MD5PasswordHasher",
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    ]
    member = make_member()
    member.password = make_password(PASSWORD, hasher="pbkdf2_sha256")
    member.save()
    assert log_in(anonymous, member.login_id).status_code == 200
    member.refresh_from_db()
    assert member.password.startswith("md5$")
    assert log_in(anonymous, member.login_id).status_code == 200


def test_earlier_sessions_of_the_member_stay(anonymous: JSONClient) -> None:
    member = make_member()
    phone = JSONClient(member)
    assert log_in(anonymous, member.login_id).status_code == 200
    assert phone.get_json("/api/auth/session")["id"] == member.pk
