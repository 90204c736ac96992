"""Advisory locks: their keys, and who may hold one."""

from collections.abc import Iterator

import pytest
from django.db import connection, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.test.utils import CaptureQueriesContext

from core.db.locks import (
    AdvisoryLock,
    advisory_xact_lock,
    advisory_xact_lock_shared,
    hash_object_id,
    is_advisory_lock_free,
    release_advisory_lock,
    session_advisory_lock,
    try_advisory_lock,
)

pytestmark = pytest.mark.django_db(transaction=True)
TRY = "SELECT pg_try_advisory_lock(%s, %s)"


@pytest.fixture
def other_session() -> Iterator[CursorWrapper]:
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            yield cursor
            cursor.execute("SELECT pg_advisory_unlock_all()")
    finally:
        other.close()


def can_take(session: CursorWrapper, lock: AdvisoryLock, object_id: int) -> bool:
    session.execute(TRY, [lock, object_id])
    (is_free,) = session.fetchone()
    if is_free:
        session.execute("SELECT pg_advisory_unlock(%s, %s)", [lock, object_id])
    return bool(is_free)


def test_no_two_locks_have_the_same_key() -> None:
    assert len({lock.value for lock in AdvisoryLock}) == len(AdvisoryLock.__members__)


def test_transaction_holds_its_lock_until_it_ends(other_session: CursorWrapper) -> None:
    with transaction.atomic():
        advisory_xact_lock(AdvisoryLock.LEDGER, 7)
        assert not can_take(other_session, AdvisoryLock.LEDGER, 7)
        assert can_take(other_session, AdvisoryLock.LEDGER, 8)
        assert can_take(other_session, AdvisoryLock.NOTIFICATIONS, 7)
    assert can_take(other_session, AdvisoryLock.LEDGER, 7)


def test_shared_lock_admits_others_that_share_it(other_session: CursorWrapper) -> None:
    with transaction.atomic():
        advisory_xact_lock_shared(AdvisoryLock.LEDGER, 7)
        assert not can_take(other_session, AdvisoryLock.LEDGER, 7)
        other_session.execute(
            "SELECT pg_try_advisory_lock_shared(%s, %s)", [AdvisoryLock.LEDGER, 7]
        )
        assert other_session.fetchone() == (True,)


def test_session_lock_is_one_callers_at_a_time(other_session: CursorWrapper) -> None:
    with session_advisory_lock(AdvisoryLock.RESTORE, 7) as is_acquired:
        assert is_acquired
        assert not can_take(other_session, AdvisoryLock.RESTORE, 7)
    other_session.execute(TRY, [AdvisoryLock.RESTORE, 7])
    with session_advisory_lock(AdvisoryLock.RESTORE, 7) as is_acquired:
        assert not is_acquired


def test_session_lock_is_released_after_an_error(other_session: CursorWrapper) -> None:
    with (
        pytest.raises(ValueError, match="inside"),
        session_advisory_lock(AdvisoryLock.JOB, hash_object_id("run_recurring")),
    ):
        raise ValueError("inside")
    assert can_take(other_session, AdvisoryLock.JOB, hash_object_id("run_recurring"))


def test_looking_at_a_lock_keeps_nothing(other_session: CursorWrapper) -> None:
    assert is_advisory_lock_free(AdvisoryLock.RATE_LOOKUP, 1)
    assert can_take(other_session, AdvisoryLock.RATE_LOOKUP, 1)
    other_session.execute(TRY, [AdvisoryLock.RATE_LOOKUP, 1])
    assert not is_advisory_lock_free(AdvisoryLock.RATE_LOOKUP, 1)


def test_broken_connection_has_released_its_lock(other_session: CursorWrapper) -> None:
    assert try_advisory_lock(AdvisoryLock.RESTORE, 7)
    connection.connection.close()
    release_advisory_lock(AdvisoryLock.RESTORE, 7)
    connection.close()
    # Waits until PostgreSQL has seen the end of the other connection.
    other_session.execute("SELECT pg_advisory_lock(%s, %s)", [AdvisoryLock.RESTORE, 7])


def test_ids_and_hashes_of_any_size_are_valid_keys() -> None:
    with transaction.atomic():
        advisory_xact_lock(AdvisoryLock.LEDGER, 2**63 - 1)
        for text in ("", "USD/KRW 2026-01-01", "환율"):
            advisory_xact_lock(AdvisoryLock.RATE_LOOKUP, hash_object_id(text))


def test_each_lock_is_one_statement() -> None:
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        advisory_xact_lock(AdvisoryLock.LEDGER, 7)
    assert len(queries) == 1
