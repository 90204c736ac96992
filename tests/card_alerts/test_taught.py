"""Payments that are read by the marked parts of a taught text."""

from datetime import datetime
from decimal import Decimal

import pytest

from card_alerts import (
    Channel,
    Confidence,
    Kind,
    ParseResult,
    Reason,
    learn_layout,
    learn_whole_layout,
    parse,
    read_taught_payment,
    read_with_layout,
    rejected,
)

RECEIVED_AT = datetime.fromisoformat("2026-11-21T12:00:00+09:00")


def read(taught: str, other: str, sender: str = "", **parts: str) -> ParseResult | None:
    """Teach one text, and read another one by it."""
    spans = {
        name: (taught.index(part), taught.index(part) + len(part))
        for name, part in parts.items()
    }
    layout = learn_layout(taught, spans)
    assert layout is not None
    found = read_with_layout(layout, other)
    assert found is not None
    parsed = parse(other, RECEIVED_AT, sender)
    return read_taught_payment(parsed, other, Kind.APPROVAL, found, RECEIVED_AT, sender)


def test_marked_parts_are_read() -> None:
    payment = read(
        "2026년 11월 20일(금) 12:30 김밥천국에서 위비카드로 7,000냥 썼음",
        "2026년 11월 3일(화) 08:05 소라분식에서 청춘카드로 12,000냥 썼음",
        amount="7,000",
        merchant="김밥천국",
        cardHint="위비",
        occurredAt="2026년 11월 20일(금) 12:30",
    )
    assert payment is not None
    assert (payment.amount, payment.merchant) == (12_000, "소라분식")
    assert payment.card_hint == "청춘"
    assert payment.merchant_confidence is Confidence.SURE
    assert payment.occurred_at == datetime.fromisoformat("2026-11-03T08:05+09:00")
    assert (payment.doubts, payment.candidates) == ((), ())


def test_currency_beside_the_amount_counts() -> None:
    payment = read(
        "[식권] 소라분식 에서 3.50 USD 썼어요",
        "[식권] 달빛국수 에서 12.25 USD 썼어요",
        amount="3.50",
        merchant="소라분식",
    )
    assert payment is not None
    assert (payment.amount, payment.currency) == (None, "USD")
    assert payment.original_amount == Decimal("12.25")


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("새봄 利用金額：1,744円 GAMART", "1,744", "JPY"),
        ("ご利用金額（円）　: 2,178 GAMART", "2,178", "JPY"),
        ("Rs.500.00 gone @ GAMART by Axis Bank card", "500.00", "INR"),
        ("Ksh658.02 gone @ GAMART", "658.02", "KES"),
        ("R943.12 gone @ GAMART from Premier", "943.12", "ZAR"),
        ("64.99달러를 냈어요 @ GAMART", "64.99", "USD"),
        ("MYBOX 180GB 43,000원 GAMART 안내", "43,000", None),
    ],
)
def test_currency_is_read_as_the_grammar_does(
    text: str, amount: str, currency: str | None
) -> None:
    payment = read(text, text, amount=amount, merchant="GAMART")
    assert payment is not None
    value = Decimal(amount.replace(",", ""))
    assert payment.currency == currency
    assert (payment.original_amount if currency else payment.amount) == value


@pytest.mark.parametrize(
    "text",
    [
        "счет карты *1023. 3267 ₽. MELNITSA 09. баланс 30672 ₽",
        "счет карты *1023. 3267. MELNITSA 09. баланс 30672",
        "Karta 6*** Oplata 3267 zwr MELNITSA 09. stan 30672",
        "[여행] MELNITSA 09 32,67 zl 결제해요",
    ],
)
def test_unknown_currency_is_never_taken_for_won(text: str) -> None:
    amount = "32,67" if "32,67" in text else "3267"
    assert read(text, text, amount=amount, merchant="MELNITSA 09") is None


@pytest.mark.parametrize("amount", ["0", "0.40", "9" * 15])
def test_amount_that_is_none_is_not_read(amount: str) -> None:
    taught = "[식권] 소라분식 에서 8,000냥 썼어요"
    other = taught.replace("8,000", amount)
    assert read(taught, other, amount="8,000", merchant="소라분식") is None


def test_sender_tells_company_and_channel() -> None:
    taught = "소라분식 에서 8,000냥 썼어요"
    payment = read(taught, taught, "com.shcard.smartpay", amount="8,000")
    assert payment is not None
    assert (payment.card_company, payment.channel) == ("신한", Channel.CARD_APP)
    assert (payment.merchant, payment.merchant_confidence) == (None, None)


def test_what_the_grammar_read_stays() -> None:
    text = "[Web발신]\n신한카드(1309)승인 홍*동 90,000원(3개월)11/12 21:05 소담문구"
    payment = read(text, text, merchant="소담문구", amount="90,000")
    assert payment is not None
    assert (payment.installment_months, payment.card_hint) == (3, "1309")


def test_layout_without_an_amount_reads_only_recognized_texts() -> None:
    parsed = rejected(Reason.NO_PAYMENT)
    text = "소라분식 에서 썼어요"
    spans = {"merchant": (0, 4)}
    found = read_taught_payment(parsed, text, Kind.APPROVAL, spans, RECEIVED_AT)
    assert found is None


def test_whole_text_is_known_again() -> None:
    layout = learn_whole_layout("[새봄전자] 복지 50,000원 승인 11/10 08:31")
    assert layout is not None
    assert layout.slots == ()
    other = "[새봄전자] 복지 1,200원 승인 11/12 19:05"
    assert read_with_layout(layout, other) == {}
    assert read_with_layout(layout, other.replace("복지", "식대")) is None
    assert learn_whole_layout("1,200원 승") is None
