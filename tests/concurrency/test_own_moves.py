"""Moves between own wallets whose bookings come at the same time (spec 4.12)."""

from functools import partial
from itertools import cycle, islice
from typing import Any

import pytest

from accounts.models import Member
from ledger.base import ledger_write
from ledger.models import Entry, Notification
from tests.support.alert_texts import APPROVAL, CANCELLATION, ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import call_before, run_concurrently
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(4, 10)
REQUESTS = 16
NOVEMBER = "2026-11-21T12:00:00+09:00"
WITHDRAWAL = (
    "[신한은행] 11/21 11:00\n110-***-448812\n출금 {:,}원\n잔액 700,000원\n모바일"
)
DEPOSIT = "11/21 11:04\n입금 {:,}원\n이체 → 입출금통장(3418)\n잔액 300,000원"
BILL = "[신한은행] 11/21 11:00\n110-***-448812\n출금 {:,}원\n잔액 700,000원\n삼성카드"
CREATE = "account_create_entry"


@pytest.fixture
def member() -> Member:
    return make_member(role="ADMIN", display_name="조민현")


@pytest.fixture
def client(member: Member) -> JSONClient:
    client = JSONClient(member)
    client.send("PATCH", f"{ENTRIES}/notification-settings", {"captureBankTexts": True})
    for name, kind, number in (
        ("신한은행", "BANK", "110-482-448812"),
        ("카카오뱅크", "BANK", "3333-02-7713418"),
        ("삼성카드", "CARD", ""),
    ):
        body = {"name": name, "institution": name, "kind": kind}
        body |= {"accountNumber": number}
        assert client.send("POST", "/api/account/wallets", body).status_code == 201
    return client


def send(client: JSONClient, text: str) -> Any:
    body = {"text": text, "receivedAt": NOVEMBER}
    response = client.send("POST", NOTIFICATION, body)
    assert response.status_code in {200, 201}, response.content
    return response.data


def list_types() -> list[str]:
    return sorted(Entry.objects.values_list("type", flat=True))


def test_both_bookings_at_once_are_one_transfer(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the lock neither booking sees the other one.
    with monkeypatch.context() as patch:
        patch.setattr(ledger_write, "advisory_xact_lock", lambda *key: None)
        deposit = partial(send, client, DEPOSIT.format(50_000))
        with call_before(CREATE, deposit):
            send(client, WITHDRAWAL.format(50_000))
    assert list_types() == ["expense", "income"]
    Entry.objects.all().delete()

    deposit = partial(send, client, DEPOSIT.format(60_000))
    with call_before(CREATE, deposit) as other:
        assert send(client, WITHDRAWAL.format(60_000))["action"] == "CREATED"
    assert other.result()["action"] == "DUPLICATE"
    assert list_types() == ["transfer"]
    assert_rollups_are_right()


def test_racing_bookings_are_one_transfer(client: JSONClient) -> None:
    for number in range(1, ROUNDS + 1):
        texts = cycle([WITHDRAWAL.format(number), DEPOSIT.format(number)])
        calls = [partial(send, client, text) for text in islice(texts, REQUESTS)]
        actions = sorted(body["action"] for body in run_concurrently(calls))
        assert actions == ["CREATED"] + ["DUPLICATE"] * (REQUESTS - 1)
    assert list_types() == ["transfer"] * ROUNDS
    assert_rollups_are_right()


def test_racing_texts_of_one_bill_are_one_transfer(client: JSONClient) -> None:
    calls = [partial(send, client, BILL.format(412_350))] * REQUESTS
    actions = sorted(body["action"] for body in run_concurrently(calls))
    assert actions == ["CREATED"] + ["DUPLICATE"] * (REQUESTS - 1)
    assert list_types() == ["transfer"]


def test_mirror_concurrent_with_the_confirmation_is_never_a_second_entry(
    client: JSONClient,
) -> None:
    for number in range(1, ROUNDS + 1):
        entry = send(client, WITHDRAWAL.format(number))["entry"]
        path = f"{ENTRIES}/{entry['id']}/confirm"
        mirror, confirmed = run_concurrently(
            [
                partial(send, client, DEPOSIT.format(number)),
                partial(client.send, "POST", path),
            ]
        )
        assert confirmed.status_code == 200
        (stored,) = Entry.objects.filter(amount=number)
        # Confirmed as an expense before, or as the transfer after.
        refused = (mirror["action"], mirror["reason"]) == ("IGNORED", "OWN_TRANSFER")
        assert (stored.type, stored.pending) == (
            ("expense" if refused else "transfer"),
            False,
        )
    assert_rollups_are_right()


def test_approval_and_its_cancellation_at_once_leave_nothing(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the lock the cancellation finds no approval, and is found by none.
    with monkeypatch.context() as patch:
        patch.setattr(ledger_write, "advisory_xact_lock", lambda *key: None)
        with call_before(CREATE, partial(send, client, CANCELLATION)):
            send(client, APPROVAL)
    assert list_types() == ["expense"]
    Entry.objects.all().delete()
    Notification.objects.all().delete()

    for hour in range(ROUNDS):
        texts = [
            each.replace("08:31", f"{hour:02}:30") for each in (APPROVAL, CANCELLATION)
        ]
        calls = [partial(send, client, text) for text in texts]
        run_concurrently(calls)
        assert list_types() == []
