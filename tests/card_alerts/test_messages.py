"""Several messages in one text, and titles."""

from typing import Any

import pytest

from card_alerts import MAX_MESSAGES, Reason, parse, parse_all
from tests.support.alert_samples import (
    RECEIVED_AT,
    ROOMS,
    load,
    result_as_label,
    squeeze,
)

FIRST = "신한카드(2077)승인 남궁*수 3,900원(일시불)11/02 08:30 초록들판 누적203,450원"
SECOND = "현대카드 M 승인\n남궁*수\n5,000원 일시불\n11/02 09:10\n붉은노을"
BANK = "카카오뱅크\n11/02 12:30\n출금 4,500원\n입출금통장(0000) → 별빛\n잔액 230,800원"


def amounts(text: str, title: str = "") -> list[int | None]:
    return [each.amount for each in parse_all(text, RECEIVED_AT, title=title)]


@pytest.mark.parametrize("room", load(ROOMS), ids=lambda room: room["id"])
def test_all_payments_of_a_room_are_read(room: Any) -> None:
    parsed = parse_all(room["text"], RECEIVED_AT)
    actual = [result_as_label(each) for each in parsed if each.recognized]
    expected = [each for each in room["expects"] if not each["ignored"]]

    assert actual == [
        {name: each[name] for name in actual[0]}
        | {"merchant": squeeze(each["merchant"])}
        for each in expected
    ]


@pytest.mark.parametrize(
    "separator", ["\n", "\n\n", "\n----------\n", "\n[Web발신]\n", "\n2. "]
)
def test_messages_are_separated(separator: str) -> None:
    text = f"{FIRST}{separator}{SECOND}"
    parsed = parse_all(text, RECEIVED_AT)

    assert [each.amount for each in parsed] == [3_900, 5_000]
    assert [each.merchant for each in parsed] == ["초록들판", "붉은노을"]
    for each in parsed:
        assert each.text_span is not None
        start, end = each.spans["merchant"]
        assert text[start:end] == each.merchant
        assert each.text_span[0] <= start < end <= each.text_span[1]


def test_order_of_messages_is_that_of_the_text() -> None:
    parsed = parse_all(f"{FIRST}\n\n{BANK}\n\n{SECOND}", RECEIVED_AT)

    assert [each.amount for each in parsed] == [3_900, None, 5_000]
    assert parsed[1].reason is Reason.BANK_TRANSFER


def test_at_most_20_messages_are_read() -> None:
    lines = [FIRST.replace("3,900", f"{n},100") for n in range(1, 26)]

    assert amounts("\n".join(lines)) == [n * 1000 + 100 for n in range(1, 21)]
    assert MAX_MESSAGES == 20


def test_single_message_api_reads_the_first_payment() -> None:
    assert parse(f"{BANK}\n\n{FIRST}\n\n{SECOND}", RECEIVED_AT).amount == 3_900


@pytest.mark.parametrize(
    "text",
    [
        f"{FIRST}\n\n이번 달 누적이용금액 203,450원\n고객센터 1544-7000",
        "상품권사용\n2,300원\n[디지털온누리상품권]\n이*온님, 달빛에서 2,300원이 결제되었습니다.",
        "카카오페이\n결제가 완료되었습니다.\n\n결제금액\n9,000원\n\n가맹점\n달빛\n\n결제일시\n2026.11.02 12:11",
        "SSG PAY 결제알림\n초록들판\n결제금액 7,480원\nSSG MONEY 7,480원 사용\n2026/08/24 17:53",
    ],
)
def test_one_payment_told_in_parts_is_one_message(text: str) -> None:
    assert len(parse_all(text, RECEIVED_AT)) == 1


def test_title_apart_from_the_text_names_the_issuer() -> None:
    text = "달빛 12,000원 결제 완료"
    parsed = parse(text, RECEIVED_AT, title="삼성월렛")

    assert (parsed.card_company, parsed.merchant) == ("삼성월렛", "달빛")
    assert text[slice(*parsed.spans["merchant"])] == "달빛"
    assert text[slice(*parsed.spans["amount"])] == "12,000원"
    assert "cardCompany" not in parsed.spans
