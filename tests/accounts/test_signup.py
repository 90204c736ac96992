"""Sign-up: input, response and rate limit."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member, RateLimit
from accounts.signup_setting import set_signup_enabled
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.signups import signup_body

PATH = "/api/auth/signup"
MEMBER_KEYS = {
    "id",
    "loginId",
    "displayName",
    "email",
    "emailVerified",
    "pendingEmail",
    "locale",
    "provider",
    "role",
    "status",
    "plan",
    "planExpiresAt",
    "planProduct",
    "planAutoRenew",
    "points",
    "idpPicture",
    "profileImage",
    "createdAt",
}


def sign_up(client: JSONClient, address: str = "", **fields: Any) -> Any:
    extra = {"REMOTE_ADDR": address} if address else {}
    return client.send("POST", PATH, signup_body(**fields), **extra)


def use_up(client: JSONClient, **extra: str) -> None:
    """Make five attempts that are refused, from one address."""
    for _ in range(5):
        refused = client.send("POST", PATH, signup_body(website="spam"), **extra)
        assert refused.status_code == 400


def fields_in_error(response: Any) -> set[str]:
    assert response.status_code == 400, response.content
    assert response.data["code"] == "VALIDATION_ERROR"
    return {error["field"] for error in response.data["errors"]}


def test_sign_up_logs_in(anonymous: JSONClient) -> None:
    response = sign_up(anonymous)
    assert response.status_code == 201
    assert set(response.data) == {"token", "expiresAt", "member"}
    assert set(response.data["member"]) == MEMBER_KEYS
    lifetime = datetime.fromisoformat(response.data["expiresAt"]) - timezone.now()
    assert timedelta(days=13, hours=23) < lifetime <= timedelta(days=14)
    visitor = JSONClient()
    visitor.use_token(response.data["token"])
    assert visitor.get_json("/api/auth/session")["loginId"] == "minji.kim"


def test_new_member_is_a_free_active_local_member(anonymous: JSONClient) -> None:
    member = sign_up(anonymous).data["member"]
    assert member["loginId"] == "minji.kim"
    assert member["displayName"] == "Kim Minji"
    assert member["email"] == "minji@example.com"
    assert (member["provider"], member["role"]) == ("LOCAL", "MEMBER")
    assert (member["status"], member["plan"]) == ("ACTIVE", "FREE")
    assert (member["planExpiresAt"], member["planProduct"]) == (None, None)
    assert (member["planAutoRenew"], member["points"]) == (False, 0)
    assert (member["idpPicture"], member["profileImage"]) == (None, None)


def test_password_is_stored_hashed(anonymous: JSONClient) -> None:
    assert sign_up(anonymous).status_code == 201
    member = Member.objects.get(login_id="minji.kim")
    assert PASSWORD not in member.password
    assert member.check_password(PASSWORD)


def test_sign_up_sets_a_cookie_that_scripts_cannot_read(anonymous: JSONClient) -> None:
    response = sign_up(anonymous)
    cookie = response.cookies["sessionid"]
    assert cookie.value == response.data["token"]
    assert cookie["httponly"] is True
    assert (cookie["samesite"], cookie["path"], cookie["secure"]) == ("Lax", "/", "")
    assert cookie["expires"]


def test_cookie_is_secure_where_the_service_is_on_https(
    anonymous: JSONClient, settings: Any
) -> None:
    settings.SESSION_COOKIE_SECURE = True
    assert sign_up(anonymous).cookies["sessionid"]["secure"] is True


@pytest.mark.parametrize("login_id", ["abc", "A.b_c-9", "z" * 50, "123"])
def test_login_id_of_letters_digits_and_signs_is_taken(
    anonymous: JSONClient, login_id: str
) -> None:
    response = sign_up(anonymous, loginId=login_id)
    assert response.status_code == 201
    assert response.data["member"]["loginId"] == login_id


@pytest.mark.parametrize(
    "login_id",
    [
        "",
        "ab",
        "z" * 51,
        "a b c",
        "a@b.c",
        "x !abc",
        "민지김",
        "ａｂｃ",
        "abc\n!",
        "a\x00bc",
        "1٣٤",
        None,
        12345,
        True,
        ["abc"],
        {"a": 1},
    ],
)
def test_other_login_ids_are_refused(anonymous: JSONClient, login_id: Any) -> None:
    assert "loginId" in fields_in_error(sign_up(anonymous, loginId=login_id))


@pytest.mark.parametrize("name", ["loginId", "password", "displayName", "email"])
def test_every_field_but_the_trap_is_required(anonymous: JSONClient, name: str) -> None:
    body = signup_body()
    del body[name]
    assert fields_in_error(anonymous.send("POST", PATH, body)) == {name}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("displayName", ""),
        ("displayName", "   "),
        ("displayName", "n" * 101),
        ("displayName", "line\x07bell"),
        ("displayName", 7),
        ("email", "no-address"),
        ("email", "a@" + "b" * 260 + ".example"),
        ("email", "two@example.com,three@example.com"),
        ("email", None),
        ("password", 123456789),
        ("password", "p\x00ssword-not-this"),
    ],
)
def test_malformed_field_is_named(anonymous: JSONClient, name: str, value: Any) -> None:
    assert fields_in_error(sign_up(anonymous, **{name: value})) == {name}


@pytest.mark.parametrize("login_id", ["minji.kim", "MINJI.KIM", "Minji.Kim"])
def test_login_id_is_unique_without_regard_to_case(
    anonymous: JSONClient, login_id: str
) -> None:
    make_member(login_id="Minji.kim")
    response = sign_up(anonymous, loginId=login_id)
    assert response.status_code == 409
    assert response.data["code"] == "DUPLICATE"
    assert "sessionid" not in response.cookies


def test_email_may_be_used_twice(anonymous: JSONClient) -> None:
    make_member(email="minji@example.com")
    assert sign_up(anonymous).status_code == 201


@pytest.mark.parametrize(
    "password",
    ["short-1", "password123", "8306417259461", "minji@example.com", "minji.kim1"],
    ids=["short", "common", "numeric", "like the email", "like the login id"],
)
def test_weak_password_is_refused(anonymous: JSONClient, password: str) -> None:
    assert fields_in_error(sign_up(anonymous, password=password)) == {"password"}
    assert not Member.objects.exists()


def test_password_is_taken_as_it_is(anonymous: JSONClient) -> None:
    # Blanks at its ends belong to it, and so does any script.
    password = "  열려라 참깨 七 "
    assert sign_up(anonymous, password=password).status_code == 201
    assert Member.objects.get().check_password(password)


@pytest.mark.parametrize("website", ["https://spam.example", " x", 1, ["x"]])
def test_filled_honeypot_refuses(anonymous: JSONClient, website: Any) -> None:
    response = sign_up(anonymous, website=website)
    assert response.status_code == 400
    assert response.data["code"] == "SIGNUP_REFUSED"
    assert not Member.objects.exists()


@pytest.mark.parametrize("website", ["", None])
def test_empty_honeypot_passes(anonymous: JSONClient, website: str | None) -> None:
    assert sign_up(anonymous, website=website).status_code == 201


def test_sign_up_is_refused_while_an_administrator_has_closed_it(
    anonymous: JSONClient,
) -> None:
    set_signup_enabled(enabled=False)
    assert anonymous.get_json("/api/auth/signup-enabled") == {"enabled": False}
    response = sign_up(anonymous)
    assert response.status_code == 403
    assert response.data["code"] == "SIGNUP_DISABLED"
    set_signup_enabled(enabled=True)
    assert anonymous.get_json("/api/auth/signup-enabled") == {"enabled": True}
    assert sign_up(anonymous).status_code == 201


def test_sign_up_is_open_at_first(anonymous: JSONClient) -> None:
    assert anonymous.get_json("/auth/signup-enabled") == {"enabled": True}


def test_fields_that_are_not_for_members_to_choose_are_ignored(
    anonymous: JSONClient,
) -> None:
    response = sign_up(
        anonymous,
        id=1,
        role="ADMIN",
        plan="PREMIUM",
        points=999,
        provider="IDP",
        idpId="subject",
        planExpiresAt="2099-01-01T00:00:00Z",
    )
    member = response.data["member"]
    assert (member["role"], member["plan"]) == ("MEMBER", "FREE")
    assert (member["points"], member["provider"]) == (0, "LOCAL")
    assert Member.objects.get().idp_id is None


def test_five_sign_ups_an_hour_pass_and_the_sixth_is_refused(
    anonymous: JSONClient,
) -> None:
    for number in range(5):
        assert sign_up(anonymous, loginId=f"minji{number}").status_code == 201
    response = sign_up(anonymous, loginId="minji6")
    assert response.status_code == 429
    assert response.data["code"] == "RATE_LIMITED"
    assert 3500 < int(response.headers["Retry-After"]) <= 3600
    assert Member.objects.count() == 5


@pytest.mark.parametrize(
    "fields",
    [{"website": "spam"}, {"loginId": "!"}, {"password": "1"}, {"loginId": "taken"}],
    ids=["honeypot", "malformed", "weak password", "taken"],
)
def test_refused_attempts_count(anonymous: JSONClient, fields: Any) -> None:
    make_member(login_id="taken")
    for _ in range(5):
        assert sign_up(anonymous, **fields).status_code in {400, 409}
    assert sign_up(anonymous).status_code == 429


def test_attempts_while_sign_up_is_closed_count(anonymous: JSONClient) -> None:
    set_signup_enabled(enabled=False)
    for _ in range(5):
        assert sign_up(anonymous).status_code == 403
    set_signup_enabled(enabled=True)
    assert sign_up(anonymous).status_code == 429


def test_attempts_over_the_limit_do_not_prolong_it(anonymous: JSONClient) -> None:
    use_up(anonymous)
    first = int(sign_up(anonymous).headers["Retry-After"])
    limit = RateLimit.objects.get()
    limit.attempts = [at - timedelta(minutes=30) for at in limit.attempts]
    limit.save()
    later = int(sign_up(anonymous).headers["Retry-After"])
    assert first - 1810 <= later <= first - 1790


def test_oldest_attempt_makes_room_after_an_hour(anonymous: JSONClient) -> None:
    use_up(anonymous)
    limit = RateLimit.objects.get()
    limit.attempts[0] -= timedelta(hours=1)
    limit.save()
    assert sign_up(anonymous).status_code == 201
    assert sign_up(anonymous, loginId="second").status_code == 429


def test_limit_is_per_address(anonymous: JSONClient) -> None:
    use_up(anonymous, REMOTE_ADDR="192.0.2.1")
    assert sign_up(anonymous, "192.0.2.1").status_code == 429
    assert sign_up(anonymous, "192.0.2.2").status_code == 201


def test_forged_header_does_not_help_without_a_proxy(
    anonymous: JSONClient, settings: Any
) -> None:
    settings.TRUSTED_PROXY_COUNT = 0
    for number in range(5):
        sign_up(anonymous, loginId=f"minji{number}")
    for header in ("203.0.113.9", "203.0.113.9, 198.51.100.1"):
        response = anonymous.send(
            "POST", PATH, signup_body(), HTTP_X_FORWARDED_FOR=header
        )
        assert response.status_code == 429


def test_forged_header_does_not_help_behind_one_proxy(
    anonymous: JSONClient, settings: Any
) -> None:
    # The proxy appends the true address; the client can forge those before it.
    settings.TRUSTED_PROXY_COUNT = 1
    for number in range(5):
        forged = f"10.0.0.{number}, 198.51.100.7"
        use = signup_body(loginId=f"minji{number}")
        response = anonymous.send("POST", PATH, use, HTTP_X_FORWARDED_FOR=forged)
        assert response.status_code == 201
    again = anonymous.send(
        "POST", PATH, signup_body(), HTTP_X_FORWARDED_FOR="10.9.9.9, 198.51.100.7"
    )
    assert again.status_code == 429
    other = anonymous.send(
        "POST", PATH, signup_body(), HTTP_X_FORWARDED_FOR="198.51.100.7, 198.51.100.8"
    )
    assert other.status_code == 201


@pytest.mark.parametrize("header", ["", "nonsense", "1.2.3", "203.0.113.1, x;y"])
def test_header_that_is_no_address_counts_as_the_proxy(
    anonymous: JSONClient, settings: Any, header: str
) -> None:
    settings.TRUSTED_PROXY_COUNT = 1
    use_up(anonymous, REMOTE_ADDR="192.0.2.1")
    response = anonymous.send(
        "POST",
        PATH,
        signup_body(),
        REMOTE_ADDR="192.0.2.1",
        HTTP_X_FORWARDED_FOR=header,
    )
    assert response.status_code == 429


def test_one_ipv6_network_counts_as_one_address(anonymous: JSONClient) -> None:
    for number in range(5):
        address = f"2001:db8:1:2:{number}::{number}"
        sign_up(anonymous, address, website="spam")
    assert sign_up(anonymous, "2001:db8:1:2:ffff::1").status_code == 429
    assert sign_up(anonymous, "2001:db8:1:3::1").status_code == 201


def test_ipv4_in_ipv6_clothes_counts_as_ipv4(anonymous: JSONClient) -> None:
    use_up(anonymous, REMOTE_ADDR="::ffff:192.0.2.1")
    assert sign_up(anonymous, "192.0.2.1").status_code == 429
    assert sign_up(anonymous, "::ffff:192.0.2.2").status_code == 201
