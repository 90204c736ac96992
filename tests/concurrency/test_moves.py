"""Moves of large wallets and categories beside the member's other writes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from accounts import account_deletion
from accounts.models import Member
from accounts.tasks import delete_closed_accounts
from ledger import move_job, moves
from ledger.models import Category, CategoryRollup, Entry, Wallet, WalletRollup
from ledger.move_job import list_moves, run_moves
from ledger.rollup_repair import count_wrong_rows, repair_rollups
from tests.support.alert_texts import APPROVAL, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_entry, make_member
from tests.support.moves import BATCH_SIZE, LIMIT, A, MovingLedger, make_moving_ledger
from tests.support.races import call_before, run_concurrently
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(4, 6)
NEW = {"date": "2026-11-21", "type": "expense", "amount": 5, "name": "New"}
RULE = NEW | {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}

Write = Callable[[JSONClient, MovingLedger], Any]


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", LIMIT)
    monkeypatch.setattr(move_job, "BATCH_SIZE", BATCH_SIZE)


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
    return client.send("POST", f"{A}/entries", NEW | naming(ledger))


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


WRITES = (
    *(enter, change, remove, save_template, save_rule, save_budget, announce),
    *(delete_target, swap, move_again),
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
def test_write_racing_the_request_goes_along_or_is_refused(
    write: Write, kind: str
) -> None:
    for _ in range(ROUNDS):
        ledger, client = begin(kind)
        count = Entry.objects.filter(member_id=ledger.member.pk).count()
        deletion, written = run_concurrently(
            [
                partial(client.send, "DELETE", ledger.deletion),
                partial(write, client_like(client), ledger),
            ]
        )
        outcome = (deletion.status_code, written.status_code)
        codes = [(each.data or {}).get("code") for each in (deletion, written)]
        assert max(outcome) < 500, written.content
        # A small target that goes first into the other is gone, and of two equal
        # requests either may be the first.
        first_elsewhere = {(swap, (404, 204)), (move_again, (409, 202))}
        assert outcome[0] == 202 or (write, outcome) in first_elsewhere, outcome
        if write not in (delete_target, swap, move_again):
            assert outcome[1] in {200, 201, 204} or codes[1] == "MOVING", codes
        assert run_moves().failed == 0
        assert not list_moves()
        added = {201: 1, 204: -1}.get(written.status_code, 0)
        if write not in (enter, remove, announce):
            added = 0
        rows = Entry.objects.filter(member_id=ledger.member.pk)
        assert rows.count() == count + added
        assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_entry_that_comes_within_the_request_waits_for_it(kind: str) -> None:
    # The lock of the ledger: without it the entry would stay behind.
    ledger, client = begin(kind)
    with call_before('UPDATE "account', lambda: enter(client_like(client), ledger)) as (
        written
    ):
        assert client.send("DELETE", ledger.deletion).status_code == 202
    assert written.result().status_code == 409
    assert run_moves().failed == 0
    assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_member_writes_while_the_job_moves(kind: str) -> None:
    ledger, client = begin(kind)
    for number in range(40):
        make_entry(
            ledger.member,
            wallet=ledger.wallet,
            category=ledger.category,
            memo=f"more {number}",
        )
    assert client.send("DELETE", ledger.deletion).status_code == 202
    target = {
        "walletId": ledger.wallet_target.pk,
        "category": ledger.category_target.name,
    }
    path = f"{A}/entries"

    def write() -> list[int]:
        own = client_like(client)
        statuses = []
        for number in range(15):
            body = NEW | target | {"memo": f"new {number}", "tags": ["tag 0"]}
            created = own.send("POST", path, body)
            entry = f"{path}/{created.data['id']}"
            statuses += [
                created.status_code,
                own.send("PATCH", entry, {"amount": 7, "walletId": None}).status_code,
                own.send("DELETE", entry).status_code,
                own.send("POST", path, NEW | target).status_code,
            ]
        return statuses

    def check() -> list[Any]:
        return [count_wrong_rows(ledger.member.pk) for _ in range(15)]

    result, statuses, found = run_concurrently([run_moves, write, check])
    assert result.failed == 0
    assert statuses == [201, 200, 204, 201] * 15
    assert not any(found)
    assert client.get(ledger.path).status_code == 404
    assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_two_workers_at_once_move_each_entry_once(kind: str) -> None:
    # As after a worker that was taken for killed.
    for _ in range(ROUNDS):
        ledger, client = begin(kind)
        assert client.send("DELETE", ledger.deletion).status_code == 202
        count = Entry.objects.filter(**{ledger.field: ledger.source.pk}).count()
        results = run_concurrently([run_moves] * 3)
        assert [result.failed for result in results] == [0] * 3
        assert sum(result.entries for result in results) == count
        assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_repair_of_totals_while_the_job_moves(kind: str) -> None:
    ledger, client = begin(kind)
    assert client.send("DELETE", ledger.deletion).status_code == 202

    WalletRollup.objects.owned_by(ledger.member).update(balance=-1)
    CategoryRollup.objects.owned_by(ledger.member).update(amount=3)

    def repair() -> None:
        for _ in range(6):
            repair_rollups(ledger.member.pk)

    result, _ = run_concurrently([run_moves, repair])
    assert result.failed == 0
    assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_restore_racing_the_job_wins(kind: str) -> None:
    for _ in range(ROUNDS // 2):
        ledger, client = begin(kind)
        book = download_backup(ledger.member)
        count = Entry.objects.filter(member_id=ledger.member.pk).count()
        assert client.send("DELETE", ledger.deletion).status_code == 202
        result, response = run_concurrently(
            [run_moves, partial(upload, client_like(client), book)]
        )
        assert (result.failed, response.status_code) == (0, 200)
        run_moves()
        assert not list_moves()
        rows = client.get_json(f"{A}/{kind}")
        assert ledger.source.name in {row["name"] for row in rows}
        rows = Entry.objects.filter(member_id=ledger.member.pk)
        assert rows.count() == count
        assert_whole(ledger.member)


@pytest.mark.parametrize("kind", ["wallets", "categories"])
@pytest.mark.parametrize("is_large", [False, True])
def test_deletion_of_the_account_racing_the_job_wins(
    kind: str, is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 0 if is_large else 1_000
    monkeypatch.setattr(account_deletion, "MAX_ROWS_OF_REQUEST", limit)
    for _ in range(ROUNDS // 2):
        ledger, client = begin(kind)
        assert client.send("DELETE", ledger.deletion).status_code == 202

        def leave(client: JSONClient = client) -> Any:
            response = client_like(client).send("DELETE", "/api/auth/me")
            delete_closed_accounts()
            return response

        result, response = run_concurrently([run_moves, leave])
        assert (result.failed, response.status_code) == (0, 204)
        assert not any(count_rows_of(ledger.member).values())
