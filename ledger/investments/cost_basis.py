"""Moving-average cost of a stock's trades.

Pure. Trades are replayed in order: by date, on one day buys before sells, then by id.
A buy adds quantity × price + fee to the cost. A sell realises quantity × price − fee −
tax − quantity × average cost; the average stays as it was. Quantities are counted in
millionths, money in units of 10⁻³⁰, so that the loop runs on whole numbers and nothing
is rounded before the answer (spec 3.15).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

QUANTITY_SCALE = 10**6
"""Parts of one share: a quantity has 6 decimals."""
MONEY_SCALE = 10**30
"""Parts of one money unit that the computation keeps."""
ROUNDING_TOLERANCE = 10**10
"""What the divisions of a long replay may have lost: less than 10⁻²⁰ of a unit."""

RATE_SCALE = 10**4
"""Parts of the whole that a rate is rounded to."""


class TradeRow(NamedTuple):
    """One trade; `quantity` in millionths, money in whole units."""

    date: date
    is_sell: bool
    quantity: int
    price: int
    fee: int
    tax: int


class OversoldError(Exception):
    """A sell of more than is held on its day."""

    def __init__(self, day: date) -> None:
        self.day = day
        super().__init__(day.isoformat())


@dataclass(frozen=True, slots=True)
class ReplayedPosition:
    """What is held after all trades, and what the sells realised.

    `quantity` in millionths; `cost` and `realized` in units of 10⁻³⁰.
    """

    quantity: int
    cost: int
    realized: int


def replay(trades: Iterable[TradeRow]) -> ReplayedPosition:
    """The position after these trades, which are in order.

    Raises `OversoldError` with the first day on which too much is sold.
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
    """Whole units of an amount in 10⁻³⁰, rounded half up (half away from zero)."""
    magnitude = (abs(amount) + MONEY_SCALE // 2 + ROUNDING_TOLERANCE) // MONEY_SCALE
    return magnitude if amount >= 0 else -magnitude


def average_cost(position: ReplayedPosition) -> Decimal | None:
    """The cost of one share, with 2 decimals; None where none is held."""
    if not position.quantity:
        return None
    cents = position.cost * 100 * QUANTITY_SCALE // position.quantity
    return Decimal(round_money(cents)) / 100


def value_at(position: ReplayedPosition, price: int) -> int:
    """What is held at this price, in units of 10⁻³⁰."""
    return position.quantity * price * (MONEY_SCALE // QUANTITY_SCALE)


def profit_rate(profit: int, cost: int) -> Decimal | None:
    """profit / cost as a fraction with 4 decimals; None where there is no cost."""
    if cost <= 0:
        return None
    steps = (2 * (abs(profit) + ROUNDING_TOLERANCE) * RATE_SCALE + cost) // (2 * cost)
    return Decimal(steps if profit >= 0 else -steps) / RATE_SCALE
