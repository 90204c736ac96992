"""Sign-up: input, response and rate limit."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member, RateLimit
from accounts.signup.setting import set_signup_enabled
from tests.support.accounts import signup_body
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/auth/signup"
ENABLED = "/api/auth/signup-enabled"
# The member that the default body makes, without the keys of the second table.
MADE = {
    "loginId": "minji.kim",
    "displayName": "Kim Minji",
    "email": "minji@example.com",
    "emailVerified": False,
    "provider": "LOCAL",
    "role": "MEMBER",
    "status": "ACTIVE",
    "plan": "FREE",
    "planExpiresAt": None,
    "planProduct": None,
    "planAutoRenew": False,
    "points": 0,
    "idpPicture": None,
    "profileImage": None,
}
OTHER_KEYS = {
    *("id", "pendingEmail", "locale", "createdAt", "suspendedUntil"),
    *("suspensionReason", "silencedUntil", "silenceReason"),
}


def sign_up(address: str = "", forwarded: str | None = None, **fields: Any) -> Any:
    extra = {"REMOTE_ADDR": address} if address else {}
    if forwarded is not None:
        extra["HTTP_X_FORWARDED_FOR"] = forwarded
    return JSONClient().send("POST", PATH, signup_body(**fields), **extra)


def use_up(address: str = "") -> None:
    """Make five attempts that are refused, from one address."""
    for _ in range(5):
        assert sign_up(address, website="spam").status_code == 400


def test_sign_up_makes_a_free_active_local_member_and_logs_in() -> None:
    response = sign_up()
    assert response.status_code == 201
    assert set(response.data) == {"token", "expiresAt", "member"}
    assert MADE.items() <= response.data["member"].items()
    assert set(response.data["member"]) == set(MADE) | OTHER_KEYS
    lifetime = datetime.fromisoformat(response.data["expiresAt"]) - timezone.now()
    assert timedelta(days=13, hours=23) < lifetime <= timedelta(days=14)
    visitor = JSONClient()
    visitor.use_token(response.data["token"])
    assert visitor.get_json("/api/auth/session")["loginId"] == "minji.kim"


@pytest.mark.parametrize("is_secure", [False, True])
def test_cookie_is_secure_on_https_and_hidden_from_scripts(
    settings: Any, is_secure: bool
) -> None:
    settings.SESSION_COOKIE_SECURE = is_secure
    response = sign_up()
    cookie = response.cookies["sessionid"]
    assert cookie.value == response.data["token"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert (cookie["path"], bool(cookie["secure"])) == ("/", is_secure)
    assert cookie["expires"]


@pytest.mark.parametrize("login_id", ["abc", "A.b_c-9", "z" * 50, "123"])
def test_login_id_of_letters_digits_and_signs_is_taken(login_id: str) -> None:
    assert sign_up(loginId=login_id).data["member"]["loginId"] == login_id


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("loginId", ["", "ab", "z" * 51, "a b c", "a@b.c", "x !abc", "민지김"]),
        ("loginId", ["ａｂｃ", "abc\n!", "a\x00bc", "1٣٤"]),
        ("loginId", [None, 12345, True, ["abc"], {"a": 1}]),
        ("displayName", ["", "   ", "n" * 101, "line\x07bell", 7]),
        ("email", ["no-address", "a@" + "b" * 260 + ".example", None]),
        ("email", ["two@example.com,three@example.com"]),
        ("password", [123456789, "p\x00ssword-not-this"]),
        # Short, common, numeric, like the email, like the login id.
        ("password", ["short-1", "password123", "8306417259461"]),
        ("password", ["minji@example.com", "minji.kim1"]),
    ],
)
def test_malformed_field_is_named(name: str, values: list[Any]) -> None:
    for number, value in enumerate(values):
        response = sign_up(f"192.0.2.{number}", **{name: value})
        errors = {error["field"] for error in response.data["errors"]}
        assert (response.status_code, errors) == (400, {name}), value
    assert not Member.objects.exists()


@pytest.mark.parametrize("name", ["loginId", "password", "displayName", "email"])
def test_every_field_but_the_trap_is_required(name: str) -> None:
    body = signup_body()
    del body[name]
    assert_invalid(JSONClient().send("POST", PATH, body), name)


@pytest.mark.parametrize("login_id", ["minji.kim", "MINJI.KIM", "Minji.Kim"])
def test_login_id_is_unique_without_regard_to_case(login_id: str) -> None:
    make_member(login_id="Minji.kim")
    response = sign_up(loginId=login_id)
    assert_problem(response, 409, "DUPLICATE")
    assert "sessionid" not in response.cookies


def test_email_may_be_used_twice() -> None:
    make_member(email="minji@example.com")
    assert sign_up().status_code == 201


# Blanks at the ends of a password belong to it, and so does any script.
@pytest.mark.parametrize("password", [PASSWORD, "  열려라 참깨 七 "])
def test_password_is_taken_as_it_is_and_stored_hashed(password: str) -> None:
    assert sign_up(password=password).status_code == 201
    member = Member.objects.get()
    assert password not in member.password
    assert member.check_password(password)


@pytest.mark.parametrize("website", ["https://spam.example", " x", 1, ["x"]])
def test_filled_honeypot_refuses(website: Any) -> None:
    assert_problem(sign_up(website=website), 400, "SIGNUP_REFUSED")
    assert not Member.objects.exists()


@pytest.mark.parametrize("website", ["", None])
def test_empty_honeypot_passes(website: str | None) -> None:
    assert sign_up(website=website).status_code == 201


def test_sign_up_is_open_until_an_administrator_closes_it() -> None:
    assert JSONClient().get_json("/auth/signup-enabled") == {"enabled": True}
    set_signup_enabled(enabled=False)
    assert JSONClient().get_json(ENABLED) == {"enabled": False}
    assert_problem(sign_up(), 403, "SIGNUP_DISABLED")
    set_signup_enabled(enabled=True)
    assert JSONClient().get_json(ENABLED) == {"enabled": True}
    assert sign_up().status_code == 201


def test_fields_that_are_not_for_members_to_choose_are_refused() -> None:
    chosen: dict[str, Any] = {
        "role": "ADMIN",
        "plan": "PREMIUM",
        "points": 999,
        "provider": "IDP",
    }
    chosen |= {"idpId": "subject", "planExpiresAt": "2099-01-01T00:00:00Z", "id": 1}
    assert_invalid(sign_up(**chosen), *chosen)
    assert not Member.objects.exists()


def test_five_sign_ups_an_hour_pass_and_the_sixth_is_refused() -> None:
    for number in range(5):
        assert sign_up(loginId=f"minji{number}").status_code == 201
    response = sign_up(loginId="minji6")
    assert_problem(response, 429, "RATE_LIMITED")
    assert 3500 < int(response.headers["Retry-After"]) <= 3600
    assert Member.objects.count() == 5


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"website": "spam"}, 400),
        ({"loginId": "!"}, 400),
        ({"password": "1"}, 400),
        ({"loginId": "taken"}, 409),
        ({"loginId": "closed"}, 403),
    ],
)
def test_refused_attempts_count(fields: Any, status: int) -> None:
    make_member(login_id="taken")
    set_signup_enabled(enabled=status != 403)
    assert [sign_up(**fields).status_code for _ in range(5)] == [status] * 5
    set_signup_enabled(enabled=True)
    assert sign_up().status_code == 429


def test_attempts_over_the_limit_do_not_prolong_it() -> None:
    use_up()
    first = int(sign_up().headers["Retry-After"])
    limit = RateLimit.objects.get()
    limit.attempts = [at - timedelta(minutes=30) for at in limit.attempts]
    limit.save()
    later = int(sign_up().headers["Retry-After"])
    assert first - 1810 <= later <= first - 1790


def test_oldest_attempt_makes_room_after_an_hour() -> None:
    use_up()
    limit = RateLimit.objects.get()
    limit.attempts[0] -= timedelta(hours=1)
    limit.save()
    assert sign_up().status_code == 201
    assert sign_up(loginId="second").status_code == 429


@pytest.mark.parametrize("header", ["203.0.113.9", "203.0.113.9, 198.51.100.1"])
def test_forged_header_does_not_help_without_a_proxy(
    settings: Any, header: str
) -> None:
    settings.TRUSTED_PROXY_COUNT = 0
    use_up()
    assert sign_up(forwarded=header).status_code == 429


def test_forged_header_does_not_help_behind_one_proxy(settings: Any) -> None:
    # The proxy appends the true address; the client can forge those before it.
    settings.TRUSTED_PROXY_COUNT = 1
    for number in range(5):
        forged = f"10.0.0.{number}, 198.51.100.7"
        assert sign_up(forwarded=forged, website="spam").status_code == 400
    assert sign_up(forwarded="10.9.9.9, 198.51.100.7").status_code == 429
    assert sign_up(forwarded="198.51.100.7, 198.51.100.8").status_code == 201


@pytest.mark.parametrize("header", ["", "nonsense", "1.2.3", "203.0.113.1, x;y"])
def test_header_that_is_no_address_counts_as_the_proxy(
    settings: Any, header: str
) -> None:
    settings.TRUSTED_PROXY_COUNT = 1
    use_up("192.0.2.1")
    assert sign_up("192.0.2.1", forwarded=header).status_code == 429


@pytest.mark.parametrize(
    ("used", "same", "other"),
    [
        ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
        # One IPv6 network is one address.
        ("2001:db8:1:2:3::4", "2001:db8:1:2:ffff::1", "2001:db8:1:3::1"),
        ("::ffff:192.0.2.1", "192.0.2.1", "::ffff:192.0.2.2"),
    ],
)
def test_limit_is_per_address(used: str, same: str, other: str) -> None:
    use_up(used)
    assert sign_up(same).status_code == 429
    assert sign_up(other).status_code == 201


@pytest.mark.parametrize(
    ("login_id", "code", "text"),
    [
        ("min ji", "invalid", "Only letters, digits and ._- are allowed."),
        ("민지민지", "invalid", "Only letters, digits and ._- are allowed."),
        ("ab", "min_length", "Must be at least 3 characters."),
        ("a" * 51, "max_length", "Must be at most 50 characters."),
    ],
)
def test_login_id_is_refused_for_what_is_wrong(
    login_id: str, code: str, text: str
) -> None:
    response = sign_up(loginId=login_id)
    assert_invalid(response, "loginId")
    (error,) = response.data["errors"]
    assert (error["code"], error["detail"]) == (code, text)
