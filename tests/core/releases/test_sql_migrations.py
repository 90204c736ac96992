"""Changed SQL texts become the next migration of their app."""

import importlib.util
from pathlib import Path

import pytest
from django.db import migrations

from core.releases.sql_migrations import make_sql_migration

FIRST = """-- migrate:up
CREATE OR REPLACE FUNCTION add(one int, two int)
RETURNS int LANGUAGE sql AS $$ SELECT one + two $$;

-- migrate:down
DROP FUNCTION add;
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Return an app with one released text."""
    app = tmp_path / "sums"
    released = app / "migrations" / "sql" / "0001"
    released.mkdir(parents=True)
    (app / "sql").mkdir()
    for folder in (released, app / "sql"):
        (folder / "add.sql").write_text(FIRST)
    (app / "migrations" / "0001_initial.py").write_text("")
    return app


def test_text_that_did_not_change_needs_no_migration(app: Path) -> None:
    assert make_sql_migration(app) is None


def test_changed_body_is_loaded_in_a_copy_of_its_own(app: Path) -> None:
    changed = FIRST.replace("one + two", "two + one")
    (app / "sql" / "add.sql").write_text(changed)
    path = make_sql_migration(app)
    assert path == app / "migrations" / "0002_add.py"
    assert (app / "migrations/sql/0002/add.sql").read_text() == changed
    text = path.read_text()
    assert 'sql_file("sums", "add", "0002", former="0001")' in text
    assert 'dependencies = [("sums", "0001_initial")]' in text
    assert "DROP" not in text
    assert make_sql_migration(app) is None


def test_function_with_other_arguments_takes_the_place_of_the_former(app: Path) -> None:
    (app / "sql" / "add.sql").write_text(FIRST.replace("two int)", "two bigint)"))
    path = make_sql_migration(app)
    assert path is not None
    assert "DROP FUNCTION add(one int, two int)" in path.read_text()


def test_written_migration_can_be_imported(
    app: Path, settings: pytest.FixtureRequest
) -> None:
    settings.BASE_DIR = app.parent  # type: ignore[attr-defined]
    (app / "sql" / "add.sql").write_text(FIRST.replace("two int)", "two bigint)"))
    path = make_sql_migration(app)
    spec = importlib.util.spec_from_file_location("written", path or "")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drop, load = module.Migration.operations
    assert drop.sql == "DROP FUNCTION add(one int, two int)"
    assert "two bigint" in load.sql[0]
    # The way back drops the new function, and makes the former one again.
    assert [each.split()[0] for each in load.reverse_sql] == ["DROP", "CREATE"]
    assert "two int" in load.reverse_sql[1]
    assert isinstance(load, migrations.RunSQL)
