"""Security events are logged, with the member and the address, without secrets."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from pytest_httpserver import HTTPServer

from accounts.models import Member
from accounts.profile.profile import update_profile
from accounts.security.events import SecurityEvent, log_security_event
from core.logging import JSONFormatter
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import EMAIL, fake_provider_at, make_id_token

pytestmark = pytest.mark.django_db(transaction=True)

ADDRESS = "203.0.113.7"
WRONG = "wrong-battery-8"
NEW_PASSWORD = "another-horse-9"
NEW_BODY = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
NEW_EMAIL = "brand-new@example.com"
TYPED_LOGIN_ID = "hunter2-typed-here"


@pytest.fixture(autouse=True)
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[str], list[dict[str, Any]]]:
    """Return `lines(logger)`: the lines that were logged, as operators read them."""
    caplog.set_level(logging.INFO)
    for name in ("security", "access"):
        caplog.set_level(logging.INFO, name)

    def read(logger: str) -> list[dict[str, Any]]:
        records = [record for record in caplog.records if record.name == logger]
        return [json.loads(JSONFormatter().format(record)) for record in records]

    return read


def client_of(member: Member | None = None) -> JSONClient:
    return JSONClient(member, REMOTE_ADDR=ADDRESS)


def log_in(login_id: str, password: str) -> Any:
    body = {"loginId": login_id, "password": password}
    return client_of().send("POST", "/api/auth/login", body)


def change_member(member: Member, **body: str) -> None:
    (name,) = body
    staff = client_of(Member.objects.get(role="ADMIN", login_id="staff"))
    path = f"/api/admin/members/{member.pk}/{name}"
    assert staff.send("PUT", path, body).status_code == 200


def fail_ten_times_and_once_more(member: Member) -> None:
    for _ in range(11):
        log_in(member.login_id, WRONG)


def sign_up(member: Member) -> None:
    body = {"loginId": "minji", "password": PASSWORD, "displayName": "M"}
    client_of().send("POST", "/api/auth/signup", body | {"email": NEW_EMAIL})


def send(method: str, path: str, body: Any = None) -> Callable[[Member], None]:
    """Return a deed: the member sends this."""

    def deed(member: Member) -> None:
        client_of(member).send(method, f"/api/auth/{path}", body)

    return deed


STAFF = "staff"
# The deed, and the last event: about the member, by themselves or by staff.
DEEDS: dict[str, tuple[Callable[[Member], Any], dict[str, Any]]] = {
    "login": (lambda m: log_in(m.login_id, PASSWORD), {"event": "LOGIN"}),
    "failed login": (lambda m: log_in(m.login_id, WRONG), {"event": "LOGIN_FAILED"}),
    "throttled login": (fail_ten_times_and_once_more, {"event": "LOGIN_THROTTLED"}),
    "logout": (send("POST", "logout"), {"event": "LOGOUT"}),
    "wrong password": (
        send("POST", "verify-password", {"password": WRONG}),
        {"event": "PASSWORD_REFUSED"},
    ),
    "password": (send("PUT", "password", NEW_BODY), {"event": "PASSWORD_CHANGED"}),
    "email": (send("PUT", "profile", {"email": NEW_EMAIL}), {"event": "EMAIL_CHANGED"}),
    "other sessions": (
        send("POST", "sessions/end-others"),
        {"event": "SESSIONS_ENDED", "ended": 0},
    ),
    "erasure": (send("DELETE", "me"), {"event": "ACCOUNT_DELETED"}),
    "role": (
        lambda m: change_member(m, role="ADMIN"),
        {"event": "ROLE_CHANGED", "role": "ADMIN", "actorId": STAFF},
    ),
    "status": (
        lambda m: change_member(m, status="SUSPENDED"),
        {"event": "STATUS_CHANGED", "status": "SUSPENDED", "actorId": STAFF},
    ),
    "plan": (
        lambda m: change_member(m, plan="PREMIUM"),
        {"event": "PLAN_CHANGED", "plan": "PREMIUM", "actorId": STAFF},
    ),
}


@pytest.mark.parametrize("name", DEEDS)
def test_deed_is_logged_with_member_and_address(lines: Any, name: str) -> None:
    staff = make_member(role="ADMIN", login_id="staff")
    member = make_member()
    deed, expected = DEEDS[name]
    deed(member)
    line = lines("security")[-1]
    known = {"time", "level", "logger", "message"}
    if expected.get("actorId") == STAFF:
        expected = expected | {"actorId": staff.pk}
    assert {k: v for k, v in line.items() if k not in known} == {
        "memberId": member.pk,
        "address": ADDRESS,
        **expected,
    }


def test_login_of_nobody_is_logged_without_what_was_typed(lines: Any) -> None:
    log_in(TYPED_LOGIN_ID, WRONG)
    (line,) = lines("security")
    assert (line["event"], line["memberId"]) == ("LOGIN_FAILED", None)


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        ({}, "IDENTITY_LINKED"),
        ({"role": "ADMIN"}, "LINKING_REFUSED"),
        ({"status": "SUSPENDED"}, "LOGIN_FAILED"),
    ],
)
def test_identity_logins_are_logged(
    lines: Any,
    settings: Any,
    httpserver: HTTPServer,
    fields: dict[str, str],
    event: str,
) -> None:
    member = make_member(email=EMAIL, **fields)
    token = fake_provider_at(settings, httpserver)()
    client_of().send("POST", "/api/auth/idp", {"idToken": token})
    line = lines("security")[0]
    assert (line["event"], line["memberId"]) == (event, member.pk)
    assert line["address"] == ADDRESS


def test_refused_token_is_logged(lines: Any, settings: Any) -> None:
    settings.IDP_CLIENT_ID = "ledger"
    client_of().send("POST", "/api/auth/idp", {"idToken": make_id_token(exp="1")})
    (line,) = lines("security")
    assert (line["event"], line["level"]) == ("ID_TOKEN_REFUSED", "WARNING")


def test_no_secret_and_no_address_of_mail_is_in_the_log(
    lines: Any, caplog: pytest.LogCaptureFixture
) -> None:
    make_member(role="ADMIN", login_id="staff")
    secrets = [PASSWORD, WRONG, NEW_PASSWORD, NEW_EMAIL, TYPED_LOGIN_ID]
    for deed, _ in DEEDS.values():
        member = make_member()
        secrets += [member.email, member.password]
        deed(member)
    log_in(TYPED_LOGIN_ID, WRONG)
    sign_up(make_member())
    assert len(lines("security")) > len(DEEDS)
    text = "\n".join(JSONFormatter().format(record) for record in caplog.records)
    assert [secret for secret in secrets if secret in text] == []


def test_deed_that_is_rolled_back_is_not_logged(
    lines: Any, free_member: Member
) -> None:
    with transaction.atomic():
        update_profile(free_member, {"email": NEW_EMAIL}, session_key_hash=None)
        log_security_event(SecurityEvent.LOGOUT, free_member.pk)
        transaction.set_rollback(True)
    assert lines("security") == []


def test_same_address_again_is_no_change(lines: Any, free_member: Member) -> None:
    send("PUT", "profile", {"email": free_member.email})(free_member)
    assert lines("security") == []


@pytest.mark.parametrize("is_by_cookie", [True, False])
def test_access_log_names_member_and_address(
    lines: Any, administrator: Member, is_by_cookie: bool
) -> None:
    client = logged_in_browser(administrator) if is_by_cookie else None
    client = client or JSONClient(administrator)
    paths = ["/api/auth/session", "/auth/profile", *(["/admin/"] * is_by_cookie)]
    for path in paths:
        client.get(path, REMOTE_ADDR=ADDRESS)
    found = [(line["memberId"], line["address"]) for line in lines("access")]
    assert found == [(administrator.pk, ADDRESS)] * len(paths)


def test_login_names_the_member_and_the_next_request_does_not(
    lines: Any, free_member: Member
) -> None:
    log_in(free_member.login_id, PASSWORD)
    client_of().get("/api/auth/signup-enabled")
    login, other = lines("access")
    assert login["memberId"] == free_member.pk
    assert "memberId" not in other
    assert other["address"] == ADDRESS
