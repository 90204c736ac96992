"""Moving-average cost of a stock's trades (spec 3.15). Pure.

A buy adds quantity × price + fee to the cost. A sell realizes quantity × price − fee −
tax − quantity × average cost and leaves the average unchanged. Quantities are in
millionths, money in 10⁻³⁰; only results are rounded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

QUANTITY_SCALE = 10**6
MONEY_SCALE = 10**30
# The divisions of a long replay lose less.
ROUNDING_TOLERANCE = 10**10
RATE_SCALE = 10**4


class TradeRow(NamedTuple):
    """A trade; `quantity` in millionths, money in whole units."""

    date: date
    is_sell: bool
    quantity: int
    price: int
    fee: int
    tax: int


class OversoldError(Exception):
    def __init__(self, day: date) -> None:
        self.day = day
        super().__init__(day.isoformat())


@dataclass(frozen=True, slots=True)
class ReplayedPosition:
    quantity: int
    cost: int
    realized: int


def replay(trades: Iterable[TradeRow]) -> ReplayedPosition:
    """Return the position after the trades: by date, buys before sells, then by id.

    Raises `OversoldError` with the first day on which more is sold than held.
    """
    held = cost = realized = 0
    scale = MONEY_SCALE // QUANTITY_SCALE
    for day, is_sell, quantity, price, fee, tax in trades:
        if not is_sell:
            held += quantity
            cost += quantity * price * scale + fee * MONEY_SCALE
            continue
        if quantity > held:
            raise OversoldError(day)
        released = cost if quantity == held else cost * quantity // held
        held -= quantity
        cost -= released
        realized += quantity * price * scale - (fee + tax) * MONEY_SCALE - released
    return ReplayedPosition(held, cost, realized)


def round_money(amount: int) -> int:
    """Convert from 10⁻³⁰ to whole units, rounding half away from zero."""
    magnitude = (abs(amount) + MONEY_SCALE // 2 + ROUNDING_TOLERANCE) // MONEY_SCALE
    return magnitude if amount >= 0 else -magnitude


def average_cost(position: ReplayedPosition) -> Decimal | None:
    """Return the cost of one share with 2 decimals; None if none is held."""
    if not position.quantity:
        return None
    cents = position.cost * 100 * QUANTITY_SCALE // position.quantity
    return Decimal(round_money(cents)) / 100


def value_at(position: ReplayedPosition, price: int) -> int:
    """Return the value in units of 10⁻³⁰."""
    return position.quantity * price * (MONEY_SCALE // QUANTITY_SCALE)


def profit_rate(profit: int, cost: int) -> Decimal | None:
    """Return a fraction with 4 decimals; None without a cost."""
    if cost <= 0:
        return None
    steps = (2 * (abs(profit) + ROUNDING_TOLERANCE) * RATE_SCALE + cost) // (2 * cost)
    return Decimal(steps if profit >= 0 else -steps) / RATE_SCALE
