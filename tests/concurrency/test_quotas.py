"""Requests that add the last row of a list at once: exactly one does."""

from functools import partial
from typing import Any

import pytest

from ledger.base import quotas
from ledger.models import Category, QuickEntry, RecurringRule, Stock, Tag, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db(transaction=True)

ACCOUNT = "/api/account"
ENTRY = {"date": "2026-11-21", "type": "expense", "amount": 5}
TEMPLATE = {"type": "expense", "amount": 5}
RULE = TEMPLATE | {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}
LISTS: list[tuple[Any, str, Any]] = [
    (Wallet, "wallets", {"name": "?", "kind": "CASH"}),
    (Category, "categories", {"name": "?", "type": "expense"}),
    (Tag, "tags", {"name": "?"}),
    (QuickEntry, "quick-entries", TEMPLATE | {"name": "?"}),
    (Stock, "stocks", {"code": "?", "name": "?"}),
    (RecurringRule, "recurring", RULE | {"name": "?"}),
    (Category, "entries", ENTRY | {"category": "?"}),
    (Tag, "entries", ENTRY | {"tags": "?"}),
]


@pytest.mark.parametrize(("model", "path", "body"), LISTS)
def test_last_row_of_a_list_is_added_once(
    monkeypatch: pytest.MonkeyPatch, model: Any, path: str, body: Any
) -> None:
    client = JSONClient(make_member(role="ADMIN"))
    for count in range(1, 4):
        monkeypatch.setitem(quotas.MAX_ROWS, model, count)
        bodies = [
            {
                key: ([name] if key == "tags" else name) if value == "?" else value
                for key, value in body.items()
            }
            for name in (f"{count}-{number}" for number in range(4))
        ]
        calls = [partial(client.send, "POST", f"{ACCOUNT}/{path}", b) for b in bodies]
        responses = run_concurrently(calls)
        assert sorted_statuses(responses) == [201, 409, 409, 409]
        codes = {r.data["code"] for r in responses if r.status_code == 409}
        assert codes == {"LIMIT_REACHED"}
        assert model.objects.count() == count
