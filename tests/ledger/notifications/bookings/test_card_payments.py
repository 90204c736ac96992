"""Withdrawals that are payments by check card, which another text tells (spec 4.12)."""

import itertools
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry
from tests.support.bank_bookings import list_entries
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("first", [0, 1])
def test_withdrawal_of_a_check_card_is_its_payment(
    send: Any, member: Member, first: int
) -> None:
    card = "[Web발신]\n신한체크(1309)승인 홍*동 9,100원 11/21 11:00 바람책방 강남점"
    bank = "신한 *448812 out 9100 바람책방강남 11:00 90000"
    texts = [card, bank]
    bodies = [send(texts[number]) for number in (first, 1 - first, 0, 1)]
    assert [body["action"] for body in bodies] == ["CREATED"] + ["DUPLICATE"] * 3
    assert list_entries() == [("expense", 9100, "바람책방 강남점")]
    # The account comes before the only card, which no text names.
    merged = ["walletId"] if first == 0 else ["cardHint", "merchant"]
    assert bodies[1]["merged"] == merged
    assert Entry.objects.get().wallet.kind == "BANK"


PAID = "[Web발신]\n신한체크(1309)승인 홍*동 9,100원 11/21 11:00 바람책방 강남점"
BOOKED = "신한 *448812 out 9100 바람책방강남 11:00 90000"
GIVEN = "카카오뱅크 *3418 in 9100 이준호 11:03 -"


@pytest.mark.parametrize("texts", list(itertools.permutations([PAID, BOOKED, GIVEN])))
def test_payment_by_check_card_is_no_move_whatever_deposit_follows(
    send: Any, texts: Any
) -> None:
    for text in (*texts, *texts):
        send(text)
    assert sorted(list_entries()) == [
        ("expense", 9100, "바람책방 강남점"),
        ("income", 9100, "이준호"),
    ]
    assert_rollups_are_right()
