"""Concurrent notifications: one payment is one entry."""

import itertools
from functools import partial
from typing import Any

import pytest

from ledger.models import Entry, Notification
from tests.support.alert_texts import (
    APPROVAL,
    CANCELLATION,
    ENTRIES,
    NOTIFICATION,
    PUSH,
    UNTIMED,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.races import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

CONCURRENT_REQUESTS = 64
# One payment, as the card, the bank and the pay app name it.
OF_GATEWAY = (
    "[Web발신]\n신한체크(1309)승인 홍*동 9,100원 11/21 12:00 KG이니시스 누적91,000원"
)
OF_BANK = "[신한은행] 11/21 12:00\n110-***-448812\n체크카드출금 9,100원\n바람책방\n잔액 50,000원"
OF_SHOP = "카카오페이\n9,100원 결제완료\n바람책방"
NOVEMBER = "2026-11-21T12:00:00+09:00"


@pytest.fixture
def client() -> JSONClient:
    return JSONClient(make_member(role="ADMIN"))


def send_concurrently(client: JSONClient, texts: Any) -> list[Any]:
    bodies = [{"text": text, "receivedAt": NOVEMBER} for text in texts]
    calls = [partial(client.send, "POST", NOTIFICATION, body) for body in bodies]
    responses = run_concurrently(calls)
    assert {response.status_code for response in responses} <= {200, 201}
    return [response.data["action"] for response in responses]


@pytest.mark.parametrize(
    "texts",
    [[APPROVAL], [APPROVAL, PUSH], [UNTIMED], [OF_GATEWAY, OF_BANK, OF_SHOP]],
)
def test_64_concurrent_notifications_of_one_payment_are_one_entry(
    client: JSONClient, texts: list[Any]
) -> None:
    repeated = itertools.cycle(texts)
    actions = send_concurrently(client, itertools.islice(repeated, CONCURRENT_REQUESTS))
    assert sorted(actions) == ["CREATED"] + ["DUPLICATE"] * (CONCURRENT_REQUESTS - 1)
    assert Entry.objects.count() == 1
    # One of each channel.
    assert Notification.objects.count() == len(texts)


def test_concurrent_cancellations_cancel_once(client: JSONClient) -> None:
    for _ in range(5):
        Notification.objects.all().delete()
        send_concurrently(client, [APPROVAL])
        actions = send_concurrently(client, [CANCELLATION] * 8)
        assert sorted(actions) == ["CANCELLED"] + ["DUPLICATE"] * 7
        assert not Entry.objects.exists()


def test_cancellation_concurrent_with_the_confirmation_loses_no_money(
    client: JSONClient,
) -> None:
    for _ in range(10):
        Notification.objects.all().delete()
        Entry.objects.all().delete()
        send_concurrently(client, [APPROVAL])
        path = f"{ENTRIES}/{Entry.objects.get().pk}/confirm"
        cancelled, confirmed = run_concurrently(
            [
                lambda: client.send(
                    "POST", NOTIFICATION, {"text": CANCELLATION, "receivedAt": NOVEMBER}
                ),
                partial(client.send, "POST", path),
            ]
        )
        found = set(Entry.objects.values_list("type", "pending"))
        if confirmed.status_code == 404:
            assert (cancelled.data["action"], found) == ("CANCELLED", set())
        else:
            assert cancelled.data["action"] == "REFUND_PENDING"
            assert found == {("expense", False), ("income", True)}
