"""A text that was not recognized is taught by its marked parts (spec 4.11)."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, TaughtLayout
from tests.support.alert_texts import APPROVAL, ENTRIES
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]

LAYOUTS = f"{ENTRIES}/layouts"
SENDER = "온누리식권"
TEXT = "[식권] 7890 소라분식 에서 8,000냥 썼어요 11/20 12:10"
NEXT = "[식권] 7890 달빛 국수 에서 12,500냥 썼어요 11/21 11:40"
PARTS = {
    "amount": "8,000",
    "merchant": "소라분식",
    "cardHint": "7890",
    "occurredAt": "11/20 12:10",
}


def mark(text: str, **parts: str) -> dict[str, Any]:
    return {
        name: {"start": text.index(part), "end": text.index(part) + len(part)}
        for name, part in parts.items()
    }


def teach(client: JSONClient, text: str = TEXT, **fields: Any) -> Any:
    body: dict[str, Any] = {"text": text, "sender": SENDER, "kind": "approval"}
    body["slots"] = mark(text, **PARTS) if text == TEXT else {}
    return client.send("POST", LAYOUTS, body | fields)


def test_text_is_read_by_its_marked_parts(client: JSONClient, send: Any) -> None:
    assert send(TEXT, sender=SENDER)["action"] == "IGNORED"
    response = teach(client)
    assert response.status_code == 201, response.content
    layout = response.data
    assert client.get_json(LAYOUTS) == [layout]
    assert layout["slots"] == ["cardHint", "merchant", "amount", "occurredAt"]
    assert (layout["kind"], layout["unsure"], layout["uses"]) == ("approval", False, 0)
    answer = send(NEXT, sender=SENDER)
    assert answer["action"] == "CREATED"
    entry, parsed = answer["entry"], answer["parsed"]
    assert (entry["amount"], entry["memo"]) == (12_500, "달빛 국수")
    assert (entry["date"], entry["time"]) == ("2026-11-21", "11:40")
    assert (parsed["merchantConfidence"], parsed["cardHint"]) == ("SURE", "7890")
    assert parsed["taughtBy"] == layout["id"]
    span = parsed["spans"]["amount"]
    assert NEXT[span["start"] : span["end"]] == "12,500"
    assert send(NEXT, sender=SENDER)["action"] == "DUPLICATE"
    assert send(NEXT)["action"] == "IGNORED"


def test_spans_of_the_parse_answer_may_have_a_currency(
    client: JSONClient, send: Any
) -> None:
    text = "[식권] 소라분식 에서 3.50 USD 썼어요"
    response = teach(
        client, text, slots=mark(text, amount="3.50 USD", merchant="소라분식")
    )
    assert response.status_code == 201, response.content
    entry = send(text.replace("3.50", "4.25"), sender=SENDER)["entry"]
    assert (entry["currency"], float(entry["originalAmount"])) == ("USD", 4.25)


def test_taught_before_every_refusal(client: JSONClient, send: Any) -> None:
    text = "[새봄카드] 승인거절 4,800원 바람커피 한도초과"
    assert send(text, sender=SENDER)["reason"] == "DECLINED"
    teach(client, text, slots=mark(text, amount="4,800", merchant="바람커피"))
    answer = send(text.replace("4,800", "5,200"), sender=SENDER)
    assert (answer["action"], answer["entry"]["amount"]) == ("CREATED", 5_200)


def test_taught_cancellation_takes_the_entry_back(
    client: JSONClient, send: Any
) -> None:
    teach(client)
    back = "[식권] 7890 소라분식 8,000냥 되돌림 11/20 12:10"
    parts = {name: part for name, part in PARTS.items() if name != "cardHint"}
    teach(client, back, kind="cancellation", slots=mark(back, **parts))
    entry_id = send(NEXT, sender=SENDER)["entry"]["id"]
    text = "[식권] 7890 달빛 국수 12,500냥 되돌림 11/21 11:45"
    assert send(text, sender=SENDER)["action"] == "CANCELLED"
    assert not Entry.objects.filter(pk=entry_id).exists()


def test_taught_none_is_refused(client: JSONClient, send: Any) -> None:
    text = "[새봄전자] 복지 신한카드 50,000원 승인 11/10 08:31"
    response = teach(client, text, kind="none")
    assert response.status_code == 201, response.content
    assert (response.data["kind"], response.data["slots"]) == ("none", [])
    answer = send(text.replace("50,000", "9,900"), sender=SENDER)
    assert (answer["action"], answer["reason"]) == ("IGNORED", "TAUGHT")


def test_taught_wallet_is_the_entrys(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    make_wallet(premium_member, kind="CARD", name="신한카드")
    mine = make_wallet(premium_member, kind="CARD", name="식권")
    teach(client, walletId=mine.pk)
    assert client.get_json(LAYOUTS)[0]["slots"][-1] == "wallet"
    assert send(NEXT, sender=SENDER)["entry"]["walletId"] == mine.pk


def test_last_teaching_of_a_text_counts(client: JSONClient, send: Any) -> None:
    teach(client)
    teach(client, kind="none")
    (layout,) = client.get_json(LAYOUTS)
    assert layout["kind"] == "none"
    assert (
        send(NEXT.replace("달빛 국수", "소라분식"), sender=SENDER)["reason"] == "TAUGHT"
    )
    teach(client)
    assert len(client.get_json(LAYOUTS)) == 1
    assert send(NEXT, sender=SENDER)["action"] == "CREATED"


def test_corrected_entry_of_a_taught_text_keeps_its_other_parts(
    client: JSONClient, send: Any
) -> None:
    teach(client, slots=mark(TEXT, amount="8,000"))
    entry = send(TEXT, sender=SENDER)["entry"]
    assert (entry["amount"], entry["memo"]) == (8_000, "")
    client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"memo": "소라분식"})
    (layout,) = client.get_json(LAYOUTS)
    assert set(layout["slots"]) == {"amount", "merchant"}
    later = send(NEXT, sender=SENDER)["entry"]
    assert (later["amount"], later["memo"]) == (12_500, "달빛 국수")


@pytest.mark.parametrize(
    ("slots", "field"),
    [
        ({"merchant": (10, 14)}, "slots.amount"),
        ({"amount": (0, 4)}, "slots.amount"),
        ({"amount": (10, 14)}, "slots.amount"),
        ({"amount": (18, 500)}, "slots.amount"),
        ({"amount": (23, 18)}, "slots.amount"),
        ({"amount": (18, 21)}, "slots.amount"),
        ({"amount": (20, 23)}, "slots.amount"),
        ({"amount": (5, 23)}, "slots.amount"),
        ({"amount": (18, 23), "merchant": (16, 20)}, "slots.amount"),
        ({"amount": (18, 23), "merchant": (10, 900)}, "slots.merchant"),
        ({"amount": (18, 23), "occurredAt": (22, 30)}, "slots.occurredAt"),
    ],
)
def test_part_that_does_not_fit_is_told(
    client: JSONClient, slots: dict[str, tuple[int, int]], field: str
) -> None:
    body = {name: {"start": a, "end": b} for name, (a, b) in slots.items()}
    response = teach(client, slots=body)
    assert response.status_code == 400, response.content
    assert field in {each["field"] for each in response.data["errors"]}
    assert not TaughtLayout.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": "8,000 a", "slots": {"amount": {"start": 0, "end": 5}}}, "text"),
        ({"text": "가" * 1001}, "text"),
        ({"kind": "declined"}, "kind"),
        ({"walletId": 1}, "walletId"),
        ({"slots": {"amount": {"start": 0}}}, "slots.amount.end"),
        ({"slots": {"balance": {"start": 0, "end": 1}}}, "slots.balance"),
    ],
)
def test_wrong_teaching_is_refused(
    client: JSONClient, fields: dict[str, Any], field: str
) -> None:
    response = teach(client, **fields)
    assert response.status_code == 400, response.content
    assert field in {each["field"] for each in response.data["errors"]}


def test_free_members_teach_nothing(free_member: Member) -> None:
    assert teach(JSONClient(free_member)).status_code == 403


def test_each_of_several_messages_has_its_own_time(
    client: JSONClient, send: Any
) -> None:
    first = f"[Web발신]\n{TEXT}"
    parts = {name: part for name, part in PARTS.items() if name == "amount"}
    teach(client, first, slots=mark(first, **parts, merchant="소라분식"))
    second = first.replace("11/20 12:10", "11/19 18:40")
    results = send(f"{APPROVAL}\n{first}\n{second}", sender=SENDER)["results"]
    assert [each["action"] for each in results] == ["CREATED"] * 3
    assert [(each["entry"]["date"], each["entry"]["time"]) for each in results] == [
        ("2026-11-10", "08:31"),
        ("2026-11-20", "12:10"),
        ("2026-11-19", "18:40"),
    ]


@pytest.mark.parametrize(
    ("part", "printed", "day", "clock"),
    [
        ("11/20", "11/15", "2026-11-15", None),
        ("12:10", "08:15", "2026-11-21", "08:15"),
        # Later than the receipt at noon: of the day before.
        ("12:10", "18:15", "2026-11-20", "18:15"),
    ],
)
def test_day_or_clock_alone_is_read(
    client: JSONClient, send: Any, part: str, printed: str, day: str, clock: str | None
) -> None:
    text = f"[식권] 7890 소라분식 에서 8,000냥 썼어요 {part}"
    slots = mark(text, amount="8,000", merchant="소라분식", occurredAt=part)
    assert teach(client, text, slots=slots).status_code == 201
    entry = send(text.replace(part, printed).replace("8,000", "9,000"), sender=SENDER)
    assert (entry["entry"]["date"], entry["entry"]["time"]) == (day, clock)


def test_taught_wallet_is_of_the_card_of_the_text(
    client: JSONClient, send: Any, premium_member: Member
) -> None:
    mine, other = (
        make_wallet(premium_member, kind="CARD", name=f"신한카드 {digits}")
        for digits in ("1309", "5555")
    )
    slots = mark(APPROVAL, amount="4,800", merchant="바람커피성수")
    teach(client, APPROVAL, slots=slots, walletId=mine.pk)
    text = APPROVAL.replace("1309", "5555").replace("08:31", "09:31")
    assert send(text, sender=SENDER)["entry"]["walletId"] == other.pk
    again = APPROVAL.replace("08:31", "10:31")
    assert send(again, sender=SENDER)["entry"]["walletId"] == mine.pk


@pytest.mark.parametrize(
    ("amount", "number"),
    [("zl 7.850", "7.850"), ("658.02 Kč", "658.02"), ("B943.12", "943.12")],
)
def test_currency_that_is_not_read_cannot_be_taught(
    client: JSONClient, amount: str, number: str
) -> None:
    text = f"[KFH] {amount} paid at SULTAN CENTER using card **5158"
    slots = mark(text, amount=number, merchant="SULTAN CENTER")
    response = teach(client, text, slots=slots)
    assert response.status_code == 400
    assert [each["field"] for each in response.data["errors"]] == ["slots.amount"]
    assert not TaughtLayout.objects.exists()


@pytest.mark.parametrize(
    ("amount", "number", "currency"),
    [
        ("KD 7.850", "7.850", "KWD"),
        ("Ksh658.02", "658.02", "KES"),
        ("R943.12", "943.12", "ZAR"),
        ("1,744円", "1,744", "JPY"),
    ],
)
def test_currency_that_the_grammar_reads_can_be_taught(
    client: JSONClient, send: Any, amount: str, number: str, currency: str
) -> None:
    text = f"[두레클럽] {amount} gone / SULTAN CENTER / **5158"
    slots = mark(text, amount=number, merchant="SULTAN CENTER")
    assert teach(client, text, slots=slots).status_code == 201
    parsed = send(text.replace("5158", "2077"), sender=SENDER)["parsed"]
    assert (parsed["currency"], parsed["amount"]) == (currency, None)
    assert parsed["merchant"] == "SULTAN CENTER"


@pytest.mark.parametrize("amount", ["3.50 Euro", "3.50 dollars", "₩3.50 XAU", "3.50$"])
def test_currency_that_is_not_understood_is_no_payment(
    client: JSONClient, send: Any, amount: str
) -> None:
    text = "[식권] 소라분식 에서 8,000 썼어요"
    teach(client, text, slots=mark(text, amount="8,000", merchant="소라분식"))
    answer = send(text.replace("8,000", amount), sender=SENDER)
    entry = answer["entry"]
    assert entry is None or entry["currency"] not in (None, "KRW")
