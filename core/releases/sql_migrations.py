"""The next migration of changed SQL texts.

`<app>/sql/*.sql` are the current texts. A released migration loads a copy,
`<app>/migrations/sql/<version>/<name>.sql`.
"""

import re
from pathlib import Path

_FUNCTION = re.compile(r"CREATE OR REPLACE FUNCTION (\w+\s*\([^)]*\))")
_TEMPLATE = '''"""{title}."""

from django.db import migrations

from core.db.migrations import sql_file


class Migration(migrations.Migration):
    dependencies = [("{app}", "{last}")]

    operations = [
{operations}
    ]
'''


def find_released_texts(migrations: Path) -> dict[str, Path]:
    files = sorted(migrations.glob("sql/*/*.sql"), key=lambda path: path.parent.name)
    return {path.stem: path for path in files}


def list_changed_names(app: Path) -> list[str]:
    released = find_released_texts(app / "migrations")
    return [
        path.stem
        for path in sorted(app.glob("sql/*.sql"))
        if path.stem not in released
        or path.read_bytes() != released[path.stem].read_bytes()
    ]


def make_sql_migration(app: Path) -> Path | None:
    """Copy the changed texts of an app, and write the migration that loads them.

    A function whose arguments changed is dropped first, or both would stand.
    """
    names = list_changed_names(app)
    if not names:
        return None
    migrations = app / "migrations"
    last = max(path.stem for path in migrations.glob("[0-9]*.py"))
    version = f"{int(last[:4]) + 1:04}"
    released = find_released_texts(migrations)
    folder = migrations / "sql" / version
    folder.mkdir(parents=True)
    drops, loads = [], []
    for name in names:
        text = (app / "sql" / f"{name}.sql").read_text()
        (folder / f"{name}.sql").write_text(text)
        former = ""
        if name in released:
            former = f', former="{released[name].parent.name}"'
            gone = _list_functions(released[name].read_text()) - _list_functions(text)
            drops += [f"DROP FUNCTION {signature}" for signature in sorted(gone)]
        loads.append(f'sql_file("{app.name}", "{name}", "{version}"{former})')
    dropped = [f"migrations.RunSQL({drop!r}, migrations.RunSQL.noop)" for drop in drops]
    path = migrations / f"{version}_{'_'.join(names)[:40]}.py"
    path.write_text(
        _TEMPLATE.format(
            title=f"Current text of {', '.join(names)}",
            app=app.name,
            last=last,
            operations="\n".join(f"        {each}," for each in dropped + loads),
        )
    )
    return path


def _list_functions(text: str) -> set[str]:
    return {" ".join(match.split()) for match in _FUNCTION.findall(text)}
