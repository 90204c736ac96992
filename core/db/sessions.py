"""PostgreSQL connections outside of Django's pool."""

import psycopg
from django.conf import settings


def open_session(*, autocommit: bool = False) -> psycopg.Connection:
    """Connect; Django's pool has threads that outlive the caller."""
    database = settings.DATABASES["default"]
    options = {k: v for k, v in database["OPTIONS"].items() if k != "pool"}
    return psycopg.connect(
        dbname=database["NAME"],
        user=database["USER"] or None,
        password=database["PASSWORD"] or None,
        host=database["HOST"] or None,
        port=database["PORT"] or None,
        autocommit=autocommit,
        **options,
    )
