"""Deduplication of notifications, and matching of cancellations."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from card_alerts import Kind, ParseResult
from ledger.card_notifications.deduplication import (
    PaymentFingerprint,
    build_fingerprint,
    can_be_same_card,
    deduplication_key,
    is_cancelled_by,
    is_same_merchant,
    is_same_payment,
)

SEOUL = ZoneInfo("Asia/Seoul")
NOON = datetime(2026, 11, 10, 12, 0, tzinfo=SEOUL)
PAYMENT = PaymentFingerprint(
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


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"happened_at": later(seconds=59)},
        {"card_company": None},
        {"card_company": None, "merchant": "카카오페이"},
        {"card_company": "카카오페이", "merchant": "바람커피"},
        {"card_company": "삼성월렛", "card_hint": None, "running_total": None},
        {"card_company": "네이버페이", "merchant": "바람커피 성수점"},
        {"running_total": None},
        {"merchant": "바람커피"},
        {"merchant": ""},
        {"card_hint": None},
        {"happened_at": NOON.astimezone(ZoneInfo("UTC"))},
    ],
)
def test_payment_of_one_minute_in_other_words_is_the_same(
    other: dict[str, Any],
) -> None:
    assert is_same_payment(PAYMENT, replace(PAYMENT, **other))
    assert is_same_payment(replace(PAYMENT, **other), PAYMENT)


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


@pytest.mark.parametrize(
    "other",
    [
        {"kind": Kind.CANCELLATION},
        {"value": Decimal(4801)},
        {"currency": "USD"},
        {"happened_at": later(minutes=1)},
        {"happened_at": later(days=365)},
        {"card_company": "KB국민"},
        {"card_company": "카카오페이", "running_total": 517_100},
        {"card_company": "카카오페이", "merchant": "소담분식"},
        {"card_company": "카카오페이", "merchant": ""},
        {"running_total": 517_100},
        {"merchant": "소담분식"},
        {"is_partial": True},
    ],
)
def test_different_payments_are_different(other: dict[str, Any]) -> None:
    assert not is_same_payment(PAYMENT, replace(PAYMENT, **other))
    assert deduplication_key(PAYMENT) != deduplication_key(replace(PAYMENT, **other))


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ({}, True),
        ({"happened_at": later(minutes=4)}, True),
        ({"happened_at": later(minutes=5)}, False),
        ({"happened_at": later(minutes=-4)}, True),
        ({"merchant": "소담분식"}, False),
        ({"card_company": "현대"}, False),
        ({"balance": 1}, True),
    ],
)
def test_without_a_printed_time_a_few_minutes_and_the_merchant_decide(
    other: dict[str, Any], is_same: bool
) -> None:
    assert is_same_payment(UNTIMED, replace(UNTIMED, **other)) is is_same
    assert is_same_payment(PAYMENT, replace(UNTIMED, **other)) is is_same


@pytest.mark.parametrize("name", ["running_total", "balance"])
def test_payments_with_different_totals_are_different(name: str) -> None:
    fewer: dict[str, Any] = {name: 100}
    more: dict[str, Any] = {name: 200}
    one, other = replace(UNTIMED, **fewer), replace(UNTIMED, **more)
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
            if deduplication_key(one) == deduplication_key(other):
                assert is_same_payment(one, other)


CANCELLATION = replace(
    PAYMENT, kind=Kind.CANCELLATION, happened_at=later(days=3), running_total=1
)


@pytest.mark.parametrize(
    "approval",
    [
        {},
        {"card_company": None},
        {"card_hint": "1*0*"},
        {"card_hint": "신한 Deep"},
        {"merchant": "(주)바람커피 성수점"},
        {"happened_at": later(days=-87)},
    ],
)
def test_cancellation_matches_its_approval_loosely(approval: dict[str, Any]) -> None:
    assert is_cancelled_by(replace(PAYMENT, **approval), CANCELLATION, None)


@pytest.mark.parametrize(
    "approval",
    [
        {"value": Decimal(4700)},
        {"currency": "USD"},
        {"card_company": "현대"},
        {"card_hint": "2309"},
        {"merchant": "소담분식"},
        {"happened_at": later(days=-88)},
        {"happened_at": later(days=4)},
    ],
)
def test_cancellation_does_not_match_other_approvals(approval: dict[str, Any]) -> None:
    assert not is_cancelled_by(replace(PAYMENT, **approval), CANCELLATION, None)


def test_printed_date_of_the_approval_replaces_the_merchant() -> None:
    other = replace(CANCELLATION, merchant="소담분식")
    assert is_cancelled_by(PAYMENT, other, date(2026, 11, 10))
    assert not is_cancelled_by(PAYMENT, CANCELLATION, date(2026, 11, 9))


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
    one = build_fingerprint(parsed, NOON)
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
    one = build_fingerprint(parsed, NOON)
    assert (one.value, one.currency, one.running_total) == (Decimal(20), "USD", None)
