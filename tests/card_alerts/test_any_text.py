"""Any text has a result, and the spans of the result lie inside the text."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from card_alerts import MAX_TEXT_LENGTH, Kind, ParseResult, parse
from card_alerts.normalization import normalize
from tests.support.alert_samples import (
    GIVEN,
    OWN,
    RECEIVED_AT,
    REPEATED_PARTS,
    load,
    squeeze,
)

KOREA = timezone(timedelta(hours=9))

WORDS = """
승인 취소 승인취소 거절 결제 사용 이용 신한카드 KB국민카드 현대 우리 하나 BC바로 토스뱅크
(1234) 1*2* 9,900원 -5,000원 USD 12.50(USD) $3 €12,80 ₩7,100 누적 누적1,000원 잔액 잔액5원
12/31 02/29 24:05 12:30 2026.05.12 05월22일 일시불 3개월 할부(11) 홍*동 홍길동님
가맹점명: 에서 | · / ( ) [ ] * . , - % 할인 (광고) [Web발신] 인증번호 $1,234,56 Rs1,23,45 1'2 1.2.3 결제예정 출금 입금
spent at was card ending declined refund Chase 利用日： 利用金額： 円 楽天 ２ ！ ﷺ ' 가 0
"""
SPACES = ["\n", " ", "  ", "\u200b", "\u3000", "\r\n", "\ue004", "\ud800"]
FRAGMENTS = WORDS.split() + SPACES
ANY_TEXT = st.text(max_size=MAX_TEXT_LENGTH)
MIXTURES = st.lists(st.sampled_from(FRAGMENTS), max_size=400).map("".join)
MESSAGES = [each["text"] for each in load(GIVEN) + load(OWN)]
CHANGED = st.tuples(
    st.sampled_from(MESSAGES), st.integers(0, 80), st.sampled_from(FRAGMENTS)
).map(lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :])
UNLIMITED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)


def parse_and_check(text: str) -> ParseResult:
    """Return the result, of which every field must fit the text."""
    parsed = parse(text, RECEIVED_AT)
    assert parsed.recognized is (parsed.reason is None)
    assert not parsed.recognized or parsed.kind in {Kind.APPROVAL, Kind.CANCELLATION}
    assert parsed.amount is None or 1 <= parsed.amount <= 999_999_999_999
    for start, end in parsed.spans.values():
        assert 0 <= start < end <= len(text)
    check_spans(text, parsed)
    return parsed


def check_spans(text: str, parsed: ParseResult) -> None:
    """Assert that the spans contain the values of their fields."""
    printed = {name: text[start:end] for name, (start, end) in parsed.spans.items()}
    if parsed.merchant is not None and len(parsed.merchant) < 500:
        assert squeeze(printed["merchant"]) == squeeze(parsed.merchant)
    if parsed.card_hint is not None:
        assert parsed.card_hint in normalize(printed["cardHint"]).text
    for name, value in (
        ("runningTotal", parsed.running_total),
        ("amount", parsed.amount if not parsed.currency else None),
        ("installmentMonths", parsed.installment_months),
    ):
        if value is not None and name in printed:
            number = normalize(printed[name]).text.replace(",", "")
            assert str(value) in number or "." in number


@UNLIMITED
@given(ANY_TEXT)
def test_any_text_has_a_result(text: str) -> None:
    assert parse_and_check(text) == parse(text, RECEIVED_AT)


@UNLIMITED
@given(MIXTURES)
def test_any_mixture_of_fragments_has_a_result(text: str) -> None:
    text = text[:MAX_TEXT_LENGTH]
    assert parse_and_check(text) == parse(text, RECEIVED_AT)


@UNLIMITED
@given(CHANGED)
def test_message_with_an_inserted_fragment_has_a_result(text: str) -> None:
    assert parse_and_check(text) == parse(text, RECEIVED_AT)


@UNLIMITED
@given(st.sampled_from(MESSAGES), st.datetimes(timezones=st.just(KOREA)))
def test_any_time_of_receipt_is_possible(text: str, received_at: datetime) -> None:
    parsed = parse(text, received_at)

    now = parse(text, RECEIVED_AT)
    assert (parsed.amount, parsed.merchant) == (now.amount, now.merchant)
    assert (parsed.kind, parsed.reason) == (now.kind, now.reason)


@pytest.mark.parametrize("part", REPEATED_PARTS)
def test_text_of_one_repeated_part_has_a_result(part: str) -> None:
    text = (part * MAX_TEXT_LENGTH)[:MAX_TEXT_LENGTH]
    for each in (text, ("신한카드(1234)승인 " + text)[:MAX_TEXT_LENGTH]):
        assert parse_and_check(each) == parse(each, RECEIVED_AT)
