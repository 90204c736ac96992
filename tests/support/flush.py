"""Empties the test database after a test that commits, faster than `flush`.

Django truncates every table, which creates new files for all of them and their indexes,
then looks for the content types and permissions that it has removed. Here only tables
with rows are emptied; content types and permissions stay.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from django.core.management import call_command
from django.db import connection, transaction
from psycopg import sql

from tests.support.citus import has_citus

KEPT_TABLES = {"django_content_type", "auth_permission"}
IS_SUPERUSER = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"


def empty_database() -> None:
    """Leave the database as `flush` does."""
    if not can_ignore_references():
        call_command("flush", verbosity=0, interactive=False)
        return
    with connection.cursor() as cursor:
        cursor.execute(query_of_written_tables())
        written = [name for (name,) in cursor.fetchall()]
        if not written:
            return
        with transaction.atomic():
            # Neither triggers nor foreign keys: every table is emptied.
            cursor.execute("SET LOCAL session_replication_role = replica")
            for name in written:
                cursor.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
        # As small as new ones, so that no plan depends on the tests of before.
        names = sql.SQL(", ").join(map(sql.Identifier, written))
        cursor.execute(sql.SQL("VACUUM {}").format(names))


@contextmanager
def rolled_back() -> Iterator[None]:
    """Take back what the block writes; the service must not see the transaction."""
    atomic = transaction.atomic()
    atomic._from_testcase = True  # type: ignore[attr-defined]
    with atomic:
        yield
        transaction.set_rollback(True)


@cache
def can_ignore_references() -> bool:
    """Return True on a server of one node, as a superuser."""
    if has_citus():
        return False
    with connection.cursor() as cursor:
        cursor.execute(IS_SUPERUSER)
        return bool(cursor.fetchone()[0])


@cache
def query_of_written_tables() -> sql.Composed:
    """Return the statement that lists the tables with rows."""
    tables = connection.introspection.django_table_names(
        only_existing=True, include_views=False
    )
    parts = [
        sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(
            sql.Literal(name), sql.Identifier(name)
        )
        for name in sorted(set(tables) - KEPT_TABLES)
    ]
    return sql.SQL(" UNION ALL ").join(parts)
