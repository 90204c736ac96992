"""Wallets under concurrent requests: no dangling reference, no lost amount."""

from typing import Any

import pytest
from django.db.models import Sum

from ledger.models import Entry, QuickEntry, Wallet, WalletRollup
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.races import Turn, caller, race, run_concurrently, sorted_statuses
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

WALLETS = "/api/account/wallets"
ENTRIES = "/api/account/entries"
QUICK = "/api/account/quick-entries"
ROUNDS = scaled(4, 25)
EXPENSE = {"date": "2026-11-21", "type": "expense", "amount": 7}
TEMPLATE = {"type": "expense", "amount": 7, "name": "Lunch"}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize("path", [ENTRIES, QUICK])
def test_delete_racing_a_write_never_leaves_a_dangling_reference(
    client: JSONClient, member: Any, path: Any, method: str
) -> None:
    model, body = (Entry, EXPENSE) if path == ENTRIES else (QuickEntry, TEMPLATE)
    for _ in range(ROUNDS):
        wallet = make_wallet(member)
        address = path
        if method != "POST":
            created = client.send("POST", path, body)
            address = f"{path}/{created.data['id']}"
        delete, write = run_concurrently(
            [
                caller(client, "DELETE", f"{WALLETS}/{wallet.pk}"),
                caller(client, method, address, body | {"walletId": wallet.pk}),
            ]
        )
        outcome = (delete.status_code, write.status_code)
        if delete.status_code == 204:
            assert write.status_code in {400, 404}, (outcome, write.content)
            assert not model.objects.filter(wallet_id=wallet.pk).exists()
        else:
            assert outcome in {(409, 200), (409, 201)}, (outcome, delete.content)
            assert delete.data["code"] == "IN_USE"
            assert model.objects.filter(wallet_id=wallet.pk).count() == 1
    assert_rollups_are_right()


def test_delete_with_move_to_takes_a_racing_entry_along_or_refuses_one(
    client: JSONClient, member: Any
) -> None:
    target = make_wallet(member)

    def turn(_: int) -> Turn:
        wallet = make_wallet(member)
        make_entry(member, wallet=wallet)
        yield [
            caller(client, "DELETE", f"{WALLETS}/{wallet.pk}?moveTo={target.pk}"),
            caller(client, "POST", ENTRIES, EXPENSE | {"walletId": wallet.pk}),
        ]

    allowed = {(204, 201), (204, 400), (204, 404), (409, 201)}
    race(turn, rounds=ROUNDS, allowed=allowed)
    assert_rollups_are_right()
    referred = set(Entry.objects.values_list("wallet_id", flat=True))
    assert referred <= set(Wallet.objects.values_list("pk", flat=True))


def test_two_wallets_that_move_into_each_other_never_deadlock(
    client: JSONClient, member: Any
) -> None:
    def turn(_: int) -> Turn:
        first, second = make_wallet(member), make_wallet(member)
        make_entry(member, wallet=first)
        make_entry(member, wallet=second)
        yield [
            caller(client, "DELETE", f"{WALLETS}/{first.pk}?moveTo={second.pk}"),
            caller(client, "DELETE", f"{WALLETS}/{second.pk}?moveTo={first.pk}"),
        ]

    race(turn, rounds=ROUNDS, in_any_order=(204, 404))
    assert_rollups_are_right()


def test_concurrent_entry_writes_keep_totals_equal_to_entries(
    client: JSONClient, member: Any
) -> None:
    wallets = [make_wallet(member) for _ in range(2)]
    entries = [make_entry(member, wallet=wallets[n % 2]) for n in range(8)]

    def write(number: Any) -> Any:
        def run() -> Any:
            other = JSONClient()
            other.use_token(client.token)
            body = {
                "date": f"2026-0{number % 3 + 1}-15",
                "type": ("income", "expense")[number % 2],
                "amount": number + 1,
                "walletId": wallets[number % 2].pk,
            }
            own, shared = entries[number], entries[(number + 1) % 8]
            answers = [other.send("POST", ENTRIES, body) for _ in range(5)]
            for _ in range(3):
                path = f"{ENTRIES}/{own.pk}"
                body["walletId"] = wallets[(number + 1) % 2].pk
                answers.append(other.send("PUT", path, body))
                path = f"{ENTRIES}/{shared.pk}"
                answers.append(other.send("PATCH", path, {"amount": number + 50}))
            return sorted_statuses(answers)

        return run

    results = run_concurrently([write(number) for number in range(8)])
    assert results == [[200] * 6 + [201] * 5] * 8
    assert Entry.objects.count() == 8 + 8 * 5
    assert_rollups_are_right()
    for wallet in client.get_json(WALLETS):
        rows = Entry.objects.filter(wallet=wallet["id"])
        sums = [
            rows.filter(type=type_).aggregate(sum=Sum("amount"))["sum"] or 0
            for type_ in ("income", "expense")
        ]
        assert wallet["balance"] == sums[0] - sums[1]
    assert WalletRollup.objects.aggregate(sum=Sum("entry_count"))["sum"] == 48


def test_new_wallets_at_once_get_different_places(client: JSONClient) -> None:
    for number in range(5):
        responses = run_concurrently(
            [
                caller(
                    client, "POST", WALLETS, {"name": f"{number}{n}", "kind": "CASH"}
                )
                for n in range(4)
            ]
        )
        assert sorted_statuses(responses) == [201] * 4
    places = [row["sortOrder"] for row in client.get_json(WALLETS)]
    assert places == list(range(1, 21))


def test_one_name_at_once_makes_one_wallet(client: JSONClient) -> None:
    def turn(number: int) -> Turn:
        body = {"name": f"Cash {number}", "kind": "CASH"}
        yield [caller(client, "POST", WALLETS, body)] * 4

    race(turn, rounds=5, in_any_order=(201, 409, 409, 409))
    assert Wallet.objects.count() == 5


def test_one_pending_entry_confirmed_at_once_is_confirmed_once(
    client: JSONClient, member: Any
) -> None:
    for _ in range(5):
        entry = make_entry(member, pending=True, amount=7)
        path = f"{ENTRIES}/{entry.pk}/confirm"
        responses = run_concurrently(
            [caller(client, "POST", path, {"amount": n}) for n in (100, 200, 300)]
        )
        assert sorted_statuses(responses) == [200, 200, 200]
        amounts = {response.data["amount"] for response in responses}
        entry.refresh_from_db()
        assert amounts == {entry.amount}
    assert_rollups_are_right()


def test_delete_with_move_to_racing_the_same_move_of_an_entry_never_deadlocks(
    client: JSONClient, member: Any
) -> None:
    def turn(_: int) -> Turn:
        source, target = make_wallet(member), make_wallet(member)
        entry = make_entry(member, wallet=source)
        body = {"walletId": target.pk}
        yield [
            caller(client, "DELETE", f"{WALLETS}/{source.pk}?moveTo={target.pk}"),
            caller(client, "PATCH", f"{ENTRIES}/{entry.pk}", body),
        ]
        entry.refresh_from_db()
        assert entry.wallet == target

    race(turn, rounds=ROUNDS, allowed={(204, 200)})


def test_reorder_racing_a_new_wallet_is_never_a_5xx(
    client: JSONClient, member: Any
) -> None:
    ids = [make_wallet(member).pk for _ in range(3)]
    for number in range(ROUNDS):
        ids = ids[::-1]
        reorder, create = run_concurrently(
            [
                caller(client, "PUT", f"{WALLETS}/reorder", {"ids": ids}),
                caller(
                    client, "POST", WALLETS, {"name": f"New {number}", "kind": "CASH"}
                ),
            ]
        )
        assert create.status_code == 201
        assert reorder.status_code in {200, 400}
        ids = [row["id"] for row in client.get_json(WALLETS)]
        places = [row["sortOrder"] for row in client.get_json(WALLETS)]
        assert len(places) == len(set(places))


def test_card_that_becomes_a_bank_account_keeps_no_racing_installments(
    client: JSONClient, member: Any
) -> None:
    def turn(_: int) -> Turn:
        card = make_wallet(member, kind="CARD")
        body = EXPENSE | {"walletId": card.pk, "installmentMonths": 3}
        yield [
            caller(client, "PATCH", f"{WALLETS}/{card.pk}", {"kind": "BANK"}),
            caller(client, "POST", ENTRIES, body),
        ]

    race(turn, rounds=ROUNDS, allowed={(200, 400), (400, 201)})
    paid = Entry.objects.filter(installment_months=3)
    assert not paid.exclude(wallet__kind="CARD").exists()
