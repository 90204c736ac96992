"""Moves of wallets and categories beside the member's other writes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from accounts.models import Member
from core.db.locks import AdvisoryLock, advisory_xact_lock
from ledger.models import Category, CategoryRollup, Entry, Wallet, WalletRollup
from ledger.rollups.repair import count_wrong_rows, repair_rollups
from tests.support.alert_texts import APPROVAL, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_member
from tests.support.moves import A, MovingLedger, make_moving_ledger
from tests.support.problems import assert_problem
from tests.support.races import call_before, lock_timeout, run_concurrently
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(2, 6)
ENTRY = {"date": "2026-11-21", "type": "expense", "amount": 5}
NEW = {"type": "expense", "amount": 5, "name": "New"}
RULE = NEW | {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}

Write = Callable[[JSONClient, MovingLedger], Any]


def begin(kind: str) -> tuple[MovingLedger, JSONClient]:
    ledger = make_moving_ledger(make_member(plan="PREMIUM"), kind)
    return ledger, JSONClient(ledger.member)


def client_like(client: JSONClient) -> JSONClient:
    """Return another client with the same session, for another thread."""
    other = JSONClient()
    other.use_token(client.token)
    return other


def naming(ledger: MovingLedger) -> dict[str, Any]:
    return {"walletId": ledger.wallet.pk, "category": ledger.category.name}


def enter(client: JSONClient, ledger: MovingLedger) -> Any:
    return client.send("POST", f"{A}/entries", ENTRY | naming(ledger))


def change(client: JSONClient, ledger: MovingLedger) -> Any:
    entry = Entry.objects.filter(member_id=ledger.member.pk, wallet=None).first()
    assert entry is not None
    body = naming(ledger) | {"memo": "changed"}
    return client.send("PATCH", f"{A}/entries/{entry.pk}", body)


def remove(client: JSONClient, ledger: MovingLedger) -> Any:
    entry = Entry.objects.filter(member_id=ledger.member.pk).order_by("pk")[0]
    return client.send("DELETE", f"{A}/entries/{entry.pk}")


def save_template(client: JSONClient, ledger: MovingLedger) -> Any:
    return client.send("POST", f"{A}/quick-entries", NEW | naming(ledger))


def save_rule(client: JSONClient, ledger: MovingLedger) -> Any:
    return client.send("POST", f"{A}/recurring", RULE | naming(ledger))


def save_budget(client: JSONClient, ledger: MovingLedger) -> Any:
    body = {"category": ledger.category.name, "year": 2027, "month": 1, "amount": 5}
    return client.send("POST", f"{A}/budgets", body)


def announce(client: JSONClient, ledger: MovingLedger) -> Any:
    body = {"text": APPROVAL, "walletId": ledger.wallet.pk}
    return client.send("POST", NOTIFICATION, body)


def delete_target(client: JSONClient, ledger: MovingLedger) -> Any:
    return client.send("DELETE", ledger.target_path)


def swap(client: JSONClient, ledger: MovingLedger) -> Any:
    path = f"{ledger.target_path}?moveTo={ledger.source.pk}"
    return client.send("DELETE", path)


def move_again(client: JSONClient, ledger: MovingLedger) -> Any:
    return client.send("DELETE", ledger.deletion)


def restore(client: JSONClient, ledger: MovingLedger) -> Any:
    return upload(client, download_backup(ledger.member))


def leave(client: JSONClient, ledger: MovingLedger) -> Any:
    return client.send("DELETE", "/api/auth/me")


WRITES = (
    *(enter, change, remove, save_template, save_rule, save_budget, announce),
    *(delete_target, swap, move_again, restore, leave),
)


def assert_whole(member: Member) -> None:
    """Assert that every reference and every total is right."""
    wallets = set(Wallet.objects.values_list("pk", flat=True))
    categories = set(Category.objects.values_list("pk", flat=True))
    rows = Entry.objects.filter(member_id=member.pk)
    assert set(rows.values_list("wallet_id", flat=True)) - {None} <= wallets
    assert set(rows.values_list("category_id", flat=True)) - {None} <= categories
    assert count_wrong_rows(member.pk).total() == 0
    assert_rollups_are_right()


@pytest.mark.parametrize("kind", ["wallets", "categories"])
@pytest.mark.parametrize("write", WRITES)
def test_write_beside_a_move_goes_along_or_is_refused(write: Write, kind: str) -> None:
    for _ in range(ROUNDS):
        ledger, client = begin(kind)
        deletion, written = run_concurrently(
            [
                partial(client.send, "DELETE", ledger.deletion),
                partial(write, client_like(client), ledger),
            ]
        )
        outcome = (deletion.status_code, written.status_code)
        assert max(outcome) < 500, (deletion.content, written.content)
        # Of two that exclude each other, either may be the first.
        allowed = {204, 400, 401, 404}
        assert outcome[0] == 204 or write in (swap, move_again, restore, leave)
        assert set(outcome) <= allowed | {200, 201, 409}, outcome
        if write is leave:
            assert not any(count_rows_of(ledger.member).values())
        else:
            assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_entry_that_comes_within_a_move_waits_for_it(kind: str) -> None:
    # Without the lock of the ledger the entry would stay behind.
    ledger, client = begin(kind)
    with call_before('UPDATE "account', lambda: enter(client_like(client), ledger)) as (
        written
    ):
        assert client.send("DELETE", ledger.deletion).status_code == 204
    # The wallet is gone; a category is created anew by its name.
    assert written.result().status_code == (400 if kind == "wallets" else 201)
    assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_repair_of_totals_beside_a_move(kind: str) -> None:
    ledger, client = begin(kind)
    WalletRollup.objects.owned_by(ledger.member).update(balance=-1)
    CategoryRollup.objects.owned_by(ledger.member).update(amount=3)

    def repair() -> None:
        for _ in range(6):
            repair_rollups(ledger.member.pk)

    response, _ = run_concurrently(
        [partial(client.send, "DELETE", ledger.deletion), repair]
    )
    assert response.status_code == 204
    assert_whole(ledger.member)


def test_write_that_waits_for_too_long_is_told_to_try_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    member = make_member()

    def write() -> Any:
        with lock_timeout("50ms"):
            return JSONClient(member).send("POST", f"{A}/entries", ENTRY)

    with transaction.atomic():
        advisory_xact_lock(AdvisoryLock.LEDGER, member.pk)
        (response,) = run_concurrently([write])
    assert_problem(response, 503, "SERVICE_UNAVAILABLE")
    assert response.headers["Retry-After"] == "1"
    assert not hasattr(response, "database_down")
    # The log names the rule that waited.
    assert "lock timeout" in caplog.text
    assert "insert_plain_entry" in caplog.text
