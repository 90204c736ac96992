"""A row of `job_run` for each backup, which metrics, alerts and staff read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg

from devstack.dumps import DumpError, find_database, say

JOB = "backup"
_INSERT = """
    INSERT INTO job_run (job, state, started_at, ended_at, count, error)
    VALUES (%(job)s, %(state)s, %(started_at)s, now(), NULL, %(error)s)
"""


@contextmanager
def recorded(settings: Mapping[str, str]) -> Iterator[None]:
    """Record how the block ends; a backup counts although it cannot be recorded."""
    started_at = datetime.now(UTC)  # noqa: TID251
    try:
        yield
    except BaseException as error:
        _record(settings, started_at, "FAILED", type(error).__name__)
        raise
    _record(settings, started_at, "DONE")


def _record(
    settings: Mapping[str, str], started_at: datetime, state: str, error: str = ""
) -> None:
    values = {"job": JOB, "state": state, "started_at": started_at, "error": error}
    try:
        with find_database(settings).connect() as connection:
            connection.execute(_INSERT, values)
    except (DumpError, psycopg.Error) as failure:
        say(f"script/backup: not recorded: {failure}")
