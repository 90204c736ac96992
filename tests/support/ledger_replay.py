"""A ledger as its member reads it, and what follows from it, added up entry by entry.

`read_ledger` asks the API for wallets, categories, tags, budgets and entries.
`LedgerReplay` then computes every balance and statistic from the effects of the entries
alone (spec: the ledger, section 1), as slowly and plainly as it can be done.
"""

import calendar
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.support.clients import JSONClient

A = "/api/account"
INCOME, EXPENSE, TRANSFER = "income", "expense", "transfer"
PAGE_SIZE = 100


@dataclass(frozen=True)
class Line:
    """A part of an entry, signed in the entry's direction.

    It has a type and perhaps a category, or else a wallet.
    """

    amount: int
    type: str | None
    category: str | None
    wallet_id: int | None


@dataclass(frozen=True)
class Booking:
    """A confirmed entry."""

    id: int
    date: date
    type: str
    amount: int
    wallet_id: int | None
    lines: tuple[Line, ...]
    tags: frozenset[str]
    is_excluded: bool

    @property
    def sign(self) -> int:
        """Return 1 for money that comes in, -1 for money that goes out."""
        return 1 if self.type == INCOME else -1

    @property
    def is_pure_transfer(self) -> bool:
        return all(line.wallet_id is not None for line in self.lines)

    @property
    def effects(self) -> list[tuple[str, str | None, int]]:
        """Type, category and amount of what it adds to income and expense."""
        direction = INCOME if self.sign > 0 else EXPENSE
        return [
            (line.type, line.category, line.amount * (line.type == direction or -1))
            for line in self.lines
            if line.type is not None
        ]

    @property
    def balance_changes(self) -> list[tuple[int, int]]:
        """Return wallet and amount of what it adds to balances."""
        if self.wallet_id is None:
            return []
        changes = [(self.wallet_id, self.sign * self.amount)]
        return changes + [
            (line.wallet_id, -self.sign * line.amount)
            for line in self.lines
            if line.wallet_id is not None
        ]

    @property
    def moves(self) -> list[tuple[int, int]]:
        """Return wallet and amount of what its wallet lines take and give."""
        moved = []
        for line in self.lines:
            if line.wallet_id is not None and self.wallet_id is not None:
                change = -self.sign * line.amount
                moved += [(line.wallet_id, change), (self.wallet_id, -change)]
        return moved


def read_booking(row: dict[str, Any]) -> Booking:
    """Return a confirmed entry of the API, flat or split, as a booking."""
    if row.get("lines"):
        lines = tuple(
            Line(each["amount"], None, None, each["walletId"])
            if each["walletId"] is not None
            else Line(each["amount"], each["categoryType"], each["category"], None)
            for each in row["lines"]
        )
    elif row["type"] == TRANSFER:
        lines = (Line(row["amount"], None, None, row["toWalletId"]),)
    else:
        type_ = row.get("categoryType") or row["type"]
        lines = (Line(row["amount"], type_, row["category"], None),)
    return Booking(
        id=row["id"],
        date=date.fromisoformat(row["date"]),
        type=row["type"],
        amount=row["amount"],
        wallet_id=row["walletId"],
        lines=lines,
        tags=frozenset(row["tags"]),
        is_excluded=row.get("excluded", False),
    )


def read_entries(client: JSONClient, **filters: Any) -> list[dict[str, Any]]:
    """Return all entries of the list, page by page."""
    rows: list[dict[str, Any]] = []
    page = 1
    while True:
        body = client.get_json(f"{A}/entries", page=page, size=PAGE_SIZE, **filters)
        rows += body["results"]
        if body["next"] is None:
            assert len(rows) == body["count"]
            return rows
        page += 1


def read_ledger(client: JSONClient) -> "LedgerReplay":
    """Read the ledger of a premium member, to replay it."""
    return LedgerReplay(
        wallets=client.get_json(f"{A}/wallets"),
        categories=client.get_json(f"{A}/categories"),
        tags=[tag["name"] for tag in client.get_json(f"{A}/tags")],
        bookings=[read_booking(r) for r in read_entries(client) if not r["pending"]],
    )


@dataclass(frozen=True)
class LedgerReplay:
    """The rows of a ledger without manual valuations and holdings.

    Its methods return what the API must answer, in the API's form. What the
    specification leaves open is not among it.
    """

    wallets: list[dict[str, Any]]
    categories: list[dict[str, Any]]
    tags: list[str]
    bookings: list[Booking]

    def counted(self, start: date, end: date) -> list[Booking]:
        return [
            booking
            for booking in self.bookings
            if start <= booking.date <= end and not booking.is_excluded
        ]

    def balances(self, end: date = date.max) -> dict[int, int]:
        """Return what each wallet holds at the end of a day."""
        balances = {wallet["id"]: wallet["openingBalance"] for wallet in self.wallets}
        for booking in self.bookings:
            if booking.date <= end:
                for wallet_id, change in booking.balance_changes:
                    balances[wallet_id] += change
        return balances

    def net_worth(self) -> dict[str, Any]:
        balances = self.balances()
        return {
            "total": sum(balances.values()),
            "assets": sum(each for each in balances.values() if each > 0),
            "liabilities": -sum(each for each in balances.values() if each < 0),
            "wallets": [
                {"id": wallet["id"], "balance": balances[wallet["id"]]}
                for wallet in self.wallets
            ],
        }

    def month(self, year: int, month: int) -> dict[str, Any]:
        start, end = month_bounds(year, month)
        counted = self.counted(start, end)
        before = month_bounds(*(start - timedelta(1)).timetuple()[:2])
        return {
            "year": year,
            "month": month,
            **self.period(start, end),
            "previous": net_of(self.counted(*before)),
            "byCategory": self.by_category(counted),
            "byDay": [
                {"date": day.isoformat()} | flow_of(self.counted(day, day))
                for day in list_days(start, end)
            ],
            "byWallet": self.by_wallet(counted),
            "byTag": self.by_tag(counted),
        }

    def year(self, year: int) -> dict[str, Any]:
        counted = self.counted(date(year, 1, 1), date(year, 12, 31))
        return {
            "year": year,
            **net_of(counted),
            "months": [
                {"month": month} | self.period(*month_bounds(year, month))
                for month in range(1, 13)
            ],
            "byCategory": self.by_category(counted),
        }

    def range(self, start: date, end: date, group_by: str) -> dict[str, Any]:
        groups: dict[Any, list[date]] = {}
        for day in list_days(start, end):
            groups.setdefault(PERIOD_KEYS[group_by](day), []).append(day)
        return {
            "from": start.isoformat(),
            "to": end.isoformat(),
            "groupBy": group_by,
            **net_of(self.counted(start, end)),
            "points": [
                {"start": days[0].isoformat(), "end": days[-1].isoformat()}
                | self.period(days[0], days[-1])
                for days in groups.values()
            ],
        }

    def period(self, start: date, end: date) -> dict[str, Any]:
        """Return income, expense, net and count of a period, and what was left out."""
        counted = self.counted(start, end)
        left_out = [
            booking
            for booking in self.bookings
            if start <= booking.date <= end and booking.is_excluded
        ]
        return {
            **net_of(counted),
            "count": sum(not booking.is_pure_transfer for booking in counted),
            "excluded": flow_of(left_out),
        }

    def by_category(self, bookings: list[Booking]) -> list[dict[str, Any]]:
        amounts: dict[tuple[str, str | None], int] = {}
        counts: dict[tuple[str, str | None], int] = {}
        for booking in bookings:
            for type_, category, amount in booking.effects:
                key = (type_, category)
                amounts[key] = amounts.get(key, 0) + amount
            for key in {(type_, name) for type_, name, _ in booking.effects}:
                counts[key] = counts.get(key, 0) + 1
        rows = [
            {
                "type": type_,
                "category": name,
                "parent": self.parent_of(type_, name),
                "amount": amount,
                "count": counts[type_, name],
            }
            # The share of 0 is left open.
            | (
                {
                    "share": share_of(
                        amount, [a for (t, _), a in amounts.items() if t == type_]
                    )
                }
                if amount
                else {}
            )
            for (type_, name), amount in amounts.items()
        ]
        return sorted(
            rows, key=lambda row: (row["type"], -row["amount"], row["category"] or "")
        )

    def parent_of(self, type_: str, name: str | None) -> str | None:
        names = {row["id"]: row["name"] for row in self.categories}
        for row in self.categories:
            if (row["type"], row["name"]) == (type_, name):
                return names.get(row["parentId"])
        return None

    def by_wallet(self, bookings: list[Booking]) -> list[dict[str, Any]]:
        """Return the wallets in their order, then what has no wallet.

        Of a wallet line, one wallet has it as `transferIn`, the other as `transferOut`.
        """
        rows = []
        for wallet in [*self.wallets, {"id": None, "name": None}]:
            own = [each for each in bookings if each.wallet_id == wallet["id"]]
            moves = [
                change
                for booking in bookings
                for wallet_id, change in booking.moves
                if wallet_id == wallet["id"]
            ]
            row = {"walletId": wallet["id"], "name": wallet["name"]} | flow_of(own)
            if any(line.type for booking in own for line in booking.lines) or moves:
                row["transferIn"] = sum(each for each in moves if each > 0)
                row["transferOut"] = -sum(each for each in moves if each < 0)
                rows.append(row)
        return rows

    def by_tag(self, bookings: list[Booking]) -> list[dict[str, Any]]:
        rows = []
        for tag in self.tags:
            own = [each for each in bookings if tag in each.tags]
            if count := sum(not each.is_pure_transfer for each in own):
                rows.append({"tag": tag} | flow_of(own) | {"count": count})
        return rows

    def trend(self, periods: Iterable[tuple[date, date]]) -> list[dict[str, Any]]:
        """Return the points of the trend; the last one has the present net worth."""
        points = [
            {"start": start.isoformat(), "end": end.isoformat()}
            | net_of(self.counted(start, end))
            | {"netWorth": sum(self.balances(end).values())}
            for start, end in periods
        ]
        points[-1]["netWorth"] = sum(self.balances().values())
        return points

    def spent(self, category: str, start: date, end: date) -> int:
        """Return the expense of a category and its minor ones."""
        minors = [
            row["name"]
            for row in self.categories
            if self.parent_of(EXPENSE, row["name"]) == category
            and row["type"] == EXPENSE
        ]
        return sum(
            amount
            for booking in self.counted(start, end)
            for type_, name, amount in booking.effects
            if type_ == EXPENSE and name in {category, *minors}
        )


PERIOD_KEYS: dict[str, Callable[[date], Any]] = {
    "day": lambda day: day,
    "week": lambda day: day.isocalendar()[:2],
    "month": lambda day: (day.year, day.month),
}


def flow_of(bookings: Iterable[Booking]) -> dict[str, int]:
    effects = [effect for booking in bookings for effect in booking.effects]
    return {
        wanted: sum(amount for type_, _, amount in effects if type_ == wanted)
        for wanted in (INCOME, EXPENSE)
    }


def net_of(bookings: Iterable[Booking]) -> dict[str, int]:
    flow = flow_of(bookings)
    return flow | {"net": flow[INCOME] - flow[EXPENSE]}


def share_of(amount: int, amounts: list[int]) -> Decimal | None:
    """Return the share of the positive amounts; None for what is not positive."""
    if amount <= 0:
        return None
    whole = sum(each for each in amounts if each > 0)
    return (Decimal(amount) / whole).quantize(Decimal("0.0001"), ROUND_HALF_UP)


def month_bounds(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def list_days(start: date, end: date) -> list[date]:
    return [start + timedelta(number) for number in range((end - start).days + 1)]


def list_months(start: date, end: date) -> list[tuple[int, int]]:
    """Return year and month of each month that holds a day of the range."""
    return list(dict.fromkeys((day.year, day.month) for day in list_days(start, end)))
