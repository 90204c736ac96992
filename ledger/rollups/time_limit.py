"""Time limit of large statements."""

from django.db import connection

# A ledger has at most 500,000 entries. Other statements have 10 seconds.
STATEMENT_TIMEOUT_SECONDS = 60


def extend_statement_timeout() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true)",
            [f"{STATEMENT_TIMEOUT_SECONDS}s"],
        )
