"""Verify at the start that PostgreSQL enforces the limits of the settings.

They come with each connection as `options`, or, behind a pooler that shares connections
among transactions, from the role. A pooler that ignores `options`, or a role without
limits, would let a statement run and a lock be waited for without end.
"""

import logging
import sys

import psycopg
from django.conf import settings

from core.db.sessions import open_session

logger = logging.getLogger(__name__)

# In milliseconds, as `DATABASE_LIMITS`.
_EFFECTIVE_LIMITS = """
SELECT name, setting::int FROM pg_settings WHERE name = ANY (%s) ORDER BY name
"""


def check_database_limits_or_exit() -> None:
    """Exit with a one-line message if the limits in force are not those required.

    Where the database cannot be reached, the service starts without the check.
    """
    try:
        problem = find_limit_problem()
    except psycopg.OperationalError as error:
        # PgBouncer's words for `options`, which it forwards to nobody.
        if "startup parameter" not in str(error):
            logger.warning("the limits of the database could not be checked")
            return
        problem = (
            "the pooler of DATABASE_URL rejects the limits that come with a connection:"
            " set DATABASE_TRANSACTION_POOLING=true, and the limits on the role."
        )
    if problem:
        sys.exit(f"configuration: {problem}")


def find_limit_problem() -> str | None:
    """Return a sentence that names the limits that differ; None if there are none."""
    required: dict[str, int] = settings.DATABASE_LIMITS
    # Without Django's connection: its pool would leave threads and sockets to the
    # processes that are forked from this one, and its metrics would be theirs.
    with open_session() as session:
        rows = session.execute(_EFFECTIVE_LIMITS, [list(required)]).fetchall()
        role = session.info.user
    wrong = {name: value for name, value in rows if value != required[name]}
    if not wrong:
        return None
    found = ", ".join(f"{name} is {value} ms" for name, value in wrong.items())
    statements = "; ".join(
        f"ALTER ROLE {role} SET {name} = {required[name]}" for name in wrong
    )
    return f"{found} in the database; required: {statements}."
