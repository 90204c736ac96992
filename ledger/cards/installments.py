"""Purchases in installments with parts still to come (spec 3.30)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import starmap
from typing import NamedTuple

from accounts.models import Member
from core.db.rows import fetch_parts
from ledger.cards.parts import take_off_last
from ledger.cards.plans import (
    CALENDAR,
    IN_WINDOW,
    PLAN_COLUMNS,
    build_plan,
    window_params,
)
from ledger.cards.spread import PaymentCalendar, Plan
from ledger.periods import Period

# The refunds of a purchase: of all of an income, or of some of its lines.
_PLANS = f"""
    SELECT json_build_array({PLAN_COLUMNS}) AS plan, e.memo, (
        SELECT json_agg(json_build_array(
            r.wallet_id, r.date, r.bill_month, r.amount
        ) ORDER BY r.date, r.id)
        FROM (
            SELECT id, wallet_id, date, bill_month, amount FROM account_entry
            WHERE member_id = %(member)s AND refund_of_id = e.id AND NOT pending
                AND line_count IS NOT NULL
            UNION ALL
            SELECT i.id, i.wallet_id, i.date, i.bill_month, l.amount
            FROM account_entry_line l
            JOIN account_entry i ON i.member_id = l.member_id AND i.id = l.entry_id
            WHERE l.member_id = %(member)s AND l.refund_of_id = e.id
                AND i.refund_of_id IS NULL AND NOT i.pending
                AND i.line_count IS NOT NULL
        ) r
    ) AS refunds
    FROM account_entry e
    WHERE {IN_WINDOW}
    ORDER BY e.date DESC, e.id DESC
"""  # noqa: S608 - constants


class Refund(NamedTuple):
    wallet_id: int | None
    day: date
    bill_month: date | None
    amount: int


class Part(NamedTuple):
    """A part of a purchase, in whole home-currency units; `month` is its bill."""

    month: date
    amount: int


@dataclass(frozen=True, slots=True)
class Installments:
    """A purchase and its parts, less refunds.

    `billed` are the parts of bills whose period has ended, `remaining` the others.
    """

    plan: Plan
    memo: str
    parts: list[Part]
    open_parts: list[Part]

    @property
    def remaining(self) -> int:
        return sum(part.amount for part in self.open_parts)

    @property
    def billed(self) -> int:
        return sum(part.amount for part in self.parts) - self.remaining

    @property
    def next(self) -> Part | None:
        return next((part for part in self.open_parts if part.amount), None)


@dataclass(frozen=True, slots=True)
class InstallmentList:
    items: list[Installments]

    @property
    def remaining(self) -> int:
        return sum(item.remaining for item in self.items)

    @property
    def by_month(self) -> list[Part]:
        """Return the parts to come by the month of payment, oldest first."""
        sums: Counter[date] = Counter()
        for item in self.items:
            for part in item.open_parts:
                sums[part.month] += part.amount
        return [Part(*each) for each in sorted(sums.items()) if each[1]]


def list_installments(member: Member, today: date) -> InstallmentList:
    """Return the purchases with parts to come on a day, newest first.

    Excluded ones are listed, since they are paid, too; pending ones are not.
    """
    found = fetch_parts(CALENDAR, {"member": member.pk})
    calendar = PaymentCalendar.of(found["cards"], found["printed"])
    window = window_params(Period(calendar.first_open_month(today), date.max))
    rows = fetch_parts({"plans": _PLANS}, {"member": member.pk} | window)["plans"]
    items = []
    for row in rows:
        plan = build_plan(*row["plan"])
        refunds = list(starmap(_build_refund, row["refunds"] or ()))
        parts = take_refunds(plan, refunds, calendar)
        open_parts = [
            part
            for part in parts
            if not calendar.is_closed(plan.wallet_id, part.month, today)
        ]
        items.append(Installments(plan, row["memo"], parts, open_parts))
    return InstallmentList([item for item in items if item.remaining])


def take_refunds(
    plan: Plan, refunds: Sequence[Refund], calendar: PaymentCalendar
) -> list[Part]:
    """Return the parts of a purchase after its refunds, which are in order of time.

    A refund takes the parts of later bills than its own, last first; what is left of it
    lowers its own bill, and so no part. One into a card of another bill takes none.
    """
    months, amounts = calendar.list_months(plan), plan.parts
    for refund in refunds:
        if calendar.main_of(refund.wallet_id) != calendar.main_of(plan.wallet_id):
            continue
        billed = calendar.month_of(refund.wallet_id, refund.day, refund.bill_month)
        first = sum(month <= billed for month in months)
        amounts = take_off_last(amounts, first, refund.amount)
    return list(starmap(Part, zip(months, amounts, strict=True)))


def _build_refund(
    wallet_id: int | None, day: str, bill_month: str | None, amount: int
) -> Refund:
    billed = None if bill_month is None else date.fromisoformat(bill_month)
    return Refund(wallet_id, date.fromisoformat(day), billed, amount)
