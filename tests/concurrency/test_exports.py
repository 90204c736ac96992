"""An export shows one moment, whatever is written beside it (spec 3.28)."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from beancount import loader
from django.db import connections, transaction

from accounts.models import Member
from ledger.export import export
from ledger.export.journals import journal, reading
from tests.support.clients import JSONClient
from tests.support.exports import export_ledger, read_beancount
from tests.support.factories import make_entry, make_member, make_wallet
from tests.support.races import run_concurrently
from tests.support.scale import scaled
from tests.support.workbooks import ENTRY, RESTORE

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "/api/account/entries"
ROUNDS = scaled(4, 30)


@pytest.fixture
def member() -> Member:
    return make_member(plan="PREMIUM")


def elsewhere(call: Callable[[], Any]) -> Any:
    """Return what the call returns over a connection of its own, committed."""

    def run() -> Any:
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(run).result()


@pytest.mark.parametrize("is_one_snapshot", [True, False])
def test_balances_are_those_of_the_moment_of_the_entries(
    member: Member, monkeypatch: pytest.MonkeyPatch, *, is_one_snapshot: bool
) -> None:
    wallet = make_wallet(member)
    make_entry(member, wallet=wallet, amount=5)

    def write_first(export: Any) -> dict[int, int]:
        elsewhere(lambda: make_entry(member, wallet=wallet, amount=7))
        return reading.get_worths(export)

    monkeypatch.setattr(journal, "get_worths", write_first)
    if not is_one_snapshot:
        # As without the snapshot, which shows that the race is one.
        monkeypatch.setattr(export, "repeatable_read", transaction.atomic)
    _, errors, _ = loader.load_string(export_ledger(member, "beancount"))
    assert (not errors) == is_one_snapshot


def test_export_beside_a_restore_has_the_ledger_before_or_after(
    member: Member,
) -> None:
    client = JSONClient(member)

    def restore(name: str) -> Any:
        entry = ENTRY | {"wallet": name, "memo": name}
        book = {
            "wallets": [{"name": name, "kind": "CASH"}],
            "entries": [entry] * 200,
        }
        return client.send("POST", RESTORE, book)

    assert restore("round 0").status_code == 200
    for number in range(1, ROUNDS + 1):
        answer, text = run_concurrently(
            [
                partial(restore, f"round {number}"),
                lambda: export_ledger(member, "json"),
            ]
        )
        assert answer.status_code == 200
        found = json.loads(text)
        (wallet,) = found["wallets"]
        assert wallet["name"] in {f"round {number - 1}", f"round {number}"}
        assert {(entry["memo"], entry["walletId"]) for entry in found["entries"]} == {
            (wallet["name"], wallet["id"])
        }
        assert len(found["entries"]) == 200


def test_exports_beside_writers_are_right(member: Member) -> None:
    wallets = [make_wallet(member).pk for _ in range(2)]
    clients = [JSONClient(member) for _ in range(3)]

    def write(client: JSONClient) -> None:
        for number in range(scaled(15, 150)):
            body = ENTRY | {
                "type": "transfer",
                "amount": number + 1,
                "walletId": wallets[number % 2],
                "toWalletId": wallets[1 - number % 2],
            }
            assert client.send("POST", ENTRIES, body).status_code == 201

    def read() -> list[str]:
        return [export_ledger(member, "beancount") for _ in range(ROUNDS)]

    *_, texts = run_concurrently(
        [*(partial(write, client) for client in clients), read]
    )
    for text in texts:
        # beancount compares the balances of the service with the entries.
        assert read_beancount(text).sum_below("Assets") == 0
