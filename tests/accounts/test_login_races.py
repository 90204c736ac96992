"""A member changes while logging in: no session survives the change."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher

from accounts.account_deletion import delete_account
from accounts.idp_login import Identity, login_with_identity
from accounts.models import AuthSession, Member
from accounts.sessions import invalidate_member_session_cache
from tests.conftest import ClientOf
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


@pytest.fixture
def log_in_while(settings: Any) -> Callable[[Member, Callable[[], Any]], Any]:
    """Return `log_in_while(member, callback)`, which logs in and interrupts itself."""

    def log_in(member: Member, callback: Callable[[], Any]) -> Any:
        settings.PASSWORD_HASHERS = [f"{__name__}.InterruptedHasher"]
        InterruptedHasher.callback = callback
        body = {"loginId": member.login_id, "password": PASSWORD}
        return JSONClient().send("POST", "/api/auth/login", body)

    return log_in


def assert_no_session(response: Any) -> None:
    """Assert that the response contains no token that is valid."""
    assert response.status_code in {200, 401, 403}, response.content
    if response.status_code == 200:
        client = JSONClient()
        client.use_token(response.data["token"])
        assert client.send("GET", "/api/auth/session").status_code == 401


def test_password_change_rejects_a_concurrent_login_by_the_old_one(
    free_member: Member, client_of: ClientOf, log_in_while: Any
) -> None:
    owner = client_of(free_member)

    def change() -> None:
        body = {"currentPassword": PASSWORD, "newPassword": NEW}
        assert owner.send("PUT", "/api/auth/password", body).status_code == 204

    assert_no_session(log_in_while(free_member, change))
    assert AuthSession.objects.count() == 1


def test_linking_rejects_a_concurrent_login_by_the_old_password(
    free_member: Member, log_in_while: Any
) -> None:
    identity = Identity("subject-1", free_member.email, True, "Kim Minji", "")
    callback = lambda: login_with_identity(identity)  # noqa: E731
    assert_no_session(log_in_while(free_member, callback))


def test_suspension_rejects_a_concurrent_login(
    free_member: Member, log_in_while: Any
) -> None:
    def suspend() -> None:
        Member.objects.filter(pk=free_member.pk).update(status="SUSPENDED")
        invalidate_member_session_cache(free_member.pk)

    assert_no_session(log_in_while(free_member, suspend))


def test_deletion_rejects_a_concurrent_login(
    free_member: Member, log_in_while: Any
) -> None:
    assert_no_session(log_in_while(free_member, lambda: delete_account(free_member)))
    assert not Member.objects.exists()
    assert not AuthSession.objects.exists()


def test_password_change_rejects_a_concurrent_admin_login(
    administrator: Member, client_of: ClientOf, settings: Any
) -> None:
    owner = client_of(administrator)

    def change() -> None:
        body = {"currentPassword": PASSWORD, "newPassword": NEW}
        assert owner.send("PUT", "/api/auth/password", body).status_code == 204

    settings.PASSWORD_HASHERS = [f"{__name__}.InterruptedHasher"]
    InterruptedHasher.callback = change
    intruder = JSONClient()
    form = {"username": administrator.login_id, "password": PASSWORD}
    assert intruder.post("/admin/login/?next=/admin/", form).status_code < 500
    assert intruder.send("GET", "/api/auth/session").status_code == 401
    assert intruder.get("/admin/").status_code == 302
