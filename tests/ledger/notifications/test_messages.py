"""Titles, several messages in one text, and preliminary amounts."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, NotificationCount
from ledger.notifications import processing
from ledger.notifications.wallets import match_wallet
from tests.support.alert_texts import ADVERT, APPROVAL, NOTIFICATION, PARSE
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet

pytestmark = pytest.mark.django_db

NOVEMBER = "2026-11-21T12:00:00+09:00"
OTHER = (
    "[Web발신]\n신한카드(1309)승인 홍*동 8,900원(일시불)11/10 12:31 소담분식"
    " 누적521,200원"
)


@pytest.fixture
def send(client: JSONClient) -> Any:
    def post(text: str, path: str = NOTIFICATION, **fields: Any) -> Any:
        body = {"text": text, "receivedAt": NOVEMBER} | fields
        response = client.send("POST", path, body)
        assert response.status_code in {200, 201}, response.content
        return response.data

    return post


def test_each_message_of_a_text_is_processed(send: Any) -> None:
    body = send(f"{APPROVAL}\n{OTHER}")
    actions = [each["action"] for each in body["results"]]
    memos = [each["entry"]["memo"] for each in body["results"]]
    assert (actions, memos) == (["CREATED"] * 2, ["바람커피성수", "소담분식"])
    own = {name: value for name, value in body.items() if name != "results"}
    assert own == body["results"][1]
    count = NotificationCount.objects.filter(is_recognized=True)
    assert sum(count.values_list("count", flat=True)) == 2
    again = send(f"{APPROVAL}\n{OTHER}")
    assert [each["action"] for each in again["results"]] == ["DUPLICATE"] * 2
    assert Entry.objects.count() == 2


def test_own_fields_are_those_of_the_last_created_entry(client: JSONClient) -> None:
    body = {"text": OTHER, "receivedAt": NOVEMBER}
    client.send("POST", NOTIFICATION, body)
    body["text"] = f"{APPROVAL}\n{OTHER}"
    response = client.send("POST", NOTIFICATION, body)
    assert (response.status_code, response.data["action"]) == (201, "CREATED")
    assert response.data["entry"]["memo"] == "바람커피성수"
    response = client.send("POST", NOTIFICATION, body)
    assert (response.status_code, response.data["action"]) == (200, "DUPLICATE")
    assert response.data["entry"]["memo"] == "소담분식"


def test_single_message_has_one_result(send: Any) -> None:
    body = send(ADVERT)
    (result,) = body.pop("results")
    assert body == result
    assert (body["action"], body["merged"]) == ("IGNORED", [])


def test_parse_answers_each_message_and_the_last_payment(send: Any) -> None:
    text = f"{APPROVAL}\n{OTHER}"
    body = send(text, PARSE)
    assert [each["amount"] for each in body["messages"]] == [4_800, 8_900]
    assert body["merchant"] == "소담분식"
    for each in body["messages"]:
        span = each["spans"]["merchant"]
        assert text[span["start"] : span["end"]] == each["merchant"]
    assert not Entry.objects.exists()


def test_failure_in_one_message_does_not_lose_the_others(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"text": f"{APPROVAL}\n{OTHER}", "receivedAt": NOVEMBER}

    def fail_once(member: Member, parsed: Any, *wallets: Any) -> Any:
        if parsed.amount == 4_800:
            raise RuntimeError
        return match_wallet(member, parsed, *wallets)

    client.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr(processing, "match_wallet", fail_once)
        assert client.send("POST", NOTIFICATION, body).status_code == 500
    assert [entry.memo for entry in Entry.objects.all()] == ["소담분식"]
    response = client.send("POST", NOTIFICATION, body)
    actions = [each["action"] for each in response.data["results"]]
    assert actions == ["CREATED", "DUPLICATE"]
    assert Entry.objects.count() == 2


@pytest.mark.parametrize("title", ["신한카드", "", None])
def test_title_tells_what_the_text_leaves_out(send: Any, title: str | None) -> None:
    text = "승인 4,800원 일시불 11/10 08:31 바람커피성수"
    parsed = send(text, title=title)["parsed"]
    assert parsed["cardCompany"] == ("신한" if title else None)
    assert (parsed["amount"], parsed["merchant"]) == (4_800, "바람커피성수")


@pytest.mark.parametrize("path", [NOTIFICATION, PARSE])
@pytest.mark.parametrize("title", [5, "가" * 201, "\x00"])
def test_invalid_title_is_rejected(client: JSONClient, path: str, title: Any) -> None:
    response = client.send("POST", path, {"text": "가", "title": title})
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["title"]


PRELIMINARY = "[Web발신]\n신한카드(1309)가승인 홍*동 150,000원 11/10 08:31 바람주유소"
FINAL = "[Web발신]\n신한카드(1309)승인 홍*동 63,200원 11/10 08:36 바람주유소"


def test_final_amount_replaces_the_preliminary_one(send: Any) -> None:
    body = send(PRELIMINARY)
    assert (body["action"], body["parsed"]["preliminary"]) == ("CREATED", True)
    body = send(FINAL)
    assert (body["action"], body["parsed"]["preliminary"]) == ("CREATED", False)
    assert [entry.amount for entry in Entry.objects.all()] == [63_200]
    cancelled = send(PRELIMINARY.replace("가승인", "취소").replace("08:31", "08:37"))
    assert cancelled["reason"] == "NO_MATCHING_APPROVAL"
    assert send(PRELIMINARY)["action"] == "DUPLICATE"
    assert Entry.objects.count() == 1


def test_duplicate_names_what_the_entry_took(send: Any, premium_member: Member) -> None:
    gateway = "[Web발신]\n신한카드(1309)승인 홍*동 9,100원(3개월)11/10 08:31 KG이니시스"
    shop = "카카오페이\n9,100원 결제완료\n바람책방"
    at = "2026-11-10T08:31:20+09:00"
    first = send(shop, receivedAt=at)
    assert first["entry"]["walletId"] is None
    card = make_wallet(premium_member, kind="CARD", name="신한카드")
    body = send(gateway, receivedAt=at)
    assert (body["action"], body["reason"]) == ("DUPLICATE", None)
    assert set(body["merged"]) == {"cardHint", "walletId", "installmentMonths"}
    entry = body["entry"]
    assert (entry["id"], entry["memo"]) == (first["entry"]["id"], "바람책방")
    assert (entry["walletId"], entry["installmentMonths"]) == (card.pk, 3)
    assert send(gateway, receivedAt=at)["merged"] == []


def test_better_name_replaces_the_memo_unless_it_was_changed(
    client: JSONClient, send: Any
) -> None:
    for number, memo in enumerate(("바람책방", "책")):
        clock = f"08:3{number}"
        at = f"2026-11-10T{clock}:20+09:00"
        gateway = (
            f"[Web발신]\n신한카드(1309)승인 홍*동 9,100원 11/10 {clock} KG이니시스"
        )
        entry = send(gateway, receivedAt=at)["entry"]
        if memo == "책":
            client.send("PATCH", f"/api/account/entries/{entry['id']}", {"memo": memo})
        push = f"[신한카드승인] 홍*동(1309)\n- 승인일시: 11/10 {clock}\n- 승인금액: 9,100원\n- 가맹점명: 바람책방"
        body = send(push, sender="com.shcard.smartpay", receivedAt=at)
        assert (body["action"], body["entry"]["memo"]) == ("DUPLICATE", memo)
        assert body["merged"] == (["merchant"] if memo == "바람책방" else [])
