"""Refunds in parts give each line back, without the database (spec 3.19)."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.fields import MAX_AMOUNT
from ledger.entries.refunds import divide, divide_refund
from ledger.entry_shape import LineShape

Lines = tuple[LineShape, ...]
WALLETS = [1, 2]

line_amounts = st.one_of(
    st.integers(-9, 30), st.sampled_from([100, 33_333, MAX_AMOUNT])
)
category_lines = st.builds(
    LineShape,
    line_amounts.filter(bool),
    st.sampled_from(["식비", "교통", None]),
    st.just("expense"),
    memo=st.sampled_from(["", "사과"]),
)
wallet_lines = st.builds(
    LineShape,
    line_amounts.filter(bool),
    st.none(),
    st.just("expense"),
    st.sampled_from(WALLETS),
)


def splits(*kinds: st.SearchStrategy[LineShape]) -> st.SearchStrategy[Lines]:
    lines = st.lists(st.one_of(kinds), min_size=2, max_size=7)
    return lines.filter(lambda each: sum(x.amount for x in each) > 0).map(tuple)


@dataclass
class Expense:
    """A split expense and its refunds."""

    lines: Lines
    refunds: list[Lines]

    @property
    def rest(self) -> int:
        return total(self.lines) - sum(total(refund) for refund in self.refunds)

    def refund(self, amount: int) -> Lines:
        refunded = [line for refund in self.refunds for line in refund]
        lines = divide_refund(amount, self.lines, refunded)
        assert total(lines) == amount
        self.refunds.append(lines)
        return lines

    def left(self, key: Any) -> dict[Any, int]:
        """Return what is left of the lines, by a key, without zeros."""
        left: Counter[Any] = Counter()
        for line in self.lines:
            left[key(line)] += line.amount
        for refund in self.refunds:
            for line in refund:
                left[key(line)] -= line.amount
        return {name: amount for name, amount in left.items() if amount}


def total(lines: Lines) -> int:
    return sum(line.amount for line in lines)


def target(line: LineShape) -> Any:
    return line.category, line.wallet


def store(lines: Lines) -> Lines:
    """Return the lines as an entry has them: a flat one has a memo of its own."""
    if len(lines) > 1:
        return lines
    return (replace(lines[0], memo="환불"),)


@given(splits(category_lines), st.data())
def test_refunds_in_any_parts_give_each_category_back(
    lines: Lines, data: st.DataObject
) -> None:
    expense = Expense(lines, [])
    for is_last in (*[False] * 5, True):
        if expense.rest:
            amounts = st.just(expense.rest)
            if not is_last:
                amounts |= st.integers(1, expense.rest)
            expense.refund(data.draw(amounts))
            expense.refunds[-1] = store(expense.refunds[-1])
    assert expense.left(target) == {}


@given(splits(category_lines), st.data())
def test_no_line_is_refunded_beyond_its_amount(
    lines: Lines, data: st.DataObject
) -> None:
    # Memos tell the lines apart.
    lines = tuple(replace(line, memo=str(n)) for n, line in enumerate(lines))
    expense = Expense(lines, [])
    for _ in range(6):
        if not expense.rest:
            break
        expense.refund(data.draw(st.integers(1, expense.rest)))
        left = expense.left(lambda line: line.memo)
        for line in lines:
            low, high = sorted((0, line.amount))
            assert low <= left.get(line.memo, 0) <= high
    if expense.rest:
        expense.refund(expense.rest)
    assert expense.left(lambda line: line.memo) == {}


@given(splits(category_lines), st.data())
def test_rest_is_right_after_a_refund_was_deleted_or_made_less(
    lines: Lines, data: st.DataObject
) -> None:
    expense = Expense(lines, [])
    for _ in range(3):
        if expense.rest:
            expense.refund(data.draw(st.integers(1, expense.rest)))
    place = data.draw(st.integers(0, len(expense.refunds) - 1))
    gone = expense.refunds.pop(place)
    if data.draw(st.booleans()):
        expense.refund(data.draw(st.integers(1, total(gone))))
    if expense.rest:
        expense.refund(expense.rest)
    assert expense.left(target) == {}


@given(splits(category_lines, wallet_lines), st.data())
def test_refunds_of_shared_bills_name_a_category_each(
    lines: Lines, data: st.DataObject
) -> None:
    if all(line.wallet for line in lines):
        return
    expense, has_room = Expense(lines, []), True
    for _ in range(6):
        if not expense.rest:
            break
        left = expense.left(
            lambda line: (line.wallet is None, line.amount > 0, target(line))
        )
        has_room = has_room and any(is_booked for is_booked, *_ in left)
        amount = data.draw(st.integers(1, expense.rest) | st.just(expense.rest))
        assert any(line.wallet is None for line in expense.refund(amount))
    assert expense.rest or not has_room or expense.left(target) == {}


@given(splits(category_lines), st.lists(category_lines, max_size=4), st.data())
def test_refunds_booked_elsewhere_do_not_turn_a_share_round(
    lines: Lines, others: list[LineShape], data: st.DataObject
) -> None:
    amount = data.draw(st.integers(1, total(lines)))
    shares = divide_refund(amount, lines, others)
    assert total(shares) == amount
    signs = {(target(line), line.memo, line.amount > 0) for line in lines}
    assert {(target(line), line.memo, line.amount > 0) for line in shares} <= signs


@pytest.mark.parametrize(
    ("amount", "weights", "shares"),
    [
        (1, [1, 1, 1], [1, 0, 0]),
        (2, [1, 1, 1], [1, 1, 0]),
        (10, [100, 100, 100], [4, 3, 3]),
        (10, [10, 20, 30], [2, 3, 5]),
        (45, [100, -10], [50, -5]),
        (0, [5, 5], [0, 0]),
    ],
)
def test_first_of_equal_remainders_comes_first(
    amount: int, weights: list[int], shares: list[int]
) -> None:
    assert divide(amount, weights) == shares


def test_three_parts_of_three_thirds_take_turns() -> None:
    lines = tuple(LineShape(100, name, "expense") for name in ("식비", "교통", None))
    expense = Expense(lines, [])
    parts = [[line.amount for line in expense.refund(100)] for _ in range(3)]
    assert parts == [[34, 33, 33], [33, 34, 33], [33, 33, 34]]
