"""Clients of the tests with sessions, by bearer token and by cookie."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.sessions.store import create_session
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD

ME = "/api/auth/session"
COOKIE = settings.SESSION_COOKIE_NAME


def status_of(client: JSONClient) -> int:
    """Return 200 if the client's session is live, else 401."""
    status: int = client.send("GET", ME).status_code
    return status


def by_cookie(member: Member) -> JSONClient:
    """Return a client that presents a session of the member as a browser does."""
    client = JSONClient()
    client.cookies[COOKIE] = create_session(member)[0]
    return client


def warm_up(member: Member) -> JSONClient:
    """Return a client whose session is cached."""
    client = JSONClient(member)
    assert status_of(client) == 200
    return client


def make_fresh(member: Member) -> None:
    """Let the login of the member's sessions be recent."""
    until = timezone.now() + timedelta(minutes=5)
    AuthSession.objects.filter(member=member).update(
        fresh_until=until, factor_fresh_until=until
    )


def make_stale(member: Member) -> None:
    """Let the login of the member's sessions be long ago."""
    AuthSession.objects.filter(member=member).update(
        fresh_until=None, factor_fresh_until=None
    )


def stale_client(member: Member) -> JSONClient:
    """Return a client whose login was long ago, as that of a stolen session."""
    client = JSONClient(member)
    make_stale(member)
    return client


def log_in(client: JSONClient, member: Member) -> Any:
    """Return the answer to a login of the member by this client."""
    body = {"loginId": member.login_id, "password": PASSWORD}
    return client.send("POST", "/api/auth/login", body)
