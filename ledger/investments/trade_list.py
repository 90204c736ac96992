"""The trade list."""

from typing import Any

from django.db.models import Sum

from accounts.models import Member
from core.api.pagination import PageRequest
from ledger.base.ownership import get_owned_or_404
from ledger.models import Position, Stock, Trade


def list_trades_page(
    member: Member, filters: dict[str, Any], page: PageRequest
) -> tuple[int, list[Trade]]:
    """Return the count and one page; raise `NotFoundError` for an unknown stock."""
    if "stock_id" in filters:
        get_owned_or_404(Stock.objects.all(), member, filters["stock_id"])
    lookups = {
        "stock_id": "stock_id",
        "from_": "date__gte",
        "to": "date__lte",
        "side": "side",
    }
    conditions = {lookups[name]: value for name, value in filters.items()}
    rows = Trade.objects.owned_by(member).filter(**conditions)
    # Positions store the number of their trades.
    if set(filters) <= {"stock_id"}:
        positions = Position.objects.owned_by(member).filter(**filters)
        count = positions.aggregate(count=Sum("trade_count"))["count"] or 0
    else:
        count = rows.count()
    return count, page.slice_rows(rows.order_by("-date", "-id"))
