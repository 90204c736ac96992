"""Stage 2, classify: messages that mention a payment but report something else.

Limits, totals of some days, requests, examples and notices about earlier payments.
"""

from card_alerts.korean.rejection_rules import PASSWORD, is_smishing
from card_alerts.korean.side_patterns import OFFERED_LOCK
from card_alerts.patterns import pattern

# The rest of a limit, or a new limit or lock.
_LIMIT_NOTICE = pattern(
    r"""
    한도[ ]?(?:안내|현황)[ ]*(?:\n|$)
    | 차단[ ]?(?:서비스[ ]?)?(?:해제|설정|신청|가입)
    | 한도[ ]?[\d,]{1,15}만?[ ]?원(?:이|으로|을)[ ]?(?:설정|변경|적용)
    | 총?한도[ ]?[\d,]{1,15}만?[ ]?원[ ]?중[ ]
    | 한도의[ ]?\d{1,3}[ ]?% | 소멸[ ]?예정[ ]?[\d,]{1,9}(?:P|점|포인트)
    """,
    example="차단 서비스 해제가",
)
# The events of a day: 카드승인 17건 412,500원, 취소 1건 12,000원.
_SUMMARY = pattern(
    r"""
    승인[ ]?\d{1,4}건[ ]?[\d,]{1,15}원 | 취소[ ]?\d{1,4}건[ ]?[\d,]{1,15}원
    # 한 달 동안 체크카드(1234)로 48건 612,300원을 썼어요
    | 동안[ ][^\n]{0,24}\d{1,4}[건회번][ ][\d,]{1,15}원
    # 어제 하루 3건, 총 74,320원을 이용하셨어요
    | (?:하루|오늘|어제|이번[ ]주|지난[ ]주)[ ][^\n\d]{0,10}
      \d{1,4}[건번회],?[ ](?:총|모두)[ ]?[\d,]{1,15}원
    # 바람커피 9,800원 이용 건, 청구할인 1,000원 적용 예정입니다
    | 원[ ](?:이용|결제|승인|사용)[ ]?건,[ ][^\n]{0,20}(?:할인|적립|캐시백|포인트|마일)
      [^\n]{0,24}(?:예정|적용|완료|되었|됐)
    """,
    example="취소 1건 12,000원",
)
# 분실신고가 접수되어 승인이 정지됩니다. 직전 승인: 바람커피 2,800원
_REPORTED_LOST = pattern(
    r"""
    (?:분실|도난)[ ]?신고[가이]?[ ]?(?:정상[ ]?)?(?:접수|완료|등록|처리)[가이]?[ ]?
    (?:되|됐|완료|\n|$)
    """,
    example="분실신고가 접수되어",
)
# GS25에서 4,100원 결제하셨네요! 다음 결제 때 쓸 수 있는 쿠폰이 도착했어요
_PRAISED = pattern(
    r"(?:결제|이용|사용|구매)를?[ ]?하셨(?:네요|군요)", example="결제하셨네요!"
)
# Example and test alerts, and notices about earlier payments
_TOLD_OF_OTHERS = pattern(
    r"""
    실제[ ]?(?:결제|승인|거래)[가는]?[ ]?(?:아닌|아니|아닙|발생하지|이루어지지)
    | 이렇게[ ](?:표시|도착|발송) | 예시\) | 샘플[ ]?(?:알림|메시지)
    | 마지막[ ](?:결제|승인|이용)[ :] | 결제된[ ]?금액이[ ]?아니
    | 출금액[ ]?[\d,]{1,15}원[ ]?정상[ ]?(?:결제|처리)
    | 직전[ ](?:결제|승인)[ ]?: | 최근[ ]결제[ ]?:
    | 접수금액[ ]?확정 | →[ ]확정[ ][\d,]{1,15}원
    | 결제[ ][\d,]{1,15}원이[ ]예정 | 페이[ ]?충전[ ][\d,]{1,15}원[ ]?결제
    | 예산[ ][\d,]{1,15}원[ ]중 | 사용[ ]?요약
    | 선승인[ ][\d,]{1,15}원이[ ]해제 | 가승인[ ][\d,]{1,15}원이[ ]해제
    | 어제[ ](?![^\n]{0,40}취소)[^\n]{0,20}결제
    """,
    example="실제 결제가 아닌 샘플 알림입니다",
)
# 취소 100원⏎입출금통장(0000) → 권나래: a transfer that came back
_SENT_FROM_ACCOUNT = pattern(
    r"취소[ ][\d,]{1,15}원[ ]*\n[^\n]{0,12}통장(?:\([\d*]{2,8}\))?[ ]→",
    example="취소 100원\n입출금통장(0000) →",
)
_CHARGED = pattern(
    r"충전[ ]?후[ ]?(?:총[ ]?)?(?:보유[ ]?)?잔액", example="충전 후 잔액"
)
# Cash and loans with a card: ATM출금 100,000원, 단기카드대출 300,000원 승인
_CASH = pattern(
    r"""
    (?<![A-Za-z])(?:ATM|CD기?)[ ]?(?:현금)?[ ]?(?:출금|인출|이체)
    | (?:출금|인출)[ ]?\(?(?:ATM|CD기?)(?![A-Za-z])
    | 현금[ ]?(?:인출|출금)(?![ ]?(?:한도|가능|수수료))
    | (?:현금서비스|단기카드대출|장기카드대출|카드론)
      (?![ ]?(?:한도|가능|상품|안내|잔여|문의|이용[ ]?(?:한도|가능)))
    """,
    example="ATM출금 100,000원",
)
# 이용건을 6개월 분할납부로 전환했습니다
_CONVERTED = pattern(
    r"""
    (?:할부|분할[ ]?납부|리볼빙|이월약정|일시불)(?:으?로|[을를이가])?[ ]?(?:전환|변경)
    (?:[을를이가]|[ ]?처리)?[ ]?(?:했|하였|하셨|완료|되었|됐|접수|신청이)
    """,
    example="6개월 분할납부로 전환했습니다",
)
# 36,000원이 2회 승인되었습니다. 중복 결제라면
_PAID_TWICE = pattern(
    r"""
    \d회[ ](?:승인|결제)(?:되|됐) | 중복[ ]?(?:결제|승인)(?:이?라면|인지|일|이[ ]?의심)
    """,
    example="36,000원이 2회 승인되었습니다",
)
# 바람상회에서 12,000원 결제를 요청했어요.
_PAYMENT_REQUEST = pattern(
    r"결제를?[ ]?요청(?:했|하였|하셨|드)", example="결제를 요청했어요."
)
# 요청이 있습니다, 승인 버튼을 눌러야 결제가 진행됩니다
_TO_APPROVE = pattern(
    r"""
    (?:승인|결제|확인|인증)[ ]?요청(?:이|을)?[ ]?(?:있|왔|도착|받았)
    # 방금 129,000원 결제하셨나요?
    | 결제(?:를|가)?[ ]?
      (?:하셨나요|하신[ ]?(?:것|게|거)[이가]?[ ]?맞|[ ]?맞(?:나요|으신가요|습니까))
    | 본인(?:이|의|께서)?[ ]?(?:결제|사용|이용|거래)?(?:이|가|한[ ]?것이)?[ ]?
      맞(?:나요|으신|습니까|으면)
    | (?:눌러야|승인해야|인증해야|확인해야)[^\n]{0,14}(?:진행|완료|처리|승인)
    | 완료하려면 | 바코드(?:가|를)[ ]?(?:생성|발급|제시)
    """,
    example="본인확인 요청이 있습니다",
)


def is_of_cash(text: str) -> bool:
    """Return True for cash from a machine, and for loans with a card."""
    may_be = "출금" in text or "인출" in text or "대출" in text or "서비스" in text
    return (may_be or "카드론" in text) and _CASH.search(text) is not None


def is_other_event(text: str, *, is_payment: bool) -> bool:
    """Return True for limits, days in numbers, requests, questions and smishing."""
    return (
        _is_limit_notice(text, is_payment=is_payment)
        or (("건" in text or "번" in text) and _SUMMARY.search(text) is not None)
        or ("신고" in text and _REPORTED_LOST.search(text) is not None)
        or ("쿠폰" in text and _PRAISED.search(text) is not None)
        or ("중복" in text and _PAID_TWICE.search(text) is not None)
        or ("→" in text and _SENT_FROM_ACCOUNT.search(text) is not None)
        or ("충전" in text and _CHARGED.search(text) is not None)
        or (("전환" in text or "변경" in text) and _CONVERTED.search(text) is not None)
        or _TOLD_OF_OTHERS.search(text) is not None
        or _is_payment_request(text)
        or is_smishing(text)
    )


def _is_limit_notice(text: str, *, is_payment: bool) -> bool:
    if is_payment and "차단" in text:
        text = OFFERED_LOCK.sub("", text)
    may_be = "한도" in text or "차단" in text or "소멸" in text
    return may_be and _LIMIT_NOTICE.search(text) is not None


def _is_payment_request(text: str) -> bool:
    may_be = "야" in text or "요청" in text or "맞" in text or "나요" in text
    if not (may_be or "려면" in text or "바코드" in text):
        return False
    is_request = _PAYMENT_REQUEST.search(text) or _TO_APPROVE.search(text)
    return is_request is not None and not PASSWORD.search(text)
