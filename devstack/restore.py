"""Restore a dump of `script/backup` in the place of the database.

The dump is restored into a new database and checked; then both are renamed in one
transaction, and the replaced database remains under another name.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from redis import Redis
from redis.exceptions import RedisError

from devstack.backup import exit_on_sigterm
from devstack.dumps import (
    Database,
    DumpError,
    check_database,
    find_database,
    restore_dump,
    say,
)

# Every server has this database.
MAINTENANCE_DATABASE = "postgres"
# Any unused number.
ADVISORY_LOCK = 0x6C6564676572
# PostgreSQL cuts longer identifiers without an error.
MAX_NAME_BYTES = 63
# Their elements are quoted one by one.
LIST_SETTINGS = {
    "search_path",
    "temp_tablespaces",
    "local_preload_libraries",
    "session_preload_libraries",
}
LOCALE_PROVIDERS = {"c": "libc", "i": "icu", "b": "builtin"}


def restore(path: Path, settings: Mapping[str, str], *, drop_former: bool) -> None:
    if not path.is_file():
        raise DumpError(f"{path}: there is no such file.")
    database = find_database(settings)
    new = database.with_name(f"{database.name}_restoring")
    former = f"{database.name}_before_{datetime.now(UTC):%Y%m%d%H%M%S}"  # noqa: TID251
    require_short_name(former)
    with database.with_name(MAINTENANCE_DATABASE).connect() as server:
        lock_restores(server)
        require_stopped_service(server, database.name)
        # A restore that was killed left it behind.
        drop_database(server, new.name)
        create_like(server, new.name, database.name)
        try:
            restore_dump(path.resolve(), new)
            say(f"restored and checked: {check_database(new, settings)}")
            empty_valkey(settings)
            swap(server, database.name, new.name, former)
        except BaseException:
            drop_database(server, new.name)
            raise
        if drop_former or not has_tables(database.with_name(former)):
            drop_database(server, former)
        else:
            say(f"The former database is {former}; script/restore --drop {former}")
    say(f"{path} restored. Start the service.")


def require_short_name(name: str) -> None:
    if len(name.encode()) > MAX_NAME_BYTES:
        raise DumpError(f"{name} is longer than {MAX_NAME_BYTES} bytes.")


def lock_restores(server: psycopg.Connection) -> None:
    row = server.execute("SELECT pg_try_advisory_lock(%s)", [ADVISORY_LOCK]).fetchone()
    if not row or not row[0]:
        raise DumpError("Another restore is running.")


def require_stopped_service(server: psycopg.Connection, name: str) -> None:
    """Raise DumpError if a client is connected to a database.

    Without special rights, the type of other roles' sessions is null.
    """
    query = """
        SELECT string_agg(DISTINCT coalesce(nullif(application_name, ''), usename),
            ', ')
        FROM pg_stat_activity
        WHERE datname = %s
            AND (backend_type = 'client backend' OR backend_type IS NULL)
    """
    row = server.execute(query, [name]).fetchone()
    if row and row[0]:
        raise DumpError(
            f"The database is in use by {row[0]}: stop web server, worker and Beat."
        )


def has_tables(database: Database) -> bool:
    with database.connect() as connection:
        query = "SELECT FROM pg_tables WHERE schemaname = 'public' LIMIT 1"
        return connection.execute(query).fetchone() is not None


def create_like(server: psycopg.Connection, name: str, model: str) -> None:
    """Copy encoding, locale and settings, but no rows."""
    row = server.execute(
        "SELECT to_jsonb(d), pg_encoding_to_char(encoding) FROM pg_database d"
        " WHERE datname = %s",
        [model],
    ).fetchone()
    if row is None:
        raise DumpError(f"There is no database {model}.")
    described: dict[str, Any] = row[0]
    provider = LOCALE_PROVIDERS[described["datlocprovider"]]
    options = {
        "ENCODING": row[1],
        "LC_COLLATE": described["datcollate"],
        "LC_CTYPE": described["datctype"],
        "LOCALE_PROVIDER": provider,
    }
    # PostgreSQL 17 renamed the column.
    if locale := described.get("datlocale") or described.get("daticulocale"):
        options[f"{provider.upper()}_LOCALE"] = locale
    clauses = [
        sql.SQL(f"{option} {{}}").format(sql.Literal(value))
        for option, value in options.items()
    ]
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE template0 {}")
    identifier = sql.Identifier(name)
    try:
        server.execute(statement.format(identifier, sql.SQL(" ").join(clauses)))
    except psycopg.errors.InsufficientPrivilege:
        raise DumpError(
            "The role of DATABASE_URL may not create databases: as a superuser, "
            "ALTER ROLE … CREATEDB."
        ) from None
    kept = server.execute(
        "SELECT unnest(setconfig) FROM pg_db_role_setting JOIN pg_database d"
        " ON d.oid = setdatabase WHERE setrole = 0 AND datname = %s",
        [model],
    )
    for (text,) in kept.fetchall():
        setting, _, value = text.partition("=")
        if setting.lower() in LIST_SETTINGS:
            set_list(server, name, setting, value)
            continue
        statement = sql.SQL("ALTER DATABASE {} SET {} TO {}")
        names = identifier, sql.Identifier(*setting.split("."))
        server.execute(statement.format(*names, sql.Literal(value)))


def set_list(server: psycopg.Connection, name: str, setting: str, value: str) -> None:
    """Quote each element; one literal would be one element."""
    statement = sql.SQL("ALTER DATABASE {} SET {} FROM CURRENT")
    with server.transaction():
        server.execute("SELECT set_config(%s, %s, true)", [setting, value])
        server.execute(statement.format(sql.Identifier(name), sql.Identifier(setting)))


def drop_database(server: psycopg.Connection, name: str) -> None:
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    server.execute(statement.format(sql.Identifier(name)))


def empty_valkey(settings: Mapping[str, str]) -> None:
    """Delete sessions of the replaced database."""
    password = settings.get("REDIS_PASSWORD") or None
    try:
        with Redis.from_url(settings["REDIS_URL"], password=password) as client:
            client.flushdb()
    except (RedisError, OSError) as error:
        raise DumpError(f"Valkey could not be emptied: {error}") from None


def swap(server: psycopg.Connection, name: str, new: str, former: str) -> None:
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    try:
        with server.transaction():
            for old_name, new_name in ((name, former), (new, name)):
                names = sql.Identifier(old_name), sql.Identifier(new_name)
                server.execute(rename.format(*names))
    except psycopg.errors.ObjectInUse as error:
        raise DumpError(" ".join(str(error).split())) from None


def drop_former(name: str, settings: Mapping[str, str]) -> None:
    database = find_database(settings)
    if not name.startswith(f"{database.name}_before_"):
        raise DumpError(f"{name} is not the name of a former database.")
    with database.with_name(MAINTENANCE_DATABASE).connect() as server:
        drop_database(server, name)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="script/restore",
        description="Put the contents of a dump in the place of the database, while "
        "the service is stopped. The database is replaced at the end, all at once, and "
        "only if all totals of the dump are right.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("file", nargs="?", type=Path, metavar="FILE")
    what.add_argument("--drop", metavar="NAME", help="drop a former database")
    parser.add_argument(
        "--drop-former", action="store_true", help="do not keep the former database"
    )
    arguments = parser.parse_args()
    exit_on_sigterm()
    try:
        if arguments.drop:
            drop_former(arguments.drop, os.environ)
        else:
            restore(arguments.file, os.environ, drop_former=arguments.drop_former)
    except (DumpError, psycopg.Error) as error:
        say(f"script/restore: {str(error).strip()}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
