"""Deduplication of notifications, and matching of cancellations."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from card_alerts import Kind, ParseResult
from ledger.notifications.compare import (
    is_cancelled_by,
    is_same_merchant,
    is_same_payment,
)
from ledger.notifications.message import Fingerprint, read_payment
from ledger.notifications.wallets import can_be_same_card

SEOUL = ZoneInfo("Asia/Seoul")
NOON = datetime(2026, 11, 10, 12, 0, tzinfo=SEOUL)
PAYMENT = Fingerprint(
    kind=Kind.APPROVAL,
    is_partial=False,
    card_company="신한",
    card_hint="1309",
    currency=None,
    value=Decimal(4800),
    merchant="바람커피 성수",
    running_total=512_300,
    balance=None,
    happened_at=NOON,
    is_timed=True,
)
UNTIMED = replace(PAYMENT, is_timed=False, running_total=None)


def later(**delta: int) -> datetime:
    return NOON + timedelta(**delta)


def test_two_pay_apps_report_two_payments() -> None:
    one = replace(PAYMENT, card_company="카카오페이")
    assert is_same_payment(one, one)
    assert not is_same_payment(one, replace(PAYMENT, card_company="네이버페이"))


def test_card_cancels_the_payment_of_its_pay_app() -> None:
    app = replace(PAYMENT, card_company="카카오페이", card_hint=None)
    cancellation = replace(PAYMENT, kind=Kind.CANCELLATION, happened_at=later(hours=2))
    assert is_cancelled_by(app, cancellation, None)
    for merchant in ("", "소담분식"):
        other = replace(cancellation, merchant=merchant)
        assert not is_cancelled_by(app, other, None)
        assert not is_cancelled_by(app, other, NOON.date())


def test_card_may_name_the_pay_app_as_its_merchant() -> None:
    app = replace(PAYMENT, card_company="카카오페이", merchant="바람커피")
    card = replace(PAYMENT, merchant="카카오페이")
    assert is_same_payment(app, card)
    assert is_same_payment(card, app)
    assert not is_same_payment(app, replace(card, merchant="네이버페이"))


@pytest.mark.parametrize("name", ["running_total", "balance"])
def test_payments_with_different_totals_are_different(name: str) -> None:
    totals: list[dict[str, Any]] = [{name: 1}, {name: 2}]
    one, other = (replace(PAYMENT, **total) for total in totals)
    assert not is_same_payment(one, other)


def test_window_extends_across_midnight() -> None:
    before = replace(UNTIMED, happened_at=NOON.replace(hour=23, minute=59))
    after = replace(UNTIMED, happened_at=before.happened_at + timedelta(minutes=2))
    assert is_same_payment(before, after)


def test_notifications_with_one_key_are_the_same_payment() -> None:
    variants = [
        replace(one, happened_at=NOON + timedelta(seconds=seconds))
        for one in (PAYMENT, UNTIMED)
        for seconds in range(0, 900, 20)
    ]
    for one in variants:
        for other in variants:
            if one.key == other.key:
                assert is_same_payment(one, other)


CANCELLATION = replace(
    PAYMENT, kind=Kind.CANCELLATION, happened_at=later(days=3), running_total=1
)


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ("1309", "1309", True),
        ("1309", "1*0*", True),
        ("1309", "2*0*", False),
        ("1309", "123-456-1309", True),
        ("1309", None, True),
        ("1309", "MX Black", True),
        ("1309", "09", True),
        ("1309", "08", False),
    ],
)
def test_cards_are_compared_by_their_digits(
    one: str, other: str | None, fits: bool
) -> None:
    token = other and other.replace("-", "")
    assert can_be_same_card(one, token) is fits


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("㈜이음", "이음", True),
        ("STARBUCKS  Gangnam", "starbucks", True),
        ("ＧＳ２５ 역삼", "GS25역삼점", True),
        ("", "이음", True),
        ("이음", "바람", False),
    ],
)
def test_merchants_are_compared_loosely(one: str, other: str, same: bool) -> None:
    payments = [replace(PAYMENT, merchant=merchant) for merchant in (one, other)]
    assert is_same_merchant(*payments) is same


def test_payment_without_a_printed_time_has_the_time_of_receipt() -> None:
    parsed = ParseResult(recognized=True, kind=Kind.APPROVAL, amount=100)
    one = read_payment(parsed, NOON)
    assert (one.happened_at, one.is_timed, one.value) == (NOON, False, Decimal(100))


def test_foreign_payment_is_compared_in_its_own_currency() -> None:
    parsed = ParseResult(
        recognized=True,
        kind=Kind.APPROVAL,
        amount=24_026,
        currency="USD",
        original_amount=Decimal(20),
        running_total=10**20,
    )
    one = read_payment(parsed, NOON)
    assert (one.value, one.currency, one.running_total) == (Decimal(20), "USD", None)
