"""Taught layouts: learned from a marked text, read from others."""

from dataclasses import replace
from decimal import Decimal

import pytest

from card_alerts import (
    NO_PART,
    Confidence,
    Doubt,
    Layout,
    Reason,
    apply_layout,
    learn_layout,
    learn_whole_layout,
    locate_corrections,
    parse,
    read_with_layout,
    rejected,
)
from tests.support.alert_samples import RECEIVED_AT

TAUGHT = (
    "하늘포인트 1*2* 사용 12,000원\n오*람 10/02 12:41 / 바람 서점 2호점 / 남은 점수 742"
)
OTHER = "하늘포인트 3*4* 사용 500원\n배*솔 11/12 02:41 / 구름/국수 / 남은 점수 12,910"


def learn(text: str, merchant: str | None, amount: int | None) -> Layout:
    layout = learn_layout(text, locate_corrections(text, merchant, amount))
    assert layout is not None
    return layout


def read(layout: Layout, text: str) -> dict[str, str] | None:
    spans = read_with_layout(layout, text)
    if spans is None:
        return None
    return {name: text[slice(*span)] for name, span in spans.items()}


def test_layout_reads_a_text_with_other_digits_and_names() -> None:
    layout = learn(TAUGHT, "바람 서점 2호점", 12_000)

    assert layout.slots == ("amount", "merchant")
    assert read(layout, OTHER) == {"amount": "500", "merchant": "구름/국수"}
    assert read(Layout(layout.template), OTHER) == read(layout, OTHER)


@pytest.mark.parametrize(
    ("taught", "other"),
    [
        ("홍길동님", "남궁솔님"),
        ("홍길동 님", "선우람 님"),
        ("고객님", "회원님"),
        ("홍길동 고객님", "배솔 고객님"),
        ("홍*동님", "배솔님"),
    ],
)
def test_name_before_an_honorific_stands_for_any_other(taught: str, other: str) -> None:
    text = "[Web발신]\n새봄카드 {} 4,500원 결제 11/16 09:22 (주)가마트 이용"
    layout = learn(text.format(taught), "가마트", 4_500)
    assert read(layout, text.format(other)) == {"amount": "4,500", "merchant": "가마트"}


@pytest.mark.parametrize(
    "text",
    [
        OTHER.replace("사용", "취소"),
        OTHER + " 추가",
        OTHER.replace("/ 구름/국수 /", "/ /"),
        "",
        "하늘포인트",
    ],
)
def test_text_of_another_layout_is_not_read(text: str) -> None:
    assert read(learn(TAUGHT, "바람 서점 2호점", 12_000), text) is None


@pytest.mark.parametrize(
    ("taught", "other"),
    [
        ("홍길동", "문채담"),
        ("홍길동", "남궁민서"),
        ("남궁민서", "강*하"),
        ("강*하", "홍길동"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "[새봄카드] 4,500원 승인 {}(1234) (주)가마트 잔여한도 5,283,000원",
        "[Web발신]\n새봄카드1*2*승인\n{} 4,500원 체크\n10/17 19:52\n(주)가마트",
    ],
)
def test_name_without_a_mark_stands_for_any_other(
    text: str, taught: str, other: str
) -> None:
    layout = learn(text.format(taught), "(주)가마트", 4_500)
    assert taught not in layout.sample
    assert read(layout, text.format(other)) == {
        "amount": "4,500",
        "merchant": "(주)가마트",
    }


@pytest.mark.parametrize(
    "word", ["가맹점", "모바일", "이용처", "명세서", "한도액", "연회비", "주유소"]
)
def test_word_of_such_texts_is_no_name(word: str) -> None:
    layout = learn(f"새봄 {word} 4,500원 결제 / 가마트 / 11/16", "가마트", 4_500)
    assert word in layout.sample


@pytest.mark.parametrize(
    ("taught", "other"),
    [
        ("일시불", "3개월"),
        ("일시불", "할부 3개월"),
        ("10개월할부", "일시불"),
        ("OCT", "NOV"),
        ("am", "PM"),
        ("USD", "JPY"),
    ],
)
def test_terms_months_and_currencies_stand_for_others(taught: str, other: str) -> None:
    text = "새봄카드 결제 4,500 {} / 가마트 / 11/16"
    layout = learn(text.format(taught), "가마트", 4_500)
    assert read(layout, text.format(other)) == {"amount": "4,500", "merchant": "가마트"}


RECEIPT = (
    "[두레택시] 결제 완료\n- 출발 : {}\n- 주문번호 {}\n'{}' 이용 영수증 du.re/{}\n"
    "- 차량 : {}\n- 가맹점 : {}\n- 금액 : {}원"
)
FIRST = ("바람역", "MT0Q8Z14", "일반 호출", "Pa1", "구름 12가3401", "하늘운수", "8,000")
SECOND = ("구름시장 2번 출구", "Q7ZZ41K", "모범", "xQ/9", "소라", "바다콜", "12,500")


def test_words_behind_labels_orders_and_quotations_stand_for_others() -> None:
    layout = learn(RECEIPT.format(*FIRST), "하늘운수", 8_000)
    assert read(layout, RECEIPT.format(*SECOND)) == {
        "merchant": "바다콜",
        "amount": "12,500",
    }
    assert not any(part in layout.sample for part in FIRST)


@pytest.mark.parametrize("word", ["취소", "결제 실패", "declined", "返金"])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_word_that_tells_whether_it_was_paid_stands_for_no_other(
    word: str, place: int
) -> None:
    taught, other = list(FIRST), list(SECOND)
    layout = learn(RECEIPT.format(*taught), "하늘운수", 8_000)
    other[place] = f"구름 {word}"
    assert read(layout, RECEIPT.format(*other)) is None
    taught[place] = other[place]
    kept = learn(RECEIPT.format(*taught), "하늘운수", 8_000)
    assert read(kept, RECEIPT.format(*other)) is not None
    assert read(kept, RECEIPT.format(*SECOND)) is None


@pytest.mark.parametrize(
    ("text", "taught", "other"),
    [
        ("Dear {}, spent 4,500 at GAMART today", "R MERRITT", "Okafor"),
        ("Hi {},\nspent 4,500 at GAMART today", "Dana", "Owen Kim"),
        ("{}　様\nカードのご利用 4,500円\nGAMART", "森 健", "原 ひかり"),
        ("홍*담님의 {} 카드\n새봄카드 4,500원 | GAMART", "생활비", "여행 2"),
        ("Spent 4,500 at GAMART on {}", "Thu, Nov 5", "Sat, Nov 14"),
        ("Spent 4,500 at GAMART on 5 {} 2026", "November", "May"),
        ("새봄카드 해외승인 4,500 ({}) / GAMART", "US", "NL"),
        ("새봄주차 4,500원 결제 / GAMART / 차량 {}", "21나3094", "128두 1120"),
        ("새봄카드 승인 4,500원 GAMART\nhttps://bo.kr/{}", "Pa1", "x/7?q"),
    ],
)
def test_names_days_and_links_stand_for_others(
    text: str, taught: str, other: str
) -> None:
    layout = learn(text.format(taught), "GAMART", 4_500)
    assert taught not in layout.sample
    found = read(layout, text.format(other).replace("GAMART", "HARD COURT"))
    assert found == {"amount": "4,500", "merchant": "HARD COURT"}


def test_merchant_that_is_printed_twice_is_taught_once() -> None:
    text = "You paid {} 4,500 with Spring Card.\nMerchant {}\nThank you"
    layout = learn(text.format("GAMART", "GAMART"), "GAMART", 4_500)
    assert read(layout, text.format("HARD COURT", "HARD COURT")) == {
        "merchant": "HARD COURT",
        "amount": "4,500",
    }


def test_name_in_brackets_is_the_sender() -> None:
    text = "[새봄페이] 새봄에서 4,500원 결제"
    assert locate_corrections(text, "새봄", None) == {"merchant": (7, 9)}
    assert locate_corrections("[새봄] 4,500원", "새봄", None) == {"merchant": (1, 3)}


def test_whole_layout_keeps_the_words_behind_labels() -> None:
    layout = learn_whole_layout("[새봄] 문화상품권\n가맹점 : 가마트\n4,500원 승인")
    assert layout is not None
    assert read(layout, "[새봄] 문화상품권\n가맹점 : 가마트\n700원 승인") == {}
    assert read(layout, "[새봄] 문화상품권\n가맹점 : 바람책방\n700원 승인") is None


def test_text_may_be_taught_to_have_no_merchant() -> None:
    text = "새봄카드 후불교통 {}원 승인\n11/10 이용 2건"
    amount = (text.index("{"), text.index("{") + 5)
    spans = {"merchant": NO_PART, "amount": amount}
    layout = learn_layout(text.format("4,500"), spans)
    assert layout is not None
    assert layout.has_no_merchant
    assert layout.slots == ("amount",)
    assert layout.sample == "새봄카드 후불교통 {amount}원 승인 */* 이용 *건"

    other = text.format("1,700")
    found = read_with_layout(layout, other)
    assert found == spans
    guessed = replace(parse(other, RECEIVED_AT), merchant="이용 2건")
    parsed = apply_layout(guessed, other, found)
    assert (parsed.merchant, parsed.merchant_confidence) == (None, None)
    assert (parsed.amount, parsed.candidates) == (1_700, ())
    assert "merchant" not in parsed.spans
    assert Doubt.MERCHANT not in parsed.doubts


def test_space_and_number_do_not_end_a_name() -> None:
    text = "Spent 4,500 with Spring Card @{} 05-11-2026 05:46 pm."
    layout = learn(text.format("HARD COURT"), "HARD COURT", 4_500)
    assert read(layout, text.format("KFZ 3RD BLOCK 24 SEOUL")) == {
        "amount": "4,500",
        "merchant": "KFZ 3RD BLOCK 24 SEOUL",
    }


def test_merchant_directly_before_the_amount_is_learned() -> None:
    layout = learn("새봄카드 결제 가마트 4,500원", "가마트", 4_500)
    assert read(layout, "새봄카드 결제 나 상회 2호점 700원") == {
        "amount": "700",
        "merchant": "나 상회 2호점",
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Dear Alex Kim, spent 4,500 with Spring Card at GAMART on 11/16", "Alex"),
        ("山田 太郎様 カード利用のお知らせ 4,500円 GAMART / 11/16", "太郎"),
    ],
)
def test_sample_masks_the_name_of_an_address(text: str, name: str) -> None:
    layout = learn(text, "GAMART", 4_500)
    assert name not in layout.sample
    assert "***" in layout.sample


def test_sample_of_a_layout_shows_no_digit_and_no_name() -> None:
    sample = learn(TAUGHT, "바람 서점 2호점", 12_000).sample

    assert "하늘포인트" in sample
    assert not any(letter.isdigit() for letter in sample)
    assert "오*람" not in sample
    assert "바람" not in sample


@pytest.mark.parametrize(
    ("text", "merchant"),
    [("가나 12,000원 바람", "바람"), ("12,000 / 바람", "바람"), ("ABC 1 바람", "바람")],
)
def test_layout_of_fewer_than_4_letters_is_not_learned(
    text: str, merchant: str
) -> None:
    assert learn_layout(text, locate_corrections(text, merchant, None)) is None


def test_layout_without_a_marked_part_is_not_learned() -> None:
    assert learn_layout(TAUGHT, {}) is None
    assert learn_layout(TAUGHT, locate_corrections(TAUGHT, "딴 이름", 7)) is None


@pytest.mark.parametrize("span", [(5, 5), (-1, 3), (0, 10_000)])
def test_impossible_part_is_not_learned(span: tuple[int, int]) -> None:
    assert learn_layout(TAUGHT, {"merchant": span}) is None


def test_taught_merchant_and_amount_replace_what_was_parsed() -> None:
    spans = read_with_layout(learn(TAUGHT, "바람 서점 2호점", 12_000), OTHER)
    assert spans is not None
    parsed = apply_layout(parse(OTHER, RECEIVED_AT), OTHER, spans)

    assert (parsed.merchant, parsed.amount) == ("구름/국수", 500)
    assert parsed.merchant_confidence is Confidence.SURE
    assert parsed.spans["merchant"] == spans["merchant"]


def test_corrections_are_located_where_they_are_printed() -> None:
    text = "바람\n서점 0012,000.50 12,000.50"

    assert locate_corrections(text, "바람 서점", Decimal("12000.50")) == {
        "merchant": (0, 5),
        "amount": (6, 17),
    }
    assert locate_corrections(text, None, None) == {}


def test_refused_text_that_may_be_a_payment_is_one_by_its_layout_and_asked_about() -> (
    None
):
    text = "신한카드(1309)승인 홍*동 4,800원(일시불)11/10 08:31 온라인 바람책방"
    other = "신한카드(1309)승인 홍*동 9,100원(일시불)11/11 18:02 온라인 소담문구"
    payment = replace(parse(other, RECEIVED_AT), merchant="온라인", doubts=())
    refused = replace(rejected(Reason.NO_PAYMENT), would_be=payment)
    spans = read_with_layout(learn(text, "바람책방", 4800), other)
    assert spans is not None
    parsed = apply_layout(replace(refused, text_span=(0, len(other))), other, spans)
    assert (parsed.recognized, parsed.reason, parsed.would_be) == (True, None, None)
    assert (parsed.merchant, parsed.amount) == ("소담문구", 9100)
    assert parsed.doubts == (Doubt.KIND,)
    assert parsed.text_span == (0, len(other))
