"""Whatever the text: an answer, soon, whose spans lie inside it."""

import time
from datetime import timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from card_alerts.normalization import normalize
from card_alerts.parser import MAX_TEXT_LENGTH, parse
from card_alerts.result import Kind
from tests.support.alert_samples import GIVEN, OWN, RECEIVED_AT, load, squeeze

MOST_SECONDS = 0.020
KOREA = timezone(timedelta(hours=9))
TRIES = 3
"""The fastest of so many counts, since other work may stop ours."""

WORDS = """
승인 취소 승인취소 거절 결제 사용 이용 신한카드 KB국민카드 현대 우리 하나 BC바로 토스뱅크
(1234) 1*2* 9,900원 -5,000원 USD 12.50(USD) $3 €12,80 ₩7,100 누적 누적1,000원 잔액 잔액5원
12/31 02/29 24:05 12:30 2026.05.12 05월22일 일시불 3개월 할부(11) 홍*동 홍길동님
가맹점명: 에서 | · / ( ) [ ] * . , - % 할인 (광고) [Web발신] 인증번호 $1,234,56 Rs1,23,45 1'2 1.2.3 결제예정 출금 입금
spent at was card ending declined refund Chase 利用日： 利用金額： 円 楽天 ２ ！ ﷺ ' 가 0
"""
BLANKS = ["\n", " ", "  ", "\u200b", "\u3000", "\r\n", "\ue004", "\ud800"]
FRAGMENTS = WORDS.split() + BLANKS
ANY_TEXT = st.text(max_size=MAX_TEXT_LENGTH)
MIXED = st.lists(st.sampled_from(FRAGMENTS), max_size=400).map("".join)
MESSAGES = [each["text"] for each in load(GIVEN) + load(OWN)]
CUT = st.tuples(
    st.sampled_from(MESSAGES), st.integers(0, 80), st.sampled_from(FRAGMENTS)
).map(lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :])
WITHOUT_LIMIT = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=200
)


def seconds_of(text: str) -> Any:
    fastest = float("inf")
    for _ in range(TRIES):
        start = time.thread_time()
        parse(text, RECEIVED_AT)
        fastest = min(fastest, time.thread_time() - start)
    return fastest


def check(text: str) -> None:
    parsed = parse(text, RECEIVED_AT)
    assert parsed.recognized is (parsed.reason is None)
    assert not parsed.recognized or parsed.kind in {Kind.APPROVAL, Kind.CANCELLATION}
    assert parsed.amount is None or 1 <= parsed.amount <= 999_999_999_999
    for start, end in parsed.spans.values():
        assert 0 <= start < end <= len(text)
    check_shown(text, parsed)
    assert seconds_of(text) < MOST_SECONDS


def check_shown(text: str, parsed: Any) -> None:
    """What the spans show is what the fields say."""
    shown = {name: text[start:end] for name, (start, end) in parsed.spans.items()}
    if "merchant" in shown and len(parsed.merchant) < 500:
        assert squeeze(shown["merchant"]) == squeeze(parsed.merchant)
    if "cardHint" in shown:
        assert parsed.card_hint in normalize(shown["cardHint"]).text
    for name, value in (
        ("runningTotal", parsed.running_total),
        ("amount", parsed.amount if not parsed.currency else None),
        ("installmentMonths", parsed.installment_months),
    ):
        if value is not None and name in shown:
            plain = normalize(shown[name]).text.replace(",", "")
            assert str(value) in plain or "." in plain


@WITHOUT_LIMIT
@given(ANY_TEXT)
def test_any_text_is_answered_in_time(text: str) -> None:
    check(text)


@WITHOUT_LIMIT
@given(MIXED)
def test_any_mixture_of_the_grammar_is_answered_in_time(text: str) -> None:
    check(text[:MAX_TEXT_LENGTH])


@WITHOUT_LIMIT
@given(CUT)
def test_message_with_anything_in_its_middle_is_answered_in_time(text: str) -> None:
    check(text)


@WITHOUT_LIMIT
@given(st.sampled_from(MESSAGES), st.datetimes(timezones=st.just(KOREA)))
def test_any_time_of_receipt_is_possible(text: str, received: Any) -> None:
    parse(text, received)


@pytest.mark.parametrize(
    "unit",
    [
        *[
            "9",
            "1,",
            "1,234",
            "(",
            "()",
            "[",
            "\n",
            " ",
            "승인",
            "승인 ",
            "취소\n",
            "님",
        ],
        *[
            "누적",
            "누적1",
            "잔액 ",
            "홍*동",
            "홍*동님 ",
            "*",
            "1*",
            "1*2*",
            "원",
            "1원",
        ],
        *[
            "1,234원 ",
            "12/31 ",
            "12:30",
            "12/31 12:30\n",
            "3개월",
            "할부(",
            "USD ",
            "$1",
        ],
        *[
            "현대",
            "하나 ",
            "우리(",
            "KB국민카드",
            "신한카드(1234)승인 ",
            "에서 ",
            "가맹점: ",
        ],
        *[
            "at ",
            "spent at ",
            "card ",
            "Rs.1 ",
            "was declined ",
            "利用先:",
            "円",
            "１",
            "\u200b",
        ],
        *[
            "'",
            "http://",
            "(광고)",
            "%",
            "1%",
            "1P",
            "월",
            "일 ",
            "/",
            "-",
            "1-",
            "**",
            "ﷺ",
        ],
    ],
)
def test_text_of_one_repeated_part_is_answered_in_time(unit: Any) -> None:
    text = (unit * MAX_TEXT_LENGTH)[:MAX_TEXT_LENGTH]

    check(text)
    check(("신한카드(1234)승인 " + text)[:MAX_TEXT_LENGTH])
