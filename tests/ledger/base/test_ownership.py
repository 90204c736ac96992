"""The database itself refuses rows that would join two members' ledgers."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.models import Member
from ledger.models import Category, Entry, EntryTag, QuickEntry, QuickEntryTag
from tests.support.factories import (
    make_category,
    make_entry,
    make_quick_entry,
    make_tag,
    make_wallet,
)

pytestmark = pytest.mark.django_db


def assert_breaks(constraint: Any, write: Any) -> None:
    """Assert that this constraint refuses the write, at the latest on commit."""
    with pytest.raises(IntegrityError, match=constraint):
        write_at_once(write)


def write_at_once(write: Any) -> None:
    with transaction.atomic():
        write()
        execute("SET CONSTRAINTS ALL IMMEDIATE")


def execute(sql: Any, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


REFERENCES = [
    (Entry, make_entry, "category", make_category, "account_entry_category_owned"),
    (Entry, make_entry, "wallet", make_wallet, "account_entry_wallet_owned"),
    (
        QuickEntry,
        make_quick_entry,
        "category",
        make_category,
        "account_quick_entry_category_owned",
    ),
    (
        QuickEntry,
        make_quick_entry,
        "wallet",
        make_wallet,
        "account_quick_entry_wallet_owned",
    ),
    (
        Category,
        make_category,
        "parent",
        make_category,
        "account_category_parent_is_major",
    ),
]


@pytest.mark.parametrize(
    ("model", "make", "field", "make_target", "constraint"),
    REFERENCES,
    ids=[f"{case[0].__name__} {case[2]}" for case in REFERENCES],
)
def test_row_cannot_refer_to_another_members_row(
    model: Any,
    make: Any,
    field: str,
    make_target: Any,
    constraint: str,
    free_member: Member,
    other_member: Member,
) -> None:
    own, theirs = make(free_member), make_target(other_member)
    row = model.objects.filter(pk=own.pk)
    table = model._meta.db_table
    assert_breaks(constraint, lambda: row.update(**{field: theirs}))
    assert_breaks(constraint, lambda: make(free_member, **{field: theirs}))
    assert_breaks(
        constraint,
        lambda: execute(
            f"UPDATE {table} SET {field}_id = %s WHERE id = %s", theirs.pk, own.pk
        ),
    )
    assert_breaks(constraint, lambda: row.update(**{f"{field}_id": 987_654_321}))
    row.update(**{field: make_target(free_member)})


@pytest.mark.parametrize(
    ("make", "field", "make_target"),
    [(case[1], case[2], case[3]) for case in REFERENCES],
    ids=[f"{case[0].__name__} {case[2]}" for case in REFERENCES],
)
def test_row_with_references_cannot_change_its_member(
    make: Any, field: Any, make_target: Any, free_member: Member, other_member: Member
) -> None:
    own = make(free_member, **{field: make_target(free_member)})
    rows = type(own).objects.filter(pk=own.pk)
    assert_breaks("_owned|_is_major", lambda: rows.update(member=other_member))


@pytest.mark.parametrize(
    ("make", "field", "make_target"),
    [(case[1], case[2], case[3]) for case in REFERENCES],
    ids=[f"{case[0].__name__} {case[2]}" for case in REFERENCES],
)
def test_row_that_others_refer_to_cannot_be_deleted(
    make: Any, field: Any, make_target: Any, free_member: Member
) -> None:
    target = make_target(free_member)
    make(free_member, **{field: target})
    table = target._meta.db_table
    assert_breaks(
        "_owned|_is_major",
        lambda: execute(f"DELETE FROM {table} WHERE id = %s", target.pk),
    )


@pytest.mark.parametrize("whose", ["entry's", "tag's"])
def test_tag_of_another_member_cannot_be_put_on_an_entry(
    whose: str, free_member: Member, other_member: Member
) -> None:
    entry, theirs = make_entry(free_member), make_tag(other_member)
    member = free_member if whose == "entry's" else other_member
    assert_breaks(
        "account_entry_tag",
        lambda: EntryTag.objects.create(
            entry=entry, tag=theirs, member_id=member.pk, position=0
        ),
    )


@pytest.mark.parametrize("whose", ["quick entry's", "tag's"])
def test_tag_of_another_member_cannot_be_put_on_a_quick_entry(
    whose: str, free_member: Member, other_member: Member
) -> None:
    quick, theirs = make_quick_entry(free_member), make_tag(other_member)
    member = free_member if whose == "quick entry's" else other_member
    assert_breaks(
        "account_quick_entry_tag",
        lambda: QuickEntryTag.objects.create(
            quick_entry=quick, tag=theirs, member_id=member.pk, position=0
        ),
    )


@pytest.mark.parametrize("make", [make_entry, make_quick_entry])
def test_expense_cannot_have_an_income_category(make: Any, free_member: Member) -> None:
    income = make_category(free_member, type="income")
    assert_breaks("category_owned", lambda: make(free_member, category=income))


def test_category_in_use_cannot_change_its_type(free_member: Member) -> None:
    category = make_category(free_member)
    make_entry(free_member, category=category)
    rows = Category.objects.filter(pk=category.pk)
    assert_breaks("account_entry", lambda: rows.update(type="income"))


def test_third_level_is_impossible_by_insert(free_member: Member) -> None:
    major = make_category(free_member)
    minor = make_category(free_member, parent=major)
    assert_breaks(
        "account_category_parent_is_major",
        lambda: execute(
            "INSERT INTO account_category (member_id, type, name, parent_id, sort_order)"
            " VALUES (%s, 'expense', 'third', %s, 1)",
            free_member.pk,
            minor.pk,
        ),
    )


def test_third_level_is_impossible_by_moving_a_major_category(
    free_member: Member,
) -> None:
    major, other = make_category(free_member), make_category(free_member)
    make_category(free_member, parent=major)
    assert_breaks(
        "account_category_parent_is_major",
        lambda: execute(
            "UPDATE account_category SET parent_id = %s WHERE id = %s",
            other.pk,
            major.pk,
        ),
    )


def test_category_cannot_be_its_own_parent_in_the_database(free_member: Member) -> None:
    category = make_category(free_member)
    rows = Category.objects.filter(pk=category.pk)
    assert_breaks(
        "account_category_parent_is_major", lambda: rows.update(parent=category)
    )


def test_minor_category_of_another_type_is_impossible(free_member: Member) -> None:
    income = make_category(free_member, type="income")
    assert_breaks(
        "account_category_parent_is_major",
        lambda: make_category(free_member, parent=income),
    )


@pytest.mark.parametrize("column", ["level", "parent_level"])
def test_levels_cannot_be_written_by_hand(column: str, free_member: Member) -> None:
    category = make_category(free_member)
    with pytest.raises(Exception, match=column), transaction.atomic():
        execute(f"UPDATE account_category SET {column} = 1 WHERE id = %s", category.pk)


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"amount": 0}, "amount_positive"),
        ({"amount": -1}, "amount_positive"),
        ({"type": "other"}, "type_known"),
        ({"currency": "USD"}, "currency_whole"),
        ({"original_amount": 5}, "currency_whole"),
        ({"exchange_rate": 5}, "currency_whole"),
        ({"currency": "USD", "original_amount": 5}, "currency_whole"),
        ({"currency": "USD", "pending": True}, "currency_whole"),
        ({"currency": "USD", "exchange_rate": 5}, "currency_whole"),
        ({"installment_months": 1}, "installments"),
        ({"installment_months": 25}, "installments"),
        ({"installment_months": 3, "type": "income"}, "installments"),
    ],
)
def test_entry_that_breaks_a_rule_is_refused_by_the_database(
    values: dict[str, Any], constraint: str, free_member: Member
) -> None:
    assert_breaks(constraint, lambda: make_entry(free_member, **values))
