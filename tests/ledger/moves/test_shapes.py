"""The shape of a split entry after a move, without the database."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.fields import MAX_AMOUNT
from ledger.effects import Effects, LineAmount, compute_effects
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.shapes import Part, Shape, move_category_of, move_wallet_of

EXPENSE, INCOME, TRANSFER = (
    EntryType.EXPENSE.value,
    EntryType.INCOME.value,
    EntryType.TRANSFER.value,
)
WALLET, SOURCE, TARGET, OTHER = 1, 2, 3, 4
# The types of the categories with these ids.
CATEGORY_TYPES = {11: EXPENSE, 12: EXPENSE, 13: EXPENSE, 21: INCOME, 22: INCOME}
CATEGORY_MOVES = [(11, 12), (12, 11), (21, 22)]

amounts = st.one_of(
    st.sampled_from((MAX_AMOUNT, -MAX_AMOUNT, MAX_AMOUNT - 1, 1, -1)),
    st.integers(-5, 5).filter(bool),
)
memos = st.sampled_from(((), ("mx",), ("my",), ("m" * MAX_MEMO_LENGTH,)))
category_parts = st.builds(
    lambda amount, category_id, memo: Part(
        amount, category_id, CATEGORY_TYPES[category_id], None, memo
    ),
    amounts,
    st.sampled_from(sorted(CATEGORY_TYPES)),
    memos,
)
wallet_parts = st.builds(
    lambda amount, wallet_id, memo: Part(amount, None, EXPENSE, wallet_id, memo),
    amounts,
    st.sampled_from((SOURCE, TARGET, OTHER)),
    memos,
)


def make_shape(type_: str, parts: list[Part], wallet_id: int = WALLET) -> Shape:
    amount = sum(part.amount for part in parts)
    return Shape(type_, amount, wallet_id, None, tuple(parts), "memo")


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    parts = draw(st.lists(category_parts | wallet_parts, min_size=2, max_size=8))
    wallet_id = draw(st.sampled_from((WALLET, SOURCE, TARGET)))
    parts = [part for part in parts if part.wallet_id != wallet_id]
    amount = sum(part.amount for part in parts)
    rest = draw(st.integers(1, 5) | st.just(MAX_AMOUNT))
    # What is missing for an amount that is allowed, in lines that are.
    while amount != rest:
        missing = max(-MAX_AMOUNT, min(MAX_AMOUNT, rest - amount))
        parts.append(Part(missing, 13, EXPENSE, None))
        amount += missing
    types = [EXPENSE, INCOME]
    if any(part.wallet_id for part in parts):
        types.append(TRANSFER)
    while len(parts) < 2:
        parts += [Part(5, 13, EXPENSE, None), Part(-5, 13, EXPENSE, None)]
    return make_shape(draw(st.sampled_from(types)), parts, wallet_id)


def compute(shape: Shape) -> Effects:
    lines = [
        LineAmount(part.amount, part.category_type, part.category_id, part.wallet_id)
        for part in shape.parts
    ]
    return compute_effects(shape.type, shape.wallet_id, lines)


def read_effects(
    shape_list: list[Shape], source: int, target: int, name: str
) -> tuple[dict[int, int], dict[tuple[str, int | None], int]]:
    """Return the sums by wallet and category, the source counted as the target."""
    balances: Counter[int] = Counter()
    flows: Counter[tuple[str, int | None]] = Counter()
    for shape in shape_list:
        effects = compute(shape)
        for wallet_id, change in effects.balances.items():
            is_moved = name == "wallet" and wallet_id == source
            balances[target if is_moved else wallet_id] += change
        for (type_, category_id), change in effects.flows.items():
            is_moved = name == "category" and category_id == source
            flows[type_, target if is_moved else category_id] += change
    return (
        {key: value for key, value in balances.items() if value},
        {key: value for key, value in flows.items() if value},
    )


def assert_can_be_stored(shape: Shape) -> None:
    assert 0 < shape.amount <= MAX_AMOUNT
    assert shape.amount == sum(part.amount for part in shape.parts)
    assert all(0 < abs(part.amount) <= MAX_AMOUNT for part in shape.parts)
    assert all(part.wallet_id != shape.wallet_id for part in shape.parts)
    moves_money = any(part.wallet_id is not None for part in shape.parts)
    if shape.type == TRANSFER:
        assert moves_money
    if shape.is_flat:
        assert moves_money == (shape.type == TRANSFER)
    assert len(shape.memo) <= MAX_MEMO_LENGTH
    assert all(len(part.memo) <= MAX_MEMO_LENGTH for part in shape.parts)


@given(shapes())
def test_move_of_a_wallet_changes_no_sum_and_leaves_what_can_be_stored(
    shape: Shape,
) -> None:
    moved = move_wallet_of(shape, SOURCE, TARGET)
    sums = [read_effects(each, SOURCE, TARGET, "wallet") for each in ([shape], moved)]
    assert sums[0] == sums[1]
    for each in moved:
        assert_can_be_stored(each)
        wallets = {each.wallet_id, *(part.wallet_id for part in each.parts)}
        assert SOURCE not in wallets


@given(shapes(), st.sampled_from(CATEGORY_MOVES))
def test_move_of_a_category_changes_no_sum_and_leaves_what_can_be_stored(
    shape: Shape, move: tuple[int, int]
) -> None:
    source, target = move
    moved = move_category_of(shape, source, target)
    sums = [read_effects(each, *move, "category") for each in ([shape], moved)]
    assert sums[0] == sums[1]
    for each in moved:
        assert_can_be_stored(each)
        assert source not in {part.category_id for part in each.parts}


def test_lines_that_are_too_large_together_stay_apart() -> None:
    parts = [
        Part(MAX_AMOUNT, 12, EXPENSE, None),
        Part(MAX_AMOUNT, 11, EXPENSE, None),
        Part(-MAX_AMOUNT, 13, EXPENSE, None),
    ]
    (moved,) = move_category_of(make_shape(EXPENSE, parts), 11, 12)
    assert [part.category_id for part in moved.parts] == [12, 12, 13]
    assert moved.amount == MAX_AMOUNT


def test_line_is_merged_with_the_first_one_that_it_fits_into() -> None:
    parts = [
        Part(MAX_AMOUNT, 12, EXPENSE, None),
        Part(-MAX_AMOUNT, 12, EXPENSE, None),
        Part(MAX_AMOUNT, 11, EXPENSE, None),
    ]
    (moved,) = move_category_of(make_shape(EXPENSE, parts), 11, 12)
    assert moved.parts == (Part(MAX_AMOUNT, 12, EXPENSE, None),)


def test_amount_that_is_too_large_without_a_line_becomes_two_entries() -> None:
    parts = [
        Part(MAX_AMOUNT, 11, EXPENSE, None),
        Part(MAX_AMOUNT, 12, EXPENSE, None),
        Part(-MAX_AMOUNT, None, EXPENSE, SOURCE),
    ]
    shape = make_shape(EXPENSE, parts, TARGET)
    moved = move_wallet_of(shape, SOURCE, TARGET)
    assert [(each.type, each.amount) for each in moved] == [(EXPENSE, MAX_AMOUNT)] * 2
    assert [each.parts for each in moved] == [(parts[0],), (parts[1],)]


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
    parts = [Part(3, 12, EXPENSE, None, ("mx",)), Part(4, 11, EXPENSE, None, ("my",))]
    shape = replace(make_shape(EXPENSE, parts), memo=memo)
    (moved,) = move_category_of(shape, 11, 12)
    assert moved.is_flat
    assert moved.memo == left


def test_memo_of_a_line_that_goes_is_kept_by_the_entry() -> None:
    parts = [
        Part(3, 11, EXPENSE, None, ("mx",)),
        Part(4, 12, EXPENSE, None, ("my",)),
        Part(5, None, EXPENSE, SOURCE, ("lent",)),
    ]
    (moved,) = move_wallet_of(make_shape(EXPENSE, parts, TARGET), SOURCE, TARGET)
    assert moved.memo == "memo, lent"
    assert [part.memo for part in moved.parts] == ["mx", "my"]


def test_lines_that_become_one_have_both_memos() -> None:
    parts = [
        Part(3, 11, EXPENSE, None, ("mx",)),
        Part(4, 12, EXPENSE, None, ("my",)),
        Part(5, 13, EXPENSE, None),
    ]
    (moved,) = move_category_of(make_shape(EXPENSE, parts), 11, 12)
    assert [(part.amount, part.memo) for part in moved.parts] == [
        (7, "mx, my"),
        (5, ""),
    ]
    assert moved.memo == "memo"
