"""Words of the ways in which a payment was paid, billed or paid back.

Banks and statements use these words, too, but here they refuse no payment.
"""

from card_alerts.patterns import pattern

# 후불교통 11월 이용금액 34,500원 승인: the rides of a month have no other text.
TRANSIT_MONTH = pattern(
    r"(?<=교통)[ ]\d{1,2}월[ ]?(?:분[ ]?)?(?:이용|사용)[ ]?금액",
    example="후불교통 11월 이용금액",
)
WITHDRAWN = pattern(
    r"출금[ ]?(?:예정)?(?:금?액)?(?=[ ]?[\d,]{1,15}원)", example="출금 150,558원"
)
# The account behind a check card: 출금계좌 110-***-4821, 출금 후 잔액
DEBIT_ACCOUNT = pattern(
    r"출금[ ]?계좌[ :]{0,2}(?:[\d*-]{6,24}|(?=잔액))|출금[ ]?후[ ]?(?=잔액)",
    example="출금계좌 110-***-4821",
)
# ※ 결제일에 합산 청구됩니다, below an approval
BILLED_LATER = pattern(
    r"(?:※|(?<=\n)\*)[^\n]{0,60}청구(?:됩니다|돼요|예정)[^\n]{0,60}",
    example="※ 결제일에 합산 청구됩니다.",
)
# The wallet that paid: 소리머니에서 출금.
PAID_OUT_OF = pattern(
    r"(?:머니|페이|통장|계좌|포인트)에서[ ]출금(?:되었습니다|됐어요|됐습니다|했어요)?",
    example="머니에서 출금",
)
# 승인취소 … 66,000원 계좌로 환급되었습니다
_PAID_BACK = pattern(
    r"""
    (?:입출금)?(?:통장|계좌)[으로에]{1,2}[ ](?:바로[ ])?(?:환급|입금)
    (?:되었습니다|되었어요|됐습니다|됐어요|됩니다|됨)?
    """,
    example="계좌로 환급되었습니다",
)
# 해외매입 청구금액 28,745원 (이용금액 20.10USD): both are of one purchase.
_BILLED_IN_WON = pattern(
    r"""
    청구[ ]?금액
    (?=[ ]?[\d,]{1,15}원[ ]?\(이용[ ]?금액[ ]?[\d,.]{1,15}[ ]?[A-Z]{3}\))
    """,
    example="청구금액 28,745원 (이용금액 20.10USD)",
)


def without_settlement(text: str, *, is_cancelled: bool) -> str:
    """Return the text without how a cancellation or a purchase abroad was settled."""
    if is_cancelled and ("환급" in text or "입금" in text):
        text = _PAID_BACK.sub("", text)
    if "이용금액" in text or "이용 금액" in text:
        text = _BILLED_IN_WON.sub("", text)
    return text
