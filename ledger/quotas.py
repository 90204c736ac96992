"""Quotas of the rows of lists that are answered as a whole (spec 10.1)."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext

from accounts.models import Member
from core.errors import LimitReachedError
from ledger.models import (
    Category,
    DefaultCategory,
    QuickEntry,
    RecurringRule,
    Stock,
    Tag,
    Wallet,
)

# Of one member; default categories are shared by all.
MAX_ROWS: dict[Any, int] = {
    Wallet: 1_000,
    Category: 1_000,
    Tag: 1_000,
    QuickEntry: 1_000,
    Stock: 1_000,
    RecurringRule: 500,
    DefaultCategory: 1_000,
}


def require_room(member: Member, model: type[Any], added: int = 1) -> None:
    """Raise `LimitReachedError` if the member may not have so many rows more.

    Call under `lock_ledger`, so that nobody adds rows in the meantime.
    """
    require_room_in(model.objects.owned_by(member), added)


def require_room_in(rows: QuerySet[Any], added: int = 1) -> None:
    """Raise `LimitReachedError` if the list may not have so many rows more."""
    limit = MAX_ROWS[rows.model]
    if rows.count() + added > limit:
        detail = gettext("The list is limited to {limit} rows.")
        raise LimitReachedError(detail.format(limit=limit))
