"""After any history, all balances and reports agree with beancount (spec 3.16, 3.19)."""

import calendar
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from ledger.models import Entry
from ledger.rollups.repair import count_wrong_rows
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.journals import (
    EXPENSE,
    INCOME,
    ROOTS,
    SIGNS,
    WALLETS,
    Journal,
    Row,
    read_entries,
)
from tests.support.random_ledgers import ALL_KINDS, END, ENTRIES, START, A, RandomLedger
from tests.support.scale import IS_FULL, scaled
from tests.support.workbooks import BACKUP, RESTORE, get_file

# 21 November 2026, a Saturday, in Seoul.
NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
RANDOMS = st.randoms(use_true_random=False)
# Of requests that may be refused for what they ask.
TAKEN_OR_REFUSED = {200, 201, 204, 400, 404, 409}
MONTHS = [
    (year, month)
    for year in range(START.year, END.year + 1)
    for month in range(1, 13)
    if (START.year, START.month) <= (year, month) <= (END.year, END.month)
]
FLOWS = ("income", "expense", "net", "refunded", "count", "transfers", "excluded")
# What a restore makes anew; places are counted without gaps.
NEW = {"id", "sortOrder", "createdAt", "updatedAt", "version", "source", "createdBy"}


class LedgerMachine(RuleBasedStateMachine):
    """Writes, changes, merges and moves of one member, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.member = make_member(plan="PREMIUM")
        self.client = JSONClient(self.member)
        self.ledger = RandomLedger(self.client, Random(1))
        self.ledger.add_wallets(["BANK", "CARD", "PREPAID", "RECEIVABLE"])
        self.ledger.add_categories()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        response = self.client.send(method, path, body)
        assert response.status_code in TAKEN_OR_REFUSED, (path, body, response.content)
        return response

    def pick_entry(self, random: Random) -> Row | None:
        rows = self.client.get_json(ENTRIES, size=100)["results"]
        return random.choice(rows) if rows else None

    @rule(random=RANDOMS, count=st.integers(1, 5))
    def write(self, random: Random, count: int) -> None:
        self.ledger.random = random
        for _ in range(count):
            self.ledger.refundable = {
                row["id"]: (row["date"], row["amount"] - row["refunded"])
                for row in self.client.get_json(ENTRIES, type="expense")["results"]
                if row["currency"] is None
            }
            self.ledger.write(random.choice(ALL_KINDS)(self.ledger))

    @rule(random=RANDOMS)
    def replace(self, random: Random) -> None:
        if row := self.pick_entry(random):
            self.ledger.random = random
            body = random.choice(ALL_KINDS)(self.ledger)
            method = random.choice(["PUT", "PATCH"])
            self.send(method, f"{ENTRIES}/{row['id']}", body)

    @rule(random=RANDOMS)
    def change_part(self, random: Random) -> None:
        if row := self.pick_entry(random):
            self.ledger.random = random
            body = random.choice(ALL_KINDS)(self.ledger)
            name = random.choice(sorted(body))
            self.send("PATCH", f"{ENTRIES}/{row['id']}", {name: body[name]})

    @rule(random=RANDOMS)
    def leave_out_or_take_in(self, random: Random) -> None:
        if row := self.pick_entry(random):
            body = {"excluded": not row["excluded"]}
            response = self.send("PATCH", f"{ENTRIES}/{row['id']}", body)
            assert response.status_code == 200, response.content

    @rule(random=RANDOMS)
    def delete(self, random: Random) -> None:
        if row := self.pick_entry(random):
            response = self.send("DELETE", f"{ENTRIES}/{row['id']}")
            assert response.status_code == 204, response.content

    @rule(random=RANDOMS, is_kept=st.booleans())
    def merge(self, random: Random, *, is_kept: bool) -> None:
        self.ledger.random = random
        wallet = self.ledger.pick_wallet()
        expense = self.ledger.base(EXPENSE) | {"walletId": wallet}
        income = self.ledger.base(INCOME) | {
            "walletId": self.ledger.pick_wallet(but=wallet),
            "amount": expense["amount"],
            "date": expense["date"],
        }
        ids = [self.ledger.post(ENTRIES, body)["id"] for body in (expense, income)]
        path = f"{ENTRIES}/{ids[0]}"
        assert self.send("POST", f"{path}/merge", {"with": ids[1]}).status_code == 200
        if not is_kept:
            assert self.send("POST", f"{path}/unmerge").status_code == 200

    @rule(random=RANDOMS)
    def move_wallet(self, random: Random) -> None:
        wallets = self.ledger.wallet_ids
        if len(wallets) > 2:
            source, target = random.sample(wallets, 2)
            path = f"{A}/wallets/{source}?moveTo={target}"
            if self.send("DELETE", path).status_code == 204:
                wallets.remove(source)

    @rule(random=RANDOMS)
    def move_category(self, random: Random) -> None:
        rows = self.client.get_json(f"{A}/categories")
        source, target = random.sample(rows, 2)
        self.send("DELETE", f"{A}/categories/{source['id']}?moveTo={target['id']}")

    @invariant()
    def entries_are_whole(self) -> None:
        rows = read_entries(self.client)
        refunds: Counter[int] = Counter()
        for row in rows:
            if row["refundOf"] is not None and not row["pending"]:
                refunds[row["refundOf"]] += row["amount"]
            lines = row["lines"]
            assert len(lines) != 1, row
            if lines:
                assert sum(line["amount"] for line in lines) == row["amount"], row
                assert (row["category"], row["toWalletId"]) == (None, None), row
            targets = {line["walletId"] for line in lines} | {row["toWalletId"]}
            assert row["walletId"] is None or row["walletId"] not in targets, row
        for row in rows:
            if row["type"] == "expense":
                assert row["refunded"] == refunds[row["id"]], row

    @invariant()
    def totals_equal_the_rows(self) -> None:
        assert not +count_wrong_rows(self.member.pk)

    def teardown(self) -> None:
        months = [
            self.client.get_json(f"{A}/statistics/month", year=year, month=month)
            for year, month in MONTHS
        ]
        assert_reports_agree(self.client, months)
        assert_beancount_agrees(self.client, months)
        assert_restored_ledger_is_equal(self.client)


def month_end(body: Row) -> date:
    year, month = body["year"], body["month"]
    return date(year, month, calendar.monthrange(year, month)[1])


def add_up(rows: list[Row], *names: str) -> tuple[int, ...]:
    return tuple(sum(row[name] for row in rows) for name in names)


def flow_of(body: Row) -> Row:
    return {name: body[name] for name in FLOWS}


def assert_beancount_agrees(client: JSONClient, months: list[Row]) -> None:
    """Let beancount check balances, the sums of each month, and the net worth."""
    wallets = client.get_json(f"{A}/wallets")
    journal = Journal(wallets, read_entries(client))
    assertions = [
        (END, journal.wallet_account(row["id"]), row["balance"]) for row in wallets
    ]
    points = client.get_json(f"{A}/networth/trend", months=24)["points"]
    assertions += [
        (date.fromisoformat(point["end"]), WALLETS, point["netWorth"])
        for point in points[:-1]
    ]
    assertions.append((END, WALLETS, client.get_json(f"{A}/networth")["total"]))
    # By account, from the first month on.
    totals: Counter[str] = Counter()
    for body in months:
        for row in body["byCategory"]:
            account = journal.category_account(row["type"], row["category"])
            totals[account] += SIGNS[row["type"]] * row["amount"]
        for row in body["byWallet"]:
            account = journal.wallet_account(row["walletId"], is_excluded=False)
            totals[account] += row["income"] - row["expense"]
            totals[account] += row["transferIn"] - row["transferOut"]
        for type_, sign in SIGNS.items():
            totals[ROOTS[True][type_]] += sign * body["excluded"][type_]
        assertions += [(month_end(body), *total) for total in totals.items()]
    assert journal.list_errors(assertions) == []


def assert_reports_agree(client: JSONClient, months: list[Row]) -> None:
    """Check what the parts of a report, and reports of different periods, share."""
    days = [row for body in months for row in body["byDay"]]
    for before, body in zip([None, *months], months, strict=False):
        sums = (body["income"], body["expense"])
        assert add_up(body["byDay"], "income", "expense") == sums
        assert add_up(body["byWallet"], "income", "expense") == sums
        came, went = add_up(body["byWallet"], "transferIn", "transferOut")
        assert came == went == body["transfers"]["amount"]
        for type_ in SIGNS:
            rows = [row for row in body["byCategory"] if row["type"] == type_]
            assert add_up(rows, "amount") == (body[type_],)
            shares = [row["share"] for row in rows if row["share"]]
            assert not shares or abs(sum(shares) - 1) < len(shares) / 10_000
        if before is not None:
            assert flow_of(body["previous"] | {"count": 0}) == flow_of(
                before | {"count": 0}
            )
    for year in range(START.year, END.year + 1):
        own = [body for body in months if body["year"] == year]
        report = client.get_json(f"{A}/statistics/year", year=year)
        shown = {row["month"]: flow_of(row) for row in report["months"]}
        assert {body["month"]: flow_of(body) for body in own}.items() <= shown.items()
        amounts: Counter[Any] = Counter()
        for row in (row for body in own for row in body["byCategory"]):
            amounts[row["type"], row["category"]] += row["amount"]
        assert amounts == Counter(
            {(r["type"], r["category"]): r["amount"] for r in report["byCategory"]}
        )
    # From the first day that has an amount: its week and its month are cut.
    used = (row["date"] for row in days if row["income"] or row["expense"])
    first = next(used, days[0]["date"])
    bounds = {"from": first, "to": days[-1]["date"]}
    counts = set()
    for group_by in ("day", "week", "month"):
        report = client.get_json(f"{A}/statistics/range", **bounds, groupBy=group_by)
        for point in report["points"]:
            start, end = (date.fromisoformat(point[name]) for name in ("start", "end"))
            within = [
                row for row in days if point["start"] <= row["date"] <= point["end"]
            ]
            sums = (point["income"], point["expense"])
            assert add_up(within, "income", "expense") == sums
            if group_by == "week":
                assert point["start"] == first or start.weekday() == 0
                assert end == month_end(months[-1]) or end - start <= timedelta(6)
        counts.add(add_up(report["points"], "count"))
    assert len(counts) == 1


def assert_restored_ledger_is_equal(client: JSONClient) -> None:
    """Restore a backup for another member, and take merged transfers apart in both."""
    data = get_file(client, BACKUP)
    other = JSONClient(make_member(plan="PREMIUM"))
    answer = other.post(RESTORE, {"file": SimpleUploadedFile("backup.xlsx", data)})
    assert answer.status_code == 200, answer.content
    assert list_named_entries(other) == list_named_entries(client)
    for path in ("wallets", "categories", "tags", "networth"):
        found, expected = (
            without_ids(each.get_json(f"{A}/{path}")) for each in (other, client)
        )
        assert found == expected
    assert take_apart(other) == take_apart(client)
    assert list_named_entries(other) == list_named_entries(client)


def take_apart(client: JSONClient) -> list[int]:
    """Take all merged transfers apart; return their places in the list."""
    parts = []
    for place, row in enumerate(read_entries(client, type="transfer")):
        response = client.send("POST", f"{A}/entries/{row['id']}/unmerge")
        # 409: it has become a transfer with lines.
        assert response.status_code in {200, 404, 409}, response.content
        if response.status_code == 200:
            parts.append(place)
    return parts


def list_named_entries(client: JSONClient) -> list[Any]:
    """Return all entries, with names and places in the list instead of ids."""
    rows = read_entries(client)
    places = {row["id"]: place for place, row in enumerate(rows)}
    for row in rows:
        for part in (row, *row["lines"]):
            if part["refundOf"] is not None:
                part["refundOf"] = places[part["refundOf"]]
    return [without_ids(row) for row in rows]


def without_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [without_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: without_ids(each)
        for name, each in value.items()
        if name not in NEW and not name.endswith(("Id", "Ids"))
    }


@pytest.mark.django_db
def test_after_any_history_all_reports_agree() -> None:
    with time_machine.travel(NOON, tick=False):
        run_state_machine_as_test(
            LedgerMachine,
            settings=settings(
                max_examples=scaled(4, 30),
                stateful_step_count=20,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
                # To shrink a history takes minutes.
                phases=list(Phase) if IS_FULL else [Phase.generate],
            ),
        )
    assert Entry.objects.exists()
