"""The shapes that a move leaves of an entry, without the database (decision 0130)."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.fields import MAX_AMOUNT
from ledger.entry_shape import EXPENSE, INCOME, TRANSFER, EntryShape, LineShape
from ledger.models.base import MAX_MEMO_LENGTH
from tests.support.effects import compute_effects

MAX = MAX_AMOUNT
WALLET, SOURCE, TARGET, OTHER = 1, 2, 3, 4
# The types of the categories with these ids.
CATEGORY_TYPES = {11: EXPENSE, 12: EXPENSE, 13: EXPENSE, 21: INCOME, 22: INCOME}
CATEGORY_MOVES = [(11, 12), (12, 11), (21, 22)]

amounts = st.one_of(
    st.sampled_from((MAX, -MAX, MAX - 1, 1, -1)), st.integers(-5, 5).filter(bool)
)
memos = st.sampled_from(("", "mx", "my", "m" * MAX_MEMO_LENGTH))


def booked(amount: int, category: int, memo: str = "") -> LineShape:
    return LineShape(amount, category, CATEGORY_TYPES[category], None, memo)


def paid(amount: int, wallet: int, memo: str = "") -> LineShape:
    return LineShape(amount, None, EXPENSE, wallet, memo)


def split(type_: str, *lines: LineShape, wallet: int = WALLET) -> EntryShape:
    amount = sum(line.amount for line in lines)
    return EntryShape(
        type=type_,
        amount=amount,
        category_type=INCOME if type_ == INCOME else EXPENSE,
        wallet=wallet,
        lines=lines,
        memo="memo",
    )


def flat(type_: str, amount: int, category: int | None = None, **more: Any) -> Any:
    """Return the fields of a flat entry, as `summarize` has them."""
    return {"type": type_, "amount": amount, "category": category} | more


def summarize(shape: EntryShape) -> dict[str, Any]:
    """Return what identifies a shape: its lines, or the fields of a flat entry."""
    summary = {"type": shape.type, "amount": shape.amount}
    if shape.lines:
        lines = [
            (line.amount, line.category or f"wallet {line.wallet}")
            for line in shape.lines
        ]
        return summary | {"lines": lines}
    if shape.type == TRANSFER:
        return summary | {"from": shape.wallet, "to": shape.to_wallet}
    return summary | {"category": shape.category}


CATEGORY, WALLETS = ("category", 11, 12), ("wallet", SOURCE, TARGET)
MOVES: dict[str, tuple[Any, EntryShape, list[dict[str, Any]]]] = {
    "a flat entry": (
        CATEGORY,
        EntryShape(type=EXPENSE, amount=5, category=11, wallet=WALLET),
        [flat(EXPENSE, 5, 12)],
    ),
    "a transfer between the two": (
        WALLETS,
        EntryShape(type=TRANSFER, amount=5, wallet=SOURCE, to_wallet=TARGET),
        [],
    ),
    "a transfer to another one": (
        WALLETS,
        EntryShape(type=TRANSFER, amount=5, wallet=OTHER, to_wallet=SOURCE),
        [{"type": TRANSFER, "amount": 5, "from": OTHER, "to": TARGET}],
    ),
    "lines of one category": (
        CATEGORY,
        split(EXPENSE, booked(3, 11), booked(4, 12), booked(5, 13)),
        [{"type": EXPENSE, "amount": 12, "lines": [(7, 12), (5, 13)]}],
    ),
    "one line is left": (
        CATEGORY,
        split(EXPENSE, booked(3, 11), booked(4, 12)),
        [flat(EXPENSE, 7, 12)],
    ),
    "a line of the own wallet goes with its amount": (
        WALLETS,
        split(EXPENSE, booked(3, 11), booked(4, 12), paid(5, SOURCE), wallet=TARGET),
        [{"type": EXPENSE, "amount": 7, "lines": [(3, 11), (4, 12)]}],
    ),
    "a transfer without a wallet line": (
        WALLETS,
        split(TRANSFER, booked(3, 11), booked(4, 12), paid(5, SOURCE), wallet=TARGET),
        [{"type": EXPENSE, "amount": 7, "lines": [(3, 11), (4, 12)]}],
    ),
    "an income of one wallet line is a transfer the other way": (
        WALLETS,
        split(INCOME, paid(9, OTHER), paid(5, SOURCE), wallet=TARGET),
        [{"type": TRANSFER, "amount": 9, "from": OTHER, "to": TARGET}],
    ),
    "an amount below 0 turns the entry round": (
        WALLETS,
        split(EXPENSE, booked(-3, 11), paid(5, SOURCE), wallet=TARGET),
        [flat(INCOME, 3, 11)],
    ),
    "lines of both signs cancel out": (
        WALLETS,
        split(EXPENSE, booked(3, 11), booked(-3, 13), paid(5, SOURCE), wallet=TARGET),
        [flat(EXPENSE, 3, 11), flat(INCOME, 3, 13)],
    ),
    "lines that are too large together stay apart": (
        CATEGORY,
        split(EXPENSE, booked(MAX, 12), booked(MAX, 11), booked(-MAX, 13)),
        [{"type": EXPENSE, "amount": MAX, "lines": [(MAX, 12), (MAX, 12), (-MAX, 13)]}],
    ),
    "a line joins the first one that it fits into": (
        CATEGORY,
        split(EXPENSE, booked(MAX, 12), booked(-MAX, 12), booked(MAX, 11)),
        [flat(EXPENSE, MAX, 12)],
    ),
    "an amount that is too large becomes two entries": (
        WALLETS,
        split(
            EXPENSE,
            *(booked(MAX, 11), booked(MAX, 12), paid(-MAX, SOURCE)),
            wallet=TARGET,
        ),
        [flat(EXPENSE, MAX, 11), flat(EXPENSE, MAX, 12)],
    ),
}


@pytest.mark.parametrize("case", MOVES)
def test_move(case: str) -> None:
    (kind, source, target), shape, left = MOVES[case]
    assert [summarize(each) for each in shape.move(kind, source, target)] == left


@pytest.mark.parametrize(
    ("memo", "left"),
    [
        ("", "mx, my"),
        ("Mart", "Mart, mx, my"),
        ("Mart my", "Mart my, mx"),
        ("m" * MAX_MEMO_LENGTH, "m" * MAX_MEMO_LENGTH),
        ("-" * (MAX_MEMO_LENGTH - 3), "-" * (MAX_MEMO_LENGTH - 3) + ", m"),
    ],
)
def test_entry_that_becomes_flat_takes_the_memos_of_its_lines(
    memo: str, left: str
) -> None:
    shape = split(EXPENSE, booked(3, 12, "mx"), booked(4, 11, "my"))
    (moved,) = replace(shape, memo=memo).move("category", 11, 12)
    assert (moved.lines, moved.memo) == ((), left)


def test_lines_and_their_entry_keep_all_memos() -> None:
    lines = booked(3, 11, "mx"), booked(4, 12, "my"), booked(5, 13)
    (moved,) = split(EXPENSE, *lines).move("category", 11, 12)
    assert (moved.memo, moved.lines[0].memo) == ("memo", "mx, my")
    shape = split(EXPENSE, *lines, paid(5, SOURCE, "lent"), wallet=TARGET)
    (moved,) = shape.move("wallet", SOURCE, TARGET)
    assert moved.memo == "memo, lent"
    assert [line.memo for line in moved.lines] == ["mx", "my", ""]


@st.composite
def shapes(draw: st.DrawFn) -> EntryShape:
    line = st.builds(booked, amounts, st.sampled_from(sorted(CATEGORY_TYPES)), memos)
    line |= st.builds(paid, amounts, st.sampled_from((SOURCE, TARGET, OTHER)), memos)
    wallet = draw(st.sampled_from((WALLET, SOURCE, TARGET)))
    lines = draw(st.lists(line, min_size=2, max_size=8))
    lines = [line for line in lines if line.wallet != wallet]
    amount = sum(line.amount for line in lines)
    rest = draw(st.integers(1, 5) | st.just(MAX))
    # Lines that are allowed add what is missing for an amount that is allowed.
    while amount != rest:
        missing = max(-MAX, min(MAX, rest - amount))
        lines.append(booked(missing, 13))
        amount += missing
    while len(lines) < 2:
        lines += [booked(5, 13), booked(-5, 13)]
    types = [EXPENSE, INCOME]
    if any(line.wallet for line in lines):
        types.append(TRANSFER)
    return split(draw(st.sampled_from(types)), *lines, wallet=wallet)


def lines_of(shape: EntryShape) -> tuple[LineShape, ...]:
    """Return the lines; a flat entry is its only line."""
    only = LineShape(
        shape.amount or 0, shape.category, shape.category_type, shape.to_wallet
    )
    return shape.lines or (only,)


def sum_effects(
    left: list[EntryShape], kind: str, source: int, target: int
) -> tuple[dict[Any, int], dict[Any, int]]:
    """Return the sums by wallet and category, the source counted as the target."""
    balances: Counter[Any] = Counter()
    flows: Counter[Any] = Counter()
    for shape in left:
        effects = compute_effects(shape.type, shape.wallet, lines_of(shape))
        for own, change in effects.balances.items():
            is_source = kind == "wallet" and own == source
            balances[target if is_source else own] += change
        for (type_, category), change in effects.flows.items():
            is_source = kind == "category" and category == source
            flows[type_, target if is_source else category] += change
    return (
        {key: value for key, value in balances.items() if value},
        {key: value for key, value in flows.items() if value},
    )


@given(
    shapes(),
    st.sampled_from([WALLETS, *(("category", *move) for move in CATEGORY_MOVES)]),
)
def test_move_changes_no_sum_and_leaves_what_can_be_stored(
    shape: EntryShape, move: Any
) -> None:
    moved = shape.move(*move)
    assert sum_effects([shape], *move) == sum_effects(moved, *move)
    for each in moved:
        each.validate()
        assert 0 < (each.amount or 0) <= MAX
        assert len(each.memo) <= MAX_MEMO_LENGTH
        for line in lines_of(each):
            assert 0 < abs(line.amount) <= MAX
            assert len(line.memo) <= MAX_MEMO_LENGTH
        kind, source, _ = move
        refs = {getattr(line, kind) for line in lines_of(each)}
        assert source not in {*refs, getattr(each, kind)}
