"""Which expense and income are offered as one transfer (spec 3.20)."""

import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.entries.transfer_candidates import (
    FlatEntry,
    TransferCandidate,
    pair_transfers,
)

DAY = date(2026, 11, 10)
# Of a pair, nearest first.
NEAREST_FIRST = (0, 1, 2, 3, 4, -1)
BANK, CASH, CARD = 1, 2, 3

# Expenses and incomes as (day, amount, wallet), and pairs as (expense, income, fee).
Rows = list[tuple[int, int, int]]
PAIRS: dict[str, tuple[Rows, Rows, list[tuple[int, int, int]]]] = {
    "one day before": ([(5, 500, BANK)], [(4, 500, CASH)], [(0, 0, 0)]),
    "two days before": ([(5, 500, BANK)], [(3, 500, CASH)], []),
    "four days after": ([(5, 500, BANK)], [(9, 500, CASH)], [(0, 0, 0)]),
    "five days after": ([(5, 500, BANK)], [(10, 500, CASH)], []),
    "the same wallet": ([(5, 500, BANK)], [(5, 500, BANK)], []),
    "after goes before one day before": (
        [(5, 500, BANK)],
        [(4, 500, CASH), (9, 500, CASH)],
        [(0, 1, 0)],
    ),
    "the k-th with the k-th": (
        [(5, 500, BANK)] * 3,
        [(5, 500, CASH)] * 3,
        [(0, 0, 0), (1, 1, 0), (2, 2, 0)],
    ),
    "no entry of the wallet that others need is spent": (
        [(5, 500, CARD), (5, 500, BANK)],
        [(5, 500, CASH), (5, 500, BANK)],
        [(0, 1, 0), (1, 0, 0)],
    ),
    "a fee of 5 %": ([(5, 10_500, BANK)], [(5, 10_000, CASH)], [(0, 0, 500)]),
    "a fee of more": ([(5, 10_501, BANK)], [(5, 10_000, CASH)], []),
    "an income that is larger": ([(5, 500, BANK)], [(5, 501, CASH)], []),
    "equal amounts before a fee": (
        [(5, 10_500, BANK)],
        [(5, 10_000, CASH), (9, 10_500, CASH)],
        [(0, 1, 0)],
    ),
    "two incomes with a fee": (
        [(5, 10_500, BANK)],
        [(5, 10_000, CASH), (9, 10_100, CASH)],
        [],
    ),
    "two expenses with a fee": (
        [(5, 10_500, BANK), (6, 10_400, CARD)],
        [(6, 10_000, CASH)],
        [],
    ),
    "an equal pair leaves the only one": (
        [(5, 10_500, BANK), (6, 10_000, CARD)],
        [(6, 10_000, CASH), (6, 10_200, CASH)],
        [(1, 0, 0), (0, 1, 300)],
    ),
    "another expense of the same wallet is none": (
        [(5, 10_500, BANK), (5, 10_400, CASH)],
        [(6, 10_000, CASH)],
        [(0, 0, 500)],
    ),
    "far in amount is near in order": (
        [(4, 500, BANK), (5, 700, BANK)],
        [(5, 500, CASH), (5, 700, CASH)],
        [(1, 1, 0), (0, 0, 0)],
    ),
}


def make_rows(rows: Iterable[tuple[int, int, int]], kind: str) -> list[FlatEntry]:
    first_id = 1 if kind == "expense" else 10_000
    return [
        FlatEntry(id_, kind, amount, DAY + timedelta(day), wallet)
        for id_, (day, amount, wallet) in enumerate(rows, start=first_id)
    ]


@pytest.mark.parametrize("case", PAIRS)
def test_entries_are_paired_by_amount_day_and_wallet(case: str) -> None:
    outs, ins, pairs = PAIRS[case]
    expenses, incomes = make_rows(outs, "expense"), make_rows(ins, "income")
    found = pair_transfers(expenses, incomes)
    assert [
        (pair.out_id - expenses[0].id, pair.in_id - incomes[0].id, pair.fee)
        for pair in found
    ] == pairs


def is_pair(out: FlatEntry, income: FlatEntry, days: int) -> bool:
    return (income.date - out.date).days == days and out.wallet_id != income.wallet_id


def is_equal_pair(days: int, out: FlatEntry, income: FlatEntry) -> bool:
    return is_pair(out, income, days) and out.amount == income.amount


def is_fee_pair(out: FlatEntry, income: FlatEntry) -> bool:
    fee = out.amount - income.amount
    return 0 < fee * 20 <= income.amount and any(
        is_pair(out, income, days) for days in NEAREST_FIRST
    )


def count_most_pairs(
    outs: Sequence[FlatEntry],
    ins: Sequence[FlatEntry],
    fits: Callable[[FlatEntry, FlatEntry], bool],
) -> int:
    """Return the size of the largest matching, by augmenting paths."""
    out_of: dict[int, FlatEntry] = {}

    def find_place(out: FlatEntry, seen: set[int]) -> bool:
        for income in ins:
            if income.id in seen or not fits(out, income):
                continue
            seen.add(income.id)
            if income.id not in out_of or find_place(out_of[income.id], seen):
                out_of[income.id] = out
                return True
        return False

    return sum(find_place(out, set()) for out in outs)


SOME_ROWS = st.lists(
    st.tuples(
        st.integers(0, 7), st.sampled_from([100, 104, 105, 200]), st.integers(1, 4)
    ),
    max_size=14,
).map(sorted)


@given(SOME_ROWS, SOME_ROWS)
def test_pairs_are_as_many_as_possible_from_near_to_far(outs: Rows, ins: Rows) -> None:
    expenses, incomes = make_rows(outs, "expense"), make_rows(ins, "income")
    found = pair_transfers(expenses, incomes)
    used = [id_ for pair in found for id_ in (pair.out_id, pair.in_id)]
    assert len(used) == len(set(used))
    by_id = {entry.id: entry for entry in (*expenses, *incomes)}
    rest = list(found)
    for days in NEAREST_FIRST:
        most = count_most_pairs(expenses, incomes, partial(is_equal_pair, days))
        pairs, rest = rest[:most], rest[most:]
        assert all(
            is_equal_pair(days, by_id[pair.out_id], by_id[pair.in_id]) for pair in pairs
        )
        assert len(pairs) == most
        assert pairs == sorted(pairs)
        expenses, incomes = without(pairs, expenses, incomes)
    expected = [
        (out.id, income.id)
        for out, income in itertools.product(expenses, incomes)
        if is_fee_pair(out, income)
        and sum(is_fee_pair(out, other) for other in incomes) == 1
        and sum(is_fee_pair(other, income) for other in expenses) == 1
    ]
    assert sorted((pair.out_id, pair.in_id) for pair in rest) == expected


def without(
    pairs: Iterable[TransferCandidate],
    expenses: Iterable[FlatEntry],
    incomes: Iterable[FlatEntry],
) -> tuple[list[FlatEntry], list[FlatEntry]]:
    used = {id_ for pair in pairs for id_ in (pair.out_id, pair.in_id)}
    return (
        [entry for entry in expenses if entry.id not in used],
        [entry for entry in incomes if entry.id not in used],
    )


# (day, amount) of the n-th entry of a ledger that is hard to pair.
LEDGERS: dict[str, Callable[[int], tuple[int, int]]] = {
    "one amount on one day": lambda n: (0, 500),
    "one amount, a few each day": lambda n: (n // 10, 500),
    "amounts within a fee of each other": lambda n: (0, 1_000_000 + n),
}


def count_lines(function: Callable[[], Any]) -> tuple[int, Any]:
    """Return how many lines of Python run, and the result."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        result = function()
    finally:
        sys.settrace(before)
    return count, result


@pytest.mark.parametrize("ledger", LEDGERS)
def test_twice_as_many_entries_take_twice_as_many_steps(ledger: str) -> None:
    def count_steps(count: int) -> tuple[int, list[TransferCandidate]]:
        rows = [LEDGERS[ledger](number) for number in range(count)]
        # Of each wallet half of both, and amounts that no income has.
        wallets = itertools.cycle([BANK, CASH, CARD])
        expenses = [(day, amount, next(wallets)) for day, amount in rows]
        is_far = ledger == "amounts within a fee of each other"
        incomes = [
            (day, amount - 30_000 * is_far, next(wallets)) for day, amount in rows
        ]
        return count_lines(
            lambda: pair_transfers(
                make_rows(expenses, "expense"), make_rows(incomes, "income")
            )
        )

    (few, _), (many, pairs) = count_steps(600), count_steps(1_200)
    assert many <= 2.2 * few
    if ledger != "amounts within a fee of each other":
        assert len(pairs) == 1_200
