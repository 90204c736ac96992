"""Amounts in the formats of many countries, discounts beside them, and signs."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from card_alerts import Kind, ParseResult, Reason, parse

RECEIVED_AT = datetime(2026, 6, 15, 12, 0, tzinfo=timezone(timedelta(hours=9)))


def parse_text(text: str) -> ParseResult:
    return parse(text, RECEIVED_AT)


@pytest.mark.parametrize(
    ("printed", "currency", "amount"),
    [
        ("USD 1,234.56", "USD", "1234.56"),
        ("USD 1 234.56", "USD", "1234.56"),
        ("USD 1\u00a0234.56", "USD", "1234.56"),
        ("EUR 1\u202f234,56", "EUR", "1234.56"),
        ("EUR 1.234,56", "EUR", "1234.56"),
        ("CHF 1'234.50", "CHF", "1234.50"),
        ("CHF 1’234", "CHF", "1234"),
        ("IDR 1.234.000", "IDR", "1234000"),
        ("VND 150.000", "VND", "150000"),
        ("VND 150.000,00", "VND", "150000"),
        ("JPY 1,280", "JPY", "1280"),
        ("JPY 1.280", "JPY", "1280"),
        ("JPY 1,234.000", "JPY", "1234.000"),
        ("KWD 1.250", "KWD", "1.250"),
    ],
)
def test_foreign_amount_is_parsed_in_every_grouping(
    printed: str, currency: str, amount: str
) -> None:
    parsed = parse_text(f"신한카드(1234)해외승인 {printed} 06/10 12:30 GOKUL STORE")

    assert parsed.recognized
    assert (parsed.currency, parsed.original_amount) == (currency, Decimal(amount))
    assert parsed.merchant == "GOKUL STORE"


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("N26: You spent 1 234,56 € at Hotel Adler", "EUR", "1234.56"),
        ("Chase: You spent $1,234.56 at Deli", "USD", "1234.56"),
        ("HDFC Bank: Rs 1,23,456.00 spent on card 1234 at Amazon", "INR", "123456.00"),
    ],
)
def test_english_amount_is_parsed_in_every_grouping(
    text: str, currency: str, amount: str
) -> None:
    parsed = parse_text(text)

    assert (parsed.currency, parsed.original_amount) == (currency, Decimal(amount))


@pytest.mark.parametrize(
    "text",
    [
        "You spent $1,234,56 at Starbucks",
        "HDFC: Rs 1,23,45 spent at Amazon",
        "Chase: You spent $1,2,3 at Deli",
        "신한카드(1234)승인 ₩77,90 06/10 12:30 초록들판",
        "Rakuten: You spent JPY 77,90 at Deli",
    ],
)
def test_malformed_number_is_no_payment(text: str) -> None:
    assert parse_text(text).reason is Reason.NO_PAYMENT


@pytest.mark.parametrize(
    "amounts",
    [
        "5,000원 할인 500원",
        "5,000원 청구할인 500원",
        "5,000원 즉시할인 1,000원",
        "5,000원 캐시백 50원",
        "5,000원 적립 50점",
        "500원 할인 5,000원",
    ],
)
def test_discount_beside_a_payment_is_not_the_payment(amounts: str) -> None:
    parsed = parse_text(f"신한카드(1234)승인 {amounts} 06/10 12:30 초록들판")

    assert (parsed.recognized, parsed.amount) == (True, 5_000)
    assert parsed.merchant == "초록들판"


@pytest.mark.parametrize(
    "text",
    [
        "신한카드(1234)승인 -5,000원 06/10 12:30 초록들판",
        "신한카드 승인 -5,000원 초록들판 06/10",
        "신한카드(1234) 승인 (-5,000원) 06/10 12:30 초록들판",
    ],
)
def test_negative_approval_of_a_card_is_a_cancellation(text: str) -> None:
    parsed = parse_text(text)

    assert parsed.kind is Kind.CANCELLATION
    assert (parsed.amount, parsed.is_partial) == (5_000, False)


@pytest.mark.parametrize(
    "text",
    [
        "신한카드(1234)승인 - 5,000원 06/10 12:30 초록들판",
        "신한체크(1234)승인 -5,000원 06/10 12:30 초록들판",
        "토스뱅크 체크카드 -5,000원 결제 초록들판",
        "신한카드(1234)승인 -5,000원 06/10 12:30 초록들판 잔액20,000원",
        "신한카드(1234)사용 -5,000원 06/10 12:30 초록들판",
        "[신한카드] 승인\n-5,000원\n-초록들판\n-06/10 12:30",
        "신한카드(1234)승인 5,000원 06/10 12:30 초록들판 누적-122,000원",
    ],
)
def test_minus_of_a_booking_or_a_list_is_a_payment(text: str) -> None:
    parsed = parse_text(text)

    assert parsed.kind is Kind.APPROVAL
    assert parsed.amount == 5_000


@pytest.mark.parametrize(
    "text",
    [
        "신한카드(1234)승인거절 0원 06/10 12:30 초록들판 한도초과",
        "신한카드(1234)승인거절 9,999,999,999,999원 06/10 12:30 초록들판 한도초과",
    ],
)
def test_decline_of_an_impossible_amount_is_a_decline(text: str) -> None:
    parsed = parse_text(text)

    assert (parsed.kind, parsed.reason) == (Kind.DECLINED, Reason.DECLINED)
    assert (parsed.card_company, parsed.amount) == ("신한", None)


@pytest.mark.parametrize(
    ("text", "is_partial"),
    [
        ("신한카드(1234)승인취소 5,000원 06/10 12:30 초록들판", False),
        ("신한카드(1234)부분취소 5,000원 06/10 12:30 초록들판", True),
        ("신한카드(1234)승인취소 5,000원 06/10 12:30 부분환불상점", False),
        ("신한카드(1234)승인 5,000원 06/10 12:30 일부취소식당", False),
        ("N26: refund of $5.00 from Amazon", False),
        ("N26: partial refund of $5.00 from Amazon", True),
        ("N26: You spent $5.00 at Partial Coffee", False),
        ("楽天カード 返金 ご利用先: アマゾン 返金金額: 500円", False),
        ("楽天カード 一部返金 ご利用先: アマゾン 返金金額: 500円", True),
    ],
)
def test_partial_cancellation_depends_on_the_message_not_on_the_merchant(
    text: str, is_partial: bool
) -> None:
    parsed = parse_text(text)

    assert parsed.recognized
    assert parsed.is_partial is is_partial


def test_remaining_points_are_not_part_of_the_merchant() -> None:
    text = "신한카드(1234)승인 5,000원 06/10 12:30 초록들판 잔여포인트 1,200점"

    assert parse_text(text).merchant == "초록들판"
