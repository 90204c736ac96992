"""The trade list: filters, pages and counts."""

from typing import Any

from django.db.models import Sum

from accounts.models import Member
from core.api.pagination import PageRequest
from ledger.models import Position, Stock, Trade
from ledger.models.base import OwnedQuerySet
from ledger.ownership import get_owned_or_404


def list_trades_page(
    member: Member, wanted: dict[str, Any], page: PageRequest
) -> tuple[int, list[Trade]]:
    """The count and one page, newest first: by date, then by id.

    `NotFound` for the stock of another member.
    """
    if "stock_id" in wanted:
        get_owned_or_404(Stock.objects.all(), member, wanted["stock_id"])
    rows = _filter(member, wanted).order_by("-date", "-id")
    return _count(member, wanted), page.slice_rows(rows)


def _filter(member: Member, wanted: dict[str, Any]) -> OwnedQuerySet:
    lookups = {
        "stock_id": "stock_id",
        "from_": "date__gte",
        "to": "date__lte",
        "side": "side",
    }
    given = {lookups[name]: value for name, value in wanted.items()}
    return Trade.objects.owned_by(member).filter(**given)


def _count(member: Member, wanted: dict[str, Any]) -> int:
    """From the kept positions, where neither days nor the side are asked for."""
    if set(wanted) - {"stock_id"}:
        return _filter(member, wanted).count()
    positions = Position.objects.owned_by(member).filter(**wanted)
    return positions.aggregate(sum=Sum("trades"))["sum"] or 0
