"""Receipts of shops and pay apps: labels and sentences tell that an order was paid."""

from card_alerts.masked_text import AMOUNT, KEYWORD
from card_alerts.patterns import pattern
from card_alerts.result import Span

# The word that stands for the event, in receipts without a keyword; each is looked for
# only in texts with the word before it.
_RECEIPTS = (
    (
        "결제",
        pattern(
            r"""
            (?P<word>결제)[ ]?금액[ :]{1,3}[\d,]{1,15}원[ ]?
            (?:\([^()\n]{0,10}|·[ ][^\n·]{0,10})(?:머니|페이|포인트|카드)(?:\)|$|[\n(])
            """,
            example="결제금액: 27,540원 (쿠페이 머니)",
        ),
    ),
    (
        "완료",
        pattern(
            r"""
            결제[ ]?완료[\s\S]{1,300}(?P<word>결제)[ ]?금액[ :]{1,3}(?=[\d,]{1,15}원
            [^\n]{0,12}\n[^\n]{0,6}결제[ ]?(?:수단|방법)[ :]{1,3}
            [^\n]{0,12}(?:카드|페이|머니))
            """,
            example="결제 완료\n결제금액: 5,000원\n결제수단: 소리카드",
        ),
    ),
    (
        "구매",
        pattern(
            r"""
            구매[ ]?완료[\s\S]{1,120}(?P<word>결제)[ ]?금액[ :]{1,3}(?=[\d,]{1,15}원)
            """,
            example="구매 완료\n결제금액: 5,000원",
        ),
    ),
    (
        "일시",
        pattern(
            r"""
            (?P<word>결제)[ ]?금액[ :]{1,3}[\d,]{1,15}원[ ]*\n[^\n가-힣]{0,4}
            결제[ ]?일시[ :]{1,3}(?=\d)
            """,
            example="결제금액 : 120,000원\n결제일시 : 2026-10-11",
        ),
    ),
    (
        "일시",
        pattern(
            r"""
            결제[ ]?일시[ ]?\n[^\n]{6,30}\n(?P<word>결제)[ ]?금액[ ]?\n
            (?=[\d,]{1,15}원[ ]*\n)
            """,
            example="결제일시\n2026년 10월 11일\n결제금액\n24,800원\n",
        ),
    ),
    (
        "감사",
        pattern(
            r"""
            감사합니다[\s\S]{1,300}(?P<word>결제)[ ]?금액[ ]{1,4}(?=[\d,]{1,15}원[ ]*\n
            [^\n]{0,6}결제[ ]?(?:수단|카드)[ ]{1,4}[^\n]{1,12}\([\d*]{4}\))
            """,
            example="감사합니다\n결제금액 16,600원\n결제수단 소리카드(8021)",
        ),
    ),
    (
        "가맹점",
        pattern(
            r"""
            가맹점명?[ ][\s\S]{1,60}(?P<word>결제)[ ]?금액[ ]
            (?=[\d,]{1,15}원[ ]결제[ ]?수단[ ])
            """,
            example="가맹점명 나무가구 총 결제 금액 9,000원 결제수단 카드",
        ),
    ),
)
# A charged car
_CHARGED = pattern(
    r"""
    kWh[\s\S]{1,200}(?P<word>(?:결제|이용|충전)[ ]?(?:금액|요금))[ :]{1,3}
    (?=[\d,]{1,15}원)
    """,
    example="31.4kWh\n결제금액: 10,880원",
)
# Google Play에서 구매해 주셔서 감사합니다, above 결제 수단: Visa-3382 or 합계
_THANKS = pattern(
    r"""
    (?:
        (?P<word>구매)(?:해[ ]?주셔서[ ]?감사|하셨(?:습니다|어요))
        | (?P<order>주문)이[ ]처리되었
    )
    (?=[\s\S]{1,400}(?:결제[ ]?수단|합계[ ]?:|금액:[ ]₩))
    """,
    example="구매해 주셔서 감사합니다\n책장 4,000원\n결제 수단",
)
# 영수증⏎새벽명상⏎합계 ₩4,400⏎청구 대상 삼성카드
_STORE_RECEIPT = pattern(
    r"""
    영수증[\s\S]{1,300}\n(?P<word>합계|총계|총액|소계)[ :]{1,3}
    (?=₩[\d,]{1,12}[ ]*\Z
       |₩[\s\S]{1,40}\n(?:청구[ ]?대상[^\n]{1,24}\d{4}|결제[ ]?(?:수단|방법)[ :]))
    """,
    example="영수증\n새벽명상\n합계 ₩4,400\n청구 대상 소리카드 1234",
)
# 주문이 완료되었습니다, 출차 완료 or 멤버십이 갱신되었습니다, above 결제금액 : 9,900원
_DONE = pattern(
    r"""
    \A[\s\S]{0,160}?
    (?:
        (?:주문|예약|예매|신청|구매|가입|구독|접수|출차|출고|서비스|수납)
        (?:이|가|내역)?[ ]?(?:정상(?:적으로)?[ ]?)?(?:완료|확정|처리되)
        | 갱신되었
    )
    [\s\S]{1,400}?(?<![가-힣])(?:최종|총)?[ ]?(?P<word>결제|수납)(?:[ ]?금)?액
    [ ]?:{0,2}[ ]?(?=[\d,]{3,15}[ ]?(?:원|\n|$))
    """,
    example="[바람공방] 주문완료 안내\n결제금액 : 76,000원",
)
# 결제가 완료되었습니다 above or below 결제금액 : 59,800원
_PAID = pattern(
    r"""
    결제[가이]?[ ]?(?:정상(?:적으로)?[ ]?)?(?:(?:완료|처리)?[ ]?(?:되었|됐)|확인되)
    [\s\S]{1,300}?결제[ ]?금액[ ]?:{1,2}[ ]?\d
    | 결제[ ]?금액[ ]?:{1,2}[ ]?\d[\s\S]{1,300}?결제가[ ](?:완료|확인)되
    | 구매해[ ]?주셔서[ ]?감사[\s\S]{1,200}?금액:[ ]₩
    | 결제[ ]?완료(?![ ]?(?:후|시|하|전))[\s\S]{1,200}?결제[ ]?금액[ ]?:{1,2}[ ]?\d
    | 결제[ ]?금액[ :]{1,3}[\d,]{1,15}원[ ]?\([^()\n]{0,10}(?:머니|페이)\)
    | 가맹점명?[ ][\s\S]{1,60}?결제[ ]?금액[ ][\d,]{1,15}원[ ]결제[ ]?수단[ ]
    | 감사합니다[\s\S]{1,300}?결제[ ]?금액[ ]{1,4}[\d,]{1,15}원[ ]*\n
      [^\n]{0,6}결제[ ]?(?:수단|카드)[ ]{1,4}[^\n]{1,12}\([\d*]{4}\)
    """,
    example="주문건 결제 완료되었습니다.\n결제금액 : 59,800원",
)
# Words of an order that is not paid yet
_TO_PAY = pattern(
    r"""
    입금 | 무통장 | 가상[ ]?계좌 | 현장 | 대기 | 미결제 | 결제하기 | 결제[ ]?예정 | 견적
    | 결제해[ ]?주 | 납부 | 취소(?=되|됐|[ ]?완료|[ ]?처리) | 후불 | 방문[ ]?결제
    | (?:즉시|선)[ ]?결제 | 출금[ ]?계좌
    """,
    example="가상계좌로 입금해 주세요",
)
# 21,900원이 환불되었습니다, with 결제수단 or a pay service
_REFUNDED = pattern(
    rf"{AMOUNT}(?:[이을의]|이\(가\))?[ ]?{KEYWORD}", example=f"{AMOUNT}이 {KEYWORD}"
)
_REFUND_LABEL = pattern(r"(?:취소|환불|반환)[ ]?금액", example="취소금액 45,000원")
_MEANS = pattern(
    r"(?:결제|환불)[ ]?(?:수단|카드|금액)|결제하신|페이|카드|Pay|환불[ ]처리가[ ]완료",
    example="결제수단: 소리페이",
)
# The end of a receipt: 합계 and 결제 수단
_RECEIPT_END = pattern(
    r"""
    (?:합계|총액|소계|결제[ ]?금액)[ ]?:?[ ][₩\d][^\n]{0,40}\n[^\n]{0,4}
    결제[ ]?(?:수단|방법|카드)[ :]
    # 결제금액: 27,540원 (쿠페이 머니)
    | 결제[ ]?금액[ :]{1,3}[\d,]{1,15}원[ ]?\([^()\n]{0,10}(?:머니|페이|포인트|카드)\)
    """,
    example="합계: ₩11,000\n결제 수단: 소리카드",
)


def find_receipt_word(text: str) -> Span | None:
    """Return the word of the event in a receipt that has no other."""
    if "영수증" in text and (match := _STORE_RECEIPT.search(text)):
        return match.span("word")
    if any(word in text for word in ("수단", "합계", "₩")) and (
        match := _THANKS.search(text)
    ):
        return match.span(match.lastgroup or 0)
    if "kWh" in text and (match := _CHARGED.search(text)):
        return match.span("word")
    if not ("결제금액" in text or "결제 금액" in text or "수납액" in text):
        return None
    if "배송" not in text:
        for word, rule in _RECEIPTS:
            if word in text and (match := rule.search(text)):
                return match.span("word")
    match = None if _TO_PAY.search(text) else _DONE.match(text)
    return match.span("word") if match else None


def is_paid_order(text: str) -> bool:
    """Return True for an order that is paid, and the label of its amount."""
    if not ("금액" in text or "수납액" in text) or _TO_PAY.search(text):
        return False
    return (_DONE.match(text) or _PAID.search(text)) is not None


def has_receipt_end(text: str) -> bool:
    """Return True for 합계: ₩11,000 above 결제 수단."""
    return _RECEIPT_END.search(text) is not None


def is_told_as_refunded(text: str, masked: str, keyword: str) -> bool:
    """Return True for a refund that names its means or the label of its amount."""
    is_refunded = "환불" in keyword or any(
        (_REFUNDED.search(masked), _REFUND_LABEL.search(text))
    )
    return is_refunded and _MEANS.search(text) is not None
