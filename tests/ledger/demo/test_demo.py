"""The demo ledger has data for every page, and is consistent."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Member
from ledger.cards.automatic_payments import PaymentRunResult, pay_due_bills
from ledger.demo.cards import MAIN_CARD, SECOND_CARD
from ledger.demo.entries import BALANCES_TODAY, generate_entries
from ledger.demo.loader import create_demo_ledger
from ledger.demo.trades import STOCKS, generate_trades
from ledger.models import (
    Budget,
    DefaultCategory,
    Entry,
    Occurrence,
    RecurringRule,
    Trade,
)
from ledger.recurring.occurrences import RecurringRunResult, process_due_rules
from tests.support.cards import find_imbalance, get_bill, list_bills, pick
from tests.support.clients import JSONClient
from tests.support.exports import export_ledger
from tests.support.factories import count_rows_of, make_member
from tests.support.imports import import_file
from tests.support.rollups import assert_rollups_are_right
from tests.support.workbooks import download_backup, upload

ACCOUNT = "/api/account"
PASSWORD = "correct-horse-9"
LEAP_DAY = "2028-02-29"


def noon(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00+09:00")


@pytest.fixture(autouse=True)
def _today() -> Iterator[None]:
    with time_machine.travel(noon("2026-11-21"), tick=False):
        yield


def load(**options: Any) -> str:
    out = StringIO()
    call_command("load_demo_data", password=PASSWORD, stdout=out, **options)
    return out.getvalue()


@pytest.fixture(scope="module")
def _loaded(shared_rows: Any) -> None:
    with time_machine.travel(noon("2026-11-21"), tick=False):
        shared_rows(load)


@pytest.fixture
def client(_loaded: None, db: None) -> JSONClient:
    return JSONClient(Member.objects.get())


def test_command_prints_counts_and_how_to_log_in(db: None) -> None:
    output = load(login_id="minji")
    entries, budgets, trades = (
        model.objects.filter(member__login_id="minji").count()
        for model in (Entry, Budget, Trade)
    )
    assert output == (
        f"{entries} entries, {budgets} budgets and {trades} trades created."
        f" Log in as minji with {PASSWORD}\n"
    )
    body = {"loginId": "minji", "password": PASSWORD}
    answer = JSONClient().send("POST", "/api/auth/login", body)
    assert (answer.status_code, answer.data["member"]["plan"]) == (200, "PREMIUM")


@pytest.mark.usefixtures("_loaded", "db")
def test_command_fails_if_the_login_id_is_taken() -> None:
    before = count_rows_of(Member.objects.get())
    with pytest.raises(CommandError, match=r"^demo: "):
        load()
    assert count_rows_of(Member.objects.get()) == before
    load(login_id="another")
    assert count_rows_of(Member.objects.latest("id")) == before


@pytest.mark.parametrize(
    "path",
    [
        *("wallets", "categories", "tags", "quick-entries", "recurring", "budgets"),
        *("stocks", "trades", "entries"),
    ],
)
def test_every_list_has_something_to_show(client: JSONClient, path: Any) -> None:
    body = client.get_json(f"{ACCOUNT}/{path}")
    assert len(body["results"] if isinstance(body, dict) else body) > 3


def test_every_kind_of_entry_is_there(client: JSONClient) -> None:
    def count(**query: Any) -> Any:
        return client.get_json(f"{ACCOUNT}/entries", **query)["count"]

    assert count() > 1_000
    assert count(pending="true") == 2
    assert client.get_json(f"{ACCOUNT}/entries/pending/count") == {"count": 2}
    assert count(type="income") > 36
    assert count(tag="여행") == count(tag="가족") > 3
    assert Entry.objects.filter(currency="USD", exchange_rate__gt=1_000).exists()
    assert Entry.objects.filter(installment_months=3).exists()
    # Bills of the cards, transfers, and a loan that is paid back with interest.
    assert count(type="transfer") > 100
    assert Entry.objects.filter(type="transfer", line_count=2).count() > 30
    assert Entry.objects.filter(type="expense", line_count=2).exists()
    assert Entry.objects.filter(refund_of__isnull=False).exists()


def test_budgets_and_expected_income_have_values(client: JSONClient) -> None:
    status = client.get_json(f"{ACCOUNT}/budgets/status")
    assert {row["category"] for row in status["categories"]} >= {"식비", "배달"}
    assert status["total"]["spent"] > 0
    assert status["income"]["expected"] > 0
    assert client.get_json(f"{ACCOUNT}/budgets/chart")["days"][-1]["spent"] > 0
    for month in (6, 7, 8, 9, 10, 12):
        assert len(client.get_json(f"{ACCOUNT}/budgets", year=2026, month=month)) == (
            0 if month == 6 else 7
        )


def test_statistics_and_trend_have_values(client: JSONClient) -> None:
    month = client.get_json(f"{ACCOUNT}/statistics/month", year=2026, month=10)
    assert month["income"] > 0
    assert len(month["byCategory"]) > 10
    assert month["byTag"]
    points = client.get_json(f"{ACCOUNT}/networth/trend")["points"]
    assert len({point["netWorth"] for point in points}) == len(points)
    worth = client.get_json(f"{ACCOUNT}/networth")
    assert worth["investments"] > 0
    assert 0 < worth["liabilities"] < worth["assets"]


def test_wallets_have_realistic_balances(client: JSONClient) -> None:
    rows = client.get_json(f"{ACCOUNT}/wallets")
    held = {row["name"]: row["balance"] for row in rows}
    assert held.items() >= BALANCES_TODAY.items()
    assert len(held) == len(rows) > len(BALANCES_TODAY)


def assert_bills_are_paid(client: JSONClient, day: str) -> None:
    """Assert that the bills that were due are paid, and that nothing else is."""
    ids = {row["name"]: row["id"] for row in client.get_json(f"{ACCOUNT}/wallets")}
    bills = list_bills(client, ids[MAIN_CARD])
    for bill in bills:
        is_paid = bill["paymentDate"] <= day
        assert (bill["status"] == "PAID") == is_paid, bill["month"]
        assert bill["paid"] == (bill["total"] if is_paid else 0)
    assert find_imbalance(client, [ids[MAIN_CARD], ids[SECOND_CARD]]) == 0


def test_cards_have_bills_plans_and_targets(client: JSONClient) -> None:
    ids = {row["name"]: row["id"] for row in client.get_json(f"{ACCOUNT}/wallets")}
    assert_bills_are_paid(client, "2026-11-21")
    bill = get_bill(client, ids[MAIN_CARD], "2026-11")
    assert (bill["status"], bill["difference"]) == ("PAID", 0)
    assert bill["printed"] == bill["total"] > 1_000_000
    assert {item["walletId"] for item in bill["items"]} == {
        ids[MAIN_CARD],
        ids[SECOND_CARD],
    }
    plans = client.get_json(f"{ACCOUNT}/installments")
    amounts = {plan["memo"]: plan["parts"] for plan in plans["items"]}
    assert amounts.keys() == {"노트북", "식기세척기"}
    targets = client.get_json(f"{ACCOUNT}/wallets/{ids[MAIN_CARD]}/targets")
    assert len(targets["targets"]) == 3
    assert targets["excluded"]
    assert len(client.get_json(f"{ACCOUNT}/bills", month="2026-12")["bills"]) == 1


def test_bills_are_the_same_after_an_export_and_a_backup(client: JSONClient) -> None:
    member = Member.objects.get()
    for is_export in (True, False):
        other = JSONClient(make_member(plan="PREMIUM"))
        if is_export:
            import_file(other, export_ledger(member, "json"))
        else:
            answer = upload(other, download_backup(member))
            assert answer.status_code == 200, answer.content
        assert_bills_are_paid(other, "2026-11-21")
        assert list_totals(other) == list_totals(client)


def list_totals(client: JSONClient) -> list[Any]:
    ids = {row["name"]: row["id"] for row in client.get_json(f"{ACCOUNT}/wallets")}
    bills = list_bills(client, ids[MAIN_CARD], **{"from": "2023-12"})
    return [pick(bill, "month", "total", "printed", "status") for bill in bills]


def test_rules_run_pause_and_end(client: JSONClient) -> None:
    rules = {rule["name"]: rule for rule in client.get_json(f"{ACCOUNT}/recurring")}
    assert {rule["frequency"] for rule in rules.values()} == {
        "WEEKLY",
        "MONTHLY",
        "YEARLY",
    }
    assert rules["정수기 렌탈"]["nextDate"] is None
    assert not rules["신문 구독"]["active"]
    gym = rules["헬스장"]["id"]
    page = client.get_json(f"{ACCOUNT}/recurring/{gym}/occurrences", size=100)
    assert {row["status"] for row in page["results"]} == {"BOOKED", "SKIPPED"}


def test_rules_booked_each_of_their_due_dates_and_the_job_finds_nothing_left(
    client: JSONClient,
) -> None:
    assert process_due_rules(timezone.now()) == RecurringRunResult(0, 0, 0)
    today = date(2026, 11, 21)
    first = date(2023, 11, 1)
    for rule in RecurringRule.objects.filter(active=True):
        rows = Occurrence.objects.filter(rule=rule).order_by("due_date")
        days = list(rows.values_list("due_date", flat=True))
        assert days == list(rule.schedule.due_dates(first, today))
        assert rule.next_date == rule.schedule.next_due_date(today)
    booked = Occurrence.objects.filter(status="BOOKED")
    assert booked.count() == booked.values("entry").distinct().count() > 100
    for row in booked.select_related("entry", "rule"):
        assert (row.entry.date, row.entry.amount) == (row.due_date, row.rule.amount)


def test_portfolio_has_fractions_and_realized_profit(
    client: JSONClient,
) -> None:
    portfolio = client.get_json(f"{ACCOUNT}/portfolio")
    holdings = portfolio["holdings"]
    assert len(holdings) == len(STOCKS)
    assert holdings[-1]["quantity"] == 0
    assert any(row["quantity"] % 1 for row in holdings)
    assert sum(row["realizedProfit"] != 0 for row in holdings) == 3
    assert portfolio["totals"]["marketValue"] > portfolio["totals"]["costBasis"]


@pytest.mark.parametrize("stock", STOCKS, ids=lambda stock: stock.code)
def test_no_stock_is_sold_before_it_is_bought(stock: Any) -> None:
    held = Decimal(0)
    trades = list(generate_trades(stock, date(2026, 11, 21)))
    assert trades == sorted(trades, key=lambda trade: trade.date)
    for trade in trades:
        held += trade.quantity if trade.side == "BUY" else -trade.quantity
        assert held >= 0
        assert trade.date.weekday() < 5
        assert trade.fee > 0
        assert (trade.tax > 0) == (trade.side == "SELL")


def test_same_day_gives_the_same_entries() -> None:
    today = date(2026, 11, 21)
    assert list(generate_entries(today)) == list(generate_entries(today))


@pytest.mark.parametrize("day", [LEAP_DAY, "2027-01-01", "2026-05-31", "2026-11-01"])
def test_it_can_be_written_on_any_day_and_every_total_is_right(
    db: None, day: Any
) -> None:
    RecurringRule.objects.update(active=False)  # if other tests have loaded the demo
    member = make_member(plan="PREMIUM")
    with time_machine.travel(noon(day), tick=False):
        now = timezone.now()
        written = create_demo_ledger(member, now, timezone.localdate(now))
        assert process_due_rules(now) == RecurringRunResult(0, 0, 0)
        assert pay_due_bills(now, members=(member.pk, member.pk)) == PaymentRunResult()
        assert_bills_are_paid(JSONClient(member), day)
    assert written.entries == Entry.objects.filter(member_id=member.pk).count()
    assert not Entry.objects.filter(member_id=member.pk, date__gt=day).exists()
    occurrences = Occurrence.objects.filter(member_id=member.pk)
    assert occurrences.exclude(status="MISSED").count() > 100
    assert not occurrences.filter(status="MISSED").exists()
    assert_rollups_are_right()


@pytest.mark.parametrize(
    "day", ["2026-12-01", "2026-12-02", "2027-02-28", "2026-12-31"]
)
@pytest.mark.parametrize("time", ["00:05", "23:55"])
def test_month_has_an_income_on_any_of_its_days(db: None, day: str, time: str) -> None:
    # It is the first figure of the tour of the README.
    RecurringRule.objects.update(active=False)
    member = make_member(plan="PREMIUM")
    with time_machine.travel(f"{day}T{time}:00+09:00", tick=False):
        now = timezone.now()
        create_demo_ledger(member, now, timezone.localdate(now))
        month = JSONClient(member).get_json(f"{ACCOUNT}/statistics/month")
        late = Entry.objects.filter(member_id=member.pk, created_at__gt=now)
    assert month["income"] > 3_000_000
    assert not late.exists()


def test_it_can_be_written_without_the_default_categories(db: None) -> None:
    DefaultCategory.objects.filter(parent__isnull=False).delete()
    DefaultCategory.objects.all().delete()
    load(login_id="minji")
    rows = Entry.objects.filter(member__login_id="minji").exclude(type="transfer")
    assert rows.exists()
    assert not rows.filter(category=None, line_count=0).exists()


def test_the_account_can_be_deleted_like_any_other(client: JSONClient) -> None:
    member = Member.objects.get()
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert not any(count_rows_of(member).values())
