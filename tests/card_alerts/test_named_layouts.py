"""Rules of layouts with names of holders, products and companies, over 60 texts each."""

import pytest

from card_alerts import Kind, ParseResult, Reason, parse
from tests.support.alert_samples import RECEIVED_AT
from tests.support.alert_variants import variants


def read(text: str, title: str = "") -> ParseResult:
    return parse(text, RECEIVED_AT, title=title)


@pytest.mark.parametrize("holder", ["남궁민서", "문채담", "강루", "한별하"])
def test_holder_without_a_mask_is_no_merchant(holder: str) -> None:
    for text, parts in variants(
        f"[신한카드] {{paid:,}}원 승인 {holder}({{digits}}) {{shop}} 잔여한도 5,283,000원",
        f"[{{card}}] {{paid:,}}원 취소 {holder}({{digits}}) {{shop}} 잔여한도 5,283,000원",
        f"[Web발신]\nNH카드6*9*승인\n{holder} {{paid:,}}원 체크\n{{minute}}\n{{shop}}",
        f"[Web발신]\nNH카드6*9*승인\n{holder} {{paid:,}}원 체크\n"
        "(지역화폐 {paid:,}원 사용)\n{minute}\n{shop}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text
        assert parsed.card_hint in {parts["digits"], "6*9*"}, text


@pytest.mark.parametrize("word", ["승인", "취소"])
def test_digits_behind_the_status_are_the_hint(word: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n신한법인{word} {{digits}} {{minute}} {{paid:,}}원 {{shop}} 잔액8,932,000원",
        f"[Web발신]\n[MY COMPANY] {word}\n{{digits}} 문*찬님\n{{minute}}\n{{paid:,}}원\n{{shop}}",
        f"[Web발신]\n[NEW FIRM] 해외{word}\n{{digits}} 문*찬님\n{{minute}}\n{{paid:,}}원\n{{shop}}",
        f"[Web발신]\nMY COMPANY {{digits}}  {word}\n조*희님\n{{minute}}\n{{paid:,}}원 일시불\n{{shop}}",
        f"[Web발신]\nBIG BLUE FIRM {{digits}} {word}\n조*희님\n{{minute}}\n{{paid:,}}원\n{{shop}}",
    ):
        parsed = read(text)
        kind = Kind.APPROVAL if word == "승인" else Kind.CANCELLATION
        assert (parsed.kind, parsed.card_hint) == (kind, parts["digits"]), text
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


@pytest.mark.parametrize(
    "limit",
    [
        *("가용액1,298,000원", "누적가능액 1,217,000원", "지급가능액4,760,000원"),
        *("잔여한도 387,500원", "가용한도 387,500원", "이용가능액 387,500원"),
    ],
)
def test_limit_that_is_left_is_neither_name_nor_total(limit: str) -> None:
    for text, parts in variants(
        f"[Web발신] 하나{{digits}} 승인 강*하 {{paid:,}}원 일시불 {{minute}} {{shop}} {limit}",
        f"[Web발신]\n[체크.승인]\n{{paid:,}}원\n우리카드(3*6*)장*미님\n{{minute}}\n{limit}\n{{shop}}",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text
        assert (parsed.running_total, parsed.balance) == (None, None), text


@pytest.mark.parametrize(
    ("printed", "company", "hint"),
    [
        ("현대(M3){paid:,}원승인\n{minute} 일시불", "현대", "M3"),
        ("현대M카드 장*민님\n{paid:,}원 일시불\n{minute}", "현대", "현대M카드"),
        ("현대X2카드 장*민님\n{paid:,}원 일시불\n{minute}", "현대", "현대X2카드"),
        ("대한항공카드 승인\n장*민\n{paid:,}원 3개월\n{minute}", None, "대한항공카드"),
        ("별나라카드 승인\n장*민\n{paid:,}원 3개월\n{minute}", None, "별나라카드"),
        (
            "씨티카드(2240*55*)\n오지안님\n{minute}\n일시불 {paid:,}원",
            "씨티",
            "2240*55*",
        ),
        ("[삼성카드]해외6845 {minute}\nKRW {paid:,} 승인", "삼성", "6845"),
    ],
)
def test_product_or_number_beside_the_name_is_the_hint(
    printed: str, company: str | None, hint: str
) -> None:
    for text, parts in variants(f"[Web발신]\n{printed}\n{{shop}}"):
        parsed = read(text)
        found = (parsed.card_company, parsed.card_hint, parsed.amount, parsed.merchant)
        assert found == (company, hint, parts["paid"], parts["shop"]), text


def test_card_holder_amount_and_terms_are_an_approval() -> None:
    for text, parts in variants("[Web발신]\n[NH]홍*비님\n{paid:,}원 일시불\n{shop}"):
        parsed = read(text)
        found = (parsed.kind, parsed.card_company, parsed.amount, parsed.merchant)
        assert found == (Kind.APPROVAL, "NH농협", parts["paid"], parts["shop"]), text


def test_withdrawal_abroad_tells_the_amount_in_won() -> None:
    for text, parts in variants(
        "카카오뱅크\n{minute}\n해외 결제 {currency} {price:,}\n체크카드({digits}) | {store}\n"
        "출금 {paid:,}원\n잔액 1,875,453원"
    ):
        parsed = read(text)
        assert parsed.kind is Kind.APPROVAL, text
        assert (parsed.currency, parsed.amount) == (parts["currency"], parts["paid"])
        assert parsed.merchant == parts["store"], text


@pytest.mark.parametrize(
    "benefit",
    ["페이스페이 3,000원 할인", "두레카드 1,200원 즉시할인", "온페이 90원 캐시백"],
)
def test_benefit_with_its_name_is_no_part_of_the_merchant(benefit: str) -> None:
    for text, parts in variants(f"{{paid:,}}원 결제\n토스뱅크 | {{shop}} {benefit}"):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


def test_points_behind_the_merchant_are_no_part_of_it() -> None:
    for text, parts in variants(
        "하나카드({digits}) 백*담 승인 {paid:,}원 일시불 {minute} {shop} 하나머니 56P 적립",
        "하나카드({digits}) 백*담 승인 {paid:,}원 일시불 {minute} {shop} 두레머니 1,560P 적립",
    ):
        assert read(text).merchant == parts["shop"], text


def test_sentence_of_a_cancellation_names_the_shop() -> None:
    for text, parts in variants(
        "[하나카드] 송*태님 10월21일 이용하신 {shop} {paid:,}원 거래가 10월29일 취소 처리되었습니다.",
        "[삼성카드] 송*태님 10월21일 이용하신 {shop} {paid:,}원 승인이 10월29일 취소되었습니다.",
    ):
        parsed = read(text)
        expected = (Kind.CANCELLATION, parts["paid"], parts["shop"])
        assert (parsed.kind, parsed.amount, parsed.merchant) == expected, text


def test_amount_left_after_a_partial_cancellation_is_no_part_of_the_name() -> None:
    for text, parts in variants(
        "삼성카드 승인취소 {paid:,}원 10/31 {shop} 변경된 결제금액 9,000원",
        "삼성카드 승인취소 {paid:,}원 10/31 {shop} 취소후 금액 9,000원",
    ):
        parsed = read(text)
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


@pytest.mark.parametrize("issuer", ["Shinhan", "KB Kookmin", "Hyundai", "Samsung"])
def test_lines_of_an_english_text_of_a_korean_issuer(issuer: str) -> None:
    for text, parts in variants(
        f"[{issuer} Card] Approved\nCard({{digits}}) KRW {{paid:,}} Lump-sum\n11/03 12:02\n"
        "{store}\nAccumulated KRW 1,436,459",
        f"[{issuer} Card]\nCard {{digits}} approved\nKRW {{paid:,}} / one-time payment\n"
        "11/03 12:02\n{store}\nTotal KRW 1,436,459",
        f"{issuer} Card {{digits}} Approval\nKRW {{paid:,}} (Lump sum)\n11/03 12:02\n{{store}}"
        "\nTotal KRW 1,436,459",
    ):
        parsed = read(text)
        found = (parsed.kind, parsed.amount, parsed.merchant, parsed.running_total)
        expected = (Kind.APPROVAL, parts["paid"], parts["store"], 1_436_459)
        assert found == expected, text
        assert parsed.card_hint == parts["digits"], text


def test_shop_above_the_amount_of_a_japanese_mail() -> None:
    for text, parts in variants(
        "三井住友カードのご利用内容\nご利用日時:2026/11/01 09:17\n{store}(買物)\n{paid:,}円\n"
        "カードのご利用及びご請求を確定するものではございません。",
        "dカードをご利用いただきありがとうございます。\n■ご利用日:2026/11/14\n"
        "■ご利用先など:{store}\n■ご利用金額:{paid:,}円",
    ):
        parsed = read(text)
        assert parsed.merchant == parts["store"], text
        assert (parsed.currency, parsed.original_amount) == ("JPY", parts["paid"]), text


@pytest.mark.parametrize(
    "shop", ["씨유(CU)솔길", "GS25 세교R7", "이마트 역삼", "길동약국"]
)
def test_withdrawal_of_woori_at_a_chain_is_a_purchase(shop: str) -> None:
    for text, parts in variants(
        f"[Web발신] 우리 {{minute}}\n*691366\n출금 {{paid:,}}원\n{shop}\n잔액 3,838,388원"
    ):
        parsed = read(text)
        expected = (Kind.APPROVAL, parts["paid"], shop)
        assert (parsed.kind, parsed.amount, parsed.merchant) == expected, text


REFUSED = {
    "[하나카드] 김*수님 카드({digits}) 잔여한도 안내\n총한도 4,000,000원\n"
    "이용금액 {paid:,}원\n잔여한도 387,500원 ({minute} 기준)": Reason.NO_PAYMENT,
    "법인카드({digits}) 일 한도 {paid:,}원이 설정되었습니다. {minute}": Reason.NO_PAYMENT,
    "[NH농협카드] 해외이용 차단 해제가 완료되었습니다. 카드 2*7*, 1회 한도 USD 1,000, "
    "{minute}": Reason.NO_PAYMENT,
    "[우리카드] 김*수님 11/25 자동결제 예정\n{shop} {paid:,}원\n등록카드 우리({digits})": (
        Reason.STATEMENT
    ),
    "[온장부] 11/20 카드승인 17건 {paid:,}원, 취소 1건 12,000원": Reason.NO_PAYMENT,
    "{shop}에서 {paid:,}원 결제를 요청했어요. 11/22까지 확인해 주세요.": Reason.NO_PAYMENT,
    "이용금액이 기업은행에서 출금됐어요.\n- 출금액: {paid:,}원\n- 롯데법인({digits})": (
        Reason.STATEMENT
    ),
    "[주문 전달 실패]\n- 취소 사유 : 주문 전달 실패\n- 매장명 : {shop}\n"
    "- 취소 금액 : {paid:,}원\n취소 환불은 카드사에 따라 약 2~4일 정도 소요될 수 있습니다.": (
        Reason.NO_PAYMENT
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.items())
def test_notice_of_a_limit_a_request_or_a_list_is_no_payment(
    text: str, reason: Reason
) -> None:
    for printed, _ in variants(text):
        parsed = read(printed)
        assert (parsed.recognized, parsed.reason) == (False, reason), printed
