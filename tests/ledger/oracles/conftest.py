"""A ledger written at random, at noon of a fixed day."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction

from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.random_ledgers import ALL_KINDS, PLAIN_KINDS, write_random_ledger

# 21 November 2026, a Saturday, in Seoul.
NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
# Of one ledger; more of them, and other ledgers, by the environment.
ENTRIES = int(os.environ.get("ORACLE_ENTRIES", "400"))
SEED = int(os.environ.get("ORACLE_SEED", "1"))
KINDS = {"plain": PLAIN_KINDS, "lines": ALL_KINDS}


@pytest.fixture(scope="module", params=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Any:
    """Return the kind of ledger: income and expenses only, or every kind of line."""
    return request.param


@pytest.fixture(scope="module")
def db(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Open the database for all tests of a module.

    pytest-django makes one if a test has the mark `django_db` or a fixture of this name.
    """
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="module")
def client(kind: str, db: None) -> Iterator[JSONClient]:
    """Yield the client of a premium member with that ledger, for a module's tests."""
    atomic = transaction.atomic()
    # As in Django's TestCase: durable blocks may stand within.
    atomic._from_testcase = True  # type: ignore[attr-defined]
    with time_machine.travel(NOON, tick=False), atomic:
        member = make_member(plan="PREMIUM", plan_expires_at=NOON + timedelta(30))
        client = JSONClient(member)
        write_random_ledger(client, SEED, ENTRIES, KINDS[kind])
        yield client
        transaction.set_rollback(True)
