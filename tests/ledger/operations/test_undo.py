"""Undo brings rows back to what they were, with their ids (spec 3.27)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Operation
from tests.support.factories import make_stock
from tests.support.operations import OPERATIONS, Phone, dump_ledger
from tests.support.problems import assert_problem
from tests.support.whole_accounts import give_everything

pytestmark = pytest.mark.django_db
A = "/api/account"


@pytest.fixture
def phone(premium_member: Member) -> Phone:
    give_everything(premium_member)
    make_stock(premium_member)
    return Phone(premium_member)


KINDS = {
    "entries": "entries",
    "wallets": "wallets",
    "categories": "categories",
    "tags": "tags",
    "quick-entries": "quick-entries",
    "recurring": "recurring",
    "budgets": "budgets",
    "stocks": "stocks",
    "trades": "trades",
}


@pytest.mark.parametrize("path", KINDS)
def test_a_deletion_is_undone(phone: Phone, premium_member: Member, path: str) -> None:
    before = dump_ledger(premium_member)
    rows = phone.get_json(f"{A}/{path}")
    rows = rows["results"] if isinstance(rows, dict) else rows
    done = 0
    for row in rows:
        answer = phone.send("DELETE", f"{A}/{path}/{row['id']}")
        if answer.status_code in {400, 409}:
            assert "Operation-Id" not in answer.headers
            continue
        assert answer.status_code == 204, answer.content
        operation_id = answer.headers["Operation-Id"]
        changed = dump_ledger(premium_member)
        assert changed != before
        found = phone.undo(operation_id)
        assert found["keptCount"] == 0
        assert dump_ledger(premium_member) == before, path
        again = phone.undo(found["operationId"])
        assert again["keptCount"] == 0
        assert dump_ledger(premium_member) == changed
        phone.undo(again["operationId"])
        assert dump_ledger(premium_member) == before
        done += 1
    assert done
