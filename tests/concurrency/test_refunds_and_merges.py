"""Refunds that follow, merges with fees and dismissals beside other writers (C4, C5).

Each race is shown first without the lock of the ledger.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import date
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from accounts.models import Member
from core.errors import DomainError
from ledger.base import ledger_write
from ledger.entries.merges import Fee, merge_entries, merge_with_fee, unmerge_entry
from ledger.entries.transfer_candidates import (
    dismiss_transfer,
    list_transfer_candidates,
)
from ledger.entries.writing import create_entry, update_entry
from ledger.entry_shape import EntryShape, LineShape
from ledger.errors import LinesMismatchError
from ledger.models import DismissedTransfer, Entry, EntryLine
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.races import call_before
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db(transaction=True)

DAY = date(2026, 11, 2)


def run_without_and_with_lock(
    monkeypatch: pytest.MonkeyPatch, race: Callable[[], Any]
) -> tuple[Any, Any]:
    with monkeypatch.context() as patch:
        patch.setattr(ledger_write, "advisory_xact_lock", lambda *_: None)
        without = race()
    return without, race()


def change(member: Member, entry: Entry, **values: Any) -> None:
    update_entry(member, entry.pk, values, timezone.now(), is_partial=True)


def test_refund_beside_a_correction_has_the_corrected_category(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [make_category(free_member).name for _ in range(2)]

    def correct_while_refunding() -> str:
        expense = make_entry(free_member, amount=30)
        change(free_member, expense, category=names[0])
        refund = EntryShape(date=DAY, type="income", amount=20, refund_of=expense.pk)

        def give_back() -> None:
            create_entry(free_member, refund, timezone.now())

        # After the refunds to correct were listed.
        with call_before('UPDATE "account_entry"', give_back) as refunded:
            change(free_member, expense, category=names[1])
        refunded.result()
        back = Entry.objects.select_related("category").get(refund_of=expense.pk)
        assert back.category is not None
        return str(back.category.name)

    without, with_lock = run_without_and_with_lock(monkeypatch, correct_while_refunding)
    assert (without, with_lock) == (names[0], names[1])


def test_lines_of_two_deposits_do_not_exceed_one_purchase(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refund_twice() -> int:
        expense = make_entry(free_member, amount=30)
        lines = (
            LineShape(20, category_type="expense", refund_of=expense.pk),
            LineShape(1, category_type="income"),
        )
        deposit = EntryShape(date=DAY, type="income", amount=21, lines=lines)

        def give_back() -> None:
            create_entry(free_member, deposit, timezone.now())

        with (
            call_before("SELECT account_create_entry", give_back) as other,
            suppress(DomainError),
        ):
            give_back()
        other.exception()
        return EntryLine.objects.filter(refund_of=expense.pk).count()

    assert run_without_and_with_lock(monkeypatch, refund_twice) == (2, 1)
    assert_rollups_are_right()


def test_merge_with_a_fee_beside_an_edit_has_the_amounts_of_one_of_them(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, cash = make_wallet(free_member), make_wallet(free_member)

    def merge_while_editing() -> bool:
        expense = make_entry(free_member, amount=10_500, wallet=bank)
        income = make_entry(free_member, type="income", amount=10_000, wallet=cash)

        def edit() -> None:
            change(free_member, expense, amount=10_800)

        with call_before('DELETE FROM "account_entry"', edit) as edited:
            try:
                merge_with_fee(
                    free_member, expense.pk, income.pk, timezone.now(), Fee()
                )
            except IntegrityError:
                # Only the database found that the lines no longer add up.
                return False
        # After the merge, another amount needs other lines.
        assert isinstance(edited.exception(), LinesMismatchError)
        return True

    assert run_without_and_with_lock(monkeypatch, merge_while_editing) == (False, True)


def test_dismissal_beside_a_merge_leaves_no_pair(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, cash = make_wallet(free_member), make_wallet(free_member)

    def dismiss_while_merging() -> type[BaseException] | None:
        expense = make_entry(free_member, amount=500, wallet=bank)
        income = make_entry(free_member, type="income", amount=500, wallet=cash)

        def merge() -> None:
            merge_entries(free_member, expense.pk, income.pk, timezone.now())

        error: type[BaseException] | None = None
        with call_before('INSERT INTO "account_dismissed', merge) as merged:
            try:
                dismiss_transfer(free_member, expense.pk, income.pk)
            except IntegrityError as raised:
                error = type(raised)
        assert merged.exception() is None
        assert not DismissedTransfer.objects.exists()
        assert list_transfer_candidates(free_member, DAY, DAY) == []
        return error

    found = run_without_and_with_lock(monkeypatch, dismiss_while_merging)
    assert found == (IntegrityError, None)


def test_new_date_beside_an_unmerge_is_named_or_kept(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank, cash = make_wallet(free_member), make_wallet(free_member)
    later = date(2026, 11, 5)

    def unmerge_while_dating() -> bool:
        expense = make_entry(free_member, amount=500, wallet=bank)
        income = make_entry(free_member, type="income", amount=500, wallet=cash)
        merge_entries(free_member, expense.pk, income.pk, timezone.now())

        def give_date() -> None:
            change(free_member, expense, date=later)

        with call_before('UPDATE "account_entry"', give_date) as dated:
            unmerged = unmerge_entry(free_member, expense.pk, timezone.now())
        dated.exception()
        expense.refresh_from_db()
        is_named = [each.field for each in unmerged.given_up] == ["date"]
        return is_named or expense.date == later

    assert run_without_and_with_lock(monkeypatch, unmerge_while_dating) == (False, True)
