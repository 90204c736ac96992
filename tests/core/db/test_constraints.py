"""Composite foreign keys: declared, checked, validated, added and removed."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.migrations.writer import MigrationWriter

from core.db.constraints import CompositeForeignKey
from ledger.models import Entry
from tests.support.factories import make_category, make_member, make_wallet

OWNED_WALLET: dict[str, Any] = {
    "name": "account_entry_wallet_owned",
    "fields": ["member", "wallet"],
    "to": "ledger.Wallet",
    "to_fields": ["member", "id"],
}


def key(**changes: Any) -> CompositeForeignKey:
    return CompositeForeignKey(**OWNED_WALLET | changes)


def check(constraint: CompositeForeignKey) -> list[str | None]:
    errors = constraint._check(Entry, connection)
    return [error.id for error in errors]


def test_a_migration_writes_it_and_reads_the_same() -> None:
    constraint = key(on_delete="SET NULL (wallet_id)")
    text, imports = MigrationWriter.serialize(constraint)
    scope: dict[str, Any] = {}
    exec("\n".join(imports), scope)
    assert eval(text, scope) == constraint == constraint.clone()
    assert constraint != key()
    assert len({constraint, constraint.clone(), key()}) == 2


def test_fields_pair_up() -> None:
    with pytest.raises(ValueError, match="same length"):
        key(to_fields=["id"])


def test_what_it_names_has_to_exist_and_to_be_unique() -> None:
    assert check(key()) == []
    assert check(key(fields=["member", "purse"])) == ["models.E012"]
    assert check(key(to="ledger.Purse")) == ["core.E001"]
    assert check(key(to_fields=["member", "purse"])) == ["core.E001"]
    assert check(key(to_fields=["member", "kind"])) == ["core.E002"]


def test_row_that_it_refers_to_has_to_exist(db: None) -> None:
    member, wallet = make_member(), make_wallet(make_member())
    own = make_wallet(member)
    constraint = key()
    constraint.validate(Entry, Entry(member=member, wallet=own))
    constraint.validate(Entry, Entry(member=member, wallet=None))
    theirs = Entry(member=member, wallet=wallet)
    with pytest.raises(ValidationError, match="account_entry_wallet_owned"):
        constraint.validate(Entry, theirs)
    constraint.validate(Entry, theirs, exclude={"wallet"})


def test_columns_that_the_database_computes_are_left_to_it(db: None) -> None:
    category = make_category(make_member())
    category.validate_constraints()
    category.refresh_from_db()
    assert category.level is not None


def test_schema_editor_removes_and_adds_it(db: None) -> None:
    def names() -> set[str]:
        with connection.cursor() as cursor:
            found = connection.introspection.get_constraints(cursor, "account_entry")
        return set(found)

    constraint = key()
    assert constraint.name in names()
    with connection.schema_editor() as editor:
        editor.remove_constraint(Entry, constraint)
    assert constraint.name not in names()
    with connection.schema_editor() as editor:
        editor.add_constraint(Entry, constraint)
        assert constraint.name not in names()  # at the end, as Django's foreign keys
    assert constraint.name in names()


def test_table_that_is_dropped_takes_the_waiting_key_with_it(db: None) -> None:
    with connection.schema_editor(collect_sql=True) as editor:
        editor.add_constraint(Entry, key())
        [waiting] = editor.deferred_sql
        assert waiting.references_table("account")
        assert waiting.references_table("account_entry")
        assert not waiting.references_table("account_tag")
        assert str(waiting) == (
            'ALTER TABLE "account_entry" ADD CONSTRAINT "account_entry_wallet_owned" '
            'FOREIGN KEY ("member_id", "wallet_id") REFERENCES '
            '"account" ("member_id", "id")'
        )
