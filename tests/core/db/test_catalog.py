"""The live catalog equals the SQL files and the models."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pglast
import pytest
from django.apps import apps
from django.db import connection, models

from core.db.constraints import CompositeForeignKey
from core.db.migrations import read_sql_file, split_statements
from devstack.environment import ROOT
from tests.support.citus import has_citus

pytestmark = pytest.mark.django_db

# Extensions bring functions of their own.
FUNCTIONS = """
SELECT proname, pg_get_functiondef(oid) FROM pg_proc
WHERE pronamespace = 'public'::regnamespace
  AND NOT EXISTS (
    SELECT FROM pg_depend
    WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e'
  )
"""
TRIGGERS = """
SELECT tgname, pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger
JOIN pg_class ON pg_class.oid = tgrelid
WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace
"""
FOREIGN_KEYS = """
SELECT conname, conrelid::regclass::text, confrelid::regclass::text,
       ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS key (number, place)
             JOIN pg_attribute ON attrelid = conrelid AND attnum = number ORDER BY place),
       ARRAY(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY AS key (number, place)
             JOIN pg_attribute ON attrelid = confrelid AND attnum = number ORDER BY place)
FROM pg_constraint
WHERE contype = 'f' AND connamespace = 'public'::regnamespace
"""
PLAN_BY_VALUES = "ALTER FUNCTION account_suggest_category RESET plan_cache_mode"
WITHOUT_FOREIGN_KEY = {
    ("account_recurring_occurrence", "entry_id"): "the entry may have been deleted",
    ("board_comment", "reply_to_id"): "the comment may have been deleted",
    # Locked by what they are about (decision 0231).
    ("board_case", "author_id"): "who reports would wait for the author",
    ("inbox_item", "member_id"): "who writes would wait for whom it tells",
    ("inbox_item", "actor_id"): "the same",
    ("announcement_mark", "announcement_id"): "a job deletes the marks of those over",
}
CREATED = re.compile(r"^CREATE OR REPLACE (FUNCTION|TRIGGER) (\w+)", re.M)
DROPPED = re.compile(r"^DROP (FUNCTION|TRIGGER) (\w+)", re.M)


def rows(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def sql_files() -> list[Path]:
    found = sorted(ROOT.glob("*/sql/*.sql"))
    assert found
    return found


def test_functions_and_triggers_of_the_database_are_those_of_the_files() -> None:
    created = [
        match.groups()
        for path in sql_files()
        for match in CREATED.finditer(read_sql_file(path)[0])
    ]
    live = [("FUNCTION", name) for name, _ in rows(FUNCTIONS)]
    live += [("TRIGGER", name) for name, _ in rows(TRIGGERS)]
    assert sorted(created) == sorted(live)


def test_files_create_again_what_the_database_has() -> None:
    # Text, options and conditions: PostgreSQL prints both times in its own form.
    before = sorted(rows(FUNCTIONS)), sorted(rows(TRIGGERS))
    with connection.cursor() as cursor:
        for path in sql_files():
            for statement in split_statements(read_sql_file(path)[0]):
                cursor.execute(statement)
        if has_citus():
            # As `distribute` does: see ledger/management/distribution.py.
            cursor.execute(PLAN_BY_VALUES)
    assert (sorted(rows(FUNCTIONS)), sorted(rows(TRIGGERS))) == before


def test_files_drop_what_they_create_and_create_in_no_other_form() -> None:
    for path in sql_files():
        up, down = read_sql_file(path)
        created = CREATED.findall(up)
        assert len(created) == len(re.findall(r"^CREATE\b", up, re.M)), path
        assert sorted(DROPPED.findall(down)) == sorted(created), path


def test_files_are_split_as_postgresql_splits_them() -> None:
    for path in sql_files():
        for part in read_sql_file(path):
            statements = split_statements(part)
            assert len(statements) == len(pglast.parse_sql(part)), path
            assert all(len(pglast.parse_sql(each)) == 1 for each in statements), path


def test_every_sql_file_is_loaded_by_a_migration() -> None:
    for path in sql_files():
        app, name = path.parent.parent.name, path.stem
        folder = ROOT / app / "migrations"
        text = "".join(file.read_text() for file in folder.glob("0*.py"))
        for released in folder.glob(f"sql/*/{name}.sql"):
            version = released.parent.name
            assert text.count(f'sql_file("{app}", "{name}", "{version}"') == 1, released


def own_models() -> list[type[models.Model]]:
    return [
        model
        for model in apps.get_models()
        if Path(apps.get_app_config(model._meta.app_label).path).is_relative_to(ROOT)
        and ".venv" not in apps.get_app_config(model._meta.app_label).path
    ]


def columns_of(model: type[models.Model], names: Sequence[str]) -> tuple[str, ...]:
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    return tuple(field.column for field in fields)


def test_composite_foreign_keys_of_the_models_are_those_of_the_database() -> None:
    declared = set()
    for model in own_models():
        for key in model._meta.constraints:
            if isinstance(key, CompositeForeignKey):
                target = key.target_model(model)
                declared.add(
                    (
                        key.name,
                        model._meta.db_table,
                        target._meta.db_table,
                        columns_of(model, key.fields),
                        columns_of(target, key.to_fields),
                    )
                )
    live = {
        (name, table, target, tuple(columns), tuple(target_columns))
        for name, table, target, columns, target_columns in rows(FOREIGN_KEYS)
        if len(columns) > 1 or target == "account_ledger"
    }
    assert declared == live
    assert len(declared) > 20


def test_every_foreign_key_between_rows_of_members_carries_the_member() -> None:
    # No row of a member can refer to a row of another member's ledger (spec 1.8).
    owned = {
        model._meta.db_table
        for model in apps.get_app_config("ledger").get_models()
        if "member_id" in {field.column for field in model._meta.local_fields}
    }
    between = [
        (name, columns, target_columns)
        for name, table, target, columns, target_columns in rows(FOREIGN_KEYS)
        if table in owned and target in owned
    ]
    assert len(between) > 20
    for name, columns, target_columns in between:
        pairs = set(zip(columns, target_columns, strict=True))
        assert ("member_id", "member_id") in pairs, name


def test_every_reference_between_rows_of_members_is_a_foreign_key() -> None:
    # A field with `db_constraint=False` needs a composite foreign key instead.
    keys = {
        (table, column)
        for _, table, _, columns, _ in rows(FOREIGN_KEYS)
        for column in columns
    }
    for model in own_models():
        fields: list[Any] = list(model._meta.local_fields)
        for field in fields:
            if field.is_relation and not field.db_constraint:
                key = (model._meta.db_table, field.column)
                is_total = model._meta.db_table.endswith("_total")
                assert key in keys or is_total or key in WITHOUT_FOREIGN_KEY, field


# All who refer to a category write under the lock of its ledger.
UNDER_LEDGER_LOCK = {
    ("account_card_place", "place"),
    ("account_category_place", "level"),
}


def test_no_generated_column_is_a_key_of_its_row() -> None:
    # PostgreSQL would lock the row of an update as if its key changed.
    #
    # It does so where a trigger may change the row before the update, and with it what
    # the column is computed from. Such an update waits for all who refer to the row.
    sql = """
        SELECT i.indexrelid::regclass::text, a.attname
        FROM pg_index i JOIN pg_attribute a
            ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        WHERE i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL
            AND a.attgenerated = 's' AND EXISTS (
                -- Before an update, for each row.
                SELECT FROM pg_trigger t
                WHERE t.tgrelid = i.indrelid AND t.tgtype & 19 = 19
            )
    """
    with connection.cursor() as cursor:
        cursor.execute(sql)
        assert set(cursor.fetchall()) == UNDER_LEDGER_LOCK
