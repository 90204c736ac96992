"""How a refund is divided over the lines of its expense (spec 3.19).

It is divided in the proportion of what is left of each line, by largest remainders; the
first of equal remainders comes first. So refunds that add up to the expense add up to
each of its lines, in whatever parts and order, and after one of them was changed or
deleted. The module is pure.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace

from ledger.lines import LineData


def divide_refund(
    amount: int, lines: Sequence[LineData], refunded: Iterable[LineData]
) -> tuple[LineData, ...]:
    """Return the lines of a refund; those that get nothing are left out.

    `lines` are those of the expense, and `refunded` those of its other refunds.
    """
    left = list_left(lines, refunded)
    if sum(left) < amount:
        # Others were booked as the member wanted, or came back at another rate.
        left = [line.amount for line in lines]
    shares = divide(amount, left)
    _book_on_category(shares, left, lines)
    return tuple(
        replace(line, amount=share)
        for line, share in zip(lines, shares, strict=True)
        if share
    )


def list_left(lines: Sequence[LineData], refunded: Iterable[LineData]) -> list[int]:
    """Return what is left of each line after refunds, between its amount and 0.

    What was refunded is of the line with its category or wallet, its sign and its memo,
    else of those with its category or wallet and its sign. All else is of none.
    """
    left = [line.amount for line in lines]
    rest = list(refunded)
    for key_of in (_key, _key_of_any_memo):
        rest = _take(left, lines, rest, key_of)
    return left


def _take(
    left: list[int],
    lines: Sequence[LineData],
    refunded: Iterable[LineData],
    key_of: Callable[[LineData], Hashable],
) -> list[LineData]:
    """Take what was refunded from the lines with its key; return what they lack."""
    amounts: Counter[Hashable] = Counter()
    examples = {}
    for line in refunded:
        amounts[key_of(line)] += line.amount
        examples[key_of(line)] = line
    lacking = []
    for key, amount in amounts.items():
        # All of the same sign.
        numbers = [n for n, line in enumerate(lines) if key_of(line) == key]
        sizes = [abs(left[n]) for n in numbers]
        sign = 1 if amount > 0 else -1
        taken = min(abs(amount), sum(sizes))
        for n, part in zip(numbers, divide(taken, sizes), strict=True):
            left[n] -= sign * part
        if amount != sign * taken:
            lacking.append(replace(examples[key], amount=amount - sign * taken))
    return lacking


def _key(line: LineData) -> Hashable:
    return _key_of_any_memo(line), line.memo


def _key_of_any_memo(line: LineData) -> Hashable:
    wallet_id = None if line.wallet is None else line.wallet.pk
    return wallet_id, line.category_type, line.category, line.amount > 0


def divide(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide an amount in the proportion of weights, by largest remainders.

    The weights are more than 0 together, and may be negative. If they add up to the
    amount at least, no share is larger than its weight, nor of the other sign.
    """
    total = sum(weights)
    if not amount:
        return [0] * len(weights)
    shares = [weight * amount // total for weight in weights]
    # The remainders of floor divisions are never negative, nor is what is missing.
    order = sorted(
        range(len(weights)), key=lambda n: (-(weights[n] * amount % total), n)
    )
    for n in order[: amount - sum(shares)]:
        shares[n] += 1
    return shares


def _book_on_category(
    shares: list[int], left: Sequence[int], lines: Sequence[LineData]
) -> None:
    """Give a category the smallest share if only lines of wallets have one.

    Money that comes back to other wallets alone is no refund.
    """
    booked = [n for n, line in enumerate(lines) if line.wallet is None]
    if not booked or any(shares[n] for n in booked):
        return
    chosen = max(booked, key=lambda n: (abs(left[n]), abs(lines[n].amount)))
    unit = 1 if lines[chosen].amount > 0 else -1
    others = [n for n, line in enumerate(lines) if line.wallet is not None]
    # The one that has most, or that has most room.
    other = max(others, key=lambda n: shares[n] if unit > 0 else left[n] - shares[n])
    shares[chosen] += unit
    shares[other] -= unit
