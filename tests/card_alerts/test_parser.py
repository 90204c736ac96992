"""Dates without a year, partial cancellations, spans, and limits."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from card_alerts import Kind, Reason, parse

KOREA = timezone(timedelta(hours=9))
RECEIVED_AT = datetime(2026, 1, 2, 9, 0, tzinfo=KOREA)


def approval(
    timestamp: str = "01/02 08:30",
    card: str = "신한카드(2077)승인",
    amount: str = "23,900원(일시불)",
) -> str:
    return f"{card} 남궁*수 {amount}{timestamp} 초록들판 누적1,203,450원"


@pytest.mark.parametrize(
    ("printed", "day"),
    [
        ("01/02", date(2026, 1, 2)),
        ("01/03", date(2026, 1, 3)),
        ("01/04", date(2025, 1, 4)),
        ("12/31", date(2025, 12, 31)),
        ("02/29", date(2024, 2, 29)),
        ("2024/02/29", date(2024, 2, 29)),
    ],
)
def test_date_without_a_year_is_the_last_such_date(printed: str, day: date) -> None:
    parsed = parse(approval(f"{printed} 08:30"), RECEIVED_AT)

    assert parsed.occurred_on == day
    assert parsed.occurred_at == datetime(
        day.year, day.month, day.day, 8, 30, tzinfo=KOREA
    )


@pytest.mark.parametrize(
    "printed", ["2025/02/29", "2026/01/04", "2099/06/10", "99/06/10"]
)
def test_impossible_or_future_date_is_no_date(printed: str) -> None:
    parsed = parse(approval(f"{printed} 08:30"), RECEIVED_AT)

    assert parsed.recognized
    assert (parsed.occurred_on, parsed.occurred_at) == (None, None)


@pytest.mark.parametrize("clock", ["24:05", "25:61", "99:99"])
def test_impossible_time_leaves_the_date(clock: str) -> None:
    parsed = parse(approval(f"01/02 {clock}"), RECEIVED_AT)

    assert parsed.recognized
    assert parsed.occurred_on == date(2026, 1, 2)
    assert parsed.occurred_at is None


def test_partial_cancellation_has_the_date_of_its_approval() -> None:
    text = "[KB국민카드] 7716 마*진님 두리문구 12/14 이용건 01/02 부분취소(-2,500원)"

    parsed = parse(text, RECEIVED_AT)

    assert parsed.kind is Kind.CANCELLATION
    assert parsed.is_partial
    assert parsed.original_date == date(2025, 12, 14)
    assert parsed.occurred_on == date(2026, 1, 2)


def test_decline_has_its_fields_but_is_not_recognized() -> None:
    parsed = parse(approval(card="신한카드(2077)승인거절"), RECEIVED_AT)

    assert (parsed.recognized, parsed.kind) == (False, Kind.DECLINED)
    assert parsed.reason is Reason.DECLINED
    assert (parsed.card_company, parsed.amount) == ("신한", 23_900)


@pytest.mark.parametrize(("words", "months"), [("24개월", 24), ("36개월", None)])
def test_more_than_24_months_are_none(words: str, months: int | None) -> None:
    parsed = parse(approval(amount=f"900,000원({words})"), RECEIVED_AT)

    assert parsed.installment_months == months


def test_check_card_has_no_installments() -> None:
    parsed = parse(
        approval(card="신한체크(2077)승인", amount="9,000원(3개월)"), RECEIVED_AT
    )

    assert parsed.is_check_card is True
    assert parsed.installment_months is None


def test_home_currency_is_not_foreign() -> None:
    text = "Chase acct 1177: You made a $8.40 transaction with DELI on Jan 2, 2026."

    abroad = parse(text, RECEIVED_AT)
    at_home = parse(text, RECEIVED_AT, home_currency="USD")

    assert (abroad.amount, abroad.currency) == (None, "USD")
    assert abroad.original_amount == Decimal("8.40")
    assert (at_home.amount, at_home.currency) == (8, None)


@pytest.mark.parametrize("amount", ["0원", "9,999,999,999,999원"])
def test_amount_out_of_range_is_not_recognized(amount: str) -> None:
    assert not parse(approval(amount=f"{amount}(일시불)"), RECEIVED_AT).recognized


def test_text_outweighs_the_sender() -> None:
    assert parse(approval(), RECEIVED_AT, sender="15881688").card_company == "신한"


def test_first_of_two_messages_is_parsed() -> None:
    text = f"[Web발신]\n{approval()}\n[Web발신]\n{approval(amount='100원(일시불)')}"

    assert parse(text, RECEIVED_AT).amount == 23_900


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


def test_foreign_payment_has_both_printed_amounts() -> None:
    text = "IBK 카드\n카드 승인내역 알림 , QUILL\n$12.00/ 16,500원 일시불 승인\n2026.01.02 08:30:26"

    parsed = parse(text, RECEIVED_AT)

    assert (parsed.amount, parsed.currency) == (16_500, "USD")
    assert parsed.original_amount == Decimal("12.00")
    assert text[slice(*parsed.spans["amount"])] == "16,500원"
