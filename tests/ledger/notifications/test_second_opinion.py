"""Texts about which grammar and model do not agree (spec 4.13)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, Notification
from tests.support.alert_texts import APPROVAL, ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]

# The grammar knows no such payment, the model does.
RESCUED = "[두레클럽] 홍*동님 10/24 22:31 8,500원 일시불 빛고을떡집"
RESCUED_NEXT = "[두레클럽] 홍*동님 10/25 09:12 12,300원 일시불 달빛문구"
# The grammar takes it for a payment.
NOTICE = "[모임] 회비 32,000원 결제 확인되었습니다. 감사합니다"
NOTICE_NEXT = "[모임] 회비 41,000원 결제 확인되었습니다. 감사합니다"


def test_payment_of_an_unknown_layout_asks_until_one_is_confirmed(
    client: JSONClient, send: Any
) -> None:
    first = send(RESCUED)
    assert first["action"] == "CREATED"
    assert (first["confidence"], first["entry"]["unsure"]) == ("UNSURE", True)
    assert "KIND" in first["entry"]["doubts"]
    assert (first["entry"]["amount"], first["entry"]["memo"]) == (8_500, "빛고을떡집")
    client.send("POST", f"{ENTRIES}/{first['entry']['id']}/confirm")
    second = send(RESCUED_NEXT)
    assert second["action"] == "CREATED"
    assert second["doubts"] == second["entry"]["doubts"] == ["MERCHANT"]


def test_corrected_name_and_the_confirmation_settle_all(
    client: JSONClient, send: Any
) -> None:
    path = f"{ENTRIES}/{send(RESCUED)['entry']['id']}"
    client.send("PATCH", path, {"memo": "빛고을"})
    client.send("POST", f"{path}/confirm")
    second = send(RESCUED.replace("22:31", "23:31").replace("빛고을떡집", "빛고을책방"))
    assert second["action"] == "CREATED"
    client.send("PATCH", f"{ENTRIES}/{second['entry']['id']}", {"memo": "빛고을책방"})
    client.send("POST", f"{ENTRIES}/{second['entry']['id']}/confirm")
    third = send(RESCUED_NEXT)
    assert (third["entry"]["memo"], "unsure" in third["entry"]) == ("달빛문구", False)


def test_what_one_member_confirms_is_doubted_for_others(
    client: JSONClient, send: Any, other_member: Member
) -> None:
    entry_id = send(RESCUED)["entry"]["id"]
    client.send("POST", f"{ENTRIES}/{entry_id}/confirm")
    other_member.plan = "PREMIUM"
    other_member.save()
    theirs = JSONClient(other_member).send("POST", NOTIFICATION, {"text": RESCUED_NEXT})
    assert "KIND" in theirs.data["entry"]["doubts"]


def test_long_texts_have_no_layout(client: JSONClient, send: Any) -> None:
    notice = "\n" + "안내 사항을 확인해 주세요. " * 80
    entry_id = send(APPROVAL + notice)["entry"]["id"]
    client.send("POST", f"{ENTRIES}/{entry_id}/confirm")
    row = Notification.objects.get()
    assert (row.layout_digest, row.is_confirmed) == (None, True)


def test_rescued_text_that_is_no_payment_is_refused_from_then_on(
    client: JSONClient, send: Any
) -> None:
    entry_id = send(RESCUED)["entry"]["id"]
    client.send("DELETE", f"{ENTRIES}/{entry_id}?reason=NO_PAYMENT")
    again = send(RESCUED.replace("22:31", "23:45").replace("8,500", "9,900"))
    assert (again["action"], again["reason"]) == ("IGNORED", "TAUGHT")
    assert (again["textId"], again["wouldBe"]) == (None, None)
    assert not Entry.objects.exists()


def test_notice_is_asked_about_and_its_next_text_is_what_was_answered(
    client: JSONClient, send: Any
) -> None:
    asked = send(NOTICE)
    assert (asked["action"], asked["reason"]) == ("IGNORED", "NO_PAYMENT")
    assert (asked["wouldBe"]["amount"], asked["wouldBe"]["type"]) == (32_000, "expense")
    corrections = {"memo": "회비"}
    path = f"{NOTIFICATION}/{asked['textId']}/book"
    booked = client.send("POST", path, {"corrections": corrections})
    assert booked.status_code == 201, booked.content
    assert booked.data["entry"]["memo"] == "회비"
    following = send(NOTICE_NEXT)
    assert following["action"] == "CREATED"
    assert (following["entry"]["amount"], following["entry"]["memo"]) == (
        41_000,
        "회비",
    )
    assert "unsure" not in following["entry"]
