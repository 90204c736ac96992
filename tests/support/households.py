"""A member's wallets and entries with lines, over the API, and what each report shows."""

import calendar
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from ledger.models import Wallet
from tests.support.clients import JSONClient

A = "/api/account"
ENTRIES = f"{A}/entries"
STATISTICS = f"{A}/statistics"
# The day of all entries that do not name another one: a Wednesday.
DAY = date(2026, 11, 18)
WALLETS = {
    "통장": "BANK",
    "적금": "BANK",
    "현금": "CASH",
    "카드": "CARD",
    "대출": "LOAN",
    "포인트": "PREPAID",
    "받을 돈": "RECEIVABLE",
}
OPENING = 1_000_000

Body = dict[str, Any]
Line = dict[str, Any]


def category_line(amount: int, name: str | None, type_: str = "expense") -> Line:
    return {"amount": amount, "category": name, "categoryType": type_}


def wallet_line(amount: int, wallet: str) -> Line:
    return {"amount": amount, "walletId": wallet}


class Household:
    """Seven wallets by name; bodies may name a wallet in the place of its id."""

    def __init__(
        self, client: JSONClient, wallets: Iterable[tuple[str, str]] = WALLETS.items()
    ) -> None:
        self.client, member = client, client.member
        assert member is not None
        rows = Wallet.objects.bulk_create(
            Wallet(
                member=member,
                name=name,
                kind=kind,
                sort_order=number,
                opening_balance=OPENING,
            )
            for number, (name, kind) in enumerate(wallets, 1)
        )
        self.ids = {row.name: row.pk for row in rows}

    def expect(self, status: int, method: str, path: str, body: Any = None) -> Any:
        """Return the body of an answer, which must have this status."""
        response = self.client.send(method, path, body)
        assert response.status_code == status, (body, response.content.decode())
        return response.data

    def resolve(self, body: Any) -> Any:
        """Return a body with the ids of its wallets in the place of their names."""
        if isinstance(body, list):
            return [self.resolve(each) for each in body]
        if not isinstance(body, dict):
            return body
        return {name: self.resolve_field(name, value) for name, value in body.items()}

    def resolve_field(self, name: str, value: Any) -> Any:
        if name in {"walletId", "toWalletId"} and isinstance(value, str):
            return self.ids.get(value, value)
        return self.resolve(value)

    def body(self, type_: str, amount: int, wallet: str | None, **fields: Any) -> Body:
        """Return the body of an entry, of `DAY` unless it says otherwise."""
        body: Body = {
            "date": DAY.isoformat(),
            "type": type_,
            "amount": amount,
            "walletId": wallet,
        }
        resolved: Body = self.resolve(body | fields)
        return resolved

    def write(self, type_: str, amount: int, wallet: str | None, **fields: Any) -> Body:
        """Write an entry, which must be accepted, and return it."""
        body = self.body(type_, amount, wallet, **fields)
        answer: Body = self.expect(201, "POST", ENTRIES, body)
        return answer

    def read(self, entry: Body) -> Body:
        answer: Body = self.client.get_json(f"{ENTRIES}/{entry['id']}")
        return answer

    def patch(self, entry: Body, **fields: Any) -> Body:
        path = f"{ENTRIES}/{entry['id']}"
        answer: Body = self.expect(200, "PATCH", path, self.resolve(fields))
        return answer

    def changes(self) -> dict[str, int]:
        """Return what was added to the balance of each wallet that moved."""
        rows = self.client.get_json(f"{A}/wallets")
        changes = {row["name"]: row["balance"] - row["openingBalance"] for row in rows}
        return {name: change for name, change in changes.items() if change}

    def month(self, day: date = DAY) -> Body:
        query = {"year": day.year, "month": day.month}
        body: Body = self.client.get_json(f"{STATISTICS}/month", **query)
        return body

    def categories(self, day: date = DAY) -> dict[tuple[str, str | None], int]:
        """Return the amounts of the categories of a month."""
        return {
            (row["type"], row["category"]): row["amount"]
            for row in self.month(day)["byCategory"]
        }

    def budget(self, category: str, day: date = DAY, amount: int = 1_000_000) -> None:
        body = {
            "category": category,
            "year": day.year,
            "month": day.month,
            "amount": amount,
        }
        self.expect(201, "POST", f"{A}/budgets", body)

    def budget_status(self, day: date = DAY) -> Body:
        query = {"year": day.year, "month": day.month}
        body: Body = self.client.get_json(f"{A}/budgets/status", **query)
        return body

    def flows(self, day: date = DAY) -> dict[str, tuple[int, int]]:
        """Return income and expense of a month in each report that has them.

        All entries of the month must be of the day, whose week has no other ones.
        """
        last = calendar.monthrange(day.year, day.month)[1]
        start, end = day.replace(day=1), day.replace(day=last)
        month = self.month(day)
        year = self.client.get_json(f"{STATISTICS}/year", year=day.year)
        found = {
            "month": pair(month),
            "days": total(month["byDay"]),
            "day": total(r for r in month["byDay"] if r["date"] == day.isoformat()),
            "wallets": total(month["byWallet"]),
            "categories": total_by_type(month["byCategory"]),
            "year": pair(year["months"][day.month - 1]),
        }
        for group_by in ("day", "week", "month"):
            body = self.client.get_json(
                f"{STATISTICS}/range",
                **{"from": start.isoformat(), "to": end.isoformat()},
                groupBy=group_by,
            )
            found[f"range by {group_by}"] = pair(body)
            found[f"points by {group_by}"] = total(body["points"])
        for unit, first in (
            ("month", start),
            ("WEEK", day - timedelta(day.weekday())),
        ):
            points = self.client.get_json(f"{A}/networth/trend", unit=unit)["points"]
            own = [each for each in points if each["start"] == first.isoformat()]
            assert len(own) == 1, points
            found[f"trend by {unit}"] = pair(own[0])
        return found

    def assert_flows(self, income: int, expense: int, day: date = DAY) -> None:
        """Assert that every report shows this income and expense."""
        found = self.flows(day)
        assert found == dict.fromkeys(found, (income, expense))
        actual = self.budget_status(day)["income"]["actual"]
        assert actual == income


def pair(row: Body) -> tuple[int, int]:
    """Return income and expense; `net` must be their difference."""
    income, expense = row["income"], row["expense"]
    assert row.get("net", income - expense) == income - expense
    return income, expense


def total(rows: Iterable[Body]) -> tuple[int, int]:
    pairs = [pair(row) for row in rows]
    return sum(each for each, _ in pairs), sum(each for _, each in pairs)


def total_by_type(rows: list[Body]) -> tuple[int, int]:
    income, expense = (
        sum(row["amount"] for row in rows if row["type"] == type_)
        for type_ in ("income", "expense")
    )
    return income, expense


def results(household: Household, **filters: Any) -> list[dict[str, Any]]:
    """Return the first page of the entries."""
    rows: list[dict[str, Any]] = household.client.get_json(ENTRIES, **filters)[
        "results"
    ]
    return rows


def row_of(rows: list[dict[str, Any]], **key: Any) -> dict[str, Any]:
    """Return the only row with these values."""
    (row,) = [each for each in rows if key.items() <= each.items()]
    return row
