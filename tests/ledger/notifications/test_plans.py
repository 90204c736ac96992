"""The plan for a message, by what is known of it: a table of cases without a database.

Each line of `notification_plans.jsonl` has the known rows, the message, the wallets and
the plan. Values that are left out are those of one payment: `ROW`, `PAYMENT`, `BOOKING`.
"""

import json
from dataclasses import MISSING, fields, is_dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Channel,
    Kind,
    ParseResult,
    Reason,
)
from ledger.entry_shape import EntryShape
from ledger.notifications.decide import decide_booking, decide_payment
from ledger.notifications.known import FormerExpense, Known, KnownEntry, KnownRow
from ledger.notifications.message import Fingerprint, Message, read_payment
from ledger.notifications.plan import Plan, StoreRow
from ledger.notifications.wallets import KnownWallet, OwnMove

CASES = Path(__file__).parents[2] / "samples" / "notification_plans.jsonl"
SEOUL = ZoneInfo("Asia/Seoul")
RECEIVED_AT = datetime(2026, 11, 10, 12, 5, tzinfo=SEOUL)
PAYMENT = ParseResult(
    recognized=True,
    kind=Kind.APPROVAL,
    card_company="신한",
    card_hint="1309",
    amount=4_800,
    merchant="바람커피",
    occurred_at=datetime(2026, 11, 10, 12, 0, tzinfo=SEOUL),
    channel=Channel.CARD_SMS,
)
BOOKING = BankBooking(
    direction=BookingDirection.WITHDRAWAL,
    amount=4_800,
    bank="신한",
    account_hint="*448812",
    counterparty="모바일",
    occurred_at=datetime(2026, 11, 10, 12, 0, tzinfo=SEOUL),
)
ROW = read_payment(PAYMENT, RECEIVED_AT)
ACCOUNT = KnownWallet(1, "BANK", "신한은행")
ENUMS = {"kind": str, "direction": BookingDirection, "purpose": BookingPurpose}


def read_time(text: str | None) -> datetime | None:
    """Return `12:00` of the day, or the whole time that is given."""
    if text is None:
        return None
    full = text if "T" in text else f"2026-11-10T{text}"
    return datetime.fromisoformat(full).replace(tzinfo=SEOUL)


def read_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a case with the types of the service."""
    read = dict(values)
    for name, value in values.items():
        if name in ("happened_at", "occurred_at"):
            read[name] = read_time(value)
        elif name == "original_date" and value:
            read[name] = date.fromisoformat(value)
        elif name in ("value", "original_amount", "exchange_rate") and value:
            read[name] = Decimal(value)
        elif name in ENUMS:
            read[name] = ENUMS[name](value)
    return read


def read_row(values: dict[str, Any]) -> KnownRow:
    values = read_values(values)
    names = {field.name for field in fields(Fingerprint)}
    fingerprint = {name: values.pop(name) for name in names & values.keys()}
    entry = values.pop("entry", None)
    if entry is not None:
        if former := entry.pop("former", None):
            entry["former"] = FormerExpense(**former)
        entry = KnownEntry(**read_values({"amount": 4_800} | entry))
        values["entry_id"] = entry.id
    return KnownRow(fingerprint=replace(ROW, **fingerprint), entry=entry, **values)


def read_known(case: dict[str, Any]) -> Known:
    """Return the rows of a case as they are loaded, newest first."""
    parts = []
    for name in ("known", "others"):
        rows = [read_row(values) for values in case.get(name, [])]
        rows.sort(key=lambda row: (row.fingerprint.happened_at, row.id), reverse=True)
        parts.append(tuple(rows))
    return Known(*parts)


def decide(case: dict[str, Any]) -> tuple[Message, Plan]:
    known, wallets = read_known(case), case.get("wallets", {})
    given = wallets.get("given")
    given = given and KnownWallet(**given)
    if "payment" in case:
        parsed = replace(PAYMENT, **read_values(case["payment"]))
        message = Message(parsed, RECEIVED_AT, "text", "15447200", given)
        card = wallets.get("card")
        return message, decide_payment(known, message, card and KnownWallet(**card))
    booking = replace(BOOKING, **read_values(case["booking"]))
    parsed = ParseResult(
        recognized=False, reason=Reason.BANK_TRANSFER, bank_booking=booking
    )
    message = Message(parsed, RECEIVED_AT, "text", "15447200", is_captured=True)
    move = wallets.get("own_move")
    own_move = None
    if move is not None:
        own_move = OwnMove(
            Reason(move["reason"]), tuple(move["candidates"]), move.get("other")
        )
    return message, decide_booking(known, message, ACCOUNT, own_move)


def write(value: Any, message: Message) -> Any:
    """Return a value of a plan as JSON, without the values of a dataclass by default."""
    if isinstance(value, StoreRow) and value.fingerprint == message.fingerprint:
        values = write_fields(value, message)
        del values["fingerprint"]
        return values
    if isinstance(value, Fingerprint):
        return {
            field.name: write(getattr(value, field.name), message)
            for field in fields(value)
            if getattr(value, field.name) != getattr(message.fingerprint, field.name)
        }
    if is_dataclass(value):
        return write_fields(value, message)
    if isinstance(value, (list, tuple)):
        return [write(each, message) for each in value]
    if isinstance(value, dict):
        return {name: write(each, message) for name, each in value.items()}
    return value if isinstance(value, (bool, int, type(None))) else str(value)


def write_fields(value: Any, message: Message) -> dict[str, Any]:
    is_step = not isinstance(value, (Plan, EntryShape))
    written = {"step": type(value).__name__} if is_step else {}
    for field in fields(value):
        found = getattr(value, field.name)
        if field.default is MISSING or found not in (field.default, []):
            written[field.name] = write(found, message)
    return written


def load() -> list[Any]:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", load())
def test_plan_is_decided_by_what_is_known(case: dict[str, Any]) -> None:
    message, plan = decide(case)
    assert write(plan, message) == case["plan"]
