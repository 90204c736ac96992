"""Find the channel of a text by its sender or its layout."""

import re
from functools import lru_cache

from card_alerts.issuer import Issuer
from card_alerts.patterns import pattern
from card_alerts.result import Channel

MIN_PHONE_DIGITS = 7

_PHONE_NUMBER = pattern(r"\s*[+\d][\d\s\-()]*$", example="+8215889955")
_KAKAOTALK_SENDER = pattern(
    r"kakao\.talk|카카오톡|알림톡|kakaotalk",
    example="com.kakao.talk",
    flags=re.IGNORECASE,
)
# Parts of packages of banks' apps; other packages are apps of card companies.
_BANK_PACKAGE = pattern(
    r"""
    bank | kbstar | kebhana | nh\.smart | ibk\.smart | nonghyup | kfcc | smartmg | epost
    | suhyup | onbank
    """,
    example="com.kbstar.kbbank",
)
_KAKAOTALK_TEXT = pattern(
    r"""
    \[[^\[\]\n]{1,30}\][ ]\[(?:오전|오후)[ ]?\d{1,2}:\d\d\]
    | 카카오톡 | 알림톡 | 톡으로[ ]받는 | 카드영수증
    | 채널[ ](?:추가|차단)
    """,
    example="채널 추가하고",
)
_SMS_TEXT = pattern(r"(?:Web|WEB|web|국제|국외)[ ]?발신", example="Web발신]\nKB국민")
_PAY_APP_TEXT = pattern(
    r"""
    (?=[결네카토페P삼애쿠사온])(?:결제[ ]?완료 | 네이버[ ]?페이 | 카카오[ ]?페이
    | 토스[ ]?(?:페이|머니)
    | 페이코 | PAYCO
    | 삼성(?:월렛|페이)
    | 애플페이 | 쿠팡페이
    | (?<=[가-힣][가-힣])사랑(?:화폐|상품권|카드|페이)
    | 온누리)
    """,
    example="마포사랑상품권",
)
_CARD_APP_TEXT = pattern(
    r"""
    (?=[KkSs신우하Nn디페앱·])(?:(?i:KB)[ ]?(?i:Pay)
    | (?i:SOL)[ ]?페이
    | 신한[ ]?플레이
    | 우리(?i:WON)카드
    | 하나[ ]?(?i:Pay|페이)
    | (?i:NH)[ ]?(?i:pay|페이)
    | 디지로카 | 페이북 | 앱카드
    | ·[ ]?(?:일반)?승인)
    """,
    example="하나Pay (결제)",
)
_BANK_TEXT = pattern(
    r"""
    (?=[은뱅])(?:
        (?:(?<=[가-힣])|(?<=IBK)|(?<=KB)|(?<=NH))은행
        | (?:(?<=카카오)|(?<=토스)|(?<=케이)|(?<=iM))뱅크
    )
    """,
    example="하나은행",
)
_ACCOUNT_NUMBER = pattern(
    r"\d\*{2,}\d|\d-\d[\d*]{1,5}-[\d*]{2}", example="123-45-67890"
)


def _is_of_bank(text: str) -> bool:
    if "출금" in text or "입금" in text or "통장" in text:
        return True
    return ("은행" in text or "뱅크" in text) and _BANK_TEXT.search(text) is not None


@lru_cache(maxsize=4096)
def _find_channel_of_sender(sender: str, issuer: Issuer | None) -> Channel | None:
    if _KAKAOTALK_SENDER.search(sender):
        return Channel.KAKAOTALK
    if "." in sender and sender.isascii() and issuer:
        if issuer.is_pay_service:
            return Channel.PAY_APP
        is_bank = _BANK_PACKAGE.search(sender.lower())
        return Channel.BANK if is_bank else Channel.CARD_APP
    return None


@lru_cache(maxsize=4096)
def _is_phone_number(sender: str) -> bool:
    digits = sum(letter.isdigit() for letter in sender)
    return digits >= MIN_PHONE_DIGITS and _PHONE_NUMBER.match(sender) is not None


def find_channel(
    text: str, sender: str, sender_issuer: Issuer | None, *, has_issuer: bool
) -> Channel | None:
    is_by_phone = False
    if sender:
        channel = _find_channel_of_sender(sender, sender_issuer)
        if channel:
            return channel
        is_by_phone = _is_phone_number(sender)
    has_hint = "톡" in text or "] [" in text or "영수증" in text or "채널" in text
    if has_hint and not is_by_phone and _KAKAOTALK_TEXT.search(text):
        return Channel.KAKAOTALK
    may_have_number = "**" in text or "-" in text
    if _is_of_bank(text) or (may_have_number and _ACCOUNT_NUMBER.search(text)):
        return Channel.BANK
    if is_by_phone or ("발신" in text and _SMS_TEXT.search(text)):
        return Channel.CARD_SMS
    if (sender_issuer and sender_issuer.is_pay_service) or _PAY_APP_TEXT.search(text):
        return Channel.PAY_APP
    if _CARD_APP_TEXT.search(text):
        return Channel.CARD_APP
    return Channel.CARD_SMS if has_issuer else None
