"""Sessions of PostgreSQL beside those of Django."""

import psycopg
from django.conf import settings


def open_session(*, autocommit: bool = False) -> psycopg.Connection:
    """Return a new connection to the database that belongs to no pool.

    Django's would open a pool, whose threads and sockets outlive the caller.
    """
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
