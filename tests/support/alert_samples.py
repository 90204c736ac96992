"""The labelled messages, and how an answer is compared with its label."""

import json
import re
import unicodedata
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from card_alerts.parser import parse

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
GIVEN = SAMPLES / "notifications.jsonl"
OWN = SAMPLES / "notifications_own.jsonl"
EXAM = SAMPLES / "notifications_exam.jsonl"
RECEIVED_AT = datetime(2026, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=9)))
REASONS = {
    "advert": "ADVERT",
    "bank": "BANK_TRANSFER",
    "otp": "ONE_TIME_PASSWORD",
    "statement": "STATEMENT",
    "zero": "ZERO_AMOUNT",
}
_UNSEEN = re.compile("[\\s\u200b-\u200f\u2060\u2066-\u2069\u202a-\u202e\ufeff]+")


def load(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def squeeze(text: str | None) -> str | None:
    """A merchant as the labels compare it: NFKC, without blanks and zero width."""
    if text is None:
        return None
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).rstrip("(.") or None


def answer(text: str, sender: str = "") -> dict[str, Any]:
    """The fields of a label, as the parser tells them."""
    parsed = parse(text, RECEIVED_AT, sender)
    told = parsed.kind is not None
    amount = parsed.original_amount if parsed.currency else parsed.amount
    moment = parsed.occurred_at
    return {
        "ignored": not parsed.recognized,
        "kind": parsed.kind,
        "company": parsed.card_company,
        "amount": float(amount) if amount is not None else None,
        "currency": (parsed.currency or "KRW") if told else None,
        "merchant": squeeze(parsed.merchant),
        "installment_months": parsed.installment_months,
        "occurred": f"{moment:%m-%d %H:%M}" if moment else None,
        "card_hint": parsed.card_hint,
        "cumulative": parsed.running_total,
    }


def differences(message: Any) -> dict[Any, Any]:
    """Per wrong field: what was expected and what was told.

    `occurred_date` is the printed day; where a cancellation prints no day but that of
    its approval, it is told as `original_date`.
    """
    expected = message["expect"] | {"merchant": squeeze(message["expect"]["merchant"])}
    told = answer(message["text"])
    parsed = parse(message["text"], RECEIVED_AT)
    days = {
        "occurred_date": parsed.occurred_on or parsed.original_date,
        "original": parsed.original_date,
    }
    for name, day in days.items():
        if name in message:
            expected[name] = message[name]
            told[name] = f"{day:%m-%d}" if day else None
    if "krw_amount" in message:
        expected["krw_amount"], told["krw_amount"] = (
            message["krw_amount"],
            parsed.amount,
        )
    if message.get("class") in REASONS:
        expected["reason"], told["reason"] = REASONS[message["class"]], parsed.reason
    if "company_with_sender" in message:
        expected["with sender"] = message["company_with_sender"]
        told["with sender"] = answer(message["text"], message["sender"])["company"]
    return {
        name: (value, told[name])
        for name, value in expected.items()
        if told[name] != value
    }
