"""Each request touches only the caller's own data (spec 1.8).

The sweeps are made from the URLconf and the serializers, so that a new route or a
new id in a body fails here until it has its case.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import Member
from core.api.serializers import QuerySerializer, Serializer
from ledger.base.ownership import OwnedPrimaryKeyField, OwnedView
from ledger.models import Wallet
from tests.support.clients import JSONClient
from tests.support.documented import select_known_fields
from tests.support.factories import (
    dump_rows_of,
    make_budget,
    make_card_settings,
    make_category,
    make_entry,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_trade,
    make_wallet,
)
from tests.support.imports import make_import
from tests.support.ledger_routes import LEDGER_ROUTES, MAKERS, WHOLE_BODY
from tests.support.operations import make_operation
from tests.support.routes import MISSING_ID

pytestmark = pytest.mark.django_db

ID_CASES = [
    pytest.param(route, method, id=f"{method} {route.path}")
    for route in LEDGER_ROUTES
    if route.parameters
    for method in route.methods
]


def make_card(member: Member) -> Wallet:
    return make_wallet(member, kind="CARD")


def make_card_with_bill(member: Member) -> Wallet:
    wallet = make_card(member)
    make_card_settings(wallet)
    return wallet


# By serializer and field: method, path, the row it may not name, the row changed.
BODY_CASES: dict[tuple[str, str], list[Any]] = {
    ("EntrySerializer", "walletId"): [
        ("POST", "/api/account/entries", make_wallet, None),
        ("PUT", "/api/account/entries/{}", make_wallet, make_entry),
    ],
    ("EntryPatchSerializer", "walletId"): [
        ("PATCH", "/api/account/entries/{}", make_wallet, make_entry),
        (
            "POST",
            "/api/account/entries/{}/confirm",
            make_wallet,
            MAKERS["entry_id"],
        ),
    ],
    ("EntrySerializer", "toWalletId"): [
        ("POST", "/api/account/entries", make_wallet, None),
        ("PUT", "/api/account/entries/{}", make_wallet, make_entry),
    ],
    ("EntryPatchSerializer", "toWalletId"): [
        ("PATCH", "/api/account/entries/{}", make_wallet, make_entry),
    ],
    ("EntrySerializer", "refundOf"): [
        ("POST", "/api/account/entries", make_entry, None),
        ("PUT", "/api/account/entries/{}", make_entry, make_entry),
    ],
    ("EntryPatchSerializer", "refundOf"): [
        ("PATCH", "/api/account/entries/{}", make_entry, make_entry),
    ],
    ("EntryLineSerializer", "walletId"): [
        ("POST", "/api/account/entries", make_wallet, None),
        ("PUT", "/api/account/entries/{}", make_wallet, make_entry),
    ],
    ("EntryLineSerializer", "refundOf"): [
        ("POST", "/api/account/entries", make_entry, None),
        ("PUT", "/api/account/entries/{}", make_entry, make_entry),
    ],
    ("LineSerializer", "walletId"): [
        ("POST", "/api/account/quick-entries", make_wallet, None),
        ("PATCH", "/api/account/quick-entries/{}", make_wallet, make_quick_entry),
        ("POST", "/api/account/recurring", make_wallet, None),
        ("PUT", "/api/account/recurring/{}", make_wallet, make_rule),
    ],
    ("RefundRequestSerializer", "walletId"): [
        ("POST", "/api/account/entries/{}/refund", make_wallet, make_entry),
    ],
    ("MergeRequestSerializer", "with"): [
        ("POST", "/api/account/entries/{}/merge", make_entry, make_entry),
    ],
    # Only in responses.
    ("WalletHistoryRowSerializer", "walletId"): [],
    ("WalletHistoryRowSerializer", "toWalletId"): [],
    ("WalletHistoryRowSerializer", "refundOf"): [],
    ("UnmergedEntrySerializer", "walletId"): [],
    ("UnmergedEntrySerializer", "toWalletId"): [],
    ("UnmergedEntrySerializer", "refundOf"): [],
    # What the serializers of entries and templates share.
    ("ShapeSerializer", "toWalletId"): [],
    ("QuickEntrySerializer", "toWalletId"): [
        ("POST", "/api/account/quick-entries", make_wallet, None),
        ("PUT", "/api/account/quick-entries/{}", make_wallet, make_quick_entry),
    ],
    ("RecurringRuleSerializer", "toWalletId"): [
        ("POST", "/api/account/recurring", make_wallet, None),
        ("PUT", "/api/account/recurring/{}", make_wallet, make_rule),
    ],
    ("CardSerializer", "payFromWalletId"): [
        ("PUT", "/api/account/wallets/{}/card", make_wallet, make_card),
    ],
    ("CardSerializer", "billedWithId"): [
        ("PUT", "/api/account/wallets/{}/card", make_card_with_bill, make_card),
    ],
    ("PayBillSerializer", "walletId"): [
        (
            "POST",
            "/api/account/wallets/{}/bills/2026-11/pay",
            make_wallet,
            make_card_with_bill,
        ),
    ],
    ("NotificationRequestSerializer", "walletId"): [
        ("POST", "/api/account/entries/notification", make_wallet, None),
    ],
    ("TaughtTextSerializer", "walletId"): [
        ("POST", "/api/account/entries/layouts", make_wallet, None),
    ],
    ("QuickEntrySerializer", "walletId"): [
        ("POST", "/api/account/quick-entries", make_wallet, None),
        ("PUT", "/api/account/quick-entries/{}", make_wallet, make_quick_entry),
        ("PATCH", "/api/account/quick-entries/{}", make_wallet, make_quick_entry),
    ],
    ("RecurringRuleSerializer", "walletId"): [
        ("POST", "/api/account/recurring", make_wallet, None),
        ("PUT", "/api/account/recurring/{}", make_wallet, make_rule),
        ("PATCH", "/api/account/recurring/{}", make_wallet, make_rule),
    ],
    ("EntryValuesSerializer", "walletId"): [
        ("PATCH", "/api/account/entries", make_wallet, make_entry),
    ],
    ("ImportChangeRequestSerializer", "walletId"): [
        ("PATCH", "/api/account/imports/{}", make_wallet, make_import),
    ],
    # In lists and forms: tests/ledger/imports/test_isolation.py.
    ("ImportFileRequestSerializer", "walletId"): [],
    ("ImportedWalletRequestSerializer", "walletId"): [],
    ("RowEntryRequestSerializer", "id"): [],
    ("RowEntryRequestSerializer", "toWalletId"): [],
    ("UndoRequestSerializer", "walletId"): [
        ("POST", "/api/account/operations/{}/undo", make_wallet, make_operation),
    ],
    ("TradeSerializer", "stockId"): [
        ("POST", "/api/account/trades", make_stock, None),
        ("PUT", "/api/account/trades/{}", make_stock, make_trade),
        ("PATCH", "/api/account/trades/{}", make_stock, make_trade),
    ],
    ("CategorySerializer", "parentId"): [
        ("POST", "/api/account/categories", make_category, None),
        ("PUT", "/api/account/categories/{}", make_category, make_category),
        ("PATCH", "/api/account/categories/{}", make_category, make_category),
    ],
}
QUERY_CASES: dict[Any, list[Any]] = {
    ("EntryQuerySerializer", "walletId"): [
        ("GET", "/api/account/entries?walletId={id}", make_wallet, None),
    ],
    ("EntryQuerySerializer", "categoryId"): [
        ("GET", "/api/account/entries?categoryId={id}", make_category, None),
    ],
    ("ExportQuerySerializer", "walletId"): [
        ("GET", "/api/account/export?format=csv&walletId={id}", make_wallet, None),
    ],
    ("TradeQuerySerializer", "stockId"): [
        ("GET", "/api/account/trades?stockId={id}", make_stock, None),
    ],
    ("MoveToQuerySerializer", "moveTo"): [
        ("DELETE", "/api/account/wallets/{own}?moveTo={id}", make_wallet, make_wallet),
        (
            "DELETE",
            "/api/account/categories/{own}?moveTo={id}",
            make_category,
            make_category,
        ),
    ],
}
REORDER_CASES = [
    ("/api/account/wallets/reorder", make_wallet),
    ("/api/account/categories/reorder", make_category),
    ("/api/account/quick-entries/reorder", make_quick_entry),
    ("/api/account/stocks/reorder", make_stock),
    ("/api/account/tags/reorder", make_tag),
]


def every_subclass(cls: type[Any]) -> Iterator[type[Any]]:
    for child in cls.__subclasses__():
        yield child
        yield from every_subclass(child)


def without_ids(response: Any) -> tuple[int, str]:
    """Return the visible parts of a response, without the id of the request."""
    return response.status_code, re.sub(r"\d{1,}", "#", response.content.decode())


def test_every_view_below_the_ledger_is_an_owned_one() -> None:
    strangers = [r.path for r in LEDGER_ROUTES if not issubclass(r.view, OwnedView)]
    assert strangers == []


def test_every_id_in_a_path_has_its_case() -> None:
    named = {name for route in LEDGER_ROUTES for name in route.parameters}
    assert named == set(MAKERS)


def test_every_id_in_a_body_has_its_case() -> None:
    found = {
        (serializer.__name__, name)
        for serializer in every_subclass(Serializer)
        for name, field in serializer().get_fields().items()
        if isinstance(field, OwnedPrimaryKeyField)
    }
    assert found == set(BODY_CASES)


def test_every_id_in_a_query_has_its_case() -> None:
    found = {
        (serializer.__name__, name)
        for serializer in every_subclass(QuerySerializer)
        # Those of administrators are of no ledger.
        if not serializer.__module__.startswith("administration.")
        for name in serializer().get_fields()
        if name.endswith("Id") or name == "moveTo"
    }
    assert found == set(QUERY_CASES)


def test_every_reorder_route_has_its_case() -> None:
    found = {
        route.path
        for route in LEDGER_ROUTES
        if route.path.startswith("/api/account/") and route.path.endswith("/reorder")
    }
    assert found == {path for path, _ in REORDER_CASES}


@pytest.mark.parametrize("body", [WHOLE_BODY, {}], ids=["whole body", "empty body"])
@pytest.mark.parametrize(("route", "method"), ID_CASES)
def test_id_of_another_member_in_a_path_is_404_and_nothing_changes(
    route: Any, method: Any, body: Any, premium_member: Member, other_member: Member
) -> None:
    client = JSONClient(premium_member)
    rows = {name: MAKERS[name](other_member) for name in route.parameters}
    before = dump_rows_of(other_member), dump_rows_of(premium_member)
    address = route.address(**{name: row.pk for name, row in rows.items()})

    body = select_known_fields(method, address, body)
    response = client.send(method, address, body)
    missing = client.send(method, route.address(), body)

    assert response.status_code == 404, response.content
    assert response.data == missing.data
    assert response.data["code"] == "NOT_FOUND"
    after = dump_rows_of(other_member), dump_rows_of(premium_member)
    assert after == before


def body_with(serializer: str, field: str, row_id: int, wallet_id: int) -> Any:
    """Return a body that names a row, and the name of its field in an error."""
    if serializer == "EntryValuesSerializer":
        return {"filter": {"pending": False}, "set": {field: row_id}}, f"set.{field}"
    if serializer == "TaughtTextSerializer":
        return WHOLE_BODY | {"kind": "none", field: row_id}, field
    if not serializer.endswith("LineSerializer"):
        return WHOLE_BODY | {field: row_id}, field
    lines = [{"amount": 3}, {"amount": 2, field: row_id}]
    body = WHOLE_BODY | {"category": None, "walletId": wallet_id, "lines": lines}
    return body, f"lines.1.{field}"


@pytest.mark.parametrize(
    ("serializer", "field", "method", "path", "make_target", "make_own"),
    [
        pytest.param(
            serializer, field, *case, id=f"{serializer} {field} {case[0]} {case[1]}"
        )
        for (serializer, field), cases in BODY_CASES.items()
        for case in cases
    ],
)
def test_id_of_another_member_in_a_body_is_like_one_that_does_not_exist(
    serializer: Any,
    field: Any,
    method: Any,
    path: Any,
    make_target: Any,
    make_own: Any,
    premium_member: Member,
    other_member: Member,
) -> None:
    client = JSONClient(premium_member)
    address = path.format(make_own(premium_member).pk if make_own else "")
    theirs, own_wallet = make_target(other_member), make_wallet(premium_member)
    before = dump_rows_of(other_member), dump_rows_of(premium_member)

    body, name = body_with(serializer, field, theirs.pk, own_wallet.pk)
    body = select_known_fields(method, address, body)
    response = client.send(method, address, body)
    body, name = body_with(serializer, field, MISSING_ID, own_wallet.pk)
    body = select_known_fields(method, address, body)
    missing = client.send(method, address, body)

    assert response.status_code == 400, response.content
    assert response.data["code"] == "VALIDATION_ERROR"
    assert [error["field"] for error in response.data["errors"]] == [name]
    assert without_ids(response) == without_ids(missing)
    after = dump_rows_of(other_member), dump_rows_of(premium_member)
    assert after == before


@pytest.mark.parametrize(
    ("method", "path", "make_target", "make_own"),
    [
        pytest.param(*case, id=f"{case[0]} {case[1]}")
        for cases in QUERY_CASES.values()
        for case in cases
    ],
)
def test_id_of_another_member_in_a_query_is_404(
    method: Any,
    path: Any,
    make_target: Any,
    make_own: Any,
    premium_member: Member,
    other_member: Member,
) -> None:
    client = JSONClient(premium_member)
    own = make_own(premium_member).pk if make_own else None
    theirs = make_target(other_member)
    before = dump_rows_of(other_member), dump_rows_of(premium_member)

    response = client.send(method, path.format(own=own, id=theirs.pk))
    missing = client.send(method, path.format(own=own, id=MISSING_ID))

    assert response.status_code == 404, response.content
    assert response.data == missing.data
    after = dump_rows_of(other_member), dump_rows_of(premium_member)
    assert after == before


@pytest.mark.parametrize("position", ["instead", "behind"])
@pytest.mark.parametrize(("path", "make"), REORDER_CASES)
def test_reorder_with_an_id_of_another_member_is_like_one_that_does_not_exist(
    path: str, make: Any, position: str, premium_member: Member, other_member: Member
) -> None:
    client = JSONClient(premium_member)
    own, theirs = make(premium_member), make(other_member)
    kept = [own.pk] if position == "behind" else []
    before = dump_rows_of(other_member), dump_rows_of(premium_member)

    response = client.send("PUT", path, {"ids": [*kept, theirs.pk]})
    missing = client.send("PUT", path, {"ids": [*kept, MISSING_ID]})

    assert response.status_code == 400, response.content
    assert response.data["code"] == "INVALID_ORDER"
    assert response.data == missing.data
    after = dump_rows_of(other_member), dump_rows_of(premium_member)
    assert after == before


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("/api/account/wallets", make_wallet),
        ("/api/account/categories", make_category),
        ("/api/account/quick-entries", make_quick_entry),
        ("/api/account/stocks", make_stock),
        ("/api/account/tags", make_tag),
        ("/api/account/budgets?year=2026&month=11", make_budget),
        ("/api/account/recurring", make_rule),
    ],
)
def test_short_list_holds_the_callers_rows_only(
    path: str, make: Any, premium_member: Member, other_member: Member
) -> None:
    own = make(premium_member)
    make(other_member)
    rows = JSONClient(premium_member).get_json(path)
    assert [row["id"] for row in rows] == [own.pk]


def test_entry_list_counts_and_names_the_callers_entries_only(
    premium_member: Member, other_member: Member
) -> None:
    own = make_entry(premium_member, memo="coffee", tags=("shared",))
    category = make_category(other_member, name="Food")
    make_entry(other_member, memo="coffee", tags=("shared",), category=category)
    make_entry(other_member, memo="coffee", pending=True)
    client = JSONClient(premium_member)
    for query in ({}, {"keyword": "coffee"}, {"tag": "shared"}, {"type": "expense"}):
        body = client.get_json("/api/account/entries", **query)
        assert [row["id"] for row in body["results"]] == [own.pk]
        assert body["count"] == 1
    assert client.get_json("/api/account/entries", category="Food")["count"] == 0
    assert client.get_json("/api/account/entries/pending/count") == {"count": 0}
    assert client.get_json("/api/account/networth")["total"] == 0


def test_names_of_another_member_are_never_reused(
    premium_member: Member, other_member: Member
) -> None:
    theirs = make_category(other_member, name="Food")
    make_entry(other_member, tags=("trip",), category=theirs)
    before = dump_rows_of(other_member)
    body = {
        "date": "2026-11-21",
        "type": "expense",
        "amount": 5,
        "category": "Food",
        "tags": ["trip"],
    }
    response = JSONClient(premium_member).send("POST", "/api/account/entries", body)
    assert response.status_code == 201
    assert dump_rows_of(other_member) == before
