"""One-to-one matches of things with a day, in steps linear in their number. Pure."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

# Candidates that are tried where one is refused.
MAX_TRIED = 50


class Dated(NamedTuple):
    """A row or an entry that looks for its other half.

    Two match only with the same `group`; of a transfer, the `wallet` must differ.
    `moment` is compared first: equal minutes and texts go together.
    """

    item: Any
    group: Hashable
    date: date
    wallet: Hashable = None
    moment: Hashable = None


Accepts = Callable[[Dated, Dated], bool]


def match_nearest(
    lefts: Sequence[Dated],
    rights: Sequence[Dated],
    days: Iterable[int],
    accepts: Accepts = lambda *_: True,
) -> list[tuple[Dated, Dated]]:
    """Match each left to at most one right, `days` later, the first day first.

    Of one day those with equal moments go first, then in their order.
    """
    pairs: list[tuple[Dated, Dated]] = []
    left_open, right_open = list(lefts), list(rights)
    for distance in days:
        for with_moment in (True, False):
            found = _match_day(left_open, right_open, distance, with_moment, accepts)
            if not found:
                continue
            pairs += found
            taken = {id(each.item) for pair in found for each in pair}
            left_open = [each for each in left_open if id(each.item) not in taken]
            right_open = [each for each in right_open if id(each.item) not in taken]
    return pairs


def _match_day(
    lefts: Sequence[Dated],
    rights: Sequence[Dated],
    distance: int,
    with_moment: bool,
    accepts: Accepts,
) -> list[tuple[Dated, Dated]]:
    def key(each: Dated, day: date) -> Hashable:
        return each.group, day, each.moment if with_moment else None

    # By day, then by wallet: the other half of a transfer has another one.
    by_key: dict[Hashable, dict[Hashable, deque[Dated]]] = defaultdict(dict)
    for right in rights:
        if with_moment and right.moment is None:
            continue
        wallets = by_key[key(right, right.date)]
        wallets.setdefault(right.wallet, deque()).append(right)
    pairs = []
    for left in lefts:
        if with_moment and left.moment is None:
            continue
        try:
            day = left.date + timedelta(distance)
        except OverflowError:
            continue
        wallets = by_key.get(key(left, day), {})
        found = _take(left, wallets, accepts)
        if found is not None:
            pairs.append((left, found))
    return pairs


def _take(
    left: Dated, wallets: dict[Hashable, deque[Dated]], accepts: Accepts
) -> Dated | None:
    for wallet, queue in wallets.items():
        if left.wallet is not None and wallet == left.wallet:
            continue
        for number in range(min(len(queue), MAX_TRIED)):
            right = queue[number]
            if accepts(left, right):
                del queue[number]
                return right
    return None
