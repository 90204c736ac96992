"""The name of the constraint that a write violates."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError, connection

from core.errors import violated_constraint_name


def error_of_worker(message: str, constraint_name: str | None = None) -> IntegrityError:
    """Return an error as Citus passes it on: the worker's text without its parts."""
    error = IntegrityError(message)
    cause: Any = Exception(message)
    cause.diag = SimpleNamespace(
        constraint_name=constraint_name, message_primary=message.partition("\n")[0]
    )
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            (
                'duplicate key value violates unique constraint "account_tag_name_102090"\n'
                "DETAIL:  Key (member_id, name)=(17, trip) already exists."
            ),
            "account_tag_name",
        ),
        (
            (
                'insert or update on table "account_entry_102100" violates foreign key '
                'constraint "account_entry_wallet_in_ledger_102100"'
            ),
            "account_entry_wallet_in_ledger",
        ),
        (
            (
                'new row for relation "account_entry_102100" violates check constraint '
                '"account_entry_installments_102100"'
            ),
            "account_entry_installments",
        ),
        # Checks keep their name.
        (
            (
                'new row for relation "account_entry_102128" violates check constraint '
                '"account_entry_amount_positive"'
            ),
            "account_entry_amount_positive",
        ),
        # One that no name is told of.
        (
            (
                'null value in column "name" of relation "account_102008" violates not-null'
                ' constraint\nDETAIL:  Failing row contains (constraint "mine_1").'
            ),
            None,
        ),
    ],
)
def test_name_is_read_from_the_message_of_a_shard(
    message: str, name: str | None
) -> None:
    assert violated_constraint_name(error_of_worker(message)) == name


def test_name_that_the_server_gives_is_taken_as_it_is() -> None:
    error = error_of_worker('unique constraint "first_1"', constraint_name="second_2")
    assert violated_constraint_name(error) == "second_2"


def test_error_of_no_server_has_no_constraint() -> None:
    assert violated_constraint_name(IntegrityError('constraint "name_102008"')) is None


@pytest.mark.django_db
def test_constraint_of_a_real_error_is_named() -> None:
    table = "CREATE TEMPORARY TABLE t (a int CONSTRAINT positive_1 CHECK (a > 0))"
    with connection.cursor() as cursor:
        cursor.execute(table)
        with pytest.raises(IntegrityError) as caught:
            cursor.execute("INSERT INTO t VALUES (0)")
    assert violated_constraint_name(caught.value) == "positive_1"
