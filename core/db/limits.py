"""Verify at the start that PostgreSQL enforces the limits of the settings.

A pooler that ignores `options` would let statements run without end.
"""

import logging
import sys

import psycopg
from django.conf import settings

from core.db.sessions import open_session

logger = logging.getLogger(__name__)

# In milliseconds.
_EFFECTIVE_LIMITS = """
SELECT name, setting::int FROM pg_settings WHERE name = ANY (%s) ORDER BY name
"""


def check_database_limits_or_exit() -> None:
    """Exit if other limits are in force, but not if the database is down."""
    try:
        problem = find_limit_problem()
    except psycopg.OperationalError as error:
        # PgBouncer rejects `options` with these words.
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
    required: dict[str, int] = settings.DATABASE_LIMITS
    # Forked processes would inherit the threads and sockets of Django's pool.
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
