"""Entries and texts that are not sure, and what settles them (spec 4.13)."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from card_alerts import (
    Confidence,
    Doubt,
    Kind,
    NameCandidate,
    ParseResult,
    Reason,
    Span,
    parse_all,
    rejected,
)
from ledger.models import Entry, Notification, UnsureText
from ledger.notifications import processing
from ledger.notifications.unsure import MAX_UNSURE_TEXTS
from tests.support.alert_texts import APPROVAL, ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]

UNSURE = f"{NOTIFICATION}/unsure"
LAYOUTS = f"{ENTRIES}/layouts"
# The name is a guess.
GUESSED = "네이버페이 결제\n35,600원 스시쿤\n신한카드(4821) 일시불\n11/06 18:20"
# The grammar refuses them.
TEXT = "[식권] 7890 소라분식 에서 8,000냥 썼어요"
NEXT = "[식권] 7890 달빛국수 에서 12,500냥 썼어요"
FIELDS = {"unsure", "doubts", "candidates"}


def find_would_be(text: str, message: Span) -> ParseResult | None:
    """Return the payment of a message of the meal tickets."""
    if "냥" not in text[slice(*message)]:
        return None
    start = text.index("7890 ", message[0]) + 5
    end = text.index(" 에서", start)
    first, last = end + len(" 에서 "), text.index("냥", end)
    name = text[start:end]
    return ParseResult(
        recognized=True,
        kind=Kind.APPROVAL,
        amount=int(text[first:last].replace(",", "")),
        merchant=name,
        merchant_confidence=Confidence.GUESS,
        card_hint="7890",
        spans={"merchant": (start, end), "amount": (first, last)},
        doubts=(Doubt.KIND, Doubt.MERCHANT),
        candidates=(NameCandidate(name, (start, end)),),
    )


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second opinion tell what ignored texts would be."""

    def parse(text: str, *args: Any) -> list[ParseResult]:
        results = []
        for each in parse_all(text, *args):
            would_be = find_would_be(text, each.text_span or (0, len(text)))
            results.append(
                each if each.recognized else replace(each, would_be=would_be)
            )
        return results

    monkeypatch.setattr(processing, "parse_all", parse)


def book(client: JSONClient, text_id: int, **corrections: Any) -> Any:
    body = {"corrections": corrections} if corrections else {}
    return client.send("POST", f"{NOTIFICATION}/{text_id}/book", body)


def test_guessed_name_makes_the_entry_unsure(client: JSONClient, send: Any) -> None:
    answer = send(GUESSED)
    entry, parsed = answer["entry"], answer["parsed"]
    assert answer["action"] == "CREATED"
    assert entry["unsure"] is True
    assert entry["doubts"] == ["MERCHANT"]
    (candidate,) = entry["candidates"]["merchant"]
    assert candidate["text"] == entry["memo"]
    assert GUESSED[candidate["start"] : candidate["end"]] == candidate["text"]
    for each in (answer, parsed):
        assert (each["confidence"], each["doubts"]) == ("UNSURE", ["MERCHANT"])
        assert each["candidates"] == entry["candidates"]
    assert (answer["textId"], answer["wouldBe"]) == (None, None)
    listed = client.get_json(f"{ENTRIES}?pending=true")["results"]
    assert listed == [entry] == [client.get_json(f"{ENTRIES}/{entry['id']}")]


def test_other_entries_have_no_such_fields(client: JSONClient, send: Any) -> None:
    answer = send(APPROVAL)
    assert (answer["confidence"], answer["doubts"]) == ("SURE", [])
    assert not FIELDS & answer["entry"].keys()
    for path in (ENTRIES, f"{ENTRIES}?type=expense&category=책"):
        for entry in client.get_json(path)["results"]:
            assert not FIELDS & entry.keys()


@pytest.mark.parametrize("how", ["confirm", "correct", "choose"])
def test_doubt_of_the_name_is_settled(client: JSONClient, send: Any, how: str) -> None:
    entry = send(GUESSED)["entry"]
    path = f"{ENTRIES}/{entry['id']}"
    if how == "confirm":
        client.send("POST", f"{path}/confirm")
    elif how == "correct":
        client.send("PATCH", path, {"memo": "네이버페이"})
    else:
        client.send("PATCH", path, {"memo": entry["memo"]})
    assert not FIELDS & client.get_json(path).keys()
    assert len(client.get_json(LAYOUTS)) == (how != "confirm")
    again = send(GUESSED.replace("35,600", "5,100").replace("18:20", "19:47"))["entry"]
    assert ("unsure" in again) == (how == "confirm")


@pytest.mark.parametrize("changes", [{"category": "책"}, {"date": "2026-11-09"}])
def test_other_changes_settle_nothing(
    client: JSONClient, send: Any, changes: dict[str, Any]
) -> None:
    path = f"{ENTRIES}/{send(GUESSED)['entry']['id']}"
    assert client.send("PATCH", path, changes).data["unsure"] is True


def test_fields_are_read_only(client: JSONClient, send: Any) -> None:
    entry = send(GUESSED)["entry"]
    body = {name: value for name, value in entry.items() if value is not None}
    response = client.send("PUT", f"{ENTRIES}/{entry['id']}", body | {"doubts": []})
    assert response.status_code == 200, response.content
    assert response.data["doubts"] == ["MERCHANT"]


def test_text_with_a_taught_doubt_asks_whether_it_is_a_payment(
    client: JSONClient, send: Any
) -> None:
    first = send(APPROVAL)["entry"]["id"]
    client.send("POST", f"{ENTRIES}/{first}/confirm")
    second = send(APPROVAL.replace("08:31", "09:31"))["entry"]
    client.send("DELETE", f"{ENTRIES}/{second['id']}?reason=NO_PAYMENT")
    third = send(APPROVAL.replace("08:31", "10:31"))
    assert third["action"] == "CREATED"
    assert third["entry"]["doubts"] == ["KIND"]
    path = f"{ENTRIES}/{third['entry']['id']}"
    assert client.send("PATCH", path, {"memo": "새 이름"}).data["doubts"] == ["KIND"]
    assert "unsure" not in client.send("POST", f"{path}/confirm").data


def test_ignored_text_tells_what_it_would_be(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    card = make_wallet(premium_member, kind="CARD", name="식권")
    answer = send(TEXT)
    assert (answer["action"], answer["reason"]) == ("IGNORED", "NO_PAYMENT")
    assert answer["entry"] is None
    assert (answer["confidence"], answer["doubts"]) == ("UNSURE", ["KIND", "MERCHANT"])
    assert answer["wouldBe"] == {
        "type": "expense",
        "date": "2026-11-21",
        "time": None,
        "amount": 8_000,
        "currency": None,
        "originalAmount": None,
        "memo": "소라분식",
        "walletId": card.pk,
    }
    page = client.get_json(UNSURE)
    assert page["count"] == 1
    (listed,) = page["results"]
    assert (listed["id"], listed["text"]) == (answer["textId"], TEXT)
    assert listed["wouldBe"] == answer["wouldBe"]
    assert listed["candidates"] == answer["candidates"]
    assert send(TEXT)["textId"] == answer["textId"]
    assert UnsureText.objects.count() == 1
    assert not Entry.objects.exists()


def test_text_is_sealed(send: Any) -> None:
    send(TEXT)
    (row,) = UnsureText.objects.all()
    assert "소라분식".encode() not in bytes(row.sealed)


def test_parse_stores_nothing(client: JSONClient) -> None:
    parsed = client.send("POST", f"{ENTRIES}/parse", {"text": TEXT}).data
    assert (parsed["recognized"], parsed["confidence"]) == (False, "UNSURE")
    assert parsed["candidates"]["merchant"][0]["text"] == "소라분식"
    assert not UnsureText.objects.exists()


def test_one_call_makes_it_an_entry_and_teaches(client: JSONClient, send: Any) -> None:
    text_id = send(TEXT)["textId"]
    response = book(client, text_id)
    assert response.status_code == 201, response.content
    answer = response.data
    assert (answer["action"], answer["reason"]) == ("CREATED", None)
    entry = answer["entry"]
    assert (entry["amount"], entry["memo"], entry["pending"]) == (
        8_000,
        "소라분식",
        True,
    )
    assert entry["doubts"] == ["MERCHANT"]
    assert response.headers["Location"].endswith(f"/{entry['id']}")
    again = book(client, text_id)
    assert (again.status_code, again.data["code"]) == (409, "DUPLICATE")
    assert client.get_json(UNSURE)["count"] == 0
    (layout,) = client.get_json(LAYOUTS)
    assert set(layout["slots"]) == {"merchant", "amount"}
    later = send(NEXT)
    assert later["parsed"]["taughtBy"] == layout["id"]
    assert (later["entry"]["amount"], later["entry"]["memo"]) == (12_500, "달빛국수")
    # The name of the first one was a guess, and nobody has chosen it.
    assert later["entry"]["doubts"] == ["MERCHANT"]
    path = f"{ENTRIES}/{later['entry']['id']}"
    client.send("POST", f"{path}/confirm", {"memo": "달빛국수"})
    third = send(NEXT.replace("12,500", "13,100"))["entry"]
    assert (third["memo"], "unsure" in third) == ("달빛국수", False)
    assert send(TEXT)["action"] == "DUPLICATE"


def test_corrections_are_written_and_taught(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    make_wallet(premium_member, kind="CARD", name="신한카드")
    mine = make_wallet(premium_member, kind="CARD", name="식권")
    response = book(
        client, send(TEXT)["textId"], memo="식권", category="점심", walletId=mine.pk
    )
    assert response.status_code == 201, response.content
    entry = response.data["entry"]
    assert (entry["memo"], entry["category"]) == ("식권", "점심")
    assert entry["walletId"] == mine.pk
    assert "unsure" not in entry
    later = send(TEXT.replace("8,000", "9,500"))
    assert later["entry"]["walletId"] == mine.pk


def test_wrong_corrections_book_nothing(client: JSONClient, send: Any) -> None:
    text_id = send(TEXT)["textId"]
    for corrections in ({"amount": -1}, {"walletId": 10**9}):
        response = book(client, text_id, **corrections)
        assert response.status_code == 400, response.content
    assert not Entry.objects.exists()
    assert not Notification.objects.exists()
    assert client.get_json(UNSURE)["count"] == 1


def test_payment_that_another_text_told_is_a_duplicate(
    client: JSONClient, send: Any
) -> None:
    text_id = send(TEXT)["textId"]
    client.send(
        "POST",
        LAYOUTS,
        {"text": NEXT, "kind": "approval"}
        | {
            "slots": {
                "amount": {"start": NEXT.index("12,5"), "end": NEXT.index("냥")},
                "merchant": {"start": 10, "end": 14},
            }
        },
    )
    assert send(TEXT)["action"] == "CREATED"
    assert book(client, text_id).status_code == 409
    assert Entry.objects.count() == 1


def test_text_without_an_amount_is_surely_none(
    send: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    would_be = ParseResult(recognized=True, kind=Kind.APPROVAL)
    ignored = replace(rejected(Reason.ADVERT), would_be=would_be)
    monkeypatch.setattr(processing, "parse_all", lambda *args: [ignored])
    answer = send("아무 글")
    assert (answer["textId"], answer["wouldBe"]) == (None, None)


def test_veto_without_a_reason_is_unsure(
    send: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored = ParseResult(
        recognized=False, would_be=find_would_be(TEXT, (0, len(TEXT)))
    )
    monkeypatch.setattr(processing, "parse_all", lambda *args: [ignored])
    answer = send(TEXT)
    assert answer["reason"] == answer["parsed"]["reason"] == "UNSURE"


def test_texts_of_a_month_are_listed(client: JSONClient, send: Any) -> None:
    text_id = send(TEXT)["textId"]
    old = timezone.now() - timedelta(days=31)
    UnsureText.objects.update(created_at=old)
    assert client.get_json(UNSURE)["count"] == 0
    assert book(client, text_id).status_code == 404
    send(NEXT)
    assert UnsureText.objects.count() == 1


def test_the_newest_texts_are_kept(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    for number in range(MAX_UNSURE_TEXTS):
        UnsureText.objects.create(
            member=premium_member,
            notif_key=str(number),
            sealed=b"x",
            created_at=timezone.now(),
        )
    text_id = send(TEXT)["textId"]
    assert UnsureText.objects.count() == MAX_UNSURE_TEXTS
    assert not UnsureText.objects.filter(notif_key="0").exists()
    page = client.get_json(f"{UNSURE}?size=2")
    assert (page["count"], page["results"][0]["id"]) == (MAX_UNSURE_TEXTS, text_id)
    # No key opens the other ones.
    assert page["results"][1]["text"] is None


def test_text_of_another_member_cannot_be_booked(
    client: JSONClient, send: Any, other_member: Member
) -> None:
    text_id = send(TEXT)["textId"]
    other_member.plan = "PREMIUM"
    other_member.save()
    theirs = JSONClient(other_member)
    assert book(theirs, text_id).status_code == 404
    assert theirs.get_json(UNSURE)["count"] == 0


def test_each_message_of_a_text_is_kept_by_itself(
    client: JSONClient, send: Any
) -> None:
    text = f"{APPROVAL}\n[Web발신]\n{TEXT}"
    results = send(text)["results"]
    assert [each["action"] for each in results] == ["CREATED", "IGNORED"]
    text_id = results[-1]["textId"]
    (listed,) = client.get_json(UNSURE)["results"]
    span = listed["candidates"]["merchant"][0]
    assert listed["id"] == text_id
    assert listed["text"][span["start"] : span["end"]] == "소라분식"


def test_restore_deletes_the_texts(client: JSONClient, send: Any) -> None:
    send(TEXT)
    backup = {"wallets": [{"name": "Bank", "kind": "BANK"}]}
    response = client.send("POST", "/api/account/restore", backup)
    assert response.status_code == 200, response.content
    assert not UnsureText.objects.exists()


def test_booked_cancellation_without_its_approval_is_the_income_that_was_shown(
    client: JSONClient, send: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    would_be = find_would_be(TEXT, (0, len(TEXT)))
    assert would_be is not None
    back = replace(would_be, kind=Kind.CANCELLATION)
    ignored = replace(rejected(Reason.NO_PAYMENT), would_be=back)
    monkeypatch.setattr(processing, "parse_all", lambda *args: [ignored])
    answer = send(TEXT)
    assert answer["wouldBe"]["type"] == "income"
    response = book(client, answer["textId"], memo="돌려받음")
    assert response.status_code == 201, response.content
    entry = response.data["entry"]
    assert (entry["type"], entry["amount"], entry["memo"]) == (
        "income",
        8_000,
        "돌려받음",
    )


def test_text_that_another_one_told_of_is_answered(
    client: JSONClient, send: Any
) -> None:
    text_id = send(TEXT)["textId"]
    slots = {
        "amount": {"start": NEXT.index("12,5"), "end": NEXT.index("냥")},
        "merchant": {"start": 10, "end": 14},
    }
    body = {"text": NEXT, "kind": "approval", "slots": slots}
    client.send("POST", LAYOUTS, body)
    send(TEXT)
    assert book(client, text_id).data["code"] == "DUPLICATE"
    assert client.get_json(UNSURE)["count"] == 0


def test_booked_text_is_not_kept(client: JSONClient, send: Any) -> None:
    book(client, send(TEXT)["textId"])
    (row,) = UnsureText.objects.all()
    assert (row.sealed, row.is_booked) == (None, True)


def test_booked_texts_push_out_no_others(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    UnsureText.objects.bulk_create(
        UnsureText(
            member=premium_member,
            notif_key=str(number),
            created_at=timezone.now(),
            is_booked=True,
        )
        for number in range(MAX_UNSURE_TEXTS)
    )
    send(TEXT)
    send(NEXT)
    assert client.get_json(UNSURE)["count"] == 2


def test_errors_of_corrections_are_theirs(client: JSONClient, send: Any) -> None:
    response = book(client, send(TEXT)["textId"], currency="XXX", originalAmount="5")
    assert response.status_code == 400
    fields = [each["field"] for each in response.data["errors"]]
    assert all(each.startswith("corrections.") for each in fields), fields


WHOLE_NAME = (
    "[Web발신]\n신한카드(4821)승인 홍*동 35,600원(일시불)11/06 18:20 스시쿤 판교점"
)


@pytest.mark.parametrize(
    ("is_chosen", "memo"), [(True, "스시쿤"), (False, "스시쿤 판교점")]
)
def test_no_other_text_replaces_a_name_that_was_chosen(
    client: JSONClient, send: Any, is_chosen: bool, memo: str
) -> None:
    entry = send(GUESSED)["entry"]
    path = f"{ENTRIES}/{entry['id']}"
    if is_chosen:
        client.send("PATCH", path, {"memo": entry["memo"]})
    answer = send(WHOLE_NAME, sender="15447200")
    assert (answer["action"], answer["entry"]["id"]) == ("DUPLICATE", entry["id"])
    found = client.get_json(path)
    assert found["memo"] == memo
    assert not FIELDS & found.keys()


@pytest.mark.django_db(transaction=True)
def test_choice_of_the_name_is_a_new_version(
    client: JSONClient, send: Any, now: Any
) -> None:
    entry = send(GUESSED)["entry"]
    now.shift(1)
    path = f"{ENTRIES}/{entry['id']}"
    changed = client.send("PATCH", path, {"memo": entry["memo"]}).data
    assert changed["version"] > entry["version"]


def test_change_of_many_entries_settles_the_name(client: JSONClient, send: Any) -> None:
    entry_id = send(GUESSED)["entry"]["id"]
    body = {"ids": [entry_id], "set": {"memo": "내가 적은"}}
    response = client.send("PATCH", ENTRIES, body)
    assert response.status_code == 200, response.content
    assert not FIELDS & client.get_json(f"{ENTRIES}/{entry_id}").keys()


def test_list_takes_as_many_statements_as_one_text(
    client: JSONClient, send: Any, django_assert_max_num_queries: Any
) -> None:
    send(TEXT)
    send(NEXT)
    with django_assert_max_num_queries(8):
        assert client.get_json(UNSURE)["count"] == 2


def test_merge_that_confirms_forgets_the_text(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    make_wallet(premium_member, kind="CARD", name="신한카드 4821")
    bank = make_wallet(premium_member, kind="BANK", name="통장")
    entry = send(GUESSED)["entry"]
    income = {
        "type": "income",
        "date": entry["date"],
        "amount": entry["amount"],
        "walletId": bank.pk,
    }
    other = client.send("POST", ENTRIES, income).data["id"]
    path = f"{ENTRIES}/{entry['id']}/merge"
    merged = client.send("POST", path, {"with": other})
    assert (merged.status_code, merged.data["pending"]) == (200, False)
    row = Notification.objects.get()
    assert (row.text, row.doubts, row.is_confirmed) == (None, None, True)


@pytest.mark.parametrize("is_bank_first", [False, True])
def test_doubt_is_the_same_in_both_orders_of_card_and_bank(
    client: JSONClient, send: Any, premium_member: Member, is_bank_first: bool
) -> None:
    make_wallet(premium_member, kind="BANK", name="신한은행")
    path = f"{ENTRIES}/notification-settings"
    client.send("PATCH", path, {"captureBankTexts": True})
    card = "네이버페이 결제\n9,100원 스시쿤\n신한체크(4821) 일시불\n11/21 11:00"
    bank = "[Web발신]\n신한 11/21 11:00\n110-***-448812\n출금 9,100\n잔액 82,000\n네이버페이"
    for text in (bank, card) if is_bank_first else (card, bank):
        send(text)
    (entry,) = client.get_json(ENTRIES)["results"]
    assert entry["memo"] == "스시쿤"
    assert entry["doubts"] == ["MERCHANT"]
    client.send("POST", f"{ENTRIES}/{entry['id']}/confirm")
    assert not Notification.objects.exclude(doubts=None).exists()
    assert not Notification.objects.exclude(text=None).exists()
