"""Holdings with cost, value and profit."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection

from accounts.models import Member
from core.db.rows import fetch_all
from ledger.investments import cost_basis
from ledger.investments.cost_basis import MONEY_SCALE, QUANTITY_SCALE, ReplayedPosition
from ledger.investments.prices import Price, get_prices_by_code

_POSITIONS = """
    SELECT s.id AS stock_id, s.code, s.name, s.market,
        (p.quantity * 1000000)::numeric(40) AS quantity, p.cost, p.realized,
        p.replayed_version IS NOT DISTINCT FROM p.version AS is_replayed, p.version,
        s.current_price, s.price_at
    FROM invest_position p
    JOIN invest_stock s ON s.member_id = p.member_id AND s.id = p.stock_id
    WHERE p.member_id = %s AND p.trade_count > 0
    ORDER BY p.quantity = 0, s.sort_order, s.id
"""
# The columns after the stock are a `cost_basis.TradeRow`.
_TRADES = """
    SELECT stock_id, date, side = 'SELL', (quantity * 1000000)::bigint, price, fee, tax
    FROM invest_trade WHERE member_id = %s AND stock_id = ANY(%s)
    ORDER BY stock_id, date, side, id
"""
# Skips positions that are locked, or changed by a trade since the replay: the next
# request replays them again.
_SAVE_REPLAYS = """
    WITH locked AS (
        SELECT p.stock_id, replayed.cost, replayed.realized
        FROM invest_position p JOIN unnest(
            %(stocks)s::bigint[], %(versions)s::bigint[],
            %(costs)s::numeric[], %(realized)s::numeric[]
        ) AS replayed (stock_id, version, cost, realized) USING (stock_id)
        WHERE p.member_id = %(member)s AND p.version = replayed.version
        ORDER BY p.stock_id FOR NO KEY UPDATE OF p SKIP LOCKED
    )
    UPDATE invest_position p
    SET cost = locked.cost, realized = locked.realized, replayed_version = p.version
    FROM locked WHERE p.member_id = %(member)s AND p.stock_id = locked.stock_id
"""
# The CTE is materialized: see `prices` about joins with the quotes. The value is in
# millionths.
_HOLDINGS_VALUE = """
    WITH held AS MATERIALIZED (
        SELECT s.code, p.quantity, s.current_price
        FROM invest_position p
        JOIN invest_stock s ON s.member_id = p.member_id AND s.id = p.stock_id
        WHERE p.member_id = %s AND p.quantity > 0
    )
    SELECT coalesce(sum(held.quantity * coalesce(q.home_price, held.current_price)), 0)
            * 1000000 AS value,
        coalesce(bool_or(coalesce(q.home_price, held.current_price) IS NULL), false)
            AS is_price_missing
    FROM held LEFT JOIN stock_quote q ON q.code = held.code
"""


@dataclass(frozen=True, slots=True)
class Holding:
    """A stock that is or was held; money in whole home-currency units."""

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
    cost_basis: int
    market_value: int
    unrealized_profit: int
    unrealized_rate: Decimal | None
    realized_profit: int


@dataclass(frozen=True, slots=True)
class Portfolio:
    holdings: list[Holding]
    totals: PortfolioTotals


class PositionRow(NamedTuple):
    """A stock with its stored position and typed-in price.

    `quantity` is in millionths; `cost` and `realized` are in units of 10⁻³⁰ and valid
    only if `is_replayed`.
    """

    stock_id: int
    code: str
    name: str
    market: str
    quantity: Decimal
    cost: Decimal | None
    realized: Decimal | None
    is_replayed: bool
    version: int
    current_price: int | None
    price_at: datetime | None


class HoldingsValue(NamedTuple):
    # The value in millionths; holdings without a price count 0.
    value: Decimal
    is_price_missing: bool


def get_portfolio(member: Member, *, keeps_replays: bool = True) -> Portfolio:
    """Return all stocks that were ever traded, at stored prices, sold-out ones last.

    A replay of trades is stored for the next request if `keeps_replays`, which a
    read-only transaction cannot.
    """
    rows = fetch_all(_POSITIONS, [member.pk], PositionRow)
    positions = {
        row.stock_id: ReplayedPosition(
            int(row.quantity), int(row.cost), int(row.realized)
        )
        for row in rows
        if row.is_replayed and row.cost is not None and row.realized is not None
    }
    missing = [row for row in rows if row.stock_id not in positions]
    positions |= _replay(member, missing, is_kept=keeps_replays)
    # The trades of a stock may have been deleted since the first query.
    rows = [row for row in rows if row.stock_id in positions]
    prices = get_prices_by_code(rows)
    holdings = []
    cost = value = realized = 0
    for row in rows:
        position = positions[row.stock_id]
        price = prices[row.code]
        market_value = None
        if not position.quantity:
            market_value = 0
        elif price.amount is not None:
            market_value = cost_basis.value_at(position, price.amount)
        profit = None if market_value is None else market_value - position.cost
        rate = None if profit is None else cost_basis.profit_rate(profit, position.cost)
        holding = Holding(
            stock_id=row.stock_id,
            code=row.code,
            name=row.name,
            market=row.market,
            price=price,
            quantity=Decimal(position.quantity).scaleb(-6),
            average_cost=cost_basis.average_cost(position),
            cost_basis=cost_basis.round_money(position.cost),
            market_value=_round_or_none(market_value),
            unrealized_profit=_round_or_none(profit),
            unrealized_rate=rate,
            realized_profit=cost_basis.round_money(position.realized),
        )
        holdings.append(holding)
        cost += position.cost
        # A holding without a price counts at its cost.
        value += position.cost if market_value is None else market_value
        realized += position.realized
    return Portfolio(
        holdings=holdings,
        totals=PortfolioTotals(
            cost_basis=cost_basis.round_money(cost),
            market_value=cost_basis.round_money(value),
            unrealized_profit=cost_basis.round_money(value - cost),
            unrealized_rate=cost_basis.profit_rate(value - cost, cost),
            realized_profit=cost_basis.round_money(realized),
        ),
    )


def get_holdings_value(member: Member, *, keeps_replays: bool = True) -> int:
    """Return the value of all holdings; `keeps_replays` as in `get_portfolio`."""
    (found,) = fetch_all(_HOLDINGS_VALUE, [member.pk], HoldingsValue)
    # A holding without a price counts at its cost, which may take a replay.
    if found.is_price_missing:
        portfolio = get_portfolio(member, keeps_replays=keeps_replays)
        return portfolio.totals.market_value
    return cost_basis.round_money(int(found.value) * (MONEY_SCALE // QUANTITY_SCALE))


def _replay(
    member: Member, rows: list[PositionRow], *, is_kept: bool
) -> dict[int, ReplayedPosition]:
    if not rows:
        return {}
    positions = {
        stock_id: cost_basis.replay(trades)
        for stock_id, trades in _fetch_trades(member, [row.stock_id for row in rows])
    }
    if not is_kept:
        return positions
    replayed = [row for row in rows if row.stock_id in positions]
    found = [positions[row.stock_id] for row in replayed]
    params: dict[str, Any] = {
        "member": member.pk,
        "stocks": [row.stock_id for row in replayed],
        "versions": [row.version for row in replayed],
        "costs": [Decimal(position.cost) for position in found],
        "realized": [Decimal(position.realized) for position in found],
    }
    with connection.cursor() as cursor:
        cursor.execute(_SAVE_REPLAYS, params)
    return positions


def _fetch_trades(
    member: Member, stock_ids: list[int]
) -> Iterator[tuple[int, Iterator[Any]]]:
    with connection.cursor() as cursor:
        cursor.execute(_TRADES, [member.pk, stock_ids])
        for stock_id, rows in groupby(cursor.fetchall(), key=itemgetter(0)):
            # Plain tuples: a stock may have tens of thousands of trades.
            yield stock_id, (row[1:] for row in rows)


def _round_or_none(amount: int | None) -> int | None:
    return None if amount is None else cost_basis.round_money(amount)
