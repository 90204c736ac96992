"""Parts of a purchase in installments (spec 3.30). Pure."""

from collections.abc import Sequence


def split_amount(amount: int, months: int) -> list[int]:
    """Return equal parts in whole units, with the remainder in the first."""
    part, remainder = divmod(amount, months)
    return [part + remainder, *[part] * (months - 1)]


def list_parts(
    amount: int, months: int | None, typed: Sequence[int] | None
) -> list[int]:
    """Return the parts of a purchase: as typed in, else equal; one without months.

    Parts that do not add up are of an amount before.
    """
    if months is None:
        return [amount]
    fits = typed and len(typed) == months and sum(typed) == amount
    return list(typed or ()) if fits else split_amount(amount, months)


def take_off_last(parts: Sequence[int], first: int, amount: int) -> list[int]:
    """Return parts after a refund, which takes those from `first` on, last first.

    What is left of the refund is the sum that the parts have not lost.
    """
    left = list(parts)
    for number in range(len(left) - 1, first - 1, -1):
        taken = min(left[number], amount)
        left[number] -= taken
        amount -= taken
    return left


def divide(amount: int, parts: Sequence[int]) -> list[int]:
    """Divide an amount, such as a line of a purchase, in the proportion of parts.

    The sum of the result is the amount.
    """
    total, before, sum_of_parts = sum(parts), 0, 0
    shares = []
    for part in parts:
        sum_of_parts += part
        until = amount * sum_of_parts // total
        shares.append(until - before)
        before = until
    return shares
