"""The labeled messages, and the comparison of a result with its label."""

import json
import re
import unicodedata
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from card_alerts import ParseResult, parse
from card_alerts.result import BankBooking

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
GIVEN = SAMPLES / "notifications.jsonl"
OWN = SAMPLES / "notifications_own.jsonl"
EXAM = SAMPLES / "notifications_exam.jsonl"
LAYOUTS_2026 = SAMPLES / "notifications_2026.jsonl"
EXAM_2026 = SAMPLES / "notifications_exam_2026.jsonl"
# The second exam of 2026, with the bookings of the texts of banks.
EXAM_2026B = SAMPLES / "notifications_exam_2026b.jsonl"
# The third one, most of its layouts observed in public.
EXAM_2026C = SAMPLES / "notifications_exam_2026c.jsonl"
# The fourth one. Each payment has a `twin`: another message of its layout.
EXAM_2026D = SAMPLES / "notifications_exam_2026d.jsonl"
# The fifth one; some of its payments name whether they are partial.
EXAM_2026E = SAMPLES / "notifications_exam_2026e.jsonl"
# The sixth one; each payment has a `twin`.
EXAM_2026F = SAMPLES / "notifications_exam_2026f.jsonl"
# The seventh one; each payment has a `twin`. Its classes became rules.
EXAM_2026G = SAMPLES / "notifications_exam_2026g.jsonl"
# The eighth to fifteenth one; their classes became rules, too.
EXAM_2026H = SAMPLES / "notifications_exam_2026h.jsonl"
EXAM_2026I = SAMPLES / "notifications_exam_2026i.jsonl"
EXAM_2026J = SAMPLES / "notifications_exam_2026j.jsonl"
EXAM_2026K = SAMPLES / "notifications_exam_2026k.jsonl"
EXAM_2026L = SAMPLES / "notifications_exam_2026l.jsonl"
EXAM_2026M = SAMPLES / "notifications_exam_2026m.jsonl"
# All layouts of this one are invented.
EXAM_2026N = SAMPLES / "notifications_exam_2026n.jsonl"
EXAM_2026O = SAMPLES / "notifications_exam_2026o.jsonl"
EXAM_2026P = SAMPLES / "notifications_exam_2026p.jsonl"
# A shorter one, after the sixteenth
EXAM_2026Q = SAMPLES / "notifications_exam_2026q.jsonl"
EXAM_2026R = SAMPLES / "notifications_exam_2026r.jsonl"
EXAM_2026S = SAMPLES / "notifications_exam_2026s.jsonl"
# Without receipts of shops: what banks, card companies and pay apps send
EXAM_2026T = SAMPLES / "notifications_exam_2026t.jsonl"
EXAM_2026U = SAMPLES / "notifications_exam_2026u.jsonl"
EXAM_2026V = SAMPLES / "notifications_exam_2026v.jsonl"
EXAM_2026W = SAMPLES / "notifications_exam_2026w.jsonl"
EXAM_2026X = SAMPLES / "notifications_exam_2026x.jsonl"
EXAM_2026Y = SAMPLES / "notifications_exam_2026y.jsonl"
EXAM_2026Z = SAMPLES / "notifications_exam_2026z.jsonl"
EXAM_2026AA = SAMPLES / "notifications_exam_2026aa.jsonl"
EXAM_2026AB = SAMPLES / "notifications_exam_2026ab.jsonl"
EXAM_2026AC = SAMPLES / "notifications_exam_2026ac.jsonl"
EXAM_2026AD = SAMPLES / "notifications_exam_2026ad.jsonl"
EXAM_2026AE = SAMPLES / "notifications_exam_2026ae.jsonl"
EXAM_2026AF = SAMPLES / "notifications_exam_2026af.jsonl"
EXAM_2026AG = SAMPLES / "notifications_exam_2026ag.jsonl"
# The last exams whose classes became rules.
LAST_EXAMS = (
    *(EXAM_2026G, EXAM_2026H, EXAM_2026I, EXAM_2026J, EXAM_2026K),
    *(EXAM_2026L, EXAM_2026M, EXAM_2026N, EXAM_2026O),
    *(EXAM_2026Q, EXAM_2026R, EXAM_2026S, EXAM_2026T, EXAM_2026P),
    *(EXAM_2026U, EXAM_2026V, EXAM_2026W, EXAM_2026X, EXAM_2026Y, EXAM_2026Z),
    *(EXAM_2026AA, EXAM_2026AC, EXAM_2026AD, EXAM_2026AE, EXAM_2026AF),
    EXAM_2026AG,
)
# Written by people who know neither grammar nor samples, like an exam, but read while
# rules were made of it: receipts, foreign mails and messages that look like payments.
PRACTICE = SAMPLES / "notifications_practice.jsonl"
NEWEST_EXAM = SAMPLES / "notifications_exam_2026ah.jsonl"
# Read once before rules were made of some of their classes. The model does not learn from
# these files, but from the rows of the rules that were made of them.
UNLEARNED_EXAMS = (EXAM_2026AB, NEWEST_EXAM)
# Exams whose classes became rules.
EXAMS = (
    *(EXAM, EXAM_2026, EXAM_2026B, EXAM_2026C),
    *(EXAM_2026D, EXAM_2026E, EXAM_2026F),
)
# Texts by rule, with generated parts; messages that are no purchases.
RULES = SAMPLES / "notification_rules.jsonl"
REFUSED = SAMPLES / "notification_refused.jsonl"
# Texts of several messages each, with the labels of all of them.
ROOMS = SAMPLES / "notifications_rooms.jsonl"
RECEIVED_AT = datetime(2026, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=9)))
REASONS = {
    "advert": "ADVERT",
    "bank": "BANK_TRANSFER",
    "otp": "ONE_TIME_PASSWORD",
    "statement": "STATEMENT",
    "zero": "ZERO_AMOUNT",
}
# Repeated up to the limit, each of these makes a text that is slow to search.
# fmt: off
REPEATED_PARTS = (
    "9", "1,", "1,234", "(", "()", "[", "\n", " ", "승인", "승인 ", "취소\n", "님",
    "누적", "누적1", "잔액 ", "홍*동", "홍*동님 ", "*", "1*", "1*2*", "원", "1원",
    "1,234원 ", "12/31 ", "12:30", "12/31 12:30\n", "3개월", "할부(", "USD ", "$1",
    "현대", "하나 ", "우리(", "KB국민카드", "신한카드(1234)승인 ", "에서 ", "가맹점: ", "at ",
    "spent at ", "card ", "Rs.1 ", "was declined ", "利用先:", "円", "１",
    "\u200b", "'", "http://", "(광고)", "%", "1%", "1P", "월", "일 ", "/", "-",
    "1-", "**", "ﷺ", "앱에서 ", "본인 결제 ", "이번 달 ", "※ ", "결제 예정", "\n가니다",
)
# fmt: on
_UNSEEN = re.compile("[\\s\u200b-\u200f\u2060\u2066-\u2069\u202a-\u202e\ufeff]+")


def load(path: Path) -> list[Any]:
    # Texts may contain the line separators that str.splitlines() splits at.
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [json.loads(line) for line in lines]


def load_twins(path: Path) -> list[tuple[Any, Any]]:
    """Return each message that has a twin, and the twin with what holds for both."""
    shared = ("sender", "company_with_sender", "company_alt", "taste")
    return [
        (each, {name: each[name] for name in shared if name in each} | each["twin"])
        for each in load(path)
        if "twin" in each
    ]


def squeeze(text: str | None) -> str | None:
    """Return a merchant as it is compared: NFKC, without spaces."""
    if text is None:
        return None
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).rstrip("(.") or None


def parse_as_label(text: str, sender: str = "", title: str = "") -> dict[str, Any]:
    """Parse a text, and return the result in the fields of a label."""
    return result_as_label(parse(text, RECEIVED_AT, sender, title=title))


def booking_as_label(booking: BankBooking | None) -> dict[str, Any] | None:
    """Return a booking in the fields of the label `bank`."""
    if booking is None:
        return None
    return {
        "direction": booking.direction.value.lower(),
        "amount": booking.amount,
        "balance": None if booking.balance is None else float(booking.balance),
        "counterparty": squeeze(booking.counterparty),
    }


def result_as_label(parsed: ParseResult) -> dict[str, Any]:
    """Return a result in the fields of a label."""
    amount = parsed.original_amount if parsed.currency else parsed.amount
    occurred_at = parsed.occurred_at
    return {
        "ignored": not parsed.recognized,
        "kind": parsed.kind,
        "company": parsed.card_company,
        "amount": float(amount) if amount is not None else None,
        "currency": (parsed.currency or "KRW") if parsed.kind else None,
        "merchant": squeeze(parsed.merchant),
        "installment_months": parsed.installment_months,
        "occurred": f"{occurred_at:%m-%d %H:%M}" if occurred_at else None,
        "card_hint": parsed.card_hint,
        "cumulative": parsed.running_total,
    }


def differences(message: Any) -> dict[str, tuple[Any, Any]]:
    """Return the expected and the actual value of each wrong field.

    `company_alt`, `card_hint_alt` and `merchant_alt` are other right values.
    `occurred_date` is the printed date; if a cancellation prints only that of its
    approval, it is compared with `original_date`.
    """
    expected = message["expect"] | {"merchant": squeeze(message["expect"]["merchant"])}
    parsed = parse(message["text"], RECEIVED_AT, title=message.get("title", ""))
    actual = result_as_label(parsed)
    _accept_alternatives(message, expected, actual)
    for name, (value, found) in _money_of_account(message, parsed).items():
        expected[name], actual[name] = value, found
    for name, found in (
        ("preliminary", parsed.is_preliminary),
        ("partial", parsed.is_partial),
        ("krw_amount", parsed.amount),
    ):
        if name in message:
            expected[name], actual[name] = message[name], found
    dates = {
        "occurred_date": parsed.occurred_on or parsed.original_date,
        "original": parsed.original_date,
    }
    for name, date in dates.items():
        if name in message:
            expected[name] = message[name]
            actual[name] = f"{date:%m-%d}" if date else None
    if message.get("class") in REASONS:
        expected["reason"], actual["reason"] = REASONS[message["class"]], parsed.reason
    if "company_with_sender" in message:
        expected["with sender"] = message["company_with_sender"]
        with_sender = parse_as_label(
            message["text"], message["sender"], message.get("title", "")
        )
        actual["with sender"] = with_sender["company"]
    return {
        name: (value, actual[name])
        for name, value in expected.items()
        if actual[name] != value
    }


def _accept_alternatives(
    message: Any, expected: dict[str, Any], actual: dict[str, Any]
) -> None:
    """Expect the actual value of a field where the label accepts it too."""
    names = [squeeze(each) for each in message.get("merchant_alt", [])]
    for name, accepted in (
        ("company", message.get("company_alt", [])),
        ("card_hint", message.get("card_hint_alt", [])),
        ("merchant", names),
    ):
        if actual[name] in accepted:
            expected[name] = actual[name]


def _money_of_account(
    message: Any, parsed: ParseResult
) -> dict[str, tuple[object, object]]:
    """Return the expected and the actual balance and booking, where labeled."""
    fields: dict[str, tuple[object, object]] = {}
    if "balance" in message and parsed.recognized:
        balance = message["balance"]
        fields["balance"] = (
            None if balance is None else float(balance),
            None if parsed.balance is None else float(parsed.balance),
        )
    if "bank" in message:
        booking = message["bank"]
        fields["bank"] = (
            booking | {"counterparty": squeeze(booking["counterparty"])},
            booking_as_label(parsed.bank_booking),
        )
    return fields
