"""Lists that are answered as a whole have a largest size."""

import json
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from ledger.base import quotas
from ledger.demo.loader import create_demo_ledger
from ledger.models import (
    Category,
    DefaultCategory,
    DismissedTransfer,
    QuickEntry,
    RecurringRule,
    Stock,
    Tag,
    Wallet,
)
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_category,
    make_member,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_wallet,
)
from tests.support.problems import assert_problem
from tests.support.workbooks import RESTORE

pytestmark = pytest.mark.django_db

ACCOUNT = "/api/account"
ENTRY = {"date": "2026-11-21", "type": "expense", "amount": 5}
NAMED = {"type": "expense", "amount": 5, "name": "New"}
RULE = NAMED | {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}
# The model, how one is made, where one is created and with which body.
LISTS: list[tuple[Any, Any, str, Any]] = [
    (Wallet, make_wallet, "wallets", {"name": "New", "kind": "CASH"}),
    (Category, make_category, "categories", {"name": "New", "type": "expense"}),
    (Tag, make_tag, "tags", {"name": "New"}),
    (QuickEntry, make_quick_entry, "quick-entries", NAMED),
    (Stock, make_stock, "stocks", {"code": "NEW", "name": "New"}),
    (RecurringRule, make_rule, "recurring", RULE),
    # By name, on the way.
    (Category, make_category, "entries", ENTRY | {"category": "New"}),
    (Category, make_category, "quick-entries", NAMED | {"category": "New"}),
    (Category, make_category, "recurring", RULE | {"category": "New"}),
    (Tag, make_tag, "entries", ENTRY | {"tags": ["New"]}),
    (Tag, make_tag, "quick-entries", NAMED | {"tags": ["New"]}),
    (Tag, make_tag, "recurring", RULE | {"tags": ["New"]}),
    (
        Category,
        make_category,
        "budgets",
        {"category": "New", "year": 2026, "month": 11, "amount": 5},
    ),
]


@pytest.fixture
def member(administrator: Member) -> Member:
    return administrator


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)


def test_limits_are_those_of_the_specification() -> None:
    lists = (Wallet, Category, Tag, QuickEntry, Stock, DefaultCategory)
    assert {model: quotas.MAX_ROWS[model] for model in lists} == dict.fromkeys(
        lists, 1_000
    )
    assert quotas.MAX_ROWS[RecurringRule] == 500


@pytest.mark.parametrize(("model", "make", "path", "body"), LISTS)
def test_full_list_takes_no_more_and_nothing_is_written(
    client: JSONClient,
    member: Member,
    monkeypatch: pytest.MonkeyPatch,
    model: Any,
    make: Any,
    path: str,
    body: Any,
) -> None:
    monkeypatch.setitem(quotas.MAX_ROWS, model, 3)
    for _ in range(3):
        make(make_member())
    for _ in range(2):
        make(member)
    assert client.send("POST", f"{ACCOUNT}/{path}", body).status_code == 201
    text = json.dumps(body).replace("New", "Newer").replace("NEW", "NEWER")
    response = client.send("POST", f"{ACCOUNT}/{path}", json.loads(text))
    assert_problem(response, 409, "LIMIT_REACHED")
    assert model.objects.filter(member=member).count() == 3
    # What exists can be named still.
    if path == "entries":
        assert client.send("POST", f"{ACCOUNT}/{path}", body).status_code == 201


def test_import_of_default_categories_fills_the_list_or_does_nothing(
    client: JSONClient, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = DefaultCategory.objects.count()
    monkeypatch.setitem(quotas.MAX_ROWS, Category, count - 1)
    response = client.send("POST", f"{ACCOUNT}/categories/import")
    assert_problem(response, 409, "LIMIT_REACHED")
    assert not Category.objects.filter(member=member).exists()
    monkeypatch.setitem(quotas.MAX_ROWS, Category, count)
    assert client.send("POST", f"{ACCOUNT}/categories/import").status_code == 200


def test_full_list_of_default_categories_takes_no_more(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        quotas.MAX_ROWS, DefaultCategory, DefaultCategory.objects.count()
    )
    body = {"name": "New", "type": "expense"}
    response = client.send("POST", "/api/admin/default-categories", body)
    assert_problem(response, 409, "LIMIT_REACHED")


@pytest.mark.parametrize(
    ("sheet", "model", "row"),
    [
        ("wallets", Wallet, {"kind": "CASH"}),
        ("tags", Tag, {}),
        ("categories", Category, {"type": "expense"}),
        ("quickEntries", QuickEntry, {"type": "expense"}),
        (
            "recurring",
            RecurringRule,
            {k: v for k, v in RULE.items() if k not in {"date", "name"}},
        ),
    ],
)
def test_restore_of_more_rows_than_a_list_may_have_names_the_first(
    client: JSONClient, member: Member, sheet: str, model: Any, row: Any
) -> None:
    kept = make_wallet(member)
    limit = quotas.MAX_ROWS[model]
    rows = [row | {"name": f"Row {number}"} for number in range(limit + 1)]
    response = client.send("POST", RESTORE, {sheet: rows})
    assert_problem(response, 400, "INVALID_BACKUP")
    (error,) = response.data["errors"]
    assert (error["sheet"], error["row"], error["column"]) == (sheet, limit + 2, "name")
    assert error["code"] == "limit"
    assert Wallet.objects.filter(member=member).get() == kept
    assert client.send("POST", RESTORE, {sheet: rows[:-1]}).status_code == 200
    assert model.objects.filter(member=member).count() == limit


def test_demo_ledger_is_within_the_limits(member: Member) -> None:
    create_demo_ledger(member, timezone.now(), timezone.localdate())
    for model, limit in quotas.MAX_ROWS.items():
        # Nobody has looked for transfers in it.
        if model not in {DefaultCategory, DismissedTransfer}:
            assert 0 < model.objects.filter(member=member).count() < limit
