"""Dumps of the database, written and restored with PostgreSQL's programs.

Passwords are passed in the environment: arguments are visible to other users.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from devstack.environment import ROOT
from devstack.stores import StoreError, acquire_stores
from devstack.stores.postgres import find_program, program_version
from devstack.stores.store_supervisor import set_parent_death_signal

RESTORE_JOBS = 2
DEBIAN_PROGRAMS = "/usr/lib/postgresql/{version}/bin"
COUNTED_TABLES = {
    "members": "member",
    "entries": "account_entry",
    "posts": "board_post",
}
# Migrates the dump and compares all totals.
CHECK_COMMAND = "check_restored"


class DumpError(Exception):
    """The message is for operators."""


@dataclass(frozen=True)
class Database:
    """The password is used if the URL has none."""

    url: str
    password: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        """Return the parameters of libpq."""
        try:
            parameters = conninfo_to_dict(self.url)
        except psycopg.ProgrammingError:
            raise DumpError("DATABASE_URL is not a valid URL.") from None
        given = {name: str(value) for name, value in parameters.items()}
        if self.password:
            given.setdefault("password", self.password)
        # Standbys cannot be restored into.
        if "," in given.get("host", ""):
            given.setdefault("target_session_attrs", "read-write")
        return given

    @property
    def name(self) -> str:
        return self.parameters.get("dbname", "")

    def with_name(self, name: str) -> "Database":
        return Database(
            urlsplit(self.url)._replace(path=f"/{name}").geturl(), self.password
        )

    def connect(self) -> psycopg.Connection:
        try:
            return psycopg.connect(**self.parameters, autocommit=True)  # type: ignore[arg-type]
        except psycopg.OperationalError as error:
            raise DumpError(f"{self.name}: {' '.join(str(error).split())}") from None


def find_database(settings: Mapping[str, str]) -> Database:
    """Refuse a pooler and Citus."""
    if settings.get("DATABASE_TRANSACTION_POOLING", "").lower() in {"true", "1", "yes"}:
        raise DumpError(
            "DATABASE_URL is a pooler: set it to the server, and "
            "DATABASE_TRANSACTION_POOLING=false."
        )
    scheme, _, rest = settings["DATABASE_URL"].partition("://")
    if scheme.lower() not in {"postgresql", "postgres", "psql", "pgsql"} or not rest:
        raise DumpError("DATABASE_URL must begin with postgresql://.")
    database = Database(f"postgresql://{rest}", settings.get("DATABASE_PASSWORD", ""))
    with database.connect() as connection:
        query = "SELECT FROM pg_extension WHERE extname = 'citus'"
        if connection.execute(query).fetchone():
            raise DumpError("The ledgers are on Citus: see docs/citus.md, Backup.")
    return database


def write_dump(
    database: Database, path: Path, lock: int, programs: Path | None = None
) -> None:
    """Write a dump in PostgreSQL's custom format.

    The program keeps the descriptor `lock` open while it writes.
    """
    options = ["--format=custom", "--no-owner", "--no-privileges"]
    # Wait for a running migration, up to this time.
    options += ["--lock-wait-timeout=60s", f"--file={path}"]
    program = programs / "pg_dump" if programs else find_pg_program("pg_dump", database)
    run_program(program, options, database, pass_fds=(lock,))


def restore_dump(path: Path, database: Database) -> None:
    options = ["--exit-on-error", "--no-owner", "--no-privileges"]
    options += [f"--jobs={RESTORE_JOBS}", str(path)]
    run_program(find_pg_program("pg_restore", database), options, database)


def find_pg_program(name: str, database: Database) -> Path:
    """Return the program of the server's version if it is installed, else the wheel's.

    An older program may not know all parts of a dump.
    """
    with database.connect() as connection:
        version = connection.info.server_version // 10_000
    own = Path(DEBIAN_PROGRAMS.format(version=version), name)
    if own.exists():
        return own
    try:
        wheel = Path(find_program(name))
    except StoreError as error:
        raise DumpError(str(error)) from None
    if str(version) != program_version():
        say(
            f"{name} is of PostgreSQL {program_version()}, the server of {version}; "
            f"if this fails, install postgresql-client-{version}"
        )
    return wheel


def run_program(
    program: Path,
    options: list[str],
    database: Database,
    *,
    pass_fds: tuple[int, ...] = (),
) -> None:
    parameters = database.parameters
    password = parameters.pop("password", "")
    with (
        deferred_sigterm() as stop_deferring,
        subprocess.Popen(  # noqa: S603
            [str(program), f"--dbname={make_conninfo(**parameters)}", *options],
            env=os.environ | ({"PGPASSWORD": password} if password else {}),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=pass_fds,
            preexec_fn=set_parent_death_signal(signal.SIGKILL),
        ) as process,
    ):
        try:
            stop_deferring()
            _, errors = process.communicate()
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        ended = f"{program.name} ended with {process.returncode}"
        raise DumpError(errors.strip() or ended)


@contextmanager
def deferred_sigterm() -> Iterator[Callable[[], None]]:
    """Defer SIGTERM until the yielded function is called.

    An exception during a start would leave the program running.
    """
    received: list[int] = []
    handler = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))

    def stop_deferring() -> None:
        signal.signal(signal.SIGTERM, handler)
        if received:
            signal.raise_signal(signal.SIGTERM)

    try:
        yield stop_deferring
    finally:
        signal.signal(signal.SIGTERM, handler)


def check_dump(path: Path, settings: Mapping[str, str]) -> str:
    """Check a dump in a throw-away server, and return its row counts."""
    try:
        stores = acquire_stores(["postgres"], None)
    except StoreError as error:
        raise DumpError(str(error)) from None
    try:
        database = Database(stores.settings["DATABASE_URL"])
        restore_dump(path, database)
        return check_database(database, settings)
    finally:
        stores.release()


def check_database(database: Database, settings: Mapping[str, str]) -> str:
    """Migrate a restored database, compare all totals, and return its row counts."""
    environment = dict(settings)
    environment |= {
        "DATABASE_URL": database.url,
        "DATABASE_PASSWORD": database.password,
        "DATABASE_STATEMENT_SECONDS": "0",
    }
    ended = subprocess.run(  # noqa: S603
        [sys.executable, str(ROOT / "manage.py"), CHECK_COMMAND],
        env=environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        output = (ended.stdout + ended.stderr).strip()
        raise DumpError(f"The restored data is wrong:\n{output}")
    with database.connect() as connection:
        counts = {
            name: count_rows(connection, table)
            for name, table in COUNTED_TABLES.items()
        }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def count_rows(connection: psycopg.Connection, table: str) -> int:
    query = psycopg.sql.SQL("SELECT count(*) FROM {}")
    row = connection.execute(query.format(psycopg.sql.Identifier(table))).fetchone()
    return int(row[0]) if row else 0


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
