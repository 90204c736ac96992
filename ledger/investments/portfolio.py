"""The portfolio: what is held of each stock, what it cost, and what it is worth."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection

from accounts.models import Member
from ledger.investments import cost_basis
from ledger.investments.cost_basis import MONEY_SCALE, QUANTITY_SCALE, ReplayedPosition
from ledger.investments.prices import Price, get_freshness_cutoff

_POSITIONS = """
    SELECT s.id, s.code, s.name, s.market,
        (p.quantity * 1000000)::numeric(40), p.cost, p.realized,
        p.replayed_version IS NOT DISTINCT FROM p.version, p.version,
        coalesce(q.home_price, s.current_price),
        CASE WHEN q.home_price IS NULL THEN s.price_at ELSE q.at END,
        q.home_price IS NULL OR q.failed OR q.fetched_at < %s
    FROM invest_position p
    JOIN invest_stock s ON s.id = p.stock_id
    LEFT JOIN stock_quote q ON q.code = s.code
    WHERE p.member_id = %s AND p.trades > 0
    ORDER BY p.quantity = 0, s.sort_order, s.id
"""
_TRADES = """
    SELECT stock_id, date, side = 'SELL', (quantity * 1000000)::bigint, price, fee, tax
    FROM invest_trade WHERE member_id = %s AND stock_id = ANY(%s)
    ORDER BY stock_id, date, side, id
"""
_SAVE_REPLAYS = """
    WITH locked AS (
        SELECT p.stock_id, found.cost, found.realized
        FROM invest_position p JOIN unnest(
            %(stocks)s::bigint[], %(versions)s::bigint[],
            %(costs)s::numeric[], %(realized)s::numeric[]
        ) AS found (stock_id, version, cost, realized) USING (stock_id)
        WHERE p.version = found.version
        ORDER BY p.stock_id FOR NO KEY UPDATE OF p SKIP LOCKED
    )
    UPDATE invest_position p
    SET cost = locked.cost, realized = locked.realized, replayed_version = p.version
    FROM locked WHERE p.stock_id = locked.stock_id
"""
"""Only where no trade came in between, and without waiting for anybody."""
_HOLDINGS_VALUE = """
    SELECT coalesce(sum(p.quantity * coalesce(q.home_price, s.current_price)), 0),
        coalesce(bool_or(coalesce(q.home_price, s.current_price) IS NULL), false)
    FROM invest_position p
    JOIN invest_stock s ON s.id = p.stock_id
    LEFT JOIN stock_quote q ON q.code = s.code
    WHERE p.member_id = %s AND p.quantity > 0
"""


@dataclass(frozen=True, slots=True)
class Holding:
    """One stock that is or was held; money in whole home-currency units, rounded."""

    stock_id: int
    code: str
    name: str
    market: str
    price: Price
    quantity: Decimal
    average_cost: Decimal | None
    cost_basis: int
    market_value: int | None
    unrealized_profit: int | None
    unrealized_rate: Decimal | None
    realized_profit: int


@dataclass(frozen=True, slots=True)
class PortfolioTotals:
    """Sums over all holdings, rounded once."""

    cost_basis: int
    market_value: int
    unrealized_profit: int
    unrealized_rate: Decimal | None
    realized_profit: int


@dataclass(frozen=True, slots=True)
class Portfolio:
    holdings: list[Holding]
    totals: PortfolioTotals


@dataclass(slots=True)
class StockRow:
    """A stock with its exact position, which is None until its trades are replayed."""

    stock_id: int
    code: str
    name: str
    market: str
    version: int
    position: ReplayedPosition | None
    price: Price


def get_portfolio(member: Member) -> Portfolio:
    """All stocks that were ever traded, in their order, sold-out ones last.

    At the prices that are stored; `prices.refresh_prices` looks for newer ones.
    """
    rows = _fetch_stock_rows(member)
    _replay_changed_stocks(member, rows)
    exact = [(row, row.position) for row in rows if row.position is not None]
    return Portfolio(
        holdings=[_to_holding(row, position) for row, position in exact],
        totals=_compute_totals((position, row.price.amount) for row, position in exact),
    )


def get_holdings_value(member: Member) -> int:
    """What all holdings are worth at the stored prices, in whole units.

    A holding of which no price is known counts at its cost. One statement over kept
    positions; only for such a holding are trades read, once after each change.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HOLDINGS_VALUE, [member.pk])
        value, lacks_price = cursor.fetchone()
    if lacks_price:
        return get_portfolio(member).totals.market_value
    return cost_basis.round_money(
        int(value * QUANTITY_SCALE) * (MONEY_SCALE // QUANTITY_SCALE)
    )


def _fetch_stock_rows(member: Member) -> list[StockRow]:
    with connection.cursor() as cursor:
        cursor.execute(_POSITIONS, [get_freshness_cutoff(), member.pk])
        return [_make_stock_row(*values) for values in cursor.fetchall()]


def _make_stock_row(
    stock_id: int,
    code: str,
    name: str,
    market: str,
    quantity: Decimal,
    cost: Decimal | None,
    realized: Decimal | None,
    is_current: bool,
    version: int,
    amount: int | None,
    at: datetime | None,
    stale: bool,
) -> StockRow:
    position = None
    if is_current and cost is not None and realized is not None:
        position = ReplayedPosition(int(quantity), int(cost), int(realized))
    price = Price(amount, at, stale)
    return StockRow(stock_id, code, name, market, version, position, price)


def _replay_changed_stocks(member: Member, rows: list[StockRow]) -> None:
    """Replay the stocks whose trades changed since the last time, and remember it."""
    changed = {row.stock_id: row for row in rows if row.position is None}
    if not changed:
        return
    for stock_id, trades in _fetch_trades(member, list(changed)):
        changed[stock_id].position = cost_basis.replay(trades)
    found = [(row, row.position) for row in changed.values() if row.position]
    values: dict[str, Any] = {
        "stocks": [row.stock_id for row, _ in found],
        "versions": [row.version for row, _ in found],
        "costs": [Decimal(position.cost) for _, position in found],
        "realized": [Decimal(position.realized) for _, position in found],
    }
    with connection.cursor() as cursor:
        cursor.execute(_SAVE_REPLAYS, values)


def _fetch_trades(
    member: Member, stock_ids: list[int]
) -> Iterator[tuple[int, Iterator[Any]]]:
    """Each stock with its trades in the order of the replay, from one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_TRADES, [member.pk, stock_ids])
        for stock_id, lines in groupby(cursor.fetchall(), key=itemgetter(0)):
            yield stock_id, (line[1:] for line in lines)


def _to_holding(row: StockRow, position: ReplayedPosition) -> Holding:
    market_value = _market_value(position, row.price.amount)
    profit = None if market_value is None else market_value - position.cost
    rate = None if profit is None else cost_basis.profit_rate(profit, position.cost)
    return Holding(
        stock_id=row.stock_id,
        code=row.code,
        name=row.name,
        market=row.market,
        price=row.price,
        quantity=Decimal(position.quantity).scaleb(-6),
        average_cost=cost_basis.average_cost(position),
        cost_basis=cost_basis.round_money(position.cost),
        market_value=_round_or_none(market_value),
        unrealized_profit=_round_or_none(profit),
        unrealized_rate=rate,
        realized_profit=cost_basis.round_money(position.realized),
    )


def _market_value(position: ReplayedPosition, price: int | None) -> int | None:
    """Exact; nothing is worth nothing, whether its price is known or not."""
    if not position.quantity:
        return 0
    return None if price is None else cost_basis.value_at(position, price)


def _compute_totals(
    holdings: Iterable[tuple[ReplayedPosition, int | None]],
) -> PortfolioTotals:
    """A holding without a price counts at its cost, so that it is no loss."""
    cost = value = realized = 0
    for position, price in holdings:
        market_value = _market_value(position, price)
        cost += position.cost
        value += position.cost if market_value is None else market_value
        realized += position.realized
    return PortfolioTotals(
        cost_basis=cost_basis.round_money(cost),
        market_value=cost_basis.round_money(value),
        unrealized_profit=cost_basis.round_money(value - cost),
        unrealized_rate=cost_basis.profit_rate(value - cost, cost),
        realized_profit=cost_basis.round_money(realized),
    )


def _round_or_none(amount: int | None) -> int | None:
    return None if amount is None else cost_basis.round_money(amount)
