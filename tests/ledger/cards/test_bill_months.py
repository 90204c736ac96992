"""The bill month of entries and typed-in parts: valid and invalid requests."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry
from tests.support.cards import (
    ACCOUNT,
    MONTHLY,
    buy,
    get_bill,
    make_bank,
    make_card,
    move,
)
from tests.support.clients import JSONClient
from tests.support.problems import assert_invalid

ENTRIES = f"{ACCOUNT}/entries"


@pytest.fixture
def card(client: JSONClient) -> int:
    return make_card(client, from_="2026-10", **MONTHLY)


def send(client: JSONClient, method: str, entry: Any, **body: Any) -> Any:
    return client.send(method, f"{ENTRIES}/{entry['id']}", body)


@pytest.mark.parametrize("month", ["2026-13", "2026-00", "0000-01", "26-12", "", 5, []])
def test_month_that_is_none_is_refused(
    client: JSONClient, member: Member, card: int, month: Any
) -> None:
    body = {"type": "expense", "date": "2026-11-05", "amount": 5, "walletId": card}
    response = client.send("POST", ENTRIES, body | {"billMonth": month})
    assert_invalid(response, "billMonth")
    assert not Entry.objects.owned_by(member).exists()


def test_month_is_for_entries_of_a_card_with_settings(
    client: JSONClient, member: Member, card: int
) -> None:
    bank, plain = make_bank(client), make_card(client, "설정 없음")
    body = {"type": "expense", "date": "2026-11-05", "amount": 5}
    for wallet in (bank, plain, None):
        sent = body | {"walletId": wallet, "billMonth": "2026-12"}
        assert_invalid(client.send("POST", ENTRIES, sent), "billMonth")
    assert not Entry.objects.owned_by(member).exists()
    payment = move(client, bank, card, "2026-12-01", 5, billMonth="2026-12")
    assert payment["billMonth"] == "2026-12"
    family = make_card(client, "가족", billedWithId=card)
    assert buy(client, family, "2026-11-05", 5, billMonth="2026-12")["billMonth"]


def test_put_keeps_the_month_and_null_clears_it(client: JSONClient, card: int) -> None:
    entry = buy(client, card, "2026-11-05", 5, billMonth="2027-01")
    body = {"type": "expense", "date": "2026-11-06", "amount": 5, "walletId": card}
    assert send(client, "PUT", entry, **body).data["billMonth"] == "2027-01"
    # Where it does not fit any more, a PUT that leaves it out clears it.
    bank = make_bank(client)
    assert_invalid(send(client, "PATCH", entry, walletId=bank), "billMonth")
    moved = send(client, "PUT", entry, **body | {"walletId": bank})
    assert moved.data["billMonth"] is None
    again = buy(client, card, "2026-11-05", 5, billMonth="2027-01")
    cleared = send(client, "PATCH", again, billMonth=None)
    assert cleared.data["billMonth"] is None


def test_batch_takes_the_month_too(client: JSONClient, card: int) -> None:
    entry = {
        "type": "expense",
        "date": "2026-11-05",
        "amount": 5,
        "walletId": card,
        "billMonth": "2027-01",
    }
    bank = make_bank(client)
    operations = [
        {"op": "create", "entry": entry},
        {"op": "create", "entry": entry | {"walletId": bank}},
    ]
    response = client.send("POST", f"{ENTRIES}/batch", {"operations": operations})
    assert_invalid(response, "operations.1.billMonth")
    body = {"operations": operations[:1]}
    assert client.send("POST", f"{ENTRIES}/batch", body).status_code == 200
    assert get_bill(client, card, "2027-01")["total"] == 5


def test_parts_are_typed_in_and_dropped_with_their_amount(
    client: JSONClient, card: int
) -> None:
    entry = buy(client, card, "2026-11-05", 1_000_000, installmentMonths=3)
    path = f"{ENTRIES}/{entry['id']}/parts"
    equal = client.get_json(path)
    assert (equal["amounts"], equal["typed"]) == ([333_334, 333_333, 333_333], False)
    typed = client.change_json("PUT", path, {"amounts": [500_000, 400_000, 100_000]})
    assert typed["typed"] is True
    assert get_bill(client, card, "2026-12")["installments"] == 500_000
    # Another memo leaves them.
    assert "partsReset" not in send(client, "PATCH", entry, memo="냉장고").data
    assert client.get_json(path)["typed"] is True
    changed = send(client, "PATCH", entry, amount=900_000)
    assert changed.data["partsReset"] is True
    assert client.get_json(path)["amounts"] == [300_000] * 3
    client.change_json("PUT", path, {"amounts": [900_000, 0, 0]})
    assert send(client, "PATCH", entry, installmentMonths=2).data["partsReset"] is True


@pytest.mark.parametrize(
    ("amounts", "field"),
    [
        ([50, 50], "amounts"),
        ([50, 30, 10], "amounts"),
        ([110, -10, 0], "amounts.1"),
        (["50", 30, 20], "amounts.0"),
        ([50.5, 30, 20], "amounts.0"),
        ("100", "amounts"),
        ([], "amounts"),
        ([1] * 25, "amounts"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    client: JSONClient, card: int, amounts: Any, field: str
) -> None:
    entry = buy(client, card, "2026-11-05", 100, installmentMonths=3)
    path = f"{ENTRIES}/{entry['id']}/parts"
    assert_invalid(client.send("PUT", path, {"amounts": amounts}), field)
    assert client.get_json(path)["typed"] is False
    once = buy(client, card, "2026-11-05", 100)
    path = f"{ENTRIES}/{once['id']}/parts"
    assert_invalid(client.send("PUT", path, {"amounts": [50, 50]}), "amounts")
