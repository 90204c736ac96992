"""Changes that a wallet or category refuses while its entries move."""

from typing import Any

import pytest
from django.db import transaction

from accounts.models import Member
from ledger import moves
from ledger.models import Budget, Category, Entry, QuickEntry, RecurringRule
from ledger.move_job import list_moves, run_moves
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.moves import (
    LIMIT,
    A,
    MovingLedger,
    dump_ledger,
    entries_of,
    make_moving_ledger,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db


NEW = {"date": "2026-11-21", "type": "expense", "amount": 5}
NAMED = NEW | {"name": "New"}
RULE = NAMED | {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}


def list_refused(ledger: MovingLedger) -> dict[str, tuple[str, str, Any]]:
    """Return requests that name what is moving: each is to be refused."""
    inside = entries_of(ledger.source).filter(pending=False).first()
    pending = entries_of(ledger.source).get(pending=True)
    outside = Entry.objects.filter(wallet=None, category=None).first()
    assert inside is not None
    assert outside is not None
    other = make_wallet(ledger.member)
    if ledger.kind == "categories":
        other = make_category(ledger.member)  # type: ignore[assignment]
    quick, rule = QuickEntry.objects.get(), RecurringRule.objects.get()
    entry_path = f"{A}/entries/{inside.pk}"
    requests: dict[str, tuple[str, str, Any]] = {
        "rename": ("PATCH", ledger.path, {"name": "New"}),
        "delete": ("DELETE", ledger.path, None),
        "move again": ("DELETE", ledger.deletion, None),
        "move elsewhere": ("DELETE", f"{ledger.path}?moveTo={other.pk}", None),
        "move to it": (
            "DELETE",
            f"{A}/{ledger.kind}/{other.pk}?moveTo={ledger.source.pk}",
            None,
        ),
        "delete the target": ("DELETE", ledger.target_path, None),
        "move the target": (
            "DELETE",
            f"{ledger.target_path}?moveTo={other.pk}",
            None,
        ),
        "swap": ("DELETE", f"{ledger.target_path}?moveTo={ledger.source.pk}", None),
        "enter": ("POST", f"{A}/entries", NEW | ledger.naming),
        "enter with a new tag": (
            "POST",
            f"{A}/entries",
            NEW | ledger.naming | {"tags": ["new"]},
        ),
        "move an entry to it": (
            "PATCH",
            f"{A}/entries/{outside.pk}",
            ledger.naming,
        ),
        "change an entry": ("PATCH", entry_path, {"memo": "new"}),
        "take an entry out": (
            "PATCH",
            entry_path,
            {"walletId": None, "category": None},
        ),
        "replace an entry": ("PUT", entry_path, NEW),
        "delete an entry": ("DELETE", entry_path, None),
        "confirm": ("POST", f"{A}/entries/{pending.pk}/confirm", {}),
        "quick entry": ("POST", f"{A}/quick-entries", NAMED | ledger.naming),
        "change a quick entry": (
            "PATCH",
            f"{A}/quick-entries/{quick.pk}",
            ledger.naming,
        ),
        "rule": ("POST", f"{A}/recurring", RULE | ledger.naming),
        "change a rule": ("PATCH", f"{A}/recurring/{rule.pk}", ledger.naming),
    }
    if ledger.kind == "wallets":
        body = {"name": "New", "kind": "CARD"}
        return requests | {"replace": ("PUT", ledger.path, body)}
    budget = Budget.objects.filter(category=ledger.category).first()
    assert budget is not None
    month = {"year": 2027, "month": 1, "amount": 5}
    minor = {"name": "New", "type": "expense", "parentId": ledger.category.pk}
    body = {"name": "New", "type": "expense"}
    return requests | {
        "replace": ("PUT", ledger.path, body),
        "type of the target": ("PATCH", ledger.target_path, {"type": "income"}),
        "minor": ("POST", f"{A}/categories", minor),
        "become a minor": ("PATCH", f"{A}/categories/{other.pk}", minor),
        "budget": ("POST", f"{A}/budgets", month | ledger.naming),
        "change a budget": ("PATCH", f"{A}/budgets/{budget.pk}", {"amount": 9}),
        "delete a budget": ("DELETE", f"{A}/budgets/{budget.pk}", None),
    }


REFUSED_FOR_ALL = (
    *("rename", "replace", "delete", "move again", "move elsewhere", "move to it"),
    *("delete the target", "move the target", "swap", "enter", "enter with a new tag"),
    *("move an entry to it", "change an entry", "take an entry out"),
    *("replace an entry", "delete an entry", "confirm", "quick entry"),
    *("change a quick entry", "rule", "change a rule"),
)
REFUSED_FOR_CATEGORIES = (
    *("type of the target", "minor", "become a minor"),
    *("budget", "change a budget", "delete a budget"),
)


def assert_refused(ledger: MovingLedger, client: JSONClient, name: str) -> None:
    method, path, body = list_refused(ledger)[name]
    before = dump_ledger(ledger.member)
    assert_problem(client.send(method, path, body), 409, "MOVING")
    assert dump_ledger(ledger.member) == before
    assert_rollups_are_right()


@pytest.mark.parametrize("name", REFUSED_FOR_ALL)
def test_write_that_names_what_is_moving_is_refused(
    moving: MovingLedger, client: JSONClient, name: str
) -> None:
    assert_refused(moving, client, name)


@pytest.mark.parametrize("name", REFUSED_FOR_CATEGORIES)
def test_write_that_names_a_moving_category_is_refused(
    premium_member: Member, client: JSONClient, name: str
) -> None:
    ledger = make_moving_ledger(premium_member, "categories")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    assert set(list_refused(ledger)) == {*REFUSED_FOR_ALL, *REFUSED_FOR_CATEGORIES}
    assert_refused(ledger, client, name)


def test_nothing_of_this_is_refused_without_a_move(
    ledger: MovingLedger, client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", 1_000)
    statuses = {}
    for name, (method, path, body) in list_refused(ledger).items():
        with transaction.atomic():
            statuses[name] = client.send(method, path, body).status_code
            transaction.set_rollback(True)
    refused = {name: status for name, status in statuses.items() if status >= 300}
    assert refused == dict.fromkeys(["delete", "delete the target", *refused], 409)
    assert set(refused) <= {"delete", "delete the target", "type of the target"}


def test_import_of_defaults_puts_nothing_under_a_moving_category(
    premium_member: Member, client: JSONClient, administrator: Member
) -> None:
    ledger = make_moving_ledger(premium_member, "categories")
    Category.objects.filter(pk=ledger.category.pk).update(name="식비")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    before = dump_ledger(premium_member)
    assert_problem(client.send("POST", f"{A}/categories/import"), 409, "MOVING")
    assert dump_ledger(premium_member) == before


def test_moving_ones_may_be_reordered(moving: MovingLedger, client: JSONClient) -> None:
    ids = [row["id"] for row in client.get_json(f"{A}/{moving.kind}")][::-1]
    response = client.send("PUT", f"{A}/{moving.kind}/reorder", {"ids": ids})
    assert response.status_code == 200, response.content
    assert [row["id"] for row in response.data] == ids


def test_target_and_all_else_take_writes(
    moving: MovingLedger, client: JSONClient
) -> None:
    target = {
        "walletId": moving.wallet_target.pk,
        "category": moving.category_target.name,
    }
    created = client.send("POST", f"{A}/entries", NEW | target)
    assert created.status_code == 201, created.content
    path = f"{A}/entries/{created.data['id']}"
    assert client.send("PATCH", path, {"memo": "new"}).status_code == 200
    renamed = client.send("PATCH", moving.target_path, {"name": "Renamed"})
    assert (renamed.status_code, renamed.data["name"]) == (200, "Renamed")
    assert client.send("DELETE", path).status_code == 204
    assert_rollups_are_right()


def test_moving_card_takes_no_installments_and_its_target_stays_a_card(
    premium_member: Member, client: JSONClient
) -> None:
    source, target = (make_wallet(premium_member, kind="CARD") for _ in range(2))
    for _ in range(LIMIT + 1):
        make_entry(premium_member, wallet=source, installment_months=3)
    path = f"{A}/wallets/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 202
    body = NEW | {"walletId": source.pk, "installmentMonths": 3}
    assert_problem(client.send("POST", f"{A}/entries", body), 409, "MOVING")
    change = {"kind": "BANK"}
    response = client.send("PATCH", f"{A}/wallets/{target.pk}", change)
    assert_invalid(response, "kind")


def test_several_may_move_to_one(
    moving: MovingLedger, client: JSONClient, premium_member: Member
) -> None:
    other = make_moving_ledger(premium_member, moving.kind)
    path = f"{other.path}?moveTo={moving.target.pk}"
    assert client.send("DELETE", path).status_code == 202
    count = Entry.objects.count()
    assert run_moves().failed == 0
    assert Entry.objects.count() == count
    assert not list_moves()
    assert_rollups_are_right()


def test_other_member_sees_no_move(moving: MovingLedger, other_member: Member) -> None:
    client = JSONClient(other_member)
    for path in (moving.path, moving.deletion):
        assert client.send("DELETE", path).status_code == 404
