"""Spending on a card in a month that its issuer asks for (spec 3.30)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple

from accounts.models import Member
from core.db.rows import fetch_parts
from ledger.base.ownership import get_owned_or_404
from ledger.models import Card
from ledger.models.base import CategoryType, EntryType
from ledger.periods import month_period

_LINES = """(
    SELECT json_agg(json_build_array(
        l.amount, l.category_id, l.category_type,
        l.wallet_id IS NOT NULL OR l.refund_of_id IS NOT NULL
    ) ORDER BY l.position)
    FROM account_entry_line l
    WHERE l.member_id = %(member)s AND l.entry_id = e.id
) AS lines"""
_IN_MONTH = """
    e.member_id = %(member)s AND e.wallet_id = %(wallet)s
    AND e.date BETWEEN %(start)s AND %(end)s AND NOT e.pending
    AND e.line_count IS NOT NULL AND e.source <> 'ADJUSTMENT'
"""
# A refund into another wallet is no business of the issuer.
_INTO_THE_CARD = """
    NOT e.pending AND e.line_count IS NOT NULL
    AND (e.wallet_id = %(wallet)s OR e.wallet_id IS NULL)
"""
_PURCHASES = f"""
    SELECT id, amount FROM account_entry e WHERE {_IN_MONTH} AND e.type = 'expense'
"""  # noqa: S608 - constants
_QUERIES = {
    # A major category stands for its minor ones, too.
    "categories": """
        SELECT id FROM account_category
        WHERE member_id = %(member)s
            AND (id = ANY(%(categories)s) OR parent_id = ANY(%(categories)s))
    """,
    # Purchases, and incomes of no purchase, some of which are refunds.
    "entries": f"""
        SELECT e.id, e.type, e.amount, e.category_id, e.category_type, {_LINES},
            e.installment_months IS NOT NULL AS has_installments, EXISTS (
                SELECT FROM account_entry_tag t
                WHERE t.member_id = %(member)s AND t.entry_id = e.id
                    AND t.tag_id = ANY(%(tags)s)
            ) AS is_tagged
        FROM account_entry e
        WHERE {_IN_MONTH} AND (
            e.type = 'expense' OR e.type = 'income' AND e.refund_of_id IS NULL
        )
    """,  # noqa: S608 - constants
    # Of the purchases, whatever their own day: incomes, and lines of incomes.
    "refunds": f"""
        SELECT e.refund_of_id AS purchase_id, e.amount, e.category_id, {_LINES}
        FROM ({_PURCHASES}) p JOIN account_entry e
            ON e.member_id = %(member)s AND e.refund_of_id = p.id
        WHERE {_INTO_THE_CARD}
        UNION ALL
        SELECT r.refund_of_id, r.amount, r.category_id, NULL
        FROM ({_PURCHASES}) p
        JOIN account_entry_line r
            ON r.member_id = %(member)s AND r.refund_of_id = p.id
        JOIN account_entry e ON e.member_id = r.member_id AND e.id = r.entry_id
        WHERE {_INTO_THE_CARD} AND e.refund_of_id IS NULL
    """,  # noqa: S608 - constants
}


class Reason(StrEnum):
    """Why spending does not count; the first that holds is named."""

    CATEGORY = "CATEGORY"
    TAG = "TAG"
    INSTALLMENTS = "INSTALLMENTS"


class Line(NamedTuple):
    """A line; `stands_apart` is one for a wallet, or a refund of another purchase."""

    amount: int
    category_id: int | None
    category_type: str
    stands_apart: bool


@dataclass(frozen=True, slots=True)
class Sum:
    """An amount, and how much of it is on excluded categories."""

    amount: int = 0
    of_categories: int = 0

    @property
    def rest(self) -> int:
        return self.amount - self.of_categories


class Target(NamedTuple):
    amount: int
    reached: bool
    remaining: int


@dataclass(frozen=True, slots=True)
class TargetMonth:
    """The counted spending of a month, in whole home-currency units."""

    month: date
    counted: int
    excluded: list[tuple[Reason, int]]
    targets: list[Target]
    last_day: date


def get_targets(member: Member, wallet_id: int, month: date) -> TargetMonth:
    """Return the spending on a card in a calendar month, for its targets.

    Purchases count in full, less refunds. A refund of a purchase of the ledger lowers
    the month of the purchase, and another one its own month. Raise `NotFoundError` for
    a wallet without settings of a card.
    """
    card: Card = get_owned_or_404(Card.objects.all(), member, wallet_id)
    period = month_period(month.year, month.month)
    params = {
        "member": member.pk,
        "wallet": wallet_id,
        "start": period.start,
        "end": period.end,
        "categories": card.excluded_category_ids,
        "tags": card.excluded_tag_ids,
    }
    found = fetch_parts(_QUERIES, params)
    excluded_ids = {row["id"] for row in found["categories"]}
    refunds = _sum_refunds(found["refunds"], excluded_ids)
    sums: Counter[Reason | None] = Counter()
    for entry in found["entries"]:
        if entry["type"] == EntryType.EXPENSE:
            spent = _subtract(
                _sum_entry(entry, excluded_ids), refunds.get(entry["id"], Sum())
            )
        else:
            back = _sum_loose_refund(entry, excluded_ids)
            spent = Sum(-back.amount, -back.of_categories)
        sums[Reason.CATEGORY] += spent.of_categories
        sums[_find_reason(entry, card)] += spent.rest
    counted = sums[None]
    return TargetMonth(
        month=month,
        counted=counted,
        excluded=[(reason, sums[reason]) for reason in Reason if sums[reason]],
        targets=[
            Target(amount, counted >= amount, max(amount - counted, 0))
            for amount in card.targets
        ],
        last_day=period.end,
    )


def _find_reason(entry: Mapping[str, Any], card: Card) -> Reason | None:
    """Return why an entry does not count, excluded categories apart."""
    if entry["is_tagged"]:
        return Reason.TAG
    if entry["has_installments"] and card.excludes_installments:
        return Reason.INSTALLMENTS
    return None


def _sum_refunds(
    rows: Iterable[Mapping[str, Any]], excluded_ids: AbstractSet[int]
) -> dict[int, Sum]:
    sums: dict[int, Sum] = {}
    for row in rows:
        before = sums.get(row["purchase_id"], Sum())
        back = _sum_entry(row, excluded_ids)
        sums[row["purchase_id"]] = Sum(
            before.amount + back.amount, before.of_categories + back.of_categories
        )
    return sums


def _sum_entry(row: Mapping[str, Any], excluded_ids: AbstractSet[int]) -> Sum:
    lines = [Line(*line) for line in row["lines"] or ()]
    if not lines:
        is_excluded = row["category_id"] in excluded_ids
        return Sum(row["amount"], row["amount"] if is_excluded else 0)
    return _sum_lines(row["amount"], lines, excluded_ids)


def _sum_lines(
    amount: int, lines: Sequence[Line], excluded_ids: AbstractSet[int]
) -> Sum:
    """Lines below 0, such as points, make no more excluded than the amount."""
    found = sum(line.amount for line in lines if line.category_id in excluded_ids)
    return Sum(amount, min(max(found, 0), amount))


def _sum_loose_refund(row: Mapping[str, Any], excluded_ids: AbstractSet[int]) -> Sum:
    """Return what an income of no purchase gives back; 0 for any other income."""
    if row["lines"] is None:
        is_refund = row["category_type"] == CategoryType.EXPENSE
        return _sum_entry(row, excluded_ids) if is_refund else Sum()
    lines = [
        line
        for line in (Line(*each) for each in row["lines"])
        if line.category_type == CategoryType.EXPENSE and not line.stands_apart
    ]
    amount = min(max(sum(line.amount for line in lines), 0), row["amount"])
    return _sum_lines(amount, lines, excluded_ids)


def _subtract(purchase: Sum, refund: Sum) -> Sum:
    """Return a purchase less its refunds, neither part below 0.

    What comes back on a category that the purchase has less of is taken from the other
    part: so the refunds of a flat purchase follow the purchase.
    """
    back = min(refund.amount, purchase.amount)
    least, most = back - purchase.rest, min(purchase.of_categories, back)
    of_categories = min(max(refund.of_categories, least, 0), most)
    return Sum(purchase.amount - back, purchase.of_categories - of_categories)
