"""Quotas of lists that are answered as a whole (spec 10.1)."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext

from core.errors import LimitReachedError
from ledger.base.ledger_write import LockedLedger
from ledger.models import (
    Category,
    DefaultCategory,
    DismissedTransfer,
    QuickEntry,
    RecurringRule,
    Stock,
    Tag,
    Wallet,
)

# Rows of one member. All members share the default categories.
MAX_ROWS: dict[Any, int] = {
    Wallet: 1_000,
    Category: 1_000,
    Tag: 1_000,
    QuickEntry: 1_000,
    Stock: 1_000,
    RecurringRule: 500,
    DefaultCategory: 1_000,
    DismissedTransfer: 10_000,
}


def require_room(ledger: LockedLedger, model: type[Any], added: int = 1) -> None:
    """Raise `LimitReachedError` for more rows than the member may have."""
    require_room_in(model.objects.owned_by(ledger.member), added)


def require_room_in(rows: QuerySet[Any], added: int = 1) -> None:
    limit = MAX_ROWS[rows.model]
    if rows.count() + added > limit:
        detail = gettext("The list is limited to {limit} rows.")
        raise LimitReachedError(detail.format(limit=limit))
