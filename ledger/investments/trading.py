"""Writes of stocks and trades."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from accounts.models import Member
from core.api.ordering import next_position, reorder
from core.errors import (
    DuplicateError,
    InUseError,
    MissingItemError,
    raise_on_constraint_violation,
)
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.base.quotas import require_room
from ledger.errors import NegativeHoldingsError
from ledger.models import Stock, Trade

STOCK_CODE_TAKEN = gettext_lazy("A stock with this code already exists.")

# Buys come before sells: a day ends with its smallest quantity, today's less all later
# changes. Days before the first change are not read.
_FIRST_NEGATIVE_DAY = """
    SELECT min(date) FROM (
        SELECT date,
            (SELECT coalesce(max(quantity), 0) FROM invest_position
             WHERE member_id = %(member)s AND stock_id = %(stock)s)
            + %(total)s - coalesce(sum(change) OVER (
                ORDER BY date DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0) AS held
        FROM (
            SELECT date, sum(change) AS change FROM (
                SELECT date,
                    CASE side WHEN 'BUY' THEN quantity ELSE -quantity END AS change
                FROM invest_trade
                WHERE member_id = %(member)s AND stock_id = %(stock)s
                    AND date >= %(since)s
                UNION ALL
                SELECT * FROM unnest(%(dates)s::date[], %(changes)s::numeric[])
            ) lines
            GROUP BY date
        ) days
    ) ends_of_days
    WHERE held < 0
"""


class QuantityChange(NamedTuple):
    stock_id: int
    day: date
    quantity: Decimal


@ledger_write
def create_stock(ledger: LockedLedger, values: dict[str, Any]) -> Stock:
    """Create the last stock of the list; raise `DuplicateError` for its code."""
    require_room(ledger, Stock)
    stock = Stock(
        member=ledger.member,
        sort_order=next_position(Stock.objects.owned_by(ledger.member)),
    )
    _save_stock(stock, values)
    return stock


@ledger_write
def update_stock(ledger: LockedLedger, stock_id: int, values: dict[str, Any]) -> Stock:
    """Update the named fields; raise `DuplicateError` for the code."""
    stock: Stock = get_owned_or_404(Stock.objects.all(), ledger.member, stock_id)
    _save_stock(stock, values)
    return stock


@ledger_write
def delete_stock(ledger: LockedLedger, stock_id: int) -> None:
    """Delete a stock; raise `InUseError` if it has trades."""
    stock = get_owned_or_404(Stock.objects.all(), ledger.member, stock_id)
    if Trade.objects.owned_by(ledger.member).filter(stock=stock).exists():
        raise InUseError(gettext("The stock has trades."))
    stock.delete()


@ledger_write
def reorder_stocks(ledger: LockedLedger, ids: list[int]) -> None:
    reorder(Stock.objects.owned_by(ledger.member), ids)


@ledger_write
def create_trade(ledger: LockedLedger, values: dict[str, Any]) -> Trade:
    """Create a trade; raise `NegativeHoldingsError` if more than held is sold."""
    trade = Trade(member=ledger.member, **values)
    _require_stock(ledger.member, trade.stock_id)
    _require_non_negative_holdings(ledger, [_to_quantity_change(trade)])
    trade.save(force_insert=True)
    return trade


@ledger_write
def update_trade(ledger: LockedLedger, trade_id: int, values: dict[str, Any]) -> Trade:
    """Update a trade, including its stock.

    Raises `NegativeHoldingsError` if holdings get negative on any day (spec 3.14).
    """
    trade: Trade = get_owned_or_404(Trade.objects.all(), ledger.member, trade_id)
    before = _to_quantity_change(trade)
    for name, value in values.items():
        setattr(trade, name, value)
    after = _to_quantity_change(trade)
    _require_stock(ledger.member, after.stock_id)
    if after != before:
        _require_non_negative_holdings(ledger, [_reverse(before), after])
    trade.save()
    return trade


@ledger_write
def delete_trade(ledger: LockedLedger, trade_id: int) -> None:
    """Delete a trade; raise `NegativeHoldingsError` if a later sell depends on it."""
    trade: Trade = get_owned_or_404(Trade.objects.all(), ledger.member, trade_id)
    _require_non_negative_holdings(ledger, [_reverse(_to_quantity_change(trade))])
    trade.delete()


def find_first_negative_day(
    member: Member, stock_id: int, changes: Iterable[QuantityChange]
) -> date | None:
    """Return the first day on which holdings would be negative."""
    of_stock = [change for change in changes if change.stock_id == stock_id]
    params: dict[str, Any] = {
        "member": member.pk,
        "stock": stock_id,
        "since": min(change.day for change in of_stock),
        "total": sum(change.quantity for change in of_stock),
        "dates": [change.day for change in of_stock],
        "changes": [change.quantity for change in of_stock],
    }
    with connection.cursor() as cursor:
        cursor.execute(_FIRST_NEGATIVE_DAY, params)
        day: date | None = cursor.fetchone()[0]
    return day


def _require_non_negative_holdings(
    ledger: LockedLedger, changes: list[QuantityChange]
) -> None:
    stocks = {change.stock_id for change in changes}
    days = [
        find_first_negative_day(ledger.member, stock_id, changes) for stock_id in stocks
    ]
    negative_days = [day for day in days if day is not None]
    if negative_days:
        raise NegativeHoldingsError(min(negative_days))


def _to_quantity_change(trade: Trade) -> QuantityChange:
    sign = 1 if trade.side == Trade.Side.BUY else -1
    return QuantityChange(trade.stock_id, trade.date, sign * trade.quantity)


def _reverse(change: QuantityChange) -> QuantityChange:
    return change._replace(quantity=-change.quantity)


def _require_stock(member: Member, stock_id: int) -> None:
    if not Stock.objects.owned_by(member).filter(pk=stock_id).exists():
        raise MissingItemError("stockId")


def _save_stock(stock: Stock, values: dict[str, Any]) -> None:
    previous_price = stock.current_price
    for name, value in values.items():
        setattr(stock, name, value)
    if stock.current_price != previous_price:
        stock.price_at = None if stock.current_price is None else timezone.now()
    with raise_on_constraint_violation(
        "invest_stock_code_unique", DuplicateError(STOCK_CODE_TAKEN)
    ):
        stock.save()
