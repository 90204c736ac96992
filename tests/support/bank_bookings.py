"""Bookings on bank accounts as lines of words, and what they make of a ledger."""

from datetime import datetime
from decimal import Decimal

from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Channel,
    ParseResult,
    Reason,
)
from ledger.models import Entry
from tests.support.alert_texts import ENTRIES
from tests.support.clients import JSONClient

SETTINGS = f"{ENTRIES}/notification-settings"
WALLETS = "/api/account/wallets"
# Both bookings of one transfer, and what it does to balances.
FIRST = "신한 *448812 out 50000 모바일 11:00 -"
MIRROR = "카카오뱅크 *3418 in 50000 오픈뱅킹 11:09 -"
MOVED = {"shinhan": -50_000, "kakao": 50_000}


def read_line(text: str, received_at: datetime) -> ParseResult:
    """Return the booking of `BANK DIGITS in|out AMOUNT COUNTERPARTY HH:MM BALANCE`.

    A dash leaves a part out; `!` before the direction cancels, `bill:` and `cash:`
    before the counterparty tell the purpose, `USD` before the amount the currency.
    """
    parts = [None if part == "-" else part for part in text.split()]
    bank, digits, direction, amount, counterparty, clock, balance = parts
    assert direction is not None
    assert amount is not None
    purpose, card = BookingPurpose.TRANSFER, None
    if counterparty and counterparty.startswith("bill:"):
        purpose = BookingPurpose.CARD_BILL
        card = counterparty = counterparty.removeprefix("bill:")
    elif counterparty and counterparty.startswith("cash:"):
        purpose = BookingPurpose.CASH
        counterparty = counterparty.removeprefix("cash:")
    occurred_at = None
    if clock:
        hour, minute = map(int, clock.split(":"))
        occurred_at = received_at.replace(hour=hour, minute=minute, second=0)
    is_in = direction.endswith("in")
    currency = "USD" if amount.startswith("USD") else None
    value = amount.removeprefix("USD")
    booking = BankBooking(
        direction=BookingDirection.DEPOSIT if is_in else BookingDirection.WITHDRAWAL,
        purpose=purpose,
        amount=None if currency else int(value),
        currency=currency,
        original_amount=Decimal(value) if currency else None,
        bank=bank,
        account_hint=digits,
        counterparty=counterparty,
        card_company=card,
        is_cancelled=direction.startswith("!"),
        balance=None if balance is None else Decimal(balance),
        occurred_at=occurred_at,
    )
    return ParseResult(
        recognized=False,
        reason=Reason.BANK_TRANSFER,
        channel=Channel.BANK,
        balance=booking.balance,
        bank_booking=booking,
    )


def list_entries() -> list[tuple[str, int, str]]:
    rows = Entry.objects.order_by("id").values_list("type", "amount", "memo")
    return list(rows)


def read_flows(client: JSONClient) -> tuple[int, int]:
    found = client.get_json("/api/account/statistics/month?year=2026&month=11")
    return found["income"], found["expense"]


def read_balances(client: JSONClient) -> dict[str, int]:
    wallets = client.get_json(WALLETS)
    return {each["name"]: each["balance"] for each in wallets if each["balance"]}
