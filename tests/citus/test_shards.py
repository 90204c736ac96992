"""Each request of a member's ledger touches the place of one ledger."""

from typing import Any

import pytest
from django.db import connection

from accounts.models import Member
from ledger.models import Category, QuickEntry, Stock, Tag, Wallet
from tests.support.citus import record_touched_ledgers
from tests.support.clients import JSONClient
from tests.support.documented import select_known_fields
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_quick_entry,
    make_rule,
    make_trade,
    make_wallet,
)
from tests.support.ledger_routes import LEDGER_ROUTES, MAKERS, WHOLE_BODY
from tests.support.workbooks import WHOLE

pytestmark = pytest.mark.django_db

CASES = [
    pytest.param(route, method, id=f"{method} {route.path}")
    for route in LEDGER_ROUTES
    for method in route.methods
]
DAY = "2026-11-21"
# By the end of the path, which may have other beginnings (config.url_aliases).
QUERIES = {
    "/entries": "?keyword=memo&from=2026-01-01&to=2026-12-31&tag=mine",
    "/statistics/range": "?from=2026-11-01&to=2026-11-30&groupBy=week",
    "/networth/trend": "?unit=WEEK&weeks=9",
}
REORDERED: dict[str, Any] = {
    "/wallets/reorder": Wallet.objects,
    "/categories/reorder": Category.objects.filter(parent=None),
    "/quick-entries/reorder": QuickEntry.objects,
    "/stocks/reorder": Stock.objects,
    "/tags/reorder": Tag.objects,
}
BODIES: dict[str, Any] = {
    "/budgets/copy": {"fromYear": 2026, "fromMonth": 11, "toYear": 2026, "toMonth": 12},
    "/restore": WHOLE,
    "/restore/json": WHOLE,
    "/reconcile": {"date": DAY, "balance": 1},
}
WITHOUT_ROWS = {
    "/ocr/receipt": "asks an outside service, which the tests do not set up here",
}


def fill_ledger(member: Member) -> tuple[Wallet, Stock]:
    """Make rows in all tables of a member's ledger."""
    wallet = make_wallet(member, opening_balance=5)
    category = make_category(member, parent=make_category(member))
    for day in range(1, 4):
        make_entry(
            member,
            date=f"2026-11-0{day}",
            wallet=wallet,
            category=category,
            tags=("mine", "more"),
            memo="memo",
        )
    make_entry(member, pending=True)
    make_budget(member, category=category)
    make_quick_entry(member, wallet=wallet, category=category)
    make_rule(member, wallet=wallet, category=category)
    return wallet, make_trade(member).stock


def prepare(route: Any, method: str, client: JSONClient, member: Member) -> Any:
    """Return the id in the path, the body and the query of what needs rows of its own.

    None for other routes.
    """
    if method == "PATCH" and route.path.endswith("/entries"):
        entry = make_entry(member)
        return (
            None,
            {"ids": [entry.pk], "set": {"memo": "Mine"}, "addTags": ["new"]},
            "",
        )
    if route.path.endswith("/batch"):
        return None, {"operations": make_operations(member)}, ""
    if route.path.endswith(("/refund", "/merge", "/unmerge", "/dismiss")):
        out = make_entry(member, amount=5, wallet=make_wallet(member))
        into = make_entry(member, type="income", amount=5, wallet=make_wallet(member))
        if route.path.endswith("/refund"):
            return out.pk, {}, ""
        if route.path.endswith("/dismiss"):
            return None, {"outId": out.pk, "inId": into.pk}, ""
        body: dict[str, Any] = {"with": into.pk}
        if route.path.endswith("/unmerge"):
            path = f"/api/account/entries/{out.pk}/merge"
            assert client.send("POST", path, body).status_code == 200
            return out.pk, None, ""
        return out.pk, body, ""
    if route.path.endswith("/valuations") and method != "GET":
        wallet = make_wallet(member, manual_valuation=True)
        body = {"date": DAY, "value": 1}
        if method == "DELETE":
            path = f"/api/account/wallets/{wallet.pk}/valuations"
            assert client.send("POST", path, body).status_code == 201
            return wallet.pk, None, f"?date={DAY}"
        return wallet.pk, body, ""
    return None


def make_operations(member: Member) -> list[dict[str, Any]]:
    new = {"date": DAY, "type": "expense", "amount": 5, "tags": ["mine"]}
    return [
        {"op": "create", "entry": new},
        {"op": "update", "id": make_entry(member).pk, "entry": {"memo": "Mine"}},
        {"op": "delete", "id": make_entry(member).pk},
    ]


def find(by_end: dict[str, Any], route: Any) -> Any:
    return next((by_end[end] for end in by_end if route.path.endswith(end)), None)


@pytest.mark.parametrize(("route", "method"), CASES)
def test_request_touches_one_ledger(
    route: Any, method: str, premium_member: Member, other_member: Member
) -> None:
    fill_ledger(other_member)
    wallet, stock = fill_ledger(premium_member)
    ids = {name: MAKERS[name](premium_member).pk for name in route.parameters}
    body: Any = None
    if (rows := find(REORDERED, route)) is not None:
        own = rows.filter(member_id=premium_member.pk)
        body = {"ids": list(own.values_list("pk", flat=True))}
    elif method in ("POST", "PUT", "PATCH"):
        mine = {"walletId": wallet.pk, "stockId": stock.pk}
        body = find(BODIES, route) or select_known_fields(
            method, route.address(), WHOLE_BODY | mine
        )
    query = find(QUERIES, route) if method == "GET" else None
    client = JSONClient(premium_member)
    if prepared := prepare(route, method, client, premium_member):
        own_id, body, query = prepared
        ids = dict.fromkeys(ids, own_id)

    with record_touched_ledgers() as places:
        response = client.send(method, route.address(**ids) + (query or ""), body)

    if find(WITHOUT_ROWS, route):
        assert places == set()
        assert response.status_code == 503, response.content
    else:
        assert response.status_code < 300, response.content
        assert len(places) == 1


def test_places_of_all_ledgers_are_counted(premium_member: Member) -> None:
    # The meter itself counts a statement that names no member on all shards.
    with record_touched_ledgers() as places, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM account_entry")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_dist_shard"
            " WHERE logicalrelid = 'account_entry'::regclass"
        )
        assert (len(places),) == cursor.fetchone()
    assert len(places) > 1
