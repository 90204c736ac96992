"""A member changes while logging in: no session survives the change."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher

from accounts.account_deletion import delete_account
from accounts.login.identity_login import login_with_identity
from accounts.login.identity_provider import Identity
from accounts.models import AuthSession, Member
from accounts.sessions.store import invalidate_member_session_cache
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "another-horse-10"


class InterruptedHasher(MD5PasswordHasher):
    """Hasher that runs a callback right after a password was verified."""

    callback: Callable[[], Any] | None = None

    def verify(self, password: str, encoded: str) -> bool:
        right = super().verify(password, encoded)
        callback, type(self).callback = type(self).callback, None
        if callback:
            callback()
        return right


def log_in_while(settings: Any, member: Member, callback: Callable[[], Any]) -> Any:
    """Log in; the callback runs after the password was verified."""
    settings.PASSWORD_HASHERS = [f"{__name__}.InterruptedHasher"]
    InterruptedHasher.callback = callback
    body = {"loginId": member.login_id, "password": PASSWORD}
    return JSONClient().send("POST", "/api/auth/login", body)


def make_change(member: Member) -> Callable[[], None]:
    """Return a change of the password, with a session that exists already."""
    owner = JSONClient(member)

    def change() -> None:
        body = {"currentPassword": PASSWORD, "newPassword": NEW}
        assert owner.send("PUT", "/api/auth/password", body).status_code == 204

    return change


def assert_no_session(response: Any) -> None:
    """Assert that the response contains no token that is valid."""
    assert response.status_code in {200, 401, 403}, response.content
    if response.status_code == 200:
        client = JSONClient()
        client.use_token(response.data["token"])
        assert client.send("GET", "/api/auth/session").status_code == 401


def test_password_change_rejects_a_concurrent_login_by_the_old_one(
    free_member: Member, settings: Any
) -> None:
    change = make_change(free_member)
    assert_no_session(log_in_while(settings, free_member, change))
    assert AuthSession.objects.count() == 1


def test_linking_rejects_a_concurrent_login_by_the_old_password(
    free_member: Member, settings: Any
) -> None:
    identity = Identity("subject-1", free_member.email, True, "Kim Minji", "")
    callback = lambda: login_with_identity(identity)  # noqa: E731
    assert_no_session(log_in_while(settings, free_member, callback))


def test_suspension_rejects_a_concurrent_login(
    free_member: Member, settings: Any
) -> None:
    def suspend() -> None:
        Member.objects.filter(pk=free_member.pk).update(status="SUSPENDED")
        invalidate_member_session_cache(free_member.pk)

    assert_no_session(log_in_while(settings, free_member, suspend))


def test_deletion_rejects_a_concurrent_login(
    free_member: Member, settings: Any
) -> None:
    assert_no_session(
        log_in_while(settings, free_member, lambda: delete_account(free_member))
    )
    assert not Member.objects.exists()
    assert not AuthSession.objects.exists()


def test_password_change_rejects_a_concurrent_admin_login(
    administrator: Member, settings: Any
) -> None:
    change = make_change(administrator)
    settings.PASSWORD_HASHERS = [f"{__name__}.InterruptedHasher"]
    InterruptedHasher.callback = change
    intruder = JSONClient()
    form = {"username": administrator.login_id, "password": PASSWORD}
    assert intruder.post("/admin/login/?next=/admin/", form).status_code < 500
    assert intruder.send("GET", "/api/auth/session").status_code == 401
    assert intruder.get("/admin/").status_code == 302
