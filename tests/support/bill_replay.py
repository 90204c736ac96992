"""Bills by a naive replay of all entries, one after the other.

It shares nothing with the service: months are numbers (year * 12 + month - 1), the bill
of a day is found by trying one month after the other, and money is poured won by won in
as many steps as there are bills.
"""

import calendar
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from typing import Any

import holidays

from accounts.models import Member
from ledger.models import Entry, EntryLine, Wallet

Days = tuple[int, int, int, str]


@cache
def list_holidays(year: int) -> Any:
    return holidays.country_holidays("KR", years=year, expand=False)


def number(month: str) -> int:
    year, of_year = month.split("-")
    return int(year) * 12 + int(of_year) - 1


def name(month: int) -> str:
    return f"{month // 12:04d}-{month % 12 + 1:02d}"


def last_day(month: int, day: int) -> date:
    year, of_year = month // 12, month % 12 + 1
    return date(year, of_year, min(day, calendar.monthrange(year, of_year)[1]))


@dataclass
class Settings:
    """Days by the month of their first bill; ends that the issuer printed."""

    days: dict[str, Days]
    ends: dict[str, date] = field(default_factory=dict)

    def days_of(self, month: int) -> Days:
        starts = sorted(self.days)
        found = self.days[starts[0]]
        for start in starts:
            if number(start) <= month:
                found = self.days[start]
        return found

    def end_of(self, month: int) -> date:
        first = number(min(self.days))
        end = date.min
        for each in range(min(first, month) - 40, month + 1):
            closing_day, _, months, _ = self.days_of(each)
            closing = last_day(each - months, closing_day)
            if each >= first:
                closing = self.ends.get(name(each), closing)
            end = max(end, closing)
        return end

    def payment_of(self, month: int) -> date:
        _, payment_day, _, shift = self.days_of(month)
        day = last_day(month, payment_day)
        step = {"NEXT": 1, "PREVIOUS": -1, "NONE": 0}[shift]
        while step and (day.weekday() > 4 or day in list_holidays(day.year)):
            day += timedelta(step)
        return day

    def bill_of(self, day: date) -> int:
        month = day.year * 12 + day.month - 1 - 3
        while self.end_of(month) < day:
            month += 1
        return month


def replay(
    member: Member, cards: list[int], settings: Settings, today: date
) -> dict[str, Any]:
    """Return the bills by month, with `credit` and `unbilled`."""
    end_of = cache(settings.end_of)
    settings.end_of = end_of  # type: ignore[method-assign]
    first = number(min(settings.days))
    opened = max(first, settings.bill_of(today))
    items: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    before = -sum(
        Wallet.objects.owned_by(member)
        .filter(pk__in=cards)
        .values_list("opening_balance", flat=True)
    )
    payments = []
    plans: dict[int, list[list[Any]]] = {}
    entries = list(Entry.objects.owned_by(member).filter(pending=False))
    lines = defaultdict(list)
    for line in EntryLine.objects.owned_by(member).order_by("position"):
        lines[line.entry_id].append(line)
    # Purchases first, so that every refund finds its own.
    for entry in sorted(entries, key=lambda e: (e.type == "income", e.date, e.pk)):
        named = None if entry.bill_month is None else name_of(entry.bill_month)
        month = number(named) if named else settings.bill_of(entry.date)
        if entry.wallet_id in cards and entry.to_wallet_id not in cards:
            if entry.type == "income":
                refund(entry, lines[entry.pk], month, plans, items)
            else:
                charge(entry, month, plans, items)
        into = money_into(entry, lines[entry.pk], cards)
        is_before = entry.date <= end_of(first - 1)
        if is_before and (named is None or number(named) < first):
            before -= into
        elif into:
            payments.append((entry.date, entry.pk, into, named))
    for month, item, amount in (part for parts in plans.values() for part in parts):
        if amount:
            items[month].append((*item, amount))
    for month in [month for month in items if month < first]:
        before += sum(item[-1] for item in items.pop(month))
    return _account(settings, items, payments, before, (first, opened), today)


def money_into(entry: Entry, lines: Any, cards: list[int]) -> int:
    amounts = [line.amount for line in lines if line.wallet_id in cards]
    if entry.to_wallet_id in cards and entry.wallet_id not in cards:
        amounts.append(entry.amount)
    return sum(amounts)


def name_of(day: date) -> str:
    return f"{day.year:04d}-{day.month:02d}"


def charge(entry: Entry, month: int, plans: Any, items: Any) -> None:
    count = entry.installment_months
    if count is None:
        items[month].append((entry.date, entry.pk, None, entry.amount))
        return
    parts = entry.installment_parts or [
        entry.amount - entry.amount // count * (count - 1),
        *[entry.amount // count] * (count - 1),
    ]
    plans[entry.pk] = [
        [month + at, (entry.date, entry.pk, at + 1), part]
        for at, part in enumerate(parts)
    ]


def refund(entry: Entry, lines: Any, month: int, plans: Any, items: Any) -> None:
    left = entry.amount
    shares = [(line.refund_of_id, line.amount) for line in lines]
    if entry.refund_of_id:
        shares = [(entry.refund_of_id, entry.amount)]
    for purchase, share in shares:
        for part in reversed(plans.get(purchase, [])):
            if part[0] > month:
                taken = min(part[2], share)
                part[2] -= taken
                share -= taken
                left -= taken
    if left:
        items[month].append((entry.date, entry.pk, None, -left))


def _account(
    settings: Settings,
    items: dict[int, list[tuple[Any, ...]]],
    payments: list[Any],
    before: int,
    months: tuple[int, int],
    today: date,
) -> dict[str, Any]:
    first, opened = months
    bills: dict[str, Any] = {}
    carried = before
    for month in range(first, max([opened, *items]) + 1):
        total = carried + sum(item[-1] for item in items[month])
        bills[name(month)] = {
            "carried": carried,
            "total": total,
            "paid": 0,
            "items": sorted(items[month]),
        }
        carried = min(0, total)
    credit = 0
    for _, _, amount, named in sorted(payments, key=lambda each: each[:2]):
        if named and number(named) > opened:
            credit += amount
            continue
        order = [name(month) for month in range(first, opened + 1)]
        if named in bills:
            order.insert(0, named)
        for each in order:
            bill = bills[each]
            taken = min(max(0, bill["total"] - bill["paid"]), amount)
            bill["paid"] += taken
            amount -= taken
        credit += amount
    for each, bill in bills.items():
        month = number(each)
        bill["remaining"] = bill["total"] - bill["paid"]
        bill["status"] = "OPEN"
        if month < opened:
            bill["remaining"] = max(0, bill["total"]) - bill["paid"]
            late = settings.payment_of(month) < today
            unpaid = "OVERDUE" if late else ("PARTIAL" if bill["paid"] else "DUE")
            bill["status"] = unpaid if bill["remaining"] else "PAID"
    unbilled = sum(
        item[-1] for month, rows in items.items() if month > opened for item in rows
    )
    return {"bills": bills, "credit": credit, "unbilled": unbilled}
