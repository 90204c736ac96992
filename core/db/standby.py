"""Commits that wait for a synchronous standby, which may be lost."""

from django.db import connection

# A standby that is there answers in milliseconds.
WAIT_SECONDS = 3
# A role sees what its own sessions wait for.
_COUNT = """
    SELECT count(*) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND usename = current_user
      AND query_start < clock_timestamp() - %(seconds)s * interval '1 second'
"""


def count_waiting_commits() -> int:
    """Return the number of commits of this service that wait for too long."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"seconds": WAIT_SECONDS})
        (count,) = cursor.fetchone()
    return int(count)
