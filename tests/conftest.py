"""The cast: who takes part in the tests."""

import gc
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import hypothesis
import pytest
from django.db import NotSupportedError
from django.test import TransactionTestCase
from django.utils import timezone

from accounts.announcements.announcements import KNOWN as ANNOUNCED
from accounts.legal.documents import KNOWN
from accounts.models import Member
from accounts.switches.switches import KNOWN as SWITCHES
from accounts.switches.switches import Switches
from core import http_client
from tests.support.citus import (
    FAULTS,
    OF_ONE_SERVER,
    UNSUPPORTED,
    distribute_test_database,
    drop_databases_of_workers,
    has_citus,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.flush import empty_database, rolled_back
from tests.support.member_guard import guard_statements
from tests.support.migrated_cluster import create_run_folder, remove_run_folder
from tests.support.pooled import connect_by_pooler, connect_directly
from tests.support.scale import scaled

pytest_plugins = ["tests.support.fakes"]

MINUTE_SECONDS = 60
ClientOf = Callable[[Member], JSONClient]


hypothesis.settings.register_profile(
    "usual", max_examples=scaled(40, 100), deadline=None
)
hypothesis.settings.load_profile("usual")


def pytest_configure(config: pytest.Config) -> None:
    """Create what the workers share, before they start."""
    if not hasattr(config, "workerinput"):
        create_run_folder()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking through all tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        remove_run_folder()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect Citus to refuse the statements of some tests; skip others on it."""
    if not has_citus():
        return
    for item in items:
        name = item.nodeid.partition("[")[0]
        if reason := UNSUPPORTED.get(name):
            item.add_marker(pytest.mark.xfail(reason=reason, raises=NotSupportedError))
        if reason := FAULTS.get(name):
            item.add_marker(pytest.mark.xfail(reason=reason, raises=AssertionError))
        if reason := OF_ONE_SERVER.get(name):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def no_documents() -> None:
    """Let the process know that nothing is published, without reading."""
    KNOWN.read_at = time.monotonic()


@pytest.fixture(autouse=True)
def known_without_reading() -> None:
    """Let the process know that nothing is switched off or announced."""
    now = time.monotonic()
    SWITCHES.switches, SWITCHES.read_at = Switches(), now
    ANNOUNCED.announcements, ANNOUNCED.read_at = (), now


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Let the tables be created past a pooler, whose limits would end long steps."""
    connect_directly()


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[None]:
    """Distribute the ledgers of the test database, if the server can."""
    connect_by_pooler()
    if not has_citus():
        yield
        return
    with django_db_blocker.unblock():
        distribute_test_database()
    yield
    if not request.config.getvalue("reuse_db"):
        drop_databases_of_workers()


@pytest.fixture(scope="session", autouse=True)
def fast_flush() -> Iterator[None]:
    """Empty the database after tests that commit by `tests.support.flush`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            TransactionTestCase, "_fixture_teardown", lambda _: empty_database()
        )
        yield


@pytest.fixture(autouse=True)
def member_guard() -> Iterator[None]:
    """Refuse statements of the service that do not name the member of their rows."""
    with guard_statements():
        yield


@pytest.fixture(autouse=True)
def outside_services() -> Iterator[None]:
    """Let no test see the failures of another one's outside services."""
    http_client.circuit_breaker.reset()
    yield
    http_client.circuit_breaker.reset()


@pytest.fixture(scope="module")
def shared_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[Any]:
    """Yield `write(make)`: all tests of a module see its rows, and roll back the rest."""
    rows = rolled_back()
    with django_db_blocker.unblock():
        rows.__enter__()

    def write(make: Callable[[], Any]) -> Any:
        with django_db_blocker.unblock():
            return make()

    yield write
    with django_db_blocker.unblock():
        rows.__exit__(None, None, None)


@pytest.fixture
def same_day() -> None:
    """Wait for midnight at home if it is near, so that no day ends during the test.

    A clock that is moved would differ from that of the database.
    """
    now = timezone.localtime()
    midnight = (now + timedelta(1)).replace(hour=0, minute=0, second=0, microsecond=0)
    if (left := (midnight - now).total_seconds()) < MINUTE_SECONDS:
        time.sleep(left)


@pytest.fixture
def free_member(db: None) -> Member:
    return make_member()


@pytest.fixture
def other_member(db: None) -> Member:
    """Return another member, whose ledger must stay invisible."""
    return make_member(display_name="Somebody else")


@pytest.fixture
def premium_member(db: None) -> Member:
    return make_member(plan="PREMIUM", plan_expires_at=timezone.now() + timedelta(30))


@pytest.fixture
def administrator(db: None) -> Member:
    return make_member(role="ADMIN")


@pytest.fixture
def anonymous(db: None) -> JSONClient:
    return JSONClient()


@pytest.fixture
def client_of() -> ClientOf:
    """Return `client_of(member)`, which makes a client with a bearer session."""
    return JSONClient
