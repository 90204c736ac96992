"""Stored values that decide on a write."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext

from core.errors import InvalidFieldError
from ledger.base.ledger_write import LockedLedger
from ledger.base.ownership import get_owned_or_404
from ledger.entries.refunds import Facts, Original, name_refund
from ledger.entries.rows import OF_ENTRIES, read_shape
from ledger.entry_shape import EXPENSE, EntryShape, Ref
from ledger.errors import MissingWalletError
from ledger.models import Card, Category, Entry, EntryLine, Wallet


def get_entry(ledger: LockedLedger, entry_id: int) -> Entry:
    """Return the entry with its wallets and category; raise `NotFoundError`."""
    rows = Entry.objects.select_related("wallet", "category", "to_wallet")
    entry: Entry = get_owned_or_404(rows, ledger.member, entry_id)
    return entry


def raise_on_unknown_category(ledger: LockedLedger, shape: EntryShape) -> None:
    """Raise `InvalidFieldError` if no category of its type has the name."""
    named = {"type": shape.category_type, "name": shape.category}
    rows = Category.objects.owned_by(ledger.member).filter(**named)
    if shape.category is not None and not rows.exists():
        detail = gettext("The new type has no category of this name.")
        raise InvalidFieldError("category", detail, "does_not_exist")


def load_facts(
    ledger: LockedLedger, entry: Entry, shape: EntryShape, before: EntryShape | None
) -> Facts:
    """Return the facts for a new shape of an entry with its stored values.

    Raises `InvalidFieldError` for a missing card, and for a refund of anything but an
    expense of the member.
    """
    kind = None
    if shape.installment_months is not None and shape.wallet is not None:
        wallets = Wallet.objects.owned_by(ledger.member).filter(pk=shape.wallet)
        kind = wallets.values_list("kind", flat=True).first()
        if kind is None:
            raise MissingWalletError
    ids = shape.refunded_ids
    originals: dict[Ref, Original] = {}
    if ids:
        rows = Entry.objects.owned_by(ledger.member).select_related("category")
        expenses = rows.filter(type=EXPENSE).in_bulk(ids)
        for expense_id in ids:
            if expense_id not in expenses:
                detail = gettext("Must be an expense.")
                name = name_refund(shape, expense_id)
                raise InvalidFieldError(name, detail, "does_not_exist")
            originals[expense_id] = read_original(
                ledger, expenses[expense_id], entry.pk
            )
    return Facts(
        wallet_kind=kind,
        originals=originals,
        is_pending=entry.pending,
        before=before,
        has_bill=_has_bill(ledger, shape, before),
    )


def _has_bill(
    ledger: LockedLedger, shape: EntryShape, before: EntryShape | None
) -> bool:
    """Return True if one of the wallets is a card whose bills are known.

    A stored month stays as it is while the wallets stay.
    """
    if shape.bill_month is None:
        return True
    if (
        before is not None
        and before.bill_month == shape.bill_month
        and before.wallet_ids == shape.wallet_ids
    ):
        return True
    cards = Card.objects.owned_by(ledger.member).filter(pk__in=shape.wallet_ids)
    return cards.exclude(terms=[], billed_with=None).exists()


def read_original(
    ledger: LockedLedger, expense: Entry, refund_id: int | None = None
) -> Original:
    """Return a stored expense with its refunds, without the refund `refund_id`."""
    rows = Entry.objects.owned_by(ledger.member).select_related("category")
    by_lines = EntryLine.objects.owned_by(ledger.member).filter(refund_of=expense.pk)
    found = rows.filter(Q(refund_of=expense.pk) | Q(pk__in=by_lines.values("entry_id")))
    refunds = list(found.exclude(pk=refund_id))
    split_ids = [refund.pk for refund in refunds if refund.line_count]
    lines: dict[int, list[Any]] = defaultdict(list)
    if split_ids:
        stored = EntryLine.objects.owned_by(ledger.member).filter(entry__in=split_ids)
        for line in stored.select_related("category").order_by("position"):
            lines[line.entry_id].append(line)
    own_lines = OF_ENTRIES.list_lines(expense) if expense.line_count else []
    expense_shape = read_shape(expense, own_lines)
    return Original(
        id=expense.pk,
        shape=replace(expense_shape, tags=OF_ENTRIES.list_tag_names(expense)),
        is_pending=expense.pending,
        refunds=tuple(read_shape(refund, lines[refund.pk]) for refund in refunds),
    )
