"""Advisory locks: their keys, and who may hold one."""

from collections.abc import Iterator

import pytest
from django.db import connection, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.test.utils import CaptureQueriesContext

from core.db.locks import AdvisoryLock, advisory_xact_lock

pytestmark = pytest.mark.django_db(transaction=True)
TRY = "SELECT pg_try_advisory_xact_lock(%s, %s)"


@pytest.fixture
def other_session() -> Iterator[CursorWrapper]:
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            yield cursor
    finally:
        other.close()


def can_take(session: CursorWrapper, lock: AdvisoryLock, object_id: int) -> bool:
    """Return True if the lock is free for another session."""
    session.execute(TRY, [lock, object_id])
    return bool(session.fetchone()[0])


def test_no_two_locks_have_the_same_key() -> None:
    assert len({lock.value for lock in AdvisoryLock}) == len(AdvisoryLock.__members__)


def test_transaction_holds_its_lock_until_it_ends(other_session: CursorWrapper) -> None:
    with transaction.atomic():
        advisory_xact_lock(AdvisoryLock.LEDGER, 7)
        assert not can_take(other_session, AdvisoryLock.LEDGER, 7)
        assert can_take(other_session, AdvisoryLock.LEDGER, 8)
        assert can_take(other_session, AdvisoryLock.PURCHASE_TOKEN, 7)
    assert can_take(other_session, AdvisoryLock.LEDGER, 7)


def test_ids_of_any_size_are_valid_keys(other_session: CursorWrapper) -> None:
    with transaction.atomic():
        advisory_xact_lock(AdvisoryLock.LEDGER, 2**63 - 1)
        assert not can_take(other_session, AdvisoryLock.LEDGER, 2**31 - 1)


def test_each_lock_is_one_statement() -> None:
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        advisory_xact_lock(AdvisoryLock.LEDGER, 7)
    assert len(queries) == 1
