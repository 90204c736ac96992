"""Self-deletion racing what the member still does: nothing stays, nothing breaks."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import (
    PASSWORD,
    count_rows_of,
    make_budget,
    make_category,
    make_entry,
    make_member,
    make_rule,
    make_wallet,
)
from tests.support.races import call_before, lock_timeout, run_concurrently
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(2, 12)
HANDLER = JSONClient().handler


@dataclass(frozen=True)
class Life:
    """A member, and what there is to change or to delete."""

    member: Member
    wallet: Wallet
    entry: Entry

    @property
    def entry_path(self) -> str:
        return f"/api/account/entries/{self.entry.pk}"


Action = Callable[[JSONClient, Life], Any]


def begin_life() -> Life:
    member = make_member(plan="PREMIUM")
    wallet = make_wallet(member)
    category = make_category(member)
    entry = make_entry(
        member, wallet=wallet, category=category, tags=("old",), pending=True
    )
    make_rule(member, category=category, wallet=wallet)
    make_budget(member, category=category)
    return Life(member, wallet, entry)


def enter(client: JSONClient, life: Life) -> Any:
    body = {
        "date": "2026-11-20",
        "type": "expense",
        "amount": 1000,
        "category": "Food",
        "tags": ["lunch"],
        "walletId": life.wallet.pk,
    }
    return client.send("POST", "/api/account/entries", body)


def edit(client: JSONClient, life: Life) -> Any:
    body = {"amount": 2000, "category": "Travel", "tags": ["trip"], "walletId": None}
    return client.send("PATCH", life.entry_path, body)


def rewrite(client: JSONClient, life: Life) -> Any:
    body = {
        "date": "2026-11-19",
        "type": "income",
        "amount": 5,
        "category": "Salary",
        "tags": ["old", "pay"],
        "walletId": life.wallet.pk,
    }
    return client.send("PUT", life.entry_path, body)


def confirm(client: JSONClient, life: Life) -> Any:
    body = {"category": "Food", "tags": ["late"]}
    return client.send("POST", f"{life.entry_path}/confirm", body)


def remove(client: JSONClient, life: Life) -> Any:
    return client.send("DELETE", life.entry_path)


def expect_income(client: JSONClient, life: Life) -> Any:
    body = {"year": 2026, "month": 11, "amount": 5}
    return client.send("PUT", "/api/account/budgets/income", body)


def copy_budgets(client: JSONClient, life: Life) -> Any:
    body = {"fromYear": 2026, "fromMonth": 11, "toYear": 2026, "toMonth": 12}
    return client.send("POST", "/api/account/budgets/copy", body)


def repeat(client: JSONClient, life: Life) -> Any:
    body = {
        "name": "Rent",
        "type": "expense",
        "amount": 700,
        "category": "Housing",
        "tags": ["home"],
        "frequency": "MONTHLY",
        "anchorDate": "2026-11-21",
    }
    return client.send("POST", "/api/account/recurring", body)


def open_wallet(client: JSONClient, life: Life) -> Any:
    body = {"name": "Cash", "kind": "CASH"}
    return client.send("POST", "/api/account/wallets", body)


def rename(client: JSONClient, life: Life) -> Any:
    return client.send("PUT", "/api/auth/profile", {"displayName": "New name"})


def log_in(client: JSONClient, life: Life) -> Any:
    body = {"loginId": life.member.login_id, "password": PASSWORD}
    return client.send("POST", "/api/auth/login", body)


def leave(client: JSONClient, life: Life) -> Any:
    return client.send("DELETE", "/api/auth/me")


ENTRIES = (enter, edit, rewrite, confirm, remove)
PLANS = (expect_income, copy_budgets, repeat)
ACCOUNT = (open_wallet, rename, log_in, leave)


def race(*actions: Action) -> list[Any]:
    """Run the actions beside a self-deletion, each with its session; return the answers."""
    life = begin_life()
    calls = []
    for action in (*actions, leave):
        client = JSONClient(life.member)
        client.handler = HANDLER
        assert client.send("GET", "/api/auth/session").status_code == 200
        calls.append(partial(action, client, life))
    responses = run_concurrently(calls)
    assert not any(count_rows_of(life.member).values())
    assert not Member.objects.filter(pk=life.member.pk).exists()
    return responses


@pytest.mark.parametrize("action", [*ENTRIES, *PLANS, *ACCOUNT])
def test_nothing_stays_and_nothing_breaks(action: Action) -> None:
    for _ in range(ROUNDS):
        responses = race(action, action)
        statuses = [response.status_code for response in responses]
        assert max(statuses) < 500, [response.content for response in responses]
        assert 204 in statuses


def test_entries_written_in_every_way_at_once_leave_nothing_behind() -> None:
    for _ in range(ROUNDS):
        responses = race(*ENTRIES)
        statuses = [response.status_code for response in responses]
        assert max(statuses) < 500, [response.content for response in responses]
        assert statuses[-1] == 204


def test_others_do_not_wait_while_a_ledger_is_deleted() -> None:
    # A large ledger takes seconds.
    life, other = begin_life(), begin_life()

    def leave_at_once() -> Any:
        with lock_timeout("50ms"):
            return JSONClient(other.member).send("DELETE", "/api/auth/me")

    with call_before('DELETE FROM "account_entry"', leave_at_once) as answer:
        assert leave(JSONClient(life.member), life).status_code == 204
    assert answer.result().status_code == 204
    assert not any(count_rows_of(other.member).values())
