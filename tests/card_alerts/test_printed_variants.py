"""Layouts beside those of the fifth exam: other issuers, words and places."""

import pytest

from card_alerts import Kind, ParseResult, Reason, parse
from tests.support.alert_samples import RECEIVED_AT
from tests.support.alert_variants import variants


def read(text: str, title: str = "") -> ParseResult:
    return parse(text, RECEIVED_AT, title=title)


ENGLISH_NAMES = (
    *(("Shinhan Card", "신한"), ("KB Card", "KB국민"), ("Samsung Card", "삼성")),
    *(("Hyundai Card", "현대"), ("Lotte Card", "롯데"), ("Woori Card", "우리")),
    *(("Hana Card", "하나"), ("NH Card", "NH농협"), ("Toss Bank", "토스뱅크")),
)


@pytest.mark.parametrize(("name", "company"), ENGLISH_NAMES)
@pytest.mark.parametrize("mark", ["", "[Web발신]\n"])
def test_english_approval_is_read_in_any_order_of_its_parts(
    mark: str, name: str, company: str
) -> None:
    for text, parts in variants(
        f"{mark}[{name}] Approval KRW {{paid:,}} (Lump sum) {{minute}} {{store}} Card(0*4*)",
        f"{mark}[{name}] Approved KRW {{paid:,}} (3 months) {{minute}} {{store}} Card(0*4*) "
        "Accumulated KRW 98,402,110",
        f"{mark}[{name}] Approval\nCard(0*4*) KRW {{paid:,}} Lump-sum\n{{minute}}\n{{store}}"
        "\nAccumulated KRW 98,402,110",
        f"{mark}[{name}] Approved\nAccumulated KRW 98,402,110\nCard(0*4*) KRW {{paid:,}}\n"
        "{minute}\n{store}",
        f"{mark}[{name}] Approved {{paid:,}} KRW (Lump sum) {{store}} {{minute}} Card(0*4*)",
        f"{mark}{name} Approval: KRW {{paid:,}} / {{minute}} / {{store}} / Card(0*4*) / "
        "Accumulated 98,402,110 KRW",
    ):
        parsed = read(text)
        found = (parsed.kind, parsed.card_company, parsed.amount, parsed.merchant)
        expected = (Kind.APPROVAL, company, parts["paid"], parts["store"])
        assert found == expected, text
        assert parsed.card_hint == "0*4*", text
        assert parsed.occurred_at, text
        assert f"{parsed.occurred_at:%m/%d %H:%M}" == parts["minute"], text
        total = 98_402_110 if "Accumulated" in text else None
        assert parsed.running_total == total, text
        assert parsed.installment_months == (3 if "3 months" in text else None), text


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("Approval cancelled", Kind.CANCELLATION),
        ("Canceled", Kind.CANCELLATION),
        ("Cancellation", Kind.CANCELLATION),
        ("Declined", Kind.DECLINED),
    ],
)
def test_english_event_of_a_korean_issuer(word: str, kind: Kind) -> None:
    for text, _ in variants(
        f"[Web발신]\n[Hana Card] {word} KRW {{paid:,}} {{minute}} {{store}} Card(0*4*)",
        f"[Web발신]\nSamsung Card {word} KRW {{paid:,}} Lump sum\n{{minute}}\n{{store}}",
    ):
        assert read(text).kind is kind, text


def test_korean_title_above_an_english_text_names_the_issuer() -> None:
    for text, parts in variants(
        "[Web발신]\nApproval\nCard(8820) KRW {paid:,} Lump-sum\n{minute}\n{store}",
        "[Shinhan Card] Approved\nCard(8820) KRW {paid:,} Lump-sum\n{minute}\n{store}\n"
        "Accumulated KRW 98,402,110",
    ):
        parsed = read(text, title="신한카드")
        found = (parsed.card_company, parsed.amount, parsed.merchant)
        assert found == ("신한", parts["paid"], parts["store"]), text


def test_free_cancellation_in_an_english_text_cancels_nothing() -> None:
    text = "You spent $120.00 at GRAND HOTEL with your card. Free cancellation until May 5."

    assert read(text).kind is Kind.APPROVAL


@pytest.mark.parametrize(
    "mark", ["_가승인", "(가승인)", "-선승인", " 사전승인", "[임시승인]", " / 가승인"]
)
def test_reserved_amount_is_told_beside_the_name(mark: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n삼성{{digits}}승인 임*준\n{{paid:,}}원 일시불\n{{minute}} {{shop}}{mark}",
        f"{{card}}({{digits}})승인 임*준 {{paid:,}}원(일시불){{minute}} {{shop}}{mark} "
        "누적8,000,000원",
        f"{{paid:,}}원 결제\n토스뱅크 체크카드 | {{shop}}{mark}\n잔액 141,870원",
    ):
        parsed = read(text)
        assert parsed.is_preliminary, text
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


@pytest.mark.parametrize("mark", ["가승인_", "[가승인] ", "(선승인)"])
def test_reserved_amount_is_told_before_the_name(mark: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n삼성{{digits}}승인 임*준\n{{paid:,}}원 일시불\n{{minute}} {mark}{{shop}}",
        f"{{paid:,}}원 결제\n토스뱅크 체크카드 | {mark}{{shop}}\n잔액 141,870원",
    ):
        parsed = read(text)
        assert parsed.is_preliminary, text
        assert parsed.merchant == parts["shop"], text


@pytest.mark.parametrize("bank", ["카카오뱅크", "토스뱅크", "케이뱅크", "신한은행"])
@pytest.mark.parametrize("arrow", ["→", "->", "➔", "▶"])
def test_withdrawal_to_a_shop_behind_an_arrow_is_an_approval(
    bank: str, arrow: str
) -> None:
    for text, _ in variants(
        f"{bank}\n{{minute}}\n출금 {{paid:,}}원\n입출금통장(5520) {arrow} 본우리반상 구로점\n"
        "잔액 262,300원",
        f"{bank}\n{{minute}}\n출금 {{paid:,}}원\n생활비통장 {arrow} 본우리반상 구로점\n"
        "잔액 262,300원",
    ):
        parsed = read(text)
        assert parsed.kind is Kind.APPROVAL, text
        assert parsed.merchant == "본우리반상 구로점", text


@pytest.mark.parametrize(
    "name",
    ["이디야커피 보광", "김밥천국 상현", "(주)우아한형제들", "CU 수지", "바람약국"],
)
def test_shop_behind_an_arrow_is_told_by_its_trade_its_form_or_its_chain(
    name: str,
) -> None:
    text = (
        f"카카오뱅크\n11/07 12:02\n출금 9,500원\n입출금통장(5520) → {name}\n잔액 800원"
    )

    assert read(text).merchant == name


@pytest.mark.parametrize(
    "name",
    ["홍길동", "세이프박스", "커피 모임", "치킨 회비", "롯데카드", "신한은행 구로지점"],
)
def test_account_or_person_behind_an_arrow_is_a_booking(name: str) -> None:
    text = (
        f"카카오뱅크\n11/07 12:02\n출금 9,500원\n입출금통장(5520) → {name}\n잔액 800원"
    )
    parsed = read(text)

    assert parsed.reason in {Reason.BANK_TRANSFER, Reason.STATEMENT}
    assert parsed.bank_booking
    assert parsed.bank_booking.counterparty == name


@pytest.mark.parametrize(
    "signature",
    ["카카오페이", "네이버페이 드림", "[PAYCO]", "- 토스페이 -"],
)
def test_last_line_with_the_name_of_an_app_is_no_shop(signature: str) -> None:
    for text, parts in variants(
        "카드영수증\n\n{shop}\n{paid:,}원\n\n카드 : 롯데카드(4*9*)\n거래유형 : 승인\n"
        f"거래일시 : 2026.11.04 19:22\n할부 : 일시불\n\n{signature}",
        "롯데카드(4*9*) 승인\n{paid:,}원 일시불\n{minute}\n{shop}\n" + signature,
        "{paid:,}원 결제\n{shop}\n롯데카드(4*9*)\n{minute}\n" + signature,
    ):
        parsed = read(text)
        assert parsed.merchant == parts["shop"], text
        assert parsed.card_company == "롯데", text


def test_app_that_is_the_only_name_is_the_merchant() -> None:
    text = "롯데카드 승인\n홍*동\n8,400원 일시불\n11/04 19:22\n카카오페이"

    assert read(text).merchant == "카카오페이"


@pytest.mark.parametrize(
    ("product", "company"),
    [
        *(("Hyundai Mobility카드", "현대"), ("Samsung iD ON카드", "삼성")),
        *(("Shinhan Deep Dream카드", "신한"), ("LOTTE LIKIT 카드", "롯데")),
        *(("Woori WON 체크카드", "우리"), ("대한항공카드", None)),
    ],
)
def test_product_without_a_korean_name_of_its_issuer(
    product: str, company: str | None
) -> None:
    for text, parts in variants(
        f"[Web발신]\n{product} 승인\n조*훈\n{{paid:,}}원 일시불\n{{minute}}\n{{shop}}\n"
        "누적8,152,510원",
        f"{product} 승인\n조*훈\n{{paid:,}}원 3개월\n{{minute}}\n{{shop}}",
    ):
        parsed = read(text)
        found = (parsed.card_company, parsed.card_hint, parsed.amount, parsed.merchant)
        assert found == (company, product, parts["paid"], parts["shop"]), text


@pytest.mark.parametrize(
    "word", ["자동", "자동이체", "자동납부", "자동결제", "정기결제"]
)
@pytest.mark.parametrize("status", ["정상처리", "정상 처리", "정상처리되었습니다"])
def test_automatic_payment_of_a_card_that_was_processed(word: str, status: str) -> None:
    for text, parts in variants(
        f"[Web발신]\n[하나카드]서*윤님 {{shop}} {word}(0*4*) {{paid:,}}원 {status}",
        f"[신한카드] 서*윤님 {{shop}} {word}({{digits}}) {{paid:,}}원 {status}",
        f"[{{card}}] 서*윤님 {{shop}} {word} {{paid:,}}원 {status}",
    ):
        parsed = read(text)
        assert parsed.kind is Kind.APPROVAL, text
        assert (parsed.amount, parsed.merchant) == (parts["paid"], parts["shop"]), text


# fmt: off
REFUSED = {
    Reason.STATEMENT: (
        "[PAYCO] 11월 이용금액 안내: 이번 달 3건 {paid:,}원을 이용하셨습니다.",
        "[카카오페이] 10월 결제내역 안내\n총 12건 {paid:,}원을 결제하셨습니다.",
        "네이버페이 지난달 7회 {paid:,}원 결제했어요",
        "{card} 이번 달 총 3건, {paid:,}원을 이용했어요",
        "[{card}] 11월 이용금액이 3,300원에서 {paid:,}원으로 변경되었습니다.",
        "[하나카드] 서*윤님 이용대금 자동납부(0*4*) {paid:,}원 정상처리",
        "[{card}] {shop} 자동이체 신청이 정상처리되었습니다. 월 {paid:,}원",
    ),
    Reason.NO_PAYMENT: (
        "[우체국] 물품 보관중입니다. 수수료 {paid:,}원 결제 후 재배송 http://post.example/9a",
        "[우리카드] 수수료 {paid:,}원 결제 후 카드 수령",
        "[CJ대한통운] 택배비 {paid:,}원 결제 바랍니다 http://a.example/1",
        "[{card}] {paid:,}원 결제 뒤 이용 가능합니다",
        "[{card}] {paid:,}원 결제 필요. 앱에서 확인",
        "[관세청] 통관 보류. 관세 {paid:,}원 납부 후 통관 진행",
    ),
    Reason.BANK_TRANSFER: (
        "[하나은행] {shop} 자동이체 {paid:,}원 정상처리 잔액 1,000원",
    ),
}
# fmt: on


@pytest.mark.parametrize("reason", REFUSED)
def test_months_conditions_and_accounts_are_no_payments(reason: Reason) -> None:
    for text, _ in variants(*REFUSED[reason]):
        assert read(text).reason is reason, text


def test_words_of_these_rules_in_a_payment_decide_nothing() -> None:
    for text, parts in variants(
        "{card}({digits})승인 홍*동 {paid:,}원(일시불){minute} 바람자동차 누적9,012,000원",
        "현대카드 M 승인\n홍*동\n{paid:,}원 일시불\n{minute}\n결제 후 식당",
        "현대카드 M 승인\n홍*동\n{paid:,}원 일시불\n{minute}\n11월 3회 커피",
    ):
        parsed = read(text)
        assert (parsed.kind, parsed.amount) == (Kind.APPROVAL, parts["paid"]), text
