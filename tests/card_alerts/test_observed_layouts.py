"""Rules of layouts that were observed in public, over 60 texts each."""

from decimal import Decimal

import pytest

from card_alerts import Kind, ParseResult, Reason, parse
from card_alerts.result import BookingDirection, BookingPurpose
from tests.support.alert_samples import RECEIVED_AT
from tests.support.alert_variants import variants


def read(text: str, title: str = "") -> ParseResult:
    return parse(text, RECEIVED_AT, title=title)


@pytest.mark.parametrize(
    "card", ["우리카드({digits})", "KB국민BC({digits})", "{card}({digits})"]
)
def test_collected_automatic_payment_is_an_approval_of_its_day(card: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n{card}매출접수\n문*봄님\n{{paid:,}}원\n10월31일기준\n{{shop}}",
        f"[Web발신]\n{card}매출접수\n문*봄님\n{{paid:,}}원\n10월31일 기준\n{{shop}}",
    ):
        parsed = read(text)
        expected = (Kind.APPROVAL, parts["paid"], parts["shop"], parts["digits"])
        found = (parsed.kind, parsed.amount, parsed.merchant, parsed.card_hint)
        assert found == expected, text
        assert f"{parsed.occurred_on:%m-%d}" == "10-31", text


def test_day_of_a_cancellation_is_no_name() -> None:
    for text, parts in variants(
        "[Web발신]\n[취소완료]\n우리카드({digits})\n문*봄님\n{paid:,}원\n11월18일 기준\n{shop}",
        "[Web발신]\n[삼성카드]취소\n10/29거래 2건\n{shop}\n-{paid:,}원",
        "[Web발신]\n[승인취소]\n{paid:,}원\n우리카드({digits})법인-노*새\n{minute}\n{shop}",
    ):
        parsed = read(text)
        expected = (Kind.CANCELLATION, parts["paid"], parts["shop"])
        assert (parsed.kind, parsed.amount, parsed.merchant) == expected, text
        assert parsed.card_company in {"우리", "삼성"}, text


def test_line_with_dots_between_its_parts() -> None:
    for text, parts in variants(
        "기업BC(1*4*)조**님. {minute}.일시불.{paid:,}원.32TOP적립예정.{shop}",
        "기업BC(1*4*)조**님. {minute}.일시불.{paid:,}원.{shop}",
    ):
        parsed = read(text)
        expected = ("IBK기업", parts["paid"], parts["shop"], "1*4*")
        found = (parsed.card_company, parsed.amount, parsed.merchant, parsed.card_hint)
        assert found == expected, text


@pytest.mark.parametrize("word", ["승인", "취소"])
@pytest.mark.parametrize("product", ["네이버", "코스트코", "대한항공030"])
def test_product_in_hangul_behind_a_short_name(product: str, word: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n현대 {product} {word}\n강*연\n{{paid:,}}원 일시불\n{{minute}}\n{{shop}}",
        f"[Web발신]\n현대 {product} {word} 강*연 {{paid:,}}원 일시불 {{minute}} {{shop}}",
    ):
        parsed = read(text)
        expected = ("현대", f"현대 {product}", parts["paid"], parts["shop"])
        found = (parsed.card_company, parsed.card_hint, parsed.amount, parsed.merchant)
        assert found == expected, text


@pytest.mark.parametrize(
    "product", ["LGU+ M Ed3(통할2.0)", "SKT-M Ed3(통할2.0)", "KT M Ed2"]
)
def test_product_of_a_partner_without_an_issuer_is_the_hint(product: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n{product} 승인\n강*연\n{{paid:,}}원 일시불\n{{minute}}\n{{shop}}\n누적871,524원",
        f"오은주 님, {product} 승인 {{paid:,}}원 일시불, {{minute}}\n{{shop}}\n누적732,910원",
    ):
        for title, company in (("", None), ("현대카드", "현대")):
            parsed = read(text, title)
            expected = (company, product, parts["paid"], parts["shop"])
            found = (
                *(parsed.card_company, parsed.card_hint),
                *(parsed.amount, parsed.merchant),
            )
            assert found == expected, text


def test_product_of_lotte_and_the_digits_behind_it() -> None:
    for text, parts in variants(
        "{shop}\n{paid:,}원 승인\n심*진 로카 X 세라온 8*7*\n일시불 {minute}\n누적 2,725,968원",
        "{shop}\n{paid:,}원 승인\n노*들 트립투로카(8*7*)\n일시불, {minute}\n누적금액 134,776원",
    ):
        parsed = read(text)
        expected = ("롯데", "8*7*", parts["paid"], parts["shop"])
        found = (parsed.card_company, parsed.card_hint, parsed.amount, parsed.merchant)
        assert found == expected, text


@pytest.mark.parametrize("product", ["LIKIT", "365"])
def test_product_in_brackets_is_the_hint(product: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n롯데카드({product})\n11/19(목) 14:30\n{{shop}}\n{{paid:,}}원 승인\n일시불"
    ):
        parsed = read(text)
        expected = ("롯데", product, parts["paid"], parts["shop"])
        found = (parsed.card_company, parsed.card_hint, parsed.amount, parsed.merchant)
        assert found == expected, text


@pytest.mark.parametrize(("currency", "country"), [("JPY", "JP"), ("THB", "TH")])
def test_country_before_the_name_and_balance_of_a_travel_card(
    currency: str, country: str
) -> None:
    for text, parts in variants(
        f"SOL트래블해외승인 {{minute}}\n{currency} {{paid:,}} 잔액{currency}61,060 "
        f"({country}){{store}}"
    ):
        parsed = read(text)
        expected = ("신한", currency, parts["paid"], parts["store"])
        found = (
            *(parsed.card_company, parsed.currency),
            *(parsed.original_amount, parsed.merchant),
        )
        assert found == expected, text
        assert (parsed.balance, parsed.balance_currency) == (
            Decimal(61_060),
            currency,
        ), text


def test_notice_behind_or_below_a_payment_decides_nothing() -> None:
    for text, parts in variants(
        "(2*3*)설*결 {minute}/해외/승인/KRW {paid:,}/{store}               해외 이용 시 "
        "환율에 따라 청구금액이 달라질 수 있습니다.",
        "{store} {paid:,}원 일시불 결제완료 (매월 정기결제)",
        "삼성카드승인 {minute} {paid:,}원 일시불 {store} *누적 7,360,278원",
        "삼성카드승인 {minute} {paid:,}원 일시불 {store}*누적 7,360,278원",
        "{store} {paid:,}원 해외 승인완료 (토스페이)",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["store"]), text


def test_next_payment_of_a_receipt_is_no_future_payment() -> None:
    receipt = (
        "[네이버페이] 결제내역 안내 (정기/반복결제)\n주문번호 : 2026110212345671\n상품명 : {shop}\n"
        "결제금액 : {paid:,}원\n결제일시 : 2026.11.02 14:30\n결제수단 : 네이버페이 머니"
    )
    for text, parts in variants(f"{receipt}\n다음 결제 예정일 : 2026.12.02", receipt):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text
    announced = "[네이버페이] 정기결제 안내\n상품명 : {shop}\n결제금액 : {paid:,}원\n"
    for text, _ in variants(f"{announced}다음 결제 예정일 : 2026.12.02"):
        assert not read(text).recognized, text


def test_tolls_are_named_without_their_number() -> None:
    for text, parts in variants(
        "[롯데카드]\n심*진님 10월 이용\n하이패스 27건 {paid:,}원,\n11월 02일 승인"
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], "하이패스"), text


def test_purchase_that_the_phone_bill_collects() -> None:
    for text, parts in variants(
        "[Web발신]\n[kg이니시스]\n{minute}\n{paid:,}원 익월\n합산요금청구",
        "[Web발신]\n(KG이니시스)\n{minute}\n{paid:,}원 합산요금청구",
    ):
        parsed = read(text)
        expected = (Kind.APPROVAL, None, parts["paid"], None)
        found = (parsed.kind, parsed.card_company, parsed.amount, parsed.merchant)
        assert found == expected, text


def test_withdrawn_benefit_is_not_the_amount_of_a_cancellation() -> None:
    for text, parts in variants(
        "온통대전 체크카드({digits}) 승인취소 {paid:,}원 캐시백적립취소 {benefit:,}원 {minute} "
        "{shop} 잔액65,859원",
        "동백전 결제취소 {paid:,}원 캐시백 취소 {benefit:,}원 {minute} {shop} 잔액65,859원",
        "동백전 결제취소 {paid:,}원 캐시백 회수 {benefit:,}원 {minute} {shop} 잔액65,859원",
    ):
        parsed = read(text)
        expected = (Kind.CANCELLATION, parts["paid"], parts["shop"])
        assert (parsed.kind, parsed.amount, parsed.merchant) == expected, text


@pytest.mark.parametrize("name", ["한화이음", "달빛페이", "온마을페이"])
def test_name_at_its_place_is_no_local_currency(name: str) -> None:
    for text, _ in variants(
        f"오은주 님, 현대카드 M 승인 {{paid:,}}원 일시불, {{minute}} \n{name} \n누적2,022,048원"
    ):
        assert read(text).merchant == name, text


def test_title_may_be_the_beginning_of_the_name() -> None:
    for text, parts in variants("토스트{shop}에서 {paid:,}원 결제했어요"):
        parsed = read(text, "토스")
        expected = ("토스", f"토스트{parts['shop']}")
        assert (parsed.card_company, parsed.merchant) == expected, text


@pytest.mark.parametrize(
    "shop", ["이마트24", "바람커피", "두레마트 역삼점", "(주)누리", "스타벅스 강남"]
)
def test_arrow_from_an_account_to_a_shop_tells_a_purchase(shop: str) -> None:
    for text, parts in variants(
        f"{{paid:,}}원 출금\n토스뱅크 통장 → {shop}",
        f"{{paid:,}}원 출금\n내 토스뱅크 통장 → {shop}",
    ):
        parsed = read(text)
        expected = (Kind.APPROVAL, "토스뱅크", parts["paid"], shop)
        found = (
            *(parsed.kind, parsed.card_company),
            *(parsed.amount, parsed.merchant),
        )
        assert found == expected, text


@pytest.mark.parametrize(
    "name",
    [
        "홍길동",
        "홍*동",
        "11월 관리비",
        "하나카드",
        "쿠팡페이",
        "신한은행",
        "세이프박스",
        "강남지점",
    ],
)
def test_arrow_from_an_account_to_another_name_tells_a_transfer(name: str) -> None:
    for text, parts in variants(
        f"{{paid:,}}원 출금\n토스뱅크 통장 → {name}",
        f"카카오뱅크\n{{minute}}\n출금 {{paid:,}}원\n입출금통장({{digits}}) → {name}",
    ):
        parsed = read(text)
        assert parsed.reason is Reason.BANK_TRANSFER, text
        assert parsed.bank_booking is not None
        assert parsed.bank_booking.amount == parts["paid"], text


def test_bill_of_a_card_that_a_bank_tells_is_no_payment() -> None:
    for text, parts in variants(
        "[Web발신]\n{card}결제 {paid:,}원 출금 완료 잔액 600,000원",
        "[Web발신]\n{card}결제 {paid:,}원 출금\n잔액 600,000원",
    ):
        parsed = read(text)
        assert parsed.reason is Reason.BANK_TRANSFER, text
        booking = parsed.bank_booking
        assert booking is not None
        expected = (BookingPurpose.CARD_BILL, parts["paid"], Decimal(600_000))
        assert (booking.purpose, booking.amount, booking.balance) == expected, text
    for text, parts in variants("{card} 체크카드출금 {paid:,}원 {shop} 잔액 600,000원"):
        assert read(text).amount == parts["paid"], text


@pytest.mark.parametrize("amount", [1, 12, 123, 999])
@pytest.mark.parametrize("word", ["입금", "출금"])
def test_booking_below_a_thousand_without_a_unit(word: str, amount: int) -> None:
    for text, _ in variants(
        f"예금이자 {word} {amount} 잔액140,123",
        f"[KB]{{minute}} 402701**881 예금이자 {word} {amount} 잔액140,123",
        f"신한 {{minute}} 110-496-9***82 {word} {amount} 예금이자 잔액 140,123",
    ):
        booking = read(text).bank_booking
        assert booking is not None, text
        assert (booking.amount, booking.balance) == (amount, Decimal(140_123)), text
        is_deposit = booking.direction is BookingDirection.DEPOSIT
        assert is_deposit or word == "출금", text


ENGLISH_NAMES = (
    *(("Shinhan", "신한"), ("KB Kookmin", "KB국민"), ("Samsung", "삼성")),
    *(("Hyundai", "현대"), ("Lotte", "롯데"), ("Woori", "우리"), ("Hana", "하나")),
    *(("BC", "BC"), ("NH NongHyup", "NH농협"), ("IBK", "IBK기업")),
)


@pytest.mark.parametrize(("name", "company"), ENGLISH_NAMES)
def test_english_text_of_a_korean_issuer(name: str, company: str) -> None:
    for text, parts in variants(
        f"{name} Card approved KRW {{paid:,}} at {{store}} {{minute}}",
        f"[{name} Card] Approved KRW {{paid:,}} {{store}} {{minute}}",
        f"{name} Card({{digits}}) KRW {{paid:,}} approved {{minute}} {{store}}",
    ):
        parsed = read(text)
        expected = (Kind.APPROVAL, company, parts["paid"], parts["store"])
        found = (
            *(parsed.kind, parsed.card_company),
            *(parsed.amount, parsed.merchant),
        )
        assert found == expected, text
        assert f"{parsed.occurred_at:%m/%d %H:%M}" == parts["minute"], text


@pytest.mark.parametrize("word", ["Deposit", "Withdrawal"])
def test_english_booking_of_a_korean_bank(word: str) -> None:
    for text, parts in variants(
        f"[Shinhan Bank] {word} KRW {{paid:,}} {{minute}} Kim Balance KRW 145,000",
        f"[Woori Bank] {word} KRW {{paid:,}} {{minute}} Kim Balance KRW 145,000",
    ):
        booking = read(text).bank_booking
        assert booking is not None, text
        assert booking.direction is BookingDirection[word.upper()], text
        assert booking.bank in {"신한", "우리"}, text
        expected = (parts["paid"], "Kim", Decimal(145_000))
        assert (booking.amount, booking.counterparty, booking.balance) == expected, text


def test_name_behind_a_time_and_before_a_limit() -> None:
    for text, parts in variants(
        "Spent Card no. XX1231 INR {paid:,} 15-11-26 10:22:33 {store} Avl Lmt INR 100000",
        "Spent Card no. XX1231 INR {paid:,} 15-11-26 10:22 {store} Avl Limit: INR 900",
    ):
        parsed = read(text)
        expected = ("INR", parts["paid"], parts["store"])
        found = (parsed.currency, parsed.original_amount, parsed.merchant)
        assert found == expected, text


def test_digits_of_a_japanese_receipt() -> None:
    parsed = read(
        "【ご利用のお知らせ】\nご利用日時:2026/11/07 12:34\nご利用店名:たぬき書店\nご利用金額:4,350円\n"
        "カード番号(下4桁):1231\n三井住友ゴールドVISA(NL)"
    )
    assert (parsed.card_hint, parsed.merchant) == ("1231", "たぬき書店")


def test_reason_of_a_decline_is_no_name() -> None:
    for text, parts in variants(
        "[Web발신] [신한체크거절] 남*담({digits}) {minute} (금액){paid:,}원 {shop} 예금잔액부족",
        "{card}({digits}) 승인거절 {paid:,}원 {minute} {shop} 한도초과",
    ):
        parsed = read(text)
        expected = (Kind.DECLINED, parts["paid"], parts["shop"])
        assert (parsed.kind, parsed.amount, parsed.merchant) == expected, text
    for text, parts in variants(
        "[Web발신] {card} 노*연님 {minute} {shop} 승인거절:출금 가능한 금액이 부족합니다"
    ):
        parsed = read(text)
        assert (parsed.kind, parsed.merchant) == (Kind.DECLINED, parts["shop"]), text
    for text, parts in variants("한도 초과로 승인 거절 {paid:,}원"):
        parsed = read(text, "삼성월렛")
        found = (parsed.kind, parsed.amount, parsed.merchant)
        assert found == (Kind.DECLINED, parts["paid"], None), text


def test_deposit_with_its_amount_is_a_text_of_a_bank() -> None:
    for text, parts in variants(
        "카카오톡 입금 {paid:,}원 출금계좌 카카오뱅크",
        "월급 {paid:,}원 입금 · 결제 계좌 안내",
    ):
        parsed = read(text)
        assert parsed.reason is Reason.BANK_TRANSFER, text
        assert parsed.bank_booking is not None
        assert parsed.bank_booking.amount == parts["paid"], text
    for text, _ in variants(
        "{card} 결제금액 {paid:,}원 출금계좌 국민은행 {day} 출금예정"
    ):
        assert read(text).reason is Reason.STATEMENT, text
