"""Refunds: income entries that take back an expense (spec 3.4).

All functions are called under `lock_ledger`.
"""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Sum
from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InUseError, InvalidFieldError
from ledger.entry_data import EntryData
from ledger.errors import RefundExceedsError
from ledger.lines import LineData, list_lines, read_lines, validate_shape
from ledger.models import Entry
from ledger.models.base import CategoryType, EntryType


def get_original(member: Member, entry_id: int) -> Entry:
    """Return the expense with its category, locked; raise `InvalidFieldError`."""
    rows = Entry.objects.owned_by(member).select_related("category")
    original: Entry | None = (
        rows.filter(pk=entry_id).select_for_update(of=("self",)).first()
    )
    if original is None or original.type != EntryType.EXPENSE:
        raise InvalidFieldError(
            "refundOf", gettext("Must be an expense."), "does_not_exist"
        )
    return original


def complete_refund(data: EntryData, original: Entry) -> EntryData:
    """Give a refund without a category those of its original."""
    if data.category is not None or data.lines:
        return data
    if original.line_count:
        return _complete_split_refund(data, original)
    category = original.category
    if category is None:
        return data
    return replace(data, category=category.name, category_type=category.type)


def _complete_split_refund(data: EntryData, original: Entry) -> EntryData:
    if data.amount is None:
        return data
    if data.amount > original.amount:
        raise RefundExceedsError
    of_original = read_lines(list_lines(original))
    lines = divide(data.amount, of_original)
    if all(line.wallet is not None for line in lines):
        # Too little for more than a wallet's line, which is no refund: it is a part of
        # the largest category.
        booked = [line for line in of_original if line.wallet is None]
        lines = tuple(sorted(booked, key=lambda line: -line.amount)[:1]) or lines
    if len(lines) == 1 and lines[0].wallet is None:
        (line,) = lines
        return replace(data, category=line.category, category_type=line.category_type)
    return replace(data, lines=lines, category_type=CategoryType.EXPENSE.value)


def link_refund(data: EntryData, original: Entry) -> EntryData:
    """Refer a refund from a notification to its expense, as far as it fits it.

    It gets the category of the expense, or its lines.
    """
    if original.type != EntryType.EXPENSE:
        return data
    if data.currency is None and (
        not data.amount or sum_refunds(original) + data.amount > original.amount
    ):
        return data
    if any(
        row is not None and row.is_moving
        for line in list_lines(original)
        for row in (line.wallet, line.category)
    ):
        return data
    data = replace(data, refund_of=original, excluded=original.excluded)
    completed = complete_refund(data, original)
    try:
        validate_refund(completed)
        validate_shape(completed)
    except InvalidFieldError:
        # Paid back to one of the wallets that the lines name.
        return data
    return completed


def divide(amount: int, lines: Sequence[LineData]) -> tuple[LineData, ...]:
    """Divide an amount in the proportion of lines, by largest remainders.

    Lines that get nothing are left out.
    """
    total = sum(line.amount for line in lines)
    shares = [line.amount * amount // total for line in lines]
    # The remainders of floor divisions are never negative, nor is what is missing.
    order = sorted(
        range(len(lines)), key=lambda n: (-(lines[n].amount * amount % total), n)
    )
    for number in order[: amount - sum(shares)]:
        shares[number] += 1
    return tuple(
        replace(line, amount=share)
        for line, share in zip(lines, shares, strict=True)
        if share
    )


def validate_refund(data: EntryData) -> None:
    """Raise `InvalidFieldError` unless a refund is booked on expenses."""
    types: set[str | None] = {
        line.category_type for line in data.lines if line.wallet is None
    }
    if not data.lines:
        types = {data.category_type}
    if data.type != EntryType.INCOME or types != {CategoryType.EXPENSE.value}:
        raise InvalidFieldError(
            "refundOf", gettext("Only allowed for incomes on expense categories.")
        )


def sum_refunds(original: Entry) -> int:
    """Return the sum of the refunds in the home currency, pending ones too."""
    rows = Entry.objects.filter(
        member_id=original.member_id, refund_of=original.pk, currency=None
    )
    total: int = rows.aggregate(total=Sum("amount"))["total"] or 0
    return total


def get_rest(original: Entry) -> int:
    """Return what is left of an expense after all refunds, foreign ones too."""
    rows = Entry.objects.filter(member_id=original.member_id, refund_of=original.pk)
    total: int = rows.aggregate(total=Sum("amount"))["total"] or 0
    return original.amount - total


def raise_if_refunds_exceed(original: Entry) -> None:
    """Raise `RefundExceedsError` if more is refunded than was spent."""
    if sum_refunds(original) > original.amount:
        raise RefundExceedsError


def validate_original(entry: Entry, type_: str, amount: int) -> None:
    """Raise an error if the refunds of an expense do not fit its new values."""
    if entry.type != EntryType.EXPENSE or (
        type_ == entry.type and amount >= entry.amount
    ):
        return
    refunds = Entry.objects.filter(member_id=entry.member_id, refund_of=entry.pk)
    if type_ != entry.type and refunds.exists():
        raise InUseError(gettext("The type cannot change while refunds refer to it."))
    if type_ == entry.type and sum_refunds(entry) > amount:
        raise RefundExceedsError


def release_refunds(original: Entry) -> None:
    """Leave the refunds of an expense that is about to be deleted to themselves."""
    if original.type == EntryType.EXPENSE:
        rows = Entry.objects.filter(member_id=original.member_id, refund_of=original.pk)
        rows.update(refund_of=None)
