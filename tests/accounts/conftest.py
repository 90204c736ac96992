"""Members, clocks, the identity provider, and a Valkey that fails."""

from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.conf import settings as django_settings
from django.utils import timezone
from pytest_httpserver import HTTPServer

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.id_tokens import Vouch, fake_provider_at
from tests.support.second_factors import give_totp
from tests.support.stores import find_closed_port, redis_at


@pytest.fixture(autouse=True)
def database(db: None) -> None:
    pass


@pytest.fixture(autouse=True)
def slow_machine_timeouts() -> Iterator[None]:
    """Raise the timeouts of the shared Valkey, so that a busy machine fails no test."""
    with redis_at(django_settings.REDIS_URL, seconds=5):
        yield


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def no_valkey() -> Iterator[None]:
    """Point the service to a closed port instead of Valkey."""
    with redis_at(f"redis://127.0.0.1:{find_closed_port()}/0"):
        yield


@pytest.fixture
def verified_member(free_member: Member) -> Member:
    """Return a free member whose address is verified."""
    Member.objects.filter(pk=free_member.pk).update(verified_email=free_member.email)
    return Member.objects.get(pk=free_member.pk)


@pytest.fixture
def totp_member(free_member: Member) -> Member:
    """Return a free member with an authenticator app, without recovery codes."""
    give_totp(free_member)
    return free_member


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """Stop the clock; the test moves it."""
    with time_machine.travel(timezone.now(), tick=False) as traveller:
        yield traveller


@pytest.fixture
def totp_clock() -> Iterator[time_machine.Traveller]:
    """Stop the clock in the middle of a step of authenticator apps.

    Codes then change after shifts by whole steps only.
    """
    start = timezone.now().replace(second=15, microsecond=0)
    with time_machine.travel(start, tick=False) as traveller:
        yield traveller


@pytest.fixture
def vouch(settings: Any, httpserver: HTTPServer) -> Vouch:
    """Return `vouch(**claims)`, which sets the provider's answer; None omits a claim."""
    return fake_provider_at(settings, httpserver)
