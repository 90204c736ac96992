"""The locks that a transaction takes, in their order."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import connection, transaction

from core.db.locks import AdvisoryLock

# A statement that locks rows of a table locks the table in one of these modes, also
# where a trigger or a foreign key does.
_HELD = """
    SELECT l.locktype, c.relname, l.mode, l.classid, l.objid
    FROM pg_locks l LEFT JOIN pg_class c ON c.oid = l.relation
    WHERE l.pid = pg_backend_pid() AND l.granted AND (
        l.locktype = 'advisory' OR c.relkind IN ('r', 'p')
        AND c.relnamespace = current_schema()::regnamespace
        AND l.mode IN (
            'RowShareLock', 'RowExclusiveLock', 'ShareRowExclusiveLock',
            'ShareUpdateExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'
        )
    )
"""
_LOCKED_BY_STATEMENT = re.compile(
    r'(?:UPDATE|DELETE FROM) "?(\w+)"?|FROM "?(\w+)"?.*\bFOR (?:NO KEY )?(?:UPDATE|KEY)',
    re.DOTALL,
)


@dataclass
class LockLog:
    """The first locks of each statement: names of locks and tables."""

    steps: list[tuple[str, set[str]]] = field(default_factory=list)

    def first_step(self, name: str) -> int | None:
        """Return the number of the statement that locked it, None if none did."""
        return next(
            (n for n, (_, names) in enumerate(self.steps) if name in names), None
        )


@contextmanager
def record_locks() -> Iterator[LockLog]:
    """Run the block in a transaction that is rolled back, and log its locks."""
    log = LockLog()
    seen: set[str] = set()

    def execute_and_look(execute: Any, sql: Any, *arguments: Any) -> Any:
        try:
            return execute(sql, *arguments)
        finally:
            names = _list_held(str(sql)) - seen
            seen.update(names)
            if names:
                log.steps.append((str(sql), names))

    with transaction.atomic(), connection.execute_wrapper(execute_and_look):
        yield log
        transaction.set_rollback(True)


def _list_held(sql: str) -> set[str]:
    session: psycopg.Connection[Any] = connection.connection
    if session.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
        return set()
    names = set()
    # Not through Django, which would log this statement too.
    for kind, table, _, key, object_id in session.execute(_HELD).fetchall():
        if kind == "advisory":
            names.add(f"{AdvisoryLock(key).name} {object_id}")
        else:
            names.add(table)
    # A foreign key locks the member so that it stays, which only its deletion waits
    # for; statements that name the member lock it against others.
    explicit = {name for pair in _LOCKED_BY_STATEMENT.findall(sql) for name in pair}
    return names - ({"member"} - explicit)
