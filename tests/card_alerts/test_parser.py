"""The home currency, and spans in the original text."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from card_alerts import Confidence, parse

KOREA = timezone(timedelta(hours=9))
RECEIVED_AT = datetime(2026, 1, 2, 9, 0, tzinfo=KOREA)


def test_home_currency_is_not_foreign() -> None:
    text = "Chase acct 1177: You made a $8.40 transaction with DELI on Jan 2, 2026."

    abroad = parse(text, RECEIVED_AT)
    at_home = parse(text, RECEIVED_AT, home_currency="USD")

    assert (abroad.amount, abroad.currency) == (None, "USD")
    assert abroad.original_amount == Decimal("8.40")
    assert (at_home.amount, at_home.currency) == (8, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12.50 USD 결제\nMaple Cafe\n지갑 USD 100.20", (None, Decimal("12.50"))),
        ("12.50(USD) 승인\nMaple Cafe\nUSD 100.20 남음", (None, Decimal("12.50"))),
        ("해외승인 USD 12.50\nMaple Cafe\n보유 31,200원", (None, Decimal("12.50"))),
        ("해외승인 USD 12.50\nMaple Cafe\n원화 16,900원", (16_900, Decimal("12.50"))),
        ("체크카드출금\n5,180\n소라상회\n보유 31,200원", (5_180, None)),
        ("5,180원 소라상회 승인\n이번달 사용 31,200원", (5_180, None)),
        ("5,180원 소라상회 승인\n이번 주 지출 31,200원", (5_180, None)),
    ],
)
def test_amount_of_another_line_is_not_the_paid_one(
    text: str, expected: tuple[int | None, Decimal | None]
) -> None:
    parsed = parse(f"[KB국민카드] 1234 01/02 08:30\n{text}", RECEIVED_AT)

    assert (parsed.amount, parsed.original_amount) == expected


@pytest.mark.parametrize(
    "line",
    ["今月の利用額 120,000円", "今月のご利用金額 120,000円", "利用可能額 500,000円"],
)
def test_sum_below_a_japanese_payment_is_not_the_paid_one(line: str) -> None:
    text = (
        f"【au PAY】お支払い完了\nお支払い先\nたぬき書店\nお支払い金額\n1,260円\n{line}"
    )

    assert parse(text, RECEIVED_AT).original_amount == 1260


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


@pytest.mark.parametrize(
    "footer",
    [
        "분실신고 접수 1544-0000",
        "청구금액 확정 시 달라질 수 있습니다.",
        "연말정산 소득공제 대상 거래입니다.",
        "이번 결제건은 포인트 50원 적립 예정이에요",
        "예) 취소 시 3일 이내 환불",
    ],
)
def test_footer_of_a_payment_refuses_nothing(footer: str) -> None:
    text = f"신한카드(1309)승인 홍*동\n4,800원 일시불\n11/10 08:31 바람커피\n{footer}"
    parsed = parse(text, RECEIVED_AT)

    assert (parsed.recognized, parsed.amount, parsed.card_hint) == (True, 4800, "1309")


@pytest.mark.parametrize(
    "text",
    [
        "[네이버페이] 아메리카노 외 2건, 총 12,000원 결제가 완료되었습니다. (11/10 08:31)",
        "INR 5,000 spent on HDFC Bank Card xx1234 at HARBOR COFFEE.\nConvert this to EMIs",
    ],
)
def test_sum_or_offer_beside_a_payment_refuses_nothing(text: str) -> None:
    assert parse(text, RECEIVED_AT).recognized


@pytest.mark.parametrize(
    "text",
    [
        "승인 9,000원 11/03 10:11\n가맹점명: 소라커피\n우리카드",
        "9,000원 결제 완료\n우리카드 ・ 소라커피",
    ],
)
def test_marked_name_is_sure(text: str) -> None:
    assert parse(text, RECEIVED_AT).merchant_confidence is Confidence.SURE


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "이용카드: 4598-97**-****-2718\n가맹점명: 새봄문구\n이용금액: 9,000원",
            "2718",
        ),
        (
            "가맹점 | 새봄문구\n결제금액 | 3,500원\n결제수단 | KB국민카드 4132-****-****-2718",
            "2718",
        ),
        ("삼성월렛\n결제 금액 ₩9,000\n새봄문구\n우리카드 · 2718", "2718"),
        ("KJ체크 승인▶9,000원\n새봄문구\n09/02 20:46\n****2718", "2718"),
        ("동백전 2718 승인\n홍*동님 9,000원\n새봄문구 11/14 13:59", "2718"),
        (
            "HSBC: Your credit card (2*18) was used for HKD68.00 at MAPLE on 17Oct.",
            "2*18",
        ),
        ("Online Purchase By:2718 ;Visa Amount:9.00 SAR At:Maple", "2718"),
    ],
)
def test_digits_of_a_card_are_found_in_every_print(text: str, hint: str) -> None:
    parsed = parse(text, RECEIVED_AT)

    assert parsed.recognized
    assert parsed.card_hint == hint


@pytest.mark.parametrize(
    "text",
    [
        "[Web발신]\nNH농협 11/21 17:40\n체크카드(3*1*) ATM출금 200,000원\n수수료 1,300원",
        "신한카드(2718)단기카드대출 홍*동\n300,000원 승인\n11/14 21:08",
        "[롯데카드] 홍*동님, 새봄문구 480,000원 이용건을 6개월 분할납부로 전환했습니다.",
        "우리카드(2718) 분실신고 접수\n11/16\n마지막 승인 새봄문구 4,800원",
        "DBS: You made a cash withdrawal of SGD 80.00 with card ending 2718.",
        "Points redemption of $20.00 was posted to your card ending in 2718.",
        "JCBカード／キャッシングご利用のお知らせ\n【ご利用日時】2026/11/06\n【ご利用金額】40,000円",
        "[카카오페이] 내일(12/01) 정기결제가 진행돼요.\n- 상점: 소라뮤직\n- 금액: 8,400원",
        "Discover: You've spent $1,500.00 on your card ending in 2718 this billing period.",
        "우리카드(2718) 취소접수 12,000원 소라꽃집",
    ],
)
def test_cash_points_sums_and_announcements_are_no_payments(text: str) -> None:
    assert not parse(text, RECEIVED_AT).recognized
    assert not parse(text, RECEIVED_AT, with_opinion=False).recognized


def test_page_of_an_issuer_names_it_and_the_page_of_a_stranger_does_not() -> None:
    alert = "You made a $84.00 transaction with MAPLE BOOKS. Manage alerts at {}."

    own = parse(alert.format("chase.com"), RECEIVED_AT, with_opinion=False)
    assert own.card_company == "Chase"
    for page in ("chase.com.example.top", "http://chase.com/a", "my-chase.com"):
        other = parse(alert.format(page), RECEIVED_AT, with_opinion=False)
        assert other.card_company is None, page
