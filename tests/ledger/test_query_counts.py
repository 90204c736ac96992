"""Each list costs the same number of queries for 1 row and for 50."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Member, PointHistory
from ledger.investments.portfolio import get_portfolio
from ledger.models import (
    DefaultCategory,
    Occurrence,
    QuickEntryTag,
    RecurringRule,
    RecurringTag,
    StockQuote,
)
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_member,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_trade,
    make_wallet,
)
from tests.support.plans import NEXT_MONTH, buy, make_card_wallet

MANY = 50
HOUR = timedelta(hours=1)


def add_wallet(member: Member, number: Any) -> None:
    wallet = make_wallet(member, opening_balance=number)
    make_entry(member, wallet=wallet)


def add_entry(member: Member, number: Any) -> None:
    make_entry(
        member,
        date=date(2026, 1, 1) + timedelta(number),
        wallet=make_wallet(member),
        category=make_category(member),
        tags=("every", f"own{number}"),
    )


def add_category(member: Member, number: Any) -> None:
    make_category(member, parent=make_category(member))


def add_quick_entry(member: Member, number: Any) -> None:
    quick = make_quick_entry(
        member, wallet=make_wallet(member), category=make_category(member)
    )
    for position in range(2):
        QuickEntryTag.objects.create(
            quick_entry=quick,
            tag=make_tag(member),
            member_id=member.pk,
            position=position,
        )


def add_stock(member: Member, number: Any) -> None:
    make_stock(member, code=f"CODE{number}")


def add_trade(member: Member, number: Any) -> None:
    """Create a trade of a stock with a fresh price; what changed was replayed."""
    now = timezone.now()
    StockQuote.objects.create(
        code=f"CODE{number}",
        home_price=9,
        quoted_at=now,
        fetched_at=now,
        next_refresh_at=now + HOUR,
    )
    make_trade(member, stock=make_stock(member, code=f"CODE{number}"))
    get_portfolio(member)


def add_award(member: Member, number: Any) -> None:
    PointHistory.objects.create(member=member, points=10, reason="POST")


def add_member(member: Member, number: Any) -> None:
    make_member()


def add_default_category(member: Member, number: Any) -> None:
    defaults = {"type": "expense", "sort_order": 100 + number}
    major = DefaultCategory.objects.create(name=f"Major {number}", **defaults)
    DefaultCategory.objects.create(name=f"Minor {number}", parent=major, **defaults)


def add_tag(member: Member, number: Any) -> None:
    make_tag(member)


def add_budget(member: Member, number: Any) -> None:
    category = make_category(member, parent=make_category(member))
    make_budget(member, category=category)
    make_entry(member, category=category)


def add_rule(member: Member, number: Any) -> None:
    rule = make_rule(member, wallet=make_wallet(member), category=make_category(member))
    for position in range(2):
        RecurringTag.objects.create(
            rule=rule, tag=make_tag(member), member_id=member.pk, position=position
        )


def add_occurrence(member: Member, number: Any) -> None:
    rule = RecurringRule.objects.owned_by(member).first() or make_rule(member)
    Occurrence.objects.create(
        member=member,
        rule=rule,
        due_date=date(2026, 1, 1) + timedelta(number),
        status=Occurrence.Status.BOOKED,
        entry=make_entry(member),
    )


def add_flow(member: Member, number: Any) -> None:
    """Create an entry of its own day, category, wallet and tag."""
    make_entry(
        member,
        date=date(2026, 11, 1) + timedelta(number % 30),
        category=make_category(member, parent=make_category(member)),
        wallet=make_wallet(member),
        tags=("every", f"own{number}"),
    )


def add_plan(member: Member, number: Any) -> None:
    """Create a purchase in installments of its own card, category and tag."""
    wallet = make_card_wallet(member, NEXT_MONTH, targets=[number + 1])
    category = make_category(member, parent=make_category(member))
    make_budget(member, category=category)
    fields = {"category": category, "tags": ("every", f"own{number}")}
    buy(member, wallet, timezone.localdate().isoformat(), 1_000, installment_months=24)
    buy(member, wallet, "2026-10-20", 1_000, installment_months=3, **fields)


MONTH = "year=2026&month=11"
LISTS = [
    ("/api/account/wallets", add_wallet),
    ("/api/account/networth", add_wallet),
    ("/api/account/entries?size=100", add_entry),
    ("/api/account/entries?size=100&tag=every", add_entry),
    ("/api/account/entries?size=100&type=expense&year=2026", add_entry),
    ("/api/account/categories", add_category),
    ("/api/account/quick-entries", add_quick_entry),
    ("/api/account/stocks", add_stock),
    ("/api/account/trades?size=100", add_trade),
    ("/api/account/portfolio", add_trade),
    ("/api/account/tags", add_tag),
    (f"/api/account/budgets?{MONTH}", add_budget),
    (f"/api/account/budgets/status?{MONTH}", add_budget),
    (f"/api/account/budgets/chart?{MONTH}", add_budget),
    ("/api/account/recurring", add_rule),
    (f"/api/account/statistics/month?{MONTH}", add_flow),
    ("/api/account/statistics/year?year=2026", add_flow),
    ("/api/account/statistics/range?from=2026-11-01&to=2026-11-30", add_flow),
    ("/api/account/statistics/month?installments=spread&year=2026", add_plan),
    ("/api/account/statistics/year?installments=spread&year=2026", add_plan),
    (
        "/api/account/statistics/range?installments=spread&from=2026-11-01&to=2026-11-30",
        add_plan,
    ),
    (f"/api/account/budgets/status?installments=spread&{MONTH}", add_plan),
    (f"/api/account/budgets/chart?installments=spread&{MONTH}", add_plan),
    ("/api/account/installments", add_plan),
    ("/api/account/networth/trend", add_flow),
    ("/api/account/networth/trend?unit=WEEK", add_flow),
    ("/api/auth/points?size=100", add_award),
    ("/api/users?size=100", add_member),
    ("/api/admin/members?size=100", add_member),
    ("/api/admin/members?size=100&search=member", add_member),
    ("/api/admin/default-categories", add_default_category),
]


def capture_queries(client: JSONClient, path: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        client.get_json(path)
    return [query["sql"] for query in captured]


@pytest.mark.parametrize(("path", "add"), LISTS)
def test_list_costs_the_same_queries_for_1_row_and_for_50(
    path: str, add: Any, administrator: Member
) -> None:
    client = JSONClient(administrator)
    add(administrator, 0)
    client.get_json(path)
    few = capture_queries(client, path)
    for number in range(1, MANY):
        add(administrator, number)
    many = capture_queries(client, path)
    listing = "\n".join(many)
    assert len(few) == len(many), f"1 row: {len(few)}, 50: {len(many)}\n{listing}"


def test_occurrences_cost_the_same_queries_for_1_and_for_50(
    administrator: Member,
) -> None:
    client = JSONClient(administrator)
    add_occurrence(administrator, 0)
    rule = RecurringRule.objects.owned_by(administrator).get()
    path = f"/api/account/recurring/{rule.pk}/occurrences?size=100"
    client.get_json(path)
    few = capture_queries(client, path)
    for number in range(1, MANY):
        add_occurrence(administrator, number)
    many = capture_queries(client, path)
    assert len(few) == len(many)
    assert len(client.get_json(path)["results"]) == MANY


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("statistics/month", MONTH),
        ("statistics/year", "year=2026"),
        ("statistics/range", "from=2026-11-01&to=2026-11-30"),
        ("budgets/status", MONTH),
        ("budgets/chart", MONTH),
    ],
)
def test_spread_installments_cost_no_more_queries(
    path: str, query: str, administrator: Member
) -> None:
    client = JSONClient(administrator)
    add_plan(administrator, 0)
    address = f"/api/account/{path}?{query}"
    client.get_json(address)
    plain = capture_queries(client, address)
    spread = capture_queries(client, f"{address}&installments=spread")
    assert len(spread) == len(plain)
    # Installments and cards are not read for an answer without them.
    assert not [sql for sql in plain if "account_card" in sql or "installment" in sql]


def test_targets_cost_the_same_queries_for_1_purchase_and_for_50(
    administrator: Member,
) -> None:
    client = JSONClient(administrator)
    wallet = make_card_wallet(administrator, NEXT_MONTH)
    path = f"/api/account/wallets/{wallet.pk}/targets?month=2026-11"
    counts = []
    for purchases in (1, MANY):
        for _ in range(purchases):
            purchase = buy(administrator, wallet, "2026-11-20", 10, tags=("every",))
            refund: dict[str, Any] = {"type": "income", "refund_of": purchase}
            refund["is_reversal"] = True
            make_entry(administrator, wallet=wallet, amount=1, **refund)
        client.get_json(path)
        counts.append(len(capture_queries(client, path)))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("query", "most"),
    [("", 3), ("?type=expense", 3), ("?keyword=a", 3), ("?category=Food", 4)],
)
def test_page_of_entries_is_read_with_three_statements_at_most(
    query: str, most: int, free_member: Member
) -> None:
    # Rows, count, tags; a category name costs one more look-up.
    client = JSONClient(free_member)
    category = make_category(free_member, name="Food")
    make_entry(free_member, memo="a", tags=("one",), category=category)
    client.get_json("/api/account/entries")
    queries = capture_queries(client, f"/api/account/entries{query}")
    about_entries = [sql for sql in queries if "account_" in sql]
    assert len(about_entries) <= most, f"{len(about_entries)}: {about_entries}"


def test_entry_list_looks_up_the_tags_of_all_rows_at_once(free_member: Member) -> None:
    for number in range(5):
        make_entry(free_member, tags=(f"tag{number}",))
    queries = capture_queries(JSONClient(free_member), "/api/account/entries")
    assert len([sql for sql in queries if "account_entry_tag" in sql]) == 1
