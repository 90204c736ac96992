"""Unset settings: no mail, no fresh authentication, no second factor is asked for."""

from typing import Any

import pytest

from accounts.models import CodeRequest, Mail, Member
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_problem
from tests.support.sessions import stale_client
from tests.support.settings_process import read_real

pytestmark = pytest.mark.django_db(transaction=True)

NEW_PASSWORD = "another-horse-9"
DEFAULTS = {
    "MAIL_SERVER": "None",
    "SECRETS_KEYS": "[]",
    "SESSION_TTL_DAYS, settings.SESSION_MAX_DAYS": "14 180",
    "ADMIN_SECOND_FACTOR": "False",
    "BOARD_NEEDS_VERIFIED_EMAIL": "False",
    "SECURITY_EVENT_DAYS": "180",
}
# Calls of a session that is a week old: method, path, body, status.
CALLS: list[tuple[str, str, Any, int]] = [
    ("GET", "/api/auth/session", None, 200),
    ("GET", "/api/auth/profile", None, 200),
    ("PUT", "/api/auth/profile", {"displayName": "New"}, 200),
    ("PUT", "/api/auth/profile", {"email": "new@example.com"}, 200),
    ("POST", "/api/auth/verify-password", {"password": PASSWORD}, 200),
    ("GET", "/api/auth/points", None, 200),
    ("GET", "/api/account/backup", None, 200),
    ("GET", "/api/billing/subscription", None, 200),
    (
        "POST",
        "/api/board/posts",
        {"title": "T", "content": "C", "category": "tips"},
        201,
    ),
    ("POST", "/api/auth/sessions/end-others", None, 200),
    (
        "PUT",
        "/api/auth/password",
        {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD},
        204,
    ),
    ("POST", "/api/auth/logout", None, 204),
    ("DELETE", "/api/auth/me", None, 204),
]


def test_settings_have_these_defaults() -> None:
    names = list(DEFAULTS)
    printed = read_real(", '|', ".join(f"settings.{name}" for name in names))
    assert [part.strip() for part in printed.split("|")] == list(DEFAULTS.values())


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    CALLS,
    ids=[f"{method} {path} {body or ''}" for method, path, body, _ in CALLS],
)
def test_old_session_does_this(
    premium_member: Member, method: str, path: str, body: Any, status: int
) -> None:
    client = stale_client(premium_member)
    response = client.send(method, path, body)
    assert response.status_code == status, response.content


def test_staff_administer_from_an_old_session_in_one_step() -> None:
    staff, member = make_member(role="ADMIN"), make_member()
    client = stale_client(staff)
    path = f"/api/admin/members/{member.pk}"
    for name, value in (("plan", "PREMIUM"), ("status", "SUSPENDED")):
        assert client.send("PUT", f"{path}/{name}", {name: value}).status_code == 200
    assert client.send("DELETE", path).status_code == 204
    assert logged_in_browser(staff).get("/admin/").status_code == 200
    form = {"username": staff.login_id, "password": PASSWORD}
    assert JSONClient().post("/admin/login/?next=/admin/", form).status_code == 302


def test_no_mail_is_written_and_what_needs_one_says_so(premium_member: Member) -> None:
    for method, path, body, _ in CALLS[:-3]:
        stale_client(premium_member).send(method, path, body)
    client = JSONClient(premium_member)
    asked = {"loginId": premium_member.login_id}
    for path, body in (("password-reset", asked), ("email/verification", None)):
        answer = client.send("POST", f"/api/auth/{path}", body)
        assert_problem(answer, 503, "MAIL_NOT_CONFIGURED")
    assert not Mail.objects.exists()
    assert not CodeRequest.objects.exists()
