"""With every new setting unset, clients of before see nothing new.

The client of these tests knows of no mail, second factor, token, fresh authentication
nor device name. Its session is old, and each of its calls succeeds as it always did.
"""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuthSession, CodeRequest, Mail, Member
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.problems import assert_problem
from tests.support.settings_process import read_real

pytestmark = pytest.mark.django_db(transaction=True)

NEW_PASSWORD = "another-horse-9"
# What each setting means while it is unset.
DEFAULTS = {
    "MAIL_SERVER": "None",
    "SECRETS_KEYS": "[]",
    "SESSION_TTL_DAYS, settings.SESSION_MAX_DAYS": "14 180",
    "ADMIN_SECOND_FACTOR": "False",
    "BOARD_NEEDS_VERIFIED_EMAIL": "False",
    "SECURITY_EVENT_DAYS": "180",
}
# Each is a call of an old session: method, path, body, the status that it always had.
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


def make_old_client(member: Member) -> JSONClient:
    """Return a client that has logged in a week ago."""
    with time_machine.travel(timezone.now() - timedelta(days=7)):
        return JSONClient(member)


def test_settings_have_the_values_of_before() -> None:
    names = list(DEFAULTS)
    printed = read_real(", '|', ".join(f"settings.{name}" for name in names))
    assert [part.strip() for part in printed.split("|")] == list(DEFAULTS.values())


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    CALLS,
    ids=[f"{method} {path} {body or ''}" for method, path, body, _ in CALLS],
)
def test_old_session_does_what_it_did(
    premium_member: Member, method: str, path: str, body: Any, status: int
) -> None:
    client = make_old_client(premium_member)
    response = client.send(method, path, body)
    assert response.status_code == status, response.content


def test_login_and_sign_up_are_one_step_without_new_fields(
    anonymous: JSONClient,
) -> None:
    body = {"loginId": "minji", "password": PASSWORD, "displayName": "Minji"}
    made = anonymous.send("POST", "/api/auth/signup", body | {"email": "m@example.com"})
    assert made.status_code == 201
    body = {"loginId": "minji", "password": PASSWORD}
    logged_in = JSONClient().send("POST", "/api/auth/login", body)
    assert set(logged_in.data) == set(made.data) == {"token", "expiresAt", "member"}


def test_staff_administer_from_an_old_session_in_one_step(db: None) -> None:
    staff, member = make_member(role="ADMIN"), make_member()
    client = make_old_client(staff)
    path = f"/api/admin/members/{member.pk}"
    for name, value in (("plan", "PREMIUM"), ("status", "SUSPENDED")):
        assert client.send("PUT", f"{path}/{name}", {name: value}).status_code == 200
    assert client.send("DELETE", path).status_code == 204
    assert logged_in_browser(staff).get("/admin/").status_code == 200
    form = {"username": staff.login_id, "password": PASSWORD}
    assert JSONClient().post("/admin/login/?next=/admin/", form).status_code == 302


def test_no_mail_is_written_and_what_needs_one_says_so(premium_member: Member) -> None:
    for method, path, body, _ in CALLS[:-3]:
        make_old_client(premium_member).send(method, path, body)
    client = JSONClient(premium_member)
    asked = {"loginId": premium_member.login_id}
    for path, body in (("password-reset", asked), ("email/verification", None)):
        answer = client.send("POST", f"/api/auth/{path}", body)
        assert_problem(answer, 503, "MAIL_NOT_CONFIGURED")
    assert not Mail.objects.exists()
    assert not CodeRequest.objects.exists()


def test_old_sessions_slide_as_before(free_member: Member) -> None:
    # Those from before the update have neither a device name nor freshness.
    client = make_old_client(free_member)
    AuthSession.objects.update(fresh_until=None, name="")
    with time_machine.travel(timezone.now() + timedelta(days=6)):
        assert client.send("GET", "/api/auth/session").status_code == 200
    with time_machine.travel(timezone.now() + timedelta(days=19)):
        assert client.send("GET", "/api/auth/session").status_code == 200
