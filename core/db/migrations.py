"""Migration operations that load SQL files."""

from pathlib import Path
from typing import Any

import sqlparse
from django.conf import settings
from django.db import migrations

UP, DOWN = "-- migrate:up\n", "-- migrate:down\n"


def sql_file(
    app: str, name: str, version: str, *, former: str = ""
) -> migrations.RunSQL:
    """Return a reversible operation that runs a released SQL file.

    `make_sql_migration` writes it. The way back restores the version `former`.
    """
    up, down = read_sql_file(sql_path(app, f"migrations/sql/{version}", name))
    if former:
        down += read_sql_file(sql_path(app, f"migrations/sql/{former}", name))[0]
    return migrations.RunSQL(split_statements(up), split_statements(down))


def split_statements(text: str) -> list[Any]:
    """Split the text: Citus takes one statement at a time only."""
    return [statement for statement in sqlparse.split(text) if statement]


def sql_path(app: str, folder: str, name: str) -> Path:
    return Path(settings.BASE_DIR) / app / folder / f"{name}.sql"


def read_sql_file(path: Path) -> tuple[str, str]:
    header_and_up, found_down, down = path.read_text().partition(DOWN)
    _, found_up, up = header_and_up.partition(UP)
    if not (found_up and found_down and up.strip() and down.strip()):
        raise ValueError(f"{path} needs the sections {UP!r} and {DOWN!r}.")
    return up, down
