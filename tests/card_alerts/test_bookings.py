"""Texts of banks about deposits and withdrawals, and balances."""

from datetime import datetime
from decimal import Decimal

import pytest

from card_alerts import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Confidence,
    Kind,
    Reason,
    parse,
)
from tests.support.alert_samples import RECEIVED_AT


def booking(text: str) -> BankBooking:
    parsed = parse(text, RECEIVED_AT)
    assert (parsed.recognized, parsed.reason) == (False, Reason.BANK_TRANSFER)
    assert parsed.bank_booking is not None
    return parsed.bank_booking


def test_withdrawal_has_counterparty_account_and_balance() -> None:
    text = "[KB]11/20 09:10\n556677**889\n오*람\n전자금융출금\n50,000\n잔액950,344"
    found = booking(text)
    shown = {name: text[slice(*span)] for name, span in found.spans.items()}

    assert found.direction is BookingDirection.WITHDRAWAL
    assert found.purpose is BookingPurpose.TRANSFER
    assert (found.amount, found.bank) == (50_000, "KB국민")
    assert (found.counterparty, found.account_hint) == ("오*람", "556677**889")
    assert (found.balance, found.balance_currency) == (Decimal(950_344), None)
    assert found.occurred_at == datetime(2026, 11, 20, 9, 10, tzinfo=RECEIVED_AT.tzinfo)
    assert shown["counterparty"] == "오*람"
    assert shown["accountHint"] == "556677**889"


@pytest.mark.parametrize(
    ("text", "direction", "counterparty"),
    [
        (
            "[케이뱅크] 입금 70,000원 (주)솔뫼 11/20 17:45 잔액 92,000원",
            "DEPOSIT",
            "(주)솔뫼",
        ),
        ("토스뱅크\n12,000원 입금\n오*람 → 내 통장", "DEPOSIT", "오*람"),
        ("토스\n오*람님이 9,000원을 보냈어요", "DEPOSIT", "오*람"),
        ("토스\n오*람님에게 9,000원을 보냈어요", "WITHDRAWAL", "오*람"),
        ("국민은행 이체 10,000원 오*람 → 배*솔", "WITHDRAWAL", "배*솔"),
        ("하나,11/18,10:22\n351-****-22004\n출금 9,000원\n월세", "WITHDRAWAL", "월세"),
        ("Monzo\nMORGAN sent you £20.00", "DEPOSIT", "MORGAN"),
        ("Zelle: You sent $50.00 to Morgan on Nov 5.", "WITHDRAWAL", "Morgan"),
    ],
)
def test_direction_and_counterparty_are_read(
    text: str, direction: str, counterparty: str
) -> None:
    found = booking(text)

    assert (found.direction, found.counterparty) == (direction, counterparty)


@pytest.mark.parametrize(
    ("text", "company"),
    [
        ("[Web발신]\n우리 11/21 06:10 *301234 출금 420,550원 우리카드결제대", "우리"),
        ("[KB]11/21 00:31\n781502**044\n삼성카드\n자동이체출금\n842,110", "삼성"),
        ("[하나은행] 05/20 10:10 이체 80,000원 카드결제 잔액 12,000원", None),
    ],
)
def test_bill_of_a_card_is_recognized(text: str, company: str | None) -> None:
    found = booking(text)

    assert found.purpose is BookingPurpose.CARD_BILL
    assert found.card_company == company


def test_cash_machine_is_recognized() -> None:
    found = booking("SC제일은행 11/02 ATM출금 30,000원 잔액 5,000원")

    assert found.purpose is BookingPurpose.CASH


@pytest.mark.parametrize(
    "text",
    [
        "[KB]11/03 12:22\n481902**317\n소라커피\n체크카드출금\n3,000\n잔액881,320",
        "우리체크(12*4) 출금 3,000원 11/03 12:22 소라커피 잔액30,000원",
        "카카오뱅크\n출금 3,000원\n체크카드(7788) → 소라커피\n잔액 100,200원",
        "우리 11/03 12:22 *998877 체크출금 3,000원 소라커피 잔액 30,000원",
    ],
)
def test_purchase_told_as_a_withdrawal_is_an_approval(text: str) -> None:
    parsed = parse(text, RECEIVED_AT)

    assert (parsed.kind, parsed.amount) == (Kind.APPROVAL, 3_000)
    assert (parsed.merchant, parsed.bank_booking) == ("소라커피", None)


@pytest.mark.parametrize(
    ("text", "balance", "currency"),
    [
        ("You spent £3.20 at Tern. Your balance is £1,120.11", "1120.11", "GBP"),
        ("INR 780.00 spent on card 2211 at TERN. Bal: INR 3,000.10", "3000.10", "INR"),
        (
            "신한체크승인 오*람 6,480원 10/04 08:22 소라커피 잔액 51,230원",
            "51230",
            None,
        ),
    ],
)
def test_balance_is_answered(text: str, balance: str, currency: str | None) -> None:
    parsed = parse(text, RECEIVED_AT)

    assert (parsed.balance, parsed.balance_currency) == (Decimal(balance), currency)


@pytest.mark.parametrize(
    "text",
    [
        "삼성법인1234승인 8,800원\n11/03 10:11 소라커피\n잔여559,033원",
        "USD 25.00 spent on card 9003 at TERN. Avl Lmt: INR 1,20,000.00",
    ],
)
def test_limit_is_no_balance(text: str) -> None:
    parsed = parse(text, RECEIVED_AT)

    assert parsed.recognized
    assert parsed.balance is None


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("승인 9,000원 11/03 10:11\n가맹점명: 소라커피\n우리카드", Confidence.SURE),
        ("9,000원 결제 완료\n우리카드 ・ 소라커피", Confidence.SURE),
        ("소라커피에서 9,000원을 결제했어요", Confidence.SURE),
        ("현대카드 M 승인 9,000원 11/03 10:11\n소라커피\n푸른마을", Confidence.GUESS),
        ("현대카드 M 승인 9,000원 11/03 10:11", None),
    ],
)
def test_confidence_tells_how_the_merchant_was_found(
    text: str, confidence: Confidence | None
) -> None:
    assert parse(text, RECEIVED_AT).merchant_confidence is confidence


def test_paid_card_bill_is_a_statement_with_the_booking_of_the_bank() -> None:
    parsed = parse("[KB]06/08 11:46 카드대금 출금 718,500 잔액902,055", RECEIVED_AT)
    paid = parsed.bank_booking
    assert (parsed.recognized, parsed.reason) == (False, Reason.STATEMENT)
    assert paid is not None
    assert (paid.purpose, paid.amount) == (BookingPurpose.CARD_BILL, 718_500)


@pytest.mark.parametrize(
    "text",
    [
        "[KB]카드대금 718,500원 06/25 출금 예정 잔액902,055",
        "[삼성카드]오*람님 10/13 결제대금 1,120,300원 출금되었습니다",
        "[Web발신]\nKB국민카드 오*람님 7월 이용대금 519,480원이 정상 결제되었습니다.",
    ],
)
def test_other_statement_of_a_card_is_no_booking(text: str) -> None:
    parsed = parse(text, RECEIVED_AT)
    assert (parsed.reason, parsed.bank_booking) == (Reason.STATEMENT, None)


def test_gateway_and_cut_names_are_marked() -> None:
    gateway = parse("신한카드(2077)승인 9,000원 11/02 08:30 통신판매_NIC", RECEIVED_AT)
    cut = parse("신한카드(2077)승인 9,000원 11/02 08:30 소라커피(강남", RECEIVED_AT)
    whole = parse("신한카드(2077)승인 9,000원 11/02 08:30 소라커피(강남)", RECEIVED_AT)

    assert (gateway.is_gateway, gateway.is_merchant_cut) == (True, False)
    assert (cut.is_gateway, cut.is_merchant_cut) == (False, True)
    assert (whole.is_gateway, whole.is_merchant_cut) == (False, False)
