"""Stage 1, tokenize: find the word for the event where no keyword stands by itself.

A purchase told as a withdrawal, the label of an amount, and the heading of a receipt.
"""

import re

from card_alerts.korean.status_keywords import (
    RANK_ADJACENT,
    RANK_STANDALONE,
    StatusKeyword,
)
from card_alerts.masked_text import AMOUNT, ANY_PLACEHOLDER
from card_alerts.result import Kind

# 출금 by a check card is a purchase: 우리체크(12*4) 출금 4,500원.
_WITHDRAWAL = re.compile(r"(?<![가-힣])출금(?P<cancelled>[ ]?취소)?(?![가-힣])")
_TRANSFER_WORD = re.compile(
    r"이체|송금|입금|예정|계좌에서|충전|납부|ATM|현금|CD기|수수료"
)
_CHECK_CARD = re.compile(r"체크(?:카드|\)|\(|\])|\[체크")
# The bank that tells purchases by check card as withdrawals from the account.
_BANK_OF_CARD_WITHDRAWALS = "우리"
# Names that end like those of shops.
_WITHDRAWN_AT_SHOP = re.compile(
    rf"출금[ ]?[{AMOUNT}]{{1,20}}[ \n]{{1,2}}[^\n{ANY_PLACEHOLDER}]{{1,40}}?"
    r"(?:(?<![지본상])점|마트|식당|카페|커피|약국|주유소|충전소|편의점|분식|치킨"
    r"|베이커리|의원|병원|서점|미용실|세탁소)"
    rf"[ ]?(?:[\n{ANY_PLACEHOLDER}]|$)"
)
# 승인금액 5,000원
_LABELED_STATUS = re.compile(
    r"(?:(?P<approved>승인)|(?P<cancelled>취소))[ ]?(?:된[ ]?)?금액(?=[ :\n]{0,3}"
    r"[\d₩])"
)
_STATUS_IN_HEADING = re.compile(
    r"(?P<word>승인|(?P<cancelled>취소)|(?:이용|사용|결제)(?=[ ]?내역[ ]?알림))[ ]?"
    r"내역[ ]?(?:알림|안내)"
)


def find_card_withdrawal(
    text: str, masked_text: str, bank: str, *, is_check_card: bool
) -> StatusKeyword | None:
    """Return the keyword of a withdrawal that tells a purchase, if it is one."""
    match = _WITHDRAWAL.search(masked_text)
    if match is None or _TRANSFER_WORD.search(masked_text):
        return None
    is_at_shop = bank == _BANK_OF_CARD_WITHDRAWALS and (
        _WITHDRAWN_AT_SHOP.search(masked_text) is not None
    )
    if not (is_check_card or is_at_shop or _CHECK_CARD.search(text)):
        return None
    kind = Kind.CANCELLATION if match["cancelled"] else Kind.APPROVAL
    return StatusKeyword(kind, match.span(), RANK_ADJACENT, has_following_word=False)


def find_labeled_status(text: str) -> StatusKeyword | None:
    """Return the keyword in the label of an amount, if any."""
    match = _LABELED_STATUS.search(text)
    if match is None:
        return None
    kind = Kind.CANCELLATION if match["cancelled"] else Kind.APPROVAL
    span = match.span(match.lastgroup or 0)
    return StatusKeyword(kind, span, RANK_ADJACENT, has_following_word=False)


def find_status_in_heading(text: str) -> StatusKeyword | None:
    """Return the word of a heading such as 승인내역 알림, if there is one."""
    match = _STATUS_IN_HEADING.search(text)
    if match is None:
        return None
    kind = Kind.CANCELLATION if match["cancelled"] else Kind.APPROVAL
    span = match.span("word")
    return StatusKeyword(kind, span, RANK_STANDALONE, has_following_word=False)
