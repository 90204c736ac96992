"""Payments that a file and a notification bring, in any order (spec 3.29)."""

import random
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from accounts.models import Member
from ledger.models import Entry, Notification
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet
from tests.support.imports import import_file

pytestmark = pytest.mark.django_db

HEADER = "거래일,시간,가맹점,출금액\n"
SEOUL = ZoneInfo("Asia/Seoul")
PAYMENTS = 400
SHOPS = ("바람커피성수", "소담분식", "별빛마트", "한결가구")


def text_of(payment: tuple[datetime, int, str]) -> str:
    at, amount, shop = payment
    return f"[Web발신]\n신한카드(1309)승인 홍*동 {amount:,}원(일시불){at:%m/%d %H:%M} {shop}"


def row_of(payment: tuple[datetime, int, str]) -> str:
    at, amount, shop = payment
    return f"{at:%Y-%m-%d},{at:%H:%M},{shop},{amount}\n"


@pytest.fixture
def card(premium_member: Member) -> Any:
    return make_wallet(premium_member, name="신한카드 1309", kind="CARD")


def test_text_after_its_row_is_a_duplicate(
    client: JSONClient, send: Any, card: Any
) -> None:
    payment = (datetime(2026, 11, 10, 8, 31, tzinfo=SEOUL), 4800, SHOPS[0])
    data = "거래일,가맹점,출금액\n2026-11-10,바람커피,4800\n"
    import_file(client, data, walletId=card.pk)
    entry = Entry.objects.get()
    answer = send(text_of(payment))
    assert (answer["action"], answer["entry"]["id"]) == ("DUPLICATE", entry.pk)
    assert answer["merged"] == ["time"]
    row = Notification.objects.get()
    assert (row.text, row.doubts, row.is_confirmed) == (None, None, True)
    entry.refresh_from_db()
    assert f"{entry.time:%H:%M}" == "08:31"
    # A second payment of that amount is one of its own.
    again = (datetime(2026, 11, 10, 9, 31, tzinfo=SEOUL), 4800, SHOPS[0])
    assert send(text_of(again))["action"] == "CREATED"


def test_text_of_an_undone_import_is_new(
    client: JSONClient, send: Any, card: Any
) -> None:
    payment = (datetime(2026, 11, 10, 8, 31, tzinfo=SEOUL), 4800, SHOPS[0])
    import_file(client, HEADER + row_of(payment), walletId=card.pk)
    Entry.objects.get().delete()
    assert send(text_of(payment))["action"] == "CREATED"


def test_payments_in_random_order_are_one_entry_each(
    client: JSONClient, send: Any, card: Any
) -> None:
    rng = random.Random(34)
    start = datetime(2026, 10, 1, 8, tzinfo=SEOUL)
    payments = [
        (
            start + timedelta(minutes=130 * number),
            rng.choice([4800, 5200, 9900, rng.randrange(1_000, 99_000)]),
            rng.choice(SHOPS),
        )
        for number in range(PAYMENTS)
    ]
    month = PAYMENTS // 4
    events: list[Any] = [*payments, *range(4)]
    rng.shuffle(events)
    for event in events:
        if isinstance(event, int):
            rows = payments[event * month : (event + 1) * month]
            import_file(client, HEADER + "".join(map(row_of, rows)), walletId=card.pk)
        else:
            send(text_of(event))
    assert Entry.objects.count() == PAYMENTS
    amounts = Entry.objects.order_by("amount").values_list("amount", flat=True)
    assert list(amounts) == sorted(amount for _, amount, _ in payments)
    refers = set(Notification.objects.values_list("entry_id", flat=True))
    assert refers == set(Entry.objects.values_list("pk", flat=True))
