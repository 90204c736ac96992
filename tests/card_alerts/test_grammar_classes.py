"""Rules of the grammar over 60 texts each, of generated names, amounts and dates."""

import random

import pytest

from card_alerts import Kind, ParseResult, parse
from tests.support.alert_samples import RECEIVED_AT
from tests.support.alert_variants import SEED, VARIANTS, variants


def read(text: str) -> ParseResult:
    return parse(text, RECEIVED_AT)


BENEFITS = (
    "캐시백 {benefit:,}원",
    "캐시백 {benefit:,}원 적립",
    "{benefit:,}원 캐시백",
    "적립 {benefit:,}원",
    "적립금 {benefit:,}원",
    "인센티브 {benefit:,}원",
    "인센티브 {benefit:,}원 지급",
    "캐시백 예정금액 {benefit:,}원",
    "캐시백: +{benefit:,}원",
    "페이백 {benefit:,}원",
    "{benefit}P 적립",
    "청구할인 {benefit:,}원",
)


@pytest.mark.parametrize("benefit", BENEFITS)
def test_amount_of_a_benefit_is_never_that_of_the_payment(benefit: str) -> None:
    for text, parts in variants(
        f"동백전 결제 {{paid:,}}원 {{shop}} {{minute}} {benefit}",
        f"인천e음 결제 승인 {{paid:,}}원 {{shop}} {benefit} {{minute}} 잔액 177,000원",
        f"{{card}}({{digits}})승인\n{{paid:,}}원 일시불\n{{minute}}\n{{shop}}\n{benefit}",
        f"{{card}}({{digits}})승인 {{paid:,}}원(일시불){{minute}} {{shop}} {benefit}",
        f"결제 완료\n{{paid:,}}원 · {{shop}}\n{benefit}\n{{minute}}",
        f"여민전 결제 {{paid:,}}원\n{benefit}\n{{shop}}\n{{minute}}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text
        assert parsed.occurred_at, text


@pytest.mark.parametrize("fee", ["해외이용수수료", "취급수수료", "수수료"])
def test_fee_is_not_the_amount_of_the_payment(fee: str) -> None:
    for text, parts in variants(
        f"{{card}}({{digits}})승인 백*우 {{paid:,}}원(일시불){{minute}} {{shop}} {fee} 120원",
        f"{{card}}({{digits}})승인\n{{paid:,}}원\n{fee} 120원\n{{minute}}\n{{shop}}",
        f"{{card}}({{digits}})해외승인 KRW {{paid:,}}\n{fee} 120원\n{{minute}} {{shop}}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


def test_country_behind_two_blanks_is_no_part_of_the_name() -> None:
    for text, parts in variants(
        "[Web발신]\nKB국민카드{digits} 해외승인\n서*연님\n"
        "{price:,}({currency}) {minute}\n{store}  {country}",
        "[Web발신]\n신한카드 해외승인 서*연({digits}) {minute} {price:,.2f} {currency} "
        "{store}   {country}",
        "결제\n(8*3*)차*인님 {minute}/해외/승인/KRW {paid:,}/{store}  {country}",
        "삼성{digits}해외승인 임*준\n{currency} {price:,}\n{minute} {store}  {country}",
    ):
        assert read(text).merchant == parts["store"], text


def test_reserved_amount_is_preliminary_wherever_the_word_stands() -> None:
    for text, parts in variants(
        "[Web발신]\n삼성{digits}승인 임*준\n{paid:,}원 일시불\n{minute} {shop} 가승인",
        "{card}({digits})승인 임*준 {paid:,}원(일시불){minute} {shop} 선승인",
        "{card}({digits})가승인 임*준 {paid:,}원(일시불){minute} {shop}",
        "[Web발신]\n삼성{digits}승인 임*준\n{paid:,}원 일시불\n{minute} {shop}\n(가승인)",
    ):
        parsed = read(text)
        assert parsed.is_preliminary, text
        assert parsed.merchant == parts["shop"], text


def test_automatic_payment_that_was_approved_is_a_payment() -> None:
    for text, parts in variants(
        "[{card}] 백*우님 {day} 자동납부 정상승인 {shop} {paid:,}원",
        "[{card}] 백*우님 {minute} 자동납부 승인 {shop} {paid:,}원",
        "[{card}] 백*우님 {minute} 자동결제 승인 {shop} {paid:,}원",
        "[{card}] 백*우님 {minute} 정기결제 정상승인 {shop} {paid:,}원",
        "[{card}] 백*우님 {minute} 자동이체 승인 {shop} {paid:,}원",
        "{card}({digits}) 백*우님 {minute} 정상승인 {shop} {paid:,}원",
        "{card} 자동결제 완료\n- 이용처 : {shop}\n- 결제금액 : {paid:,}원\n- 결제일시 : {minute}",
    ):
        parsed = read(text)
        assert parsed.kind is Kind.APPROVAL, text
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


LABELS = (
    *(
        "충전소",
        "주유소",
        "주차장",
        "가게",
        "판매처",
        "구입처",
        "결제매장",
        "이용한 곳",
    ),
    *("가게명", "지점명", "병원명", "사업자명", "결제하신 곳", "사용처", "가맹점명"),
)


def test_label_without_a_colon_at_the_beginning_of_a_line() -> None:
    for text, parts in variants(
        "충전소명 {shop}\n충전요금 {paid:,}원 결제 완료\n{card}({digits})\n{minute}",
        "네이버페이 결제가 완료되었습니다.\n상점명 {shop}\n결제금액 {paid:,}원\n{minute}",
        "주유소명: {shop} {paid:,}원 결제 {card} {minute}",
        "주차장: {shop} / {paid:,}원 결제완료 / {card}({digits}) / {minute}",
        "카카오페이 결제 완료\n{paid:,}원\n{shop}\n결제수단 카카오페이머니\n{minute}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


@pytest.mark.parametrize("label", LABELS)
def test_label_is_no_part_of_the_name(label: str) -> None:
    for text, parts in variants(
        f"충전요금 결제 완료\n{label}: {{shop}}\n결제금액: {{paid:,}}원\n"
        "결제카드: {card}({digits})\n결제일시: 2026-{day} 22:10",
        f"[알림] {{paid:,}}원 결제가 완료되었습니다. ({label}: {{shop}})",
        f"[알림] {{paid:,}}원 결제가 완료되었습니다. ({label} : {{shop}}) {{minute}}",
        f"{{card}}({{digits}})승인\n{label} : {{shop}}\n{{paid:,}}원\n{{minute}}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


def test_method_of_payment_is_no_name() -> None:
    for text, parts in variants(
        "[카카오페이] 바코드 결제 {paid:,}원 완료 / {shop} / {method} / {minute}",
        "[카카오페이] 결제 {paid:,}원 완료 / {method} / {shop} / {minute}",
        "네이버페이\n현장결제 {paid:,}원 완료\n{shop}\n포인트·머니 결제",
        "네이버페이\n현장결제 {paid:,}원 완료\n{shop}\n머니 결제",
        "네이버페이\n현장결제 {paid:,}원 완료\n{shop}\n포인트 + 카드 결제",
        "[네이버페이] 결제취소안내 {shop} {paid:,}원 결제가 취소되었습니다. "
        "환불수단: {card}({digits})",
        "[네이버페이] 결제완료 {shop} {paid:,}원 결제수단: {card}({digits})",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


def test_balance_in_a_foreign_currency_has_its_currency() -> None:
    for text, parts in variants(
        "[트래블로그] {currency} {price:,} 결제\n{store}\n{minute}\n"
        "외화하나머니 잔액 {currency} {money_left:,}",
        "{currency} {price:,} 결제 완료\n{store}\n잔액 {currency} {money_left:,}",
        "{currency} {price:,} 결제 완료\n{store}\n{currency} 잔액 {money_left:,}",
        "[트래블로그] {currency} {price:,} 결제\n{store}\n{minute}\n"
        "외화통장 잔액: {money_left:,} {currency}",
    ):
        parsed = read(text)
        expected = (parts["money_left"], parts["currency"])
        assert (parsed.balance, parsed.balance_currency) == expected, text
        paid = (parts["price"], parts["currency"], parts["store"])
        assert (parsed.original_amount, parsed.currency, parsed.merchant) == paid, text


def test_balance_in_won_has_no_currency() -> None:
    for text, parts in variants(
        "{card}({digits})승인 {paid:,}원 {minute} {shop} 잔액 {won_left:,}원",
        "체크카드 승인\n{paid:,}원\n{shop}\n{minute}\n페이머니 잔액 {won_left:,}원",
    ):
        parsed = read(text)
        expected = (parts["won_left"], None, parts["shop"])
        found = (parsed.balance, parsed.balance_currency, parsed.merchant)
        assert found == expected, text


REFUSED = {
    "limits": (
        "[하나카드] 차*인님 임시한도 {paid:,}원 승인 ({day}~{day})",
        "[{card}] 임*아님 이용한도가 1,000,000원에서 {paid:,}원으로 상향 승인되었습니다.",
        "[{card}] 한도증액 {paid:,}원 승인되었습니다. {minute}",
        "{card} 특별한도 {paid:,}원이 부여되었습니다. {day}까지",
        "[{card}] 신청하신 한도 {paid:,}원으로 승인 완료",
        "[{card}] 해외이용한도 {paid:,}원 설정 완료 {minute}",
    ),
    "issued cards and loans": (
        "[{card}] 임*아님 신청하신 카드 발급이 승인되었습니다. 연회비 {paid:,}원",
        "[{card}] 카드발급 승인 안내 {minute} 연회비 {paid:,}원",
        "[{card}] 임*아님 카드 발급심사 승인 완료, 연회비 {paid:,}원",
        "[{card}] 장기카드대출 {paid:,}원 승인되었습니다. {minute}",
        "[{card}] 카드론 {paid:,}원 승인 {minute}",
        "[{card}] 임*아님 재발급 신청 접수되었습니다. 수수료 {paid:,}원",
    ),
    "requested cancellations": (
        "{card} 취소접수 안내: {paid:,}원 {shop} 건은 3~5일 후 취소 처리될 예정입니다.",
        "[{card}] {minute} {shop} {paid:,}원 취소접수",
        "{card}({digits}) 취소 요청 {paid:,}원 {shop} {minute}",
        "[{card}] 취소신청 {paid:,}원 {shop}, 영업일 3일 내 처리됩니다.",
        "[{card}] {shop} {paid:,}원 환불 예정입니다. {day}",
        "[{card}] {shop} {paid:,}원 승인취소가 진행될 예정이에요",
    ),
    "grants in English": (
        "Your Chase credit limit increase to ${price:,} has been approved.",
        "Chase: your credit limit has been increased to ${price:,}.",
        "Good news! Citi increased your card limit to ${price:,}. Approved on {day}.",
        "HDFC Bank: your loan of Rs.{price:,} has been approved.",
        "Your application for a Chase card with ${price:,} limit was approved.",
        "Amex: your new Gold card has been approved. Annual fee ${price:,} charged yearly.",
    ),
}


@pytest.mark.parametrize("group", REFUSED)
def test_what_is_granted_or_requested_is_no_payment(group: str) -> None:
    for text, _ in variants(*REFUSED[group]):
        parsed = read(text)
        assert (parsed.recognized, parsed.kind) == (False, None), text


def test_payment_with_words_of_a_grant_in_the_name_is_one() -> None:
    for text, parts in variants(
        "[Web발신]\n{card}({digits})승인 임*준\n{paid:,}원 일시불\n{minute} 발급완료 {shop}",
        "[Web발신]\n{card}({digits})승인 임*준\n{paid:,}원 일시불\n{minute} 한도상향{shop}",
    ):
        parsed = read(text)
        assert (parsed.kind, parsed.amount) == (Kind.APPROVAL, parts["paid"]), text


@pytest.mark.parametrize(
    ("printed", "company"),
    [
        ("롯데", "롯데"),
        ("삼성", "삼성"),
        ("현대", "현대"),
        ("우리", "우리"),
        ("하나", "하나"),
        ("국민", "KB국민"),
        ("신한", "신한"),
    ],
)
def test_company_beside_the_terms_in_brackets(printed: str, company: str) -> None:
    for text, parts in variants(
        f"(나이스페이) {{shop}} {{paid:,}}원 카드승인 완료 [{printed} 일시불] {{minute}}",
        f"{{shop}} {{paid:,}}원 결제완료 ({printed} 3개월) {{minute}}",
        f"[이니시스] {{shop}} {{paid:,}}원 결제완료 ({printed}/일시불) {{minute}}",
        f"(KCP) {{shop}} {{paid:,}}원 결제완료 [{printed}카드] {{minute}}",
    ):
        parsed = read(text)
        expected = (company, parts["paid"], parts["shop"])
        assert (parsed.card_company, parsed.amount, parsed.merchant) == expected, text


def test_shop_beside_the_arrow_of_an_account() -> None:
    for text, parts in variants(
        "체크카드 {paid:,}원 출금\n내 토스뱅크 통장 → {shop}",
        "토스뱅크\n체크카드 {paid:,}원 출금\n생활비 통장({digits}) → {shop}",
        "카카오뱅크\n{minute}\n취소 {paid:,}원\n{shop} → 입출금통장({digits})\n잔액 235,300원",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text
        assert parsed.card_company, text
        assert parsed.card_hint is None, text


def test_words_without_blanks_between_amount_and_card() -> None:
    for text, parts in variants(
        "토스{paid:,}원 결제{card} | {shop}(3개월)",
        "토스{paid:,}원 결제 완료{card} | {shop}",
        "토스 {paid:,}원 취소{card} | {shop}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text
        assert parsed.card_company == parts["card"].removesuffix("카드"), text


@pytest.mark.parametrize(
    "bought", ["택시", "승차권", "시외버스", "주차 요금", "자동충전"]
)
def test_service_in_the_heading_is_the_merchant(bought: str) -> None:
    for text, parts in variants(
        f"[모두이동] {bought} 자동결제 완료 {{paid:,}}원 {{minute}} {{card}}({{digits}})",
        f"[모두이동] {bought} 결제완료 {{paid:,}}원 {{minute}} KTX 101 서울→부산 {{card}}",
        f"[모두이동] {bought} {{paid:,}}원 결제 완료 ({{card}} {{digits}}) {{day}}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], "모두이동"), text


def test_heading_of_approvals_above_an_amount_and_a_time_tells_a_payment() -> None:
    for text, parts in variants(
        "IBK 카드 해외 승인내역 알림 , {store}\n${price:,}/ {paid:,}원\n2026.11.04 23:01:09",
        "{card} 승인내역 안내\n{store}\n{paid:,}원\n{minute}",
        "[{card}] 이용내역 알림\n{store} {paid:,}원 {minute}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["store"]), text


def test_withdrawal_of_woori_at_a_shop_is_a_purchase_and_others_are_none() -> None:
    for text, parts in variants(
        "[Web발신]\n우리 {minute}\n*771200\n출금 {paid:,}원\n바람김밥 역삼점\n잔액 18,058원",
        "[Web발신] 우리 {minute} *771200 출금 {paid:,}원 초록마트 잔액 18,058원",
    ):
        parsed = read(text)
        assert (parsed.kind, parsed.amount) == (Kind.APPROVAL, parts["paid"]), text
    for text, _ in variants(
        "[Web발신] 우리 {minute} *771200 출금 {paid:,}원 홍길동 잔액 18,058원",
        "[Web발신] 우리 {minute} *771200 출금 {paid:,}원 우리카드결제대 잔액 18,058원",
        "[Web발신] 우리 {minute} *771200 출금 {paid:,}원 강남지점 잔액 18,058원",
        "[Web발신] 신한 {minute} 110-496-9***82 출금 {paid:,} 초록마트 잔액 370,210",
    ):
        assert not read(text).recognized, text


def test_refund_that_was_posted_ends_the_name() -> None:
    for text, parts in variants(
        "Wells Fargo: A refund of ${price:,} from {store} posted to your credit card "
        "ending in {digits} on 11/09.",
        "Chase: your ${price:,} refund from {store} was processed on 11/09.",
        "Citi: ${price:,} was refunded by {store} credited to card ending {digits}",
    ):
        parsed = read(text)
        assert (parsed.kind, parsed.merchant) == (Kind.CANCELLATION, parts["store"]), (
            text
        )


@pytest.mark.parametrize("printed", ["2026年{}月{}日 {}:{}", "2026/{}/{} {}:{}"])
def test_japanese_date_and_time(printed: str) -> None:
    source = random.Random(SEED)
    for _ in range(VARIANTS):
        day = source.randint(1, 28)
        month, hour, minute = source.randint(1, 12), source.randint(0, 23), 17
        parsed = read(
            "JCBカード/ショッピングご利用のお知らせ\n【ご利用日時(日本時間)】 "
            f"{printed.format(month, day, hour, minute)}\n【ご利用金額】 1,500円\n"
            "【ご利用先】 たぬき書店"
        )
        assert parsed.occurred_at is not None
        found = parsed.occurred_at
        assert (found.month, found.day, found.hour) == (month, day, hour)


def test_words_of_these_rules_in_a_name_decide_nothing() -> None:
    for text, parts in variants(
        "{card}({digits})승인 백*우 {paid:,}원(일시불){minute} 발급기 {shop} 누적120,000원",
        "{card}({digits})승인\n서*연님\n{paid:,}원 일시불\n{minute}\n캐시백24 {shop}",
        "{card}({digits})승인\n서*연님\n{paid:,}원 일시불\n{minute}\n환불없는 {shop}",
        "{card}({digits})승인\n서*연님\n{paid:,}원 일시불\n{minute}\n대출도서 {shop}",
        "{card}({digits})승인\n서*연님\n{paid:,}원 일시불\n{minute}\n주차장집 {shop}",
    ):
        parsed = read(text)
        assert parsed.amount == parts["paid"], text
        assert parsed.merchant is not None
        assert parsed.merchant.endswith(parts["shop"]), text
        assert parsed.merchant != parts["shop"], text


BOOKINGS = (
    ("서*연님 {minute} 402701-**-***881 {shop} FBS출금 {paid:,} 잔액402,915", "shop"),
    (
        "출금 {paid:,}원서*연님 {minute} 402701-**-***881 {shop} 스마트폰출금 {paid:,}",
        "shop",
    ),
    (
        "부산은행 {day} 타행이체출금 {paid:,}원 {shop} 수수료 500원 잔액 99,500원",
        "shop",
    ),
    ("[신협] {day} 출금 {paid:,}원 전기요금(지로) 잔액 402,300원", "전기요금(지로)"),
    ("[KB]{minute}\n402701**881\n{shop}\n급여\n{paid:,}\n잔액4,120,110", "shop"),
)


@pytest.mark.parametrize(("template", "counterparty"), BOOKINGS)
def test_counterparty_is_without_holder_amount_and_fee(
    template: str, counterparty: str
) -> None:
    for text, parts in variants(template):
        booking = read(text).bank_booking
        assert booking is not None, text
        expected = (parts["paid"], parts.get(counterparty, counterparty))
        assert (booking.amount, booking.counterparty) == expected, text
