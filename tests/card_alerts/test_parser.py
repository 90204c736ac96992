"""The home currency, and spans in the original text."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

from card_alerts import parse

KOREA = timezone(timedelta(hours=9))
RECEIVED_AT = datetime(2026, 1, 2, 9, 0, tzinfo=KOREA)


def test_home_currency_is_not_foreign() -> None:
    text = "Chase acct 1177: You made a $8.40 transaction with DELI on Jan 2, 2026."

    abroad = parse(text, RECEIVED_AT)
    at_home = parse(text, RECEIVED_AT, home_currency="USD")

    assert (abroad.amount, abroad.currency) == (None, "USD")
    assert abroad.original_amount == Decimal("8.40")
    assert (at_home.amount, at_home.currency) == (8, None)


def test_spans_are_those_of_the_original_text() -> None:
    text = "（알림）신한카드（２０７７）승\u200b인 남궁*수 ２３，９００원(3개월)01/02 08:30 초록\u200b들판 누적1,203,450원"

    parsed = parse(text, RECEIVED_AT)
    shown = {name: text[slice(*span)] for name, span in parsed.spans.items()}

    assert shown == {
        "kind": "승\u200b인",
        "cardCompany": "신한카드",
        "cardHint": "２０７７",
        "amount": "２３，９００원",
        "merchant": "초록\u200b들판",
        "installmentMonths": "(3개월)",
        "occurredAt": "01/02 08:30",
        "runningTotal": "누적1,203,450원",
    }
    assert parsed.merchant == "초록들판"


def test_spans_of_a_booking_and_of_an_amount_in_won() -> None:
    booked = "[KB]11/20 09:10\n556677**889\n오*람\n전자금융출금\n50,000\n잔액950,344"
    booking = parse(booked, RECEIVED_AT).bank_booking
    assert booking is not None
    shown = {name: booked[slice(*span)] for name, span in booking.spans.items()}
    assert (shown["counterparty"], shown["accountHint"]) == ("오*람", "556677**889")

    paid = "IBK 카드\n카드 승인내역 알림 , QUILL\n$12.00/ 16,500원 일시불 승인\n2026.01.02 08:30:26"
    spans = parse(paid, RECEIVED_AT).spans
    assert paid[slice(*spans["amount"])] == "16,500원"
