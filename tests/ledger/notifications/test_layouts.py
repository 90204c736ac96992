"""Corrections of pending entries teach the layout of their text (spec 4.11)."""

from dataclasses import replace
from typing import Any

import pytest

from accounts.models import Member
from card_alerts import ParseResult, Reason, parse_all, rejected
from ledger.models import Entry, Notification, TaughtLayout
from ledger.taught_layouts.storing import MAX_LAYOUTS, normalize_sender
from tests.support.alert_texts import APPROVAL, CANCELLATION, ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import make_layout, make_wallet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]

LAYOUTS = f"{ENTRIES}/layouts"
SENDER = "1544-7200"
TEXT = (
    "[Web발신]\n신한카드(1309)승인 홍*동 4,800원(일시불)11/10 08:31"
    " 온라인 바람책방 누적512,300원"
)
NEXT = (
    "[Web발신]\n신한카드(1309)승인 홍*동 52,000원(3개월)11/12 21:05"
    " 온라인 소담문구 누적564,300원"
)


@pytest.fixture
def send(client: JSONClient) -> Any:
    def post(text: str, sender: str = SENDER, **fields: Any) -> Any:
        body = {"text": text, "sender": sender} | fields
        response = client.send("POST", NOTIFICATION, body)
        assert response.status_code in {200, 201}, response.content
        return response.data

    return post


@pytest.mark.parametrize("how", ["PATCH", "confirm"])
def test_corrected_memo_is_read_in_the_next_text(
    client: JSONClient, send: Any, how: str
) -> None:
    entry = send(TEXT)["entry"]
    assert entry["memo"] != "바람책방"
    path = f"{ENTRIES}/{entry['id']}"
    if how == "PATCH":
        client.send("PATCH", path, {"memo": "바람책방"})
    else:
        client.send("POST", f"{path}/confirm", {"memo": "바람책방"})
    (layout,) = client.get_json(LAYOUTS)
    assert layout | {"id": 0, "createdAt": 0} == {
        "id": 0,
        "sender": "15447200",
        "sample": "[Web발신] 신한카드(*)승인 *** {amount}원(*개월)*/* *:*"
        " 온라인 {merchant} 누적*원",
        "slots": ["amount", "merchant"],
        "kind": "approval",
        "unsure": False,
        "uses": 0,
        "createdAt": 0,
    }
    body = send(NEXT)
    assert (body["entry"]["memo"], body["entry"]["amount"]) == ("소담문구", 52_000)
    parsed = body["parsed"]
    assert (parsed["merchant"], parsed["merchantConfidence"]) == ("소담문구", "SURE")
    assert parsed["taughtBy"] == layout["id"]
    span = parsed["spans"]["merchant"]
    assert NEXT[span["start"] : span["end"]] == "소담문구"
    assert client.get_json(LAYOUTS)[0]["uses"] == 1
    parse = client.send("POST", f"{ENTRIES}/parse", {"text": NEXT, "sender": SENDER})
    assert parse.data["taughtBy"] == layout["id"]


@pytest.mark.parametrize("name", ["홍길동", "초록", "Alex Kim", "에델바이스"])
def test_sample_shows_neither_the_member_nor_a_holder(
    client: JSONClient, send: Any, premium_member: Member, name: str
) -> None:
    premium_member.display_name = name
    premium_member.save()
    text = f"[신한카드] {name} 문채담 4,800원 승인 11/10 08:31 온라인/바람책방"
    entry = send(text)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "바람책방"})
    (layout,) = client.get_json(LAYOUTS)
    assert name not in layout["sample"]
    assert "문채담" not in layout["sample"]
    assert "신한카드" in layout["sample"]


def test_layout_is_of_its_sender(client: JSONClient, send: Any) -> None:
    entry = send(TEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "바람책방"})
    assert send(NEXT, "+1544 7200")["parsed"]["taughtBy"] is not None
    assert send(NEXT.replace("52,000", "53,000"), "신한")["parsed"]["taughtBy"] is None


def test_corrected_wallet_is_that_of_the_next_text_of_the_card(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    make_wallet(premium_member, kind="CARD", name="신한카드")
    mine = make_wallet(premium_member, kind="CARD", name="Green")
    entry = send(TEXT)["entry"]
    assert entry["walletId"] != mine.pk
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"walletId": mine.pk})
    assert "wallet" in client.get_json(LAYOUTS)[0]["slots"]
    body = send(NEXT)
    assert body["entry"]["walletId"] == body["parsed"]["walletId"] == mine.pk
    other = NEXT.replace("1309", "2444").replace("21:05", "21:30")
    assert send(other)["entry"]["walletId"] != mine.pk
    mine_no_more = NEXT.replace("21:05", "21:40").replace("564,300", "574,300")
    client.send("PATCH", f"/api/account/wallets/{mine.pk}", {"archived": True})
    assert send(mine_no_more)["entry"]["walletId"] != mine.pk


def test_corrected_amount_is_found_in_the_text(client: JSONClient, send: Any) -> None:
    entry = send(TEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"amount": 512_300})
    body = send(NEXT)
    assert (body["parsed"]["amount"], body["entry"]["amount"]) == (564_300, 564_300)


GUESSED = "네이버페이 결제\n{}원 스시쿤\n신한카드(4821) 일시불\n11/06 {}"


def test_guess_that_is_cleared_teaches_that_texts_have_no_merchant(
    client: JSONClient, send: Any
) -> None:
    entry = send(GUESSED.format("35,600", "18:20"))["entry"]
    assert (entry["memo"], entry["doubts"]) == ("스시쿤", ["MERCHANT"])
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": ""})
    (layout,) = client.get_json(LAYOUTS)
    assert layout["slots"] == ["amount"]

    body = send(GUESSED.format("5,100", "19:47"))
    assert body["parsed"]["taughtBy"] == layout["id"]
    assert (body["entry"]["memo"], body["entry"]["amount"]) == ("", 5_100)
    assert (body["doubts"], body["parsed"]["merchantConfidence"]) == ([], None)
    # A later correction of another field leaves it so.
    client.send("PATCH", f"{ENTRIES}/{body['entry']['id']}", {"amount": 4_821})
    third = send(GUESSED.format("7,200", "20:15"))["entry"]
    assert (third["memo"], third["amount"]) == ("", 4_821)


def test_certain_name_that_is_cleared_teaches_nothing(
    client: JSONClient, send: Any
) -> None:
    entry = send(APPROVAL)["entry"]
    assert entry["memo"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": ""})
    assert client.get_json(LAYOUTS) == []


def test_layout_that_is_corrected_again_is_replaced(
    client: JSONClient, send: Any
) -> None:
    entry = send(TEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "바람책방"})
    (first,) = client.get_json(LAYOUTS)
    again = send(NEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{again['id']}", {"memo": "온라인 소담문구"})
    (second,) = client.get_json(LAYOUTS)
    assert second["id"] != first["id"]
    third = NEXT.replace("21:05", "21:55").replace("소담문구", "별빛마트")
    assert send(third)["entry"]["memo"] == "온라인 별빛마트"


@pytest.mark.parametrize(
    "changes",
    [
        {"memo": "점심"},
        {"category": "책"},
        {"date": "2026-11-09"},
        {"amount": 4_801},
        {},
    ],
)
def test_nothing_is_learned_from_what_the_text_does_not_print(
    client: JSONClient, send: Any, changes: dict[str, Any]
) -> None:
    entry = send(TEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", changes)
    assert client.get_json(LAYOUTS) == []


def test_nothing_is_learned_from_a_confirmed_entry(
    client: JSONClient, send: Any
) -> None:
    path = f"{ENTRIES}/{send(TEXT)['entry']['id']}"
    client.send("POST", f"{path}/confirm")
    client.send("PATCH", path, {"memo": "바람책방"})
    assert client.get_json(LAYOUTS) == []


def has_text() -> bool:
    return Notification.objects.exclude(text=None, sender=None).exists()


@pytest.mark.parametrize("how", ["confirm", "delete", "cancel", "restore"])
def test_text_is_kept_until_the_entry_is_no_longer_pending(
    client: JSONClient, send: Any, how: str
) -> None:
    path = f"{ENTRIES}/{send(APPROVAL)['entry']['id']}"
    client.send("PATCH", path, {"category": "책"})
    assert has_text()
    if how == "confirm":
        client.send("POST", f"{path}/confirm")
    elif how == "delete":
        client.send("DELETE", path)
    elif how == "cancel":
        assert send(CANCELLATION)["action"] == "CANCELLED"
    else:
        backup = {"wallets": [{"name": "Bank", "kind": "BANK"}]}
        response = client.send("POST", "/api/account/restore", backup)
        assert response.status_code == 200, response.content
    assert not has_text()


def test_restore_keeps_the_layouts(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    layout = make_layout(premium_member)
    backup = {"wallets": [{"name": "Bank", "kind": "BANK"}]}
    client.send("POST", "/api/account/restore", backup)
    assert [each["id"] for each in client.get_json(LAYOUTS)] == [layout.pk]


def test_a_member_has_at_most_200_layouts(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    used = [make_layout(premium_member, uses=1) for _ in range(MAX_LAYOUTS - 1)]
    unused = make_layout(premium_member)
    entry = send(TEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "바람책방"})
    ids = set(TaughtLayout.objects.values_list("pk", flat=True))
    assert len(ids) == MAX_LAYOUTS
    assert unused.pk not in ids
    assert {each.pk for each in used} <= ids


def test_layout_of_another_member_reads_nothing_and_cannot_be_deleted(
    client: JSONClient, send: Any, other_member: Member
) -> None:
    other_member.plan = "PREMIUM"
    other_member.save()
    theirs = JSONClient(other_member)
    body = {"text": TEXT, "sender": SENDER}
    entry = theirs.send("POST", NOTIFICATION, body).data["entry"]
    theirs.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "바람책방"})
    (layout,) = theirs.get_json(LAYOUTS)
    assert send(NEXT)["parsed"]["taughtBy"] is None
    assert client.send("DELETE", f"{LAYOUTS}/{layout['id']}").status_code == 404
    assert theirs.send("DELETE", f"{LAYOUTS}/{layout['id']}").status_code == 204
    assert theirs.get_json(LAYOUTS) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1544-7200", "15447200"),
        ("+82 1544 7200", "8215447200"),
        ("KB Pay", "kb pay"),
        ("com.shcard.smartpay", "com.shcard.smartpay"),
    ],
)
def test_senders_are_compared_loosely(one: str, other: str) -> None:
    assert normalize_sender(one) == normalize_sender(other)


def test_deleted_layout_is_not_applied(client: JSONClient, send: Any) -> None:
    entry = send(TEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "바람책방"})
    (layout,) = client.get_json(LAYOUTS)
    client.send("DELETE", f"{LAYOUTS}/{layout['id']}")
    assert send(NEXT)["parsed"]["taughtBy"] is None
    assert Entry.objects.count() == 2


@pytest.mark.parametrize("is_possible", [True, False])
def test_layout_of_a_correction_reads_a_refused_text_that_may_be_a_payment(
    client: JSONClient, send: Any, monkeypatch: pytest.MonkeyPatch, is_possible: bool
) -> None:
    def refuse(*arguments: Any) -> list[ParseResult]:
        (payment,) = parse_all(*arguments)
        would_be = payment if is_possible else None
        return [replace(rejected(Reason.NO_PAYMENT), would_be=would_be)]

    entry = send(TEXT)["entry"]
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "바람책방"})
    monkeypatch.setattr("ledger.notifications.processing.parse_all", refuse)
    body = send(NEXT)
    if not is_possible:
        assert (body["action"], body["entry"]) == ("IGNORED", None)
        return
    assert (body["action"], body["entry"]["memo"]) == ("CREATED", "소담문구")
    assert (body["confidence"], body["doubts"]) == ("UNSURE", ["KIND"])
    # The confirmation settles the layout.
    client.send("POST", f"{ENTRIES}/{body['entry']['id']}/confirm", {})
    again = send(NEXT.replace("21:05", "21:45").replace("52,000", "7,000"))
    assert (again["action"], again["confidence"]) == ("CREATED", "SURE")
