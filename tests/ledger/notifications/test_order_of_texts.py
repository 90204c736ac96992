"""Texts come in any order: an approval after its cancellation or final amount."""

import itertools
from datetime import date
from typing import Any

import pytest

from ledger.models import Entry, Notification
from tests.support.alert_texts import (
    APPROVAL,
    CANCELLATION,
    ENTRIES,
    NOTIFICATION,
    PARTIAL,
    PUSH,
)
from tests.support.clients import JSONClient
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db

NOVEMBER = "2026-11-21T12:00:00+09:00"
CANCELLED_PUSH = PUSH.replace("신한카드승인", "신한카드취소").replace("승인", "취소")
PRELIMINARY = "[Web발신]\n신한카드(1309)가승인 홍*동 150,000원 11/10 08:31 바람주유소"
FINAL = "[Web발신]\n신한카드(1309)승인 홍*동 63,200원 11/10 08:36 바람주유소"
RELEASED = PRELIMINARY.replace("가승인", "취소").replace("08:31", "08:37")


@pytest.fixture
def send(client: JSONClient) -> Any:
    def post(text: str, received_at: str = NOVEMBER) -> Any:
        body = {"text": text, "receivedAt": received_at}
        response = client.send("POST", NOTIFICATION, body)
        assert response.status_code in {200, 201}, response.content
        return response.data | {"status": response.status_code}

    return post


def list_entries() -> list[tuple[str, int]]:
    return list(Entry.objects.order_by("id").values_list("type", "amount"))


def test_approval_after_its_cancellation_is_not_spent(send: Any) -> None:
    assert send(CANCELLATION)["reason"] == "NO_MATCHING_APPROVAL"
    body = send(APPROVAL)
    assert (body["status"], body["action"], body["reason"]) == (200, "CANCELLED", None)
    assert body["entry"] is None
    assert not Entry.objects.exists()
    for text in (CANCELLATION, APPROVAL, PUSH):
        assert send(text)["action"] == "DUPLICATE"
    assert not Entry.objects.exists()
    assert_rollups_are_right()


@pytest.mark.parametrize(
    "texts",
    list(itertools.permutations([APPROVAL, PUSH, CANCELLATION, CANCELLED_PUSH])),
)
def test_cancelled_payment_is_not_spent_in_any_order(send: Any, texts: Any) -> None:
    for text in (*texts, *texts):
        send(text)
    assert not Entry.objects.exists()


def test_cancellation_that_names_the_day_waits_for_that_day(send: Any) -> None:
    cancelled = (
        "[Web발신]\n신한카드(1309)취소 홍*동 4,800원 11/12 09:00 바람커피성수"
        " 원거래일 11/05"
    )
    body = send(cancelled)
    assert body["reason"] == "NO_MATCHING_APPROVAL"
    assert Notification.objects.get().original_date == date(2026, 11, 5)
    assert send(APPROVAL)["action"] == "CREATED"
    of_day = APPROVAL.replace("11/10", "11/05").replace("누적512,300원", "")
    assert send(of_day)["action"] == "CANCELLED"


def test_partial_cancellation_before_its_approval_is_a_refund(
    client: JSONClient, send: Any
) -> None:
    for text in (PARTIAL, APPROVAL):
        entry = send(text)["entry"]
        client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    found = client.get_json("/api/account/statistics/month?year=2026&month=11")
    assert (found["income"], found["expense"]) == (0, 3_800)


@pytest.mark.parametrize(
    "texts", list(itertools.permutations([PRELIMINARY, FINAL, RELEASED]))
)
def test_preliminary_amount_is_replaced_in_any_order(send: Any, texts: Any) -> None:
    for text in (*texts, *texts):
        send(text)
    assert list_entries() == [("expense", 63_200)]
    assert_rollups_are_right()


@pytest.mark.parametrize("texts", [(APPROVAL, CANCELLATION), (CANCELLATION, APPROVAL)])
def test_text_with_an_approval_and_its_cancellation_leaves_no_entry(
    send: Any, texts: Any
) -> None:
    body = send("\n".join(texts))
    assert (body["status"], body["action"], body["entry"]) == (200, "CANCELLED", None)
    actions = [each["action"] for each in body["results"]]
    first = "CANCELLED" if texts[0] == APPROVAL else "IGNORED"
    assert actions == [first, "CANCELLED"]
    assert all(each["entry"] is None for each in body["results"])
    assert not Entry.objects.exists()


def test_text_with_a_cancelled_payment_and_another_answers_the_other(
    send: Any,
) -> None:
    other = APPROVAL.replace("08:31", "12:31").replace("바람커피성수", "소담분식")
    body = send(f"{other}\n{APPROVAL}\n{CANCELLATION}")
    assert (body["status"], body["action"]) == (201, "CREATED")
    assert body["entry"]["memo"] == "소담분식"
    actions = [each["action"] for each in body["results"]]
    assert actions == ["CREATED", "CANCELLED", "CANCELLED"]


@pytest.mark.parametrize("texts", [(PRELIMINARY, FINAL), (FINAL, PRELIMINARY)])
def test_text_with_both_amounts_answers_the_final_one(send: Any, texts: Any) -> None:
    body = send("\n".join(texts))
    assert (body["status"], body["action"]) == (201, "CREATED")
    assert body["entry"]["amount"] == 63_200
    by_text = {
        each["parsed"]["preliminary"]: (each["action"], each["entry"]["amount"])
        for each in body["results"]
    }
    assert by_text == {True: ("DUPLICATE", 63_200), False: ("CREATED", 63_200)}
