"""Migration operations that load SQL files."""

from pathlib import Path
from typing import Any

import sqlparse
from django.conf import settings
from django.db import migrations

UP, DOWN = "-- migrate:up\n", "-- migrate:down\n"


def sql_file(app: str, name: str) -> migrations.RunSQL:
    """Return a reversible operation that runs `<app>/sql/<name>.sql`.

    The file holds the current text of functions and triggers: what creates or
    replaces them after the line `-- migrate:up`, what drops them after the line
    `-- migrate:down`.
    """
    up, down = read_sql_file(sql_path(app, name))
    return migrations.RunSQL(split_statements(up), split_statements(down))


def split_statements(text: str) -> list[Any]:
    """Return the statements of a text, which Citus takes one at a time only."""
    return [statement for statement in sqlparse.split(text) if statement]


def sql_path(app: str, name: str) -> Path:
    return Path(settings.BASE_DIR) / app / "sql" / f"{name}.sql"


def read_sql_file(path: Path) -> tuple[str, str]:
    """Return the statements that create what the file defines, and that drop it."""
    header_and_up, found_down, down = path.read_text().partition(DOWN)
    _, found_up, up = header_and_up.partition(UP)
    if not (found_up and found_down and up.strip() and down.strip()):
        raise ValueError(f"{path} needs the sections {UP!r} and {DOWN!r}.")
    return up, down
