"""SHA-256 of the migrations of this service, with the files that they load.

A migration `0002_notes.py` loads the texts of `sql/0002/` and modules `_0002_*.py`
beside it. A database with other hashes is refused (decision 0172).
"""

import hashlib
import logging
import sys
from pathlib import Path

import psycopg
from django.apps import apps
from django.conf import settings

from core.db.sessions import open_session

Key = tuple[str, str]
TABLE = "applied_migration"
CREATE_TABLE = f"""
CREATE TABLE IF NOT EXISTS {TABLE} (
    app text, name text, sha256 text NOT NULL, PRIMARY KEY (app, name)
)
"""
_STORE = f"""
INSERT INTO {TABLE} (app, name, sha256) VALUES (%s, %s, %s)
ON CONFLICT (app, name) DO UPDATE SET sha256 = excluded.sha256
"""  # noqa: S608 - of constants only
_READ_APPLIED = """
SELECT app, name FROM django_migrations WHERE app = ANY(%s)
"""
_READ_HASHES = f"SELECT app, name, sha256 FROM {TABLE}"  # noqa: S608
_EXISTS = "SELECT to_regclass(%s) IS NOT NULL"

logger = logging.getLogger(__name__)


def list_hashes() -> dict[Key, str]:
    hashes = {}
    for config in apps.get_app_configs():
        folder = Path(config.path, "migrations")
        # Libraries may be installed below this directory too.
        is_own = folder.is_relative_to(settings.BASE_DIR)
        if is_own and "site-packages" not in folder.parts:
            for path in sorted(folder.glob("[0-9]*.py")):
                hashes[config.label, path.stem] = hash_migration(path)
    return hashes


def hash_migration(path: Path) -> str:
    number = path.stem.partition("_")[0]
    loaded = [
        *path.parent.glob(f"_{number}_*.py"),
        *path.parent.glob(f"sql/{number}/*.sql"),
    ]
    digest = hashlib.sha256(path.read_bytes())
    for file in sorted(loaded):
        digest.update(f"\0{file.name}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def prepare_hashes() -> str | None:
    """Store the hashes of migrations before they are applied.

    Return the reason if the database is refused. A crash cannot leave a migration
    without its hash.
    """
    hashes = list_hashes()
    with open_session() as session:
        applied = _read_applied(session, hashes)
        if problem := _find_problem(session, hashes, applied):
            return problem
        session.execute(CREATE_TABLE)
        for (app, name), sha256 in hashes.items():
            if (app, name) not in applied:
                session.execute(_STORE, [app, name, sha256])
    return None


def find_migration_problem() -> str | None:
    """Return why the database is refused, if it is."""
    hashes = list_hashes()
    with open_session() as session:
        return _find_problem(session, hashes, _read_applied(session, hashes))


def check_migrations_or_exit() -> None:
    """Exit if the database is refused, but not if it is down."""
    try:
        problem = find_migration_problem()
    except psycopg.OperationalError:
        logger.warning("the migrations of the database could not be checked")
        return
    if problem:
        sys.exit(f"migrations: {problem}")


def _read_applied(session: psycopg.Connection, hashes: dict[Key, str]) -> set[Key]:
    if not _has_table(session, "django_migrations"):
        return set()
    labels = sorted({app for app, _ in hashes})
    return set(session.execute(_READ_APPLIED, [labels]).fetchall())


def _find_problem(
    session: psycopg.Connection, hashes: dict[Key, str], applied: set[Key]
) -> str | None:
    if not applied:
        return None
    if not _has_table(session, TABLE):
        return (
            "the database is older than the first release, which cannot upgrade it:"
            " start with an empty one and restore the members' workbooks."
        )
    rows = session.execute(_READ_HASHES).fetchall()
    stored = {(app, name): sha256 for app, name, sha256 in rows}
    if unknown := sorted(applied - hashes.keys()):
        return f"the database is of a newer release: it has {_join(unknown)}."
    if changed := sorted(key for key in applied if stored.get(key) != hashes[key]):
        return (
            f"the database was made by another text of {_join(changed)}; a released"
            " migration never changes: run the release that made the database."
        )
    return None


def _has_table(session: psycopg.Connection, name: str) -> bool:
    row = session.execute(_EXISTS, [name]).fetchone()
    return bool(row and row[0])


def _join(keys: list[Key]) -> str:
    return ", ".join(".".join(key) for key in keys)
