"""Keywords of declines."""

from datetime import datetime, timedelta, timezone

import pytest

from card_alerts import Kind, parse

RECEIVED_AT = datetime(2026, 6, 15, 12, 0, tzinfo=timezone(timedelta(hours=9)))


@pytest.mark.parametrize(
    "reason",
    [
        "한도초과",
        "이용한도초과",
        "잔액부족",
        "비밀번호오류",
        "비밀번호 불일치",
        "비밀번호 틀림",
        "비밀번호오입력",
        "비밀번호 3회 오류 횟수초과",
        "유효기간만료",
        "도난분실카드",
        "거래정지카드",
        "사용정지",
        "승인 거래제한",
        "해외사용 미등록",
        "온라인결제 차단",
        "차단",
        "해외이용 미신청",
        "CVC번호오류",
        "본인인증실패",
        "카드번호오류",
        "정보불일치",
        "미등록카드",
        "해지카드",
        "연체카드",
        "승인거절",
        "결제실패",
        "승인불가",
    ],
)
def test_reason_beside_the_amount_is_a_decline(reason: str) -> None:
    text = f"신한카드(1234) {reason} 5,000원 06/10 12:30 초록들판"
    parsed = parse(text, RECEIVED_AT)

    assert parsed.kind is Kind.DECLINED
    assert not parsed.recognized
    assert parsed.amount == 5_000
