"""Moving-average cost: worked examples, and a slow model that is obviously right."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.investments.cost_basis import (
    MONEY_SCALE,
    QUANTITY_SCALE,
    OversoldError,
    TradeRow,
    average_cost,
    profit_rate,
    replay,
    round_money,
    value_at,
)
from tests.support.scale import scaled

DAY = date(2026, 11, 2)


def buy(quantity: Any, price: Any, fee: int = 0, tax: int = 0, day: Any = DAY) -> Any:
    return TradeRow(
        day, False, int(Decimal(str(quantity)) * QUANTITY_SCALE), price, fee, tax
    )


def sell(quantity: Any, price: Any, fee: int = 0, tax: int = 0, day: Any = DAY) -> Any:
    return buy(quantity, price, fee, tax, day)._replace(is_sell=True)


@pytest.mark.parametrize(
    ("trades", "quantity", "average", "cost", "realized"),
    [
        ([], 0, None, 0, 0),
        # A buy adds its price and fee to the cost, and no tax.
        ([buy(10, 1_000, fee=50, tax=7)], 10, 1_005, 10_050, 0),
        ([buy(10, 100), buy(30, 200)], 40, 175, 7_000, 0),
        # A sell leaves the average and realizes price less fee, tax and average.
        (
            [buy(10, 100), buy(30, 200), sell(20, 300, fee=15, tax=12)],
            *(20, 175, 3_500, 20 * 300 - 15 - 12 - 20 * 175),
        ),
        ([buy(3, 100), sell(1, 40, fee=2)], 2, 100, 200, -62),
        # The average of the shares held, not of all buys ever.
        ([buy(10, 100), sell(10, 150), buy(10, 300)], 10, 300, 3_000, 500),
        # A sell of all leaves no cost, however uneven the average.
        ([buy(3, 10, fee=1), *[sell(1, 20)] * 3], 0, None, 0, 60 - 31),
        (
            [buy("0.333333", 3_000_000), sell("0.111111", 3_300_000)],
            *(Decimal("0.222222"), 3_000_000, 666_666, 33_333),
        ),
        # Shares that were given lower the average.
        ([buy(10, 300), buy(5, 0)], 15, 200, 3_000, 0),
        # An earlier trade that is edited changes all later ones.
        ([buy(10, 100), sell(5, 200), buy(5, 300)], 10, 200, 2_000, 500),
        ([buy(10, 140), sell(5, 200), buy(5, 300)], 10, 220, 2_200, 300),
        # The average has 2 decimals, rounded half up.
        ([buy(3, 100), buy(3, 101)], 6, Decimal("100.5"), 603, 0),
        ([buy(8, 1), buy(8, 1, fee=1)], 16, Decimal("1.06"), 17, 0),
        ([buy(3, 0, fee=1)], 3, Decimal("0.33"), 1, 0),
    ],
)
def test_worked_examples(
    trades: Any, quantity: Any, average: Any, cost: int, realized: int
) -> None:
    found = replay(trades)
    assert Decimal(found.quantity) / QUANTITY_SCALE == quantity
    assert average_cost(found) == average
    assert (round_money(found.cost), round_money(found.realized)) == (cost, realized)


def test_first_day_on_which_too_much_is_sold_is_named() -> None:
    trades = [buy(2, 1), sell(1, 1), sell("1.000001", 1, day=DAY + timedelta(3))]
    with pytest.raises(OversoldError) as refused:
        replay(trades)
    assert refused.value.day == DAY + timedelta(3)


@pytest.mark.parametrize(
    ("profit", "cost", "rate"),
    [
        (25, 100, "0.25"),
        (-25, 100, "-0.25"),
        (1, 3, "0.3333"),
        (2, 3, "0.6667"),
        (5, 100_000, "0.0001"),
        (-5, 100_000, "-0.0001"),
        (4, 100_000, "0"),
        (900, 100, "9"),
        (5, 0, None),
    ],
)
def test_rate_is_a_fraction_with_4_decimals_rounded_half_up(
    profit: int, cost: int, rate: str | None
) -> None:
    found = profit_rate(profit * MONEY_SCALE, cost * MONEY_SCALE)
    assert found == (None if rate is None else Decimal(rate))


@dataclass
class Model:
    """The rule as it is written, with exact fractions and no tricks."""

    quantity: Fraction = Fraction(0)
    cost: Fraction = Fraction(0)
    realized: Fraction = Fraction(0)
    bad_day: date | None = field(default=None)

    def book(self, trade: Any) -> None:
        quantity = Fraction(trade.quantity, QUANTITY_SCALE)
        if not trade.is_sell:
            self.quantity += quantity
            self.cost += quantity * trade.price + trade.fee
            return
        if quantity > self.quantity:
            self.bad_day = self.bad_day or trade.date
            return
        average = self.cost / self.quantity
        self.realized += quantity * trade.price - trade.fee - trade.tax
        self.realized -= quantity * average
        self.cost -= quantity * average
        self.quantity -= quantity


def round_half_up(value: Any) -> Any:
    magnitude = floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


SMALL = st.integers(0, 5)
MONEY = SMALL | st.integers(0, 999_999_999_999)
QUANTITIES = (
    st.integers(1, 4).map(lambda n: n * QUANTITY_SCALE)
    | st.integers(1, 4 * QUANTITY_SCALE)
    | st.integers(1, 10**18 - 1)
)
TRADES = st.lists(
    st.builds(
        TradeRow,
        st.integers(0, 5).map(lambda n: DAY + timedelta(n)),
        st.booleans(),
        QUANTITIES,
        MONEY,
        MONEY,
        MONEY,
    ),
    max_size=30,
)


def drop_what_oversells(trades: Any) -> Any:
    """Return the trades as a ledger keeps them: in order, never more sold than held."""
    held, kept = 0, []
    for trade in sorted(trades, key=lambda t: (t.date, t.is_sell)):
        if trade.is_sell and trade.quantity > held:
            if not held:
                continue
            trade = trade._replace(quantity=held)
        held += -trade.quantity if trade.is_sell else trade.quantity
        kept.append(trade)
    return kept


@settings(max_examples=scaled(100, 2_000), deadline=None)
@given(TRADES)
def test_replay_gives_what_the_model_gives(trades: Any) -> None:
    trades = drop_what_oversells(trades)
    model, found = Model(), replay(trades)
    for trade in trades:
        model.book(trade)
    assert model.bad_day is None
    assert Fraction(found.quantity, QUANTITY_SCALE) == model.quantity
    assert round_money(found.cost) == round_half_up(model.cost)
    assert round_money(found.realized) == round_half_up(model.realized)
    if model.quantity:
        cents = round_half_up(model.cost / model.quantity * 100)
        assert average_cost(found) == Decimal(cents) / 100
    profit = model.quantity * 7 - model.cost
    exact_profit = value_at(found, 7) - found.cost
    assert round_money(exact_profit) == round_half_up(profit)
    if model.cost:
        steps = round_half_up(profit / model.cost * 10_000)
        assert profit_rate(exact_profit, found.cost) == Decimal(steps) / 10_000


@settings(max_examples=scaled(60, 500), deadline=None)
@given(TRADES)
def test_oversell_is_found_on_the_day_on_which_the_model_finds_it(trades: Any) -> None:
    trades = sorted(trades, key=lambda t: (t.date, t.is_sell))
    model = Model()
    for trade in trades:
        model.book(trade)
        if model.bad_day:
            break
    if model.bad_day is None:
        replay(trades)
        return
    with pytest.raises(OversoldError) as refused:
        replay(trades)
    assert refused.value.day == model.bad_day
