"""Refunds: income entries that take back an expense (spec 3.4).

All functions are called under `lock_ledger`.
"""

from dataclasses import replace

from django.db.models import Sum
from django.utils.translation import gettext

from accounts.models import Member
from core.errors import InUseError, InvalidFieldError
from ledger.entry_data import EntryData
from ledger.errors import RefundExceedsError
from ledger.lines import LineData, list_lines, read_lines, validate_shape
from ledger.models import Entry, EntryLine
from ledger.models.base import CategoryType, EntryType
from ledger.refund_shares import divide_refund


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


def raise_if_pending(original: Entry, refund: Entry) -> None:
    """Raise `InvalidFieldError` for a new refund that would count before its expense.

    A pending refund counts nowhere either. One that a card company announced stays with
    the expense, whichever of the two is confirmed first.
    """
    is_new = refund.refund_of_id != original.pk
    if original.pending and not refund.pending and is_new:
        raise InvalidFieldError("refundOf", gettext("Confirm the expense first."))


def complete_refund(
    data: EntryData, original: Entry, entry_id: int | None = None
) -> EntryData:
    """Give a refund without a category those of its original.

    `entry_id` is that of the refund, if it is stored.
    """
    if data.category is not None or data.lines:
        return data
    if original.line_count:
        return _complete_split_refund(data, original, entry_id)
    category = original.category
    if category is None:
        return data
    return replace(data, category=category.name, category_type=category.type)


def _complete_split_refund(
    data: EntryData, original: Entry, entry_id: int | None
) -> EntryData:
    if data.amount is None:
        return data
    # One in another currency may come back at another rate.
    if data.currency is None and data.amount > original.amount:
        raise RefundExceedsError
    of_original = read_lines(list_lines(original))
    refunded = _list_refunded_lines(original, entry_id)
    lines = divide_refund(data.amount, of_original, refunded)
    if len(lines) == 1 and lines[0].wallet is None:
        (line,) = lines
        return replace(data, category=line.category, category_type=line.category_type)
    return replace(data, lines=lines, category_type=CategoryType.EXPENSE.value)


def _list_refunded_lines(original: Entry, entry_id: int | None) -> list[LineData]:
    """Return the lines of the other refunds of an expense; a flat one is its line."""
    member_id = original.member_id
    refunds = Entry.objects.filter(member_id=member_id, refund_of=original.pk)
    others = list(refunds.exclude(pk=entry_id).select_related("category"))
    flat = [
        LineData(
            entry.amount,
            entry.category.name if entry.category else None,
            entry.category_type,
            memo=entry.memo,
        )
        for entry in others
        if not entry.line_count
    ]
    split_ids = [entry.pk for entry in others if entry.line_count]
    rows = EntryLine.objects.filter(member_id=member_id, entry__in=split_ids)
    return [*flat, *read_lines(list(rows.select_related("category", "wallet")))]


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
