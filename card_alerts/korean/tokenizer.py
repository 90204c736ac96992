"""The parts of a Korean message, masked in the order in which they can be told.

Running totals and balances first, so that they cannot be taken for the amount; then
days, months, foreign money, won, heads, names and signals.
"""

import re
from dataclasses import dataclass, field
from datetime import time

from card_alerts.result import Span
from card_alerts.korean import issuer_match as head_rules
from card_alerts.korean.issuer_match import IssuerMatch
from card_alerts.korean.merchant_labels import find_labeled_merchant
from card_alerts.korean.status_keywords import (
    NOTICE_HEADING,
    StatusKeyword,
    find_keywords,
)
from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    BALANCE,
    BENEFIT,
    HOLDER_NAME,
    INSTALLMENT,
    ISSUER,
    KEYWORD,
    LABEL,
    MERCHANT,
    NOISE,
    ORIGINAL_DATE,
    RUNNING_TOTAL,
    TIMESTAMP,
    MaskedText,
)
from card_alerts.money import (
    BALANCE_PATTERN,
    RUNNING_TOTAL_PATTERN,
    MoneyMatch,
    find_amounts_without_currency,
    find_foreign_amounts,
    find_won_amounts,
    is_plausible_total,
    parse_number,
)
from card_alerts.times import TimestampMatch, find_standalone_time, find_timestamps

_SENT_FROM_WEB = re.compile(r"\[?(?:Web|WEB|web)[ ]?발신\]?|\[(?:국제|국외)발신\]")
_LINK = re.compile(r"(?:https?://|www\.)[^\s가-힣]{1,300}")
QUOTED = re.compile(r"(?<=[ \n])'[^'\n]{0,200}(?:'|$|(?=\n))")
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}|\d{1,9})"
_BENEFIT = re.compile(
    rf"(?<![\d,])(?<!\d\.){_NUMBER}[ ]?(?:원|P|점|포인트|TOP|마일리지"
    rf"|마일)?[이을]?[ ]?[/ ]?[ ]?"
    r"(?:청구[ ]?할인|즉시[ ]?할인|현장[ ]?할인|할인|캐시백|적립|인센티브)(?:이"
    r"|을)?[ ]?(?:예정|완료|금액|적용|혜택)?"
    r"(?:됨|됐어요|되었습니다|됩니다|받았어요)?(?![가-힣])"
    rf"|(?:청구할인|할인|캐시백|적립|인센티브|(?:잔여[ ]?)?포인트|마일리지|봉사료"
    rf"|부가세)[ ]?(?:금액|예정|사용)?[ :]{{0,2}}-?{_NUMBER}[ ]?(?:원|P"
    rf"|점)?(?![\d가-힣])"
    r"|\d{1,3}(?:\.\d{1,2})?[ ]?%[ ]?(?:[가-힣A-Z ]{0,10}[ ])?"
    r"[가-힣A-Z]{0,10}(?:할인|적립|캐시백|클럽|보너스)(?:예정|적용|완료|혜택|대상|클럽"
    r"|서비스|됨|받음)?(?![가-힣])"
    rf"|\((?=[^()\n]{{0,30}}(?!원)[가-힣])(?![^()\n]{{0,30}}취소)(?!금액"
    rf")[^()\n\d]{{0,20}}[ ]?{_NUMBER}[ ]?원[^()\n]{{0,12}}\)"
    rf"|(?<![\d,])(?<!\d\.)\d{{1,7}}[ ]?(?:P|TOP|점|마일)[ ]?적립(?:예정)?"
)
# 5,000원 할인 500원 is 500 less; in 500원 할인 4,500원 the discount stands first.
_TRAILING_BENEFIT = re.compile(
    rf"(?<![\d,.])(?P<paid>{_NUMBER})[ ]?원[ ,/]{{0,2}}"
    r"(?P<part>(?:(?:청구|즉시|현장)[ ]?)?(?:할인|캐시백|적립)[ :]{0,2}-?"
    rf"(?P<benefit>{_NUMBER})[ ]?(?:원|P|점))(?![가-힣])"
)
_INSTALLMENTS = re.compile(
    r"(?=[\[(일유부무할\d ])[\[(]?[ ]?(?:일시불|"
    r"(?:(?:유이자|부분무이자|무이자|할부|\(무\)|\(유\)|무"
    r"|유)[ ]?[:(/]?[ ]?)?(?<!\d)0?(?P<a>\d{1,2})[ ]?개월(?:[ ]?(?:무이자|할부"
    r"|유이자))?"
    r"|할부[ ]?(?:개월(?:수)?)?[ ]?[:(/][ ]?0?(?P<b>\d{1,2})(?!\d)(?:[ ]?개월"
    r")?)[ ]?[\])]?"
    r"(?![가-힣]|[ ]?(?:사진|아기))|[\[(]?(?:일시불"
    r"|(?P<c>\d{1,2})개월)[ ]?[\])]?(?=승인|취소|결제|체크|거절|누적|[가-힣]\*)"
)
_HOLDER_NAMES = re.compile(
    r"(?<![가-힣])[가-힣]{1,2}\*{1,2}[가-힣]{0,2}(?:[ ]?(?:고객)?님)?(?:께서"
    r")?(?![가-힣*])"
    rf"|(?:(?<![가-힣])"
    rf"|(?<=고객명[ :]))[가-힣]{{2,4}}[ ]?님(?![가-힣"
    rf"])(?=[^{TIMESTAMP}]{{0,150}}[{TIMESTAMP}{AMOUNT}])"
)
_CARD_NICKNAME = re.compile(
    r"(?:[가-힣]{1,2}\*{1,2}[가-힣]{0,2}|[가-힣]{2,4}"
    r"|[가-힣*]{2,4})님의[ ](?P<part>[^\n]{1,40}?카드)(?![가-힣])"
)
_ACCOUNT_NUMBER = re.compile(
    r"(?<![\d*])(?:\d{2,6}\*{2,6}\d{2,6}"
    r"|\d{2,6}-[\d*]{2,6}-[\d*]{2,8}(?:-[\d*]{1,4})?|\d{3,6}\*{3,8})(?![\d*])"
)
_FOOTER_PHONE_NUMBER = re.compile(
    r"\[[^\]\n]{0,30}\d{3,4}-\d{4}\]|(?:문의|☎|고객센터)[^\n]{0,20}\d{3,4}-?\d{4}"
)
_CARD_KIND = re.compile(
    rf"(?<![가-힣])(?P<part>(?:체크|신용)(?:카드)?)(?![가-힣])(?=[ ]?(?:$"
    rf"|[\n{ANY_PLACEHOLDER}(\d·|,.]))"
)
_LABELS = re.compile(
    rf"(?:^|(?<=[\n{ANY_PLACEHOLDER}\-·•■▶*]))[ \-·•■▶*]{{0,4}}(?P<part>"
    r"(?:승인|이용|사용|결제|거래|취소"
    r"|매출|카드)?[ ]?"
    r"(?:카드|카드명|카드번호|금액|일시|일자|시각|시간|날짜|번호|종류|구분|유형|방법"
    r"|수단|상태)|이용카드|결제카드|고객명|손님명|성명|이름|할부|할부개월|할부기간"
    r"|사용자|이용자|회원명)"
    r"(?=[ ]?[:=]|[ ]?\n|[ ](?:승인|취소)(?=\n|$)"
    rf"|[ ]?[{ISSUER}{AMOUNT}{TIMESTAMP}{INSTALLMENT}{HOLDER_NAME}])"
)
_LABELED_HOLDER_NAME = re.compile(
    r"(?:고객명|손님명|성명|이름|회원명|사용자"
    r"|이용자)(?:[ ]?[:=][ \n]?|[ \n])(?P<part>[가-힣*]{2,5})(?=[ \n]|$)"
)
_RECEIPT_NOISE = re.compile(
    r"\(금액\)|(?:승인|거래)[ ]?번호[ ]?[:(]?[ ]?\d{4,12}\)?|\(\d{1,4}건\)"
    r"|(?<=[ ])\d{1,4}건(?![가-힣])"
    rf"|(?<=[{TIMESTAMP}])[ ]?접수(?![가-힣])|\([^()\n]{{0,20}}(?:미등록|불가|초과|부족"
    rf"|오류|거절|정지|제한|차단)[^()\n]{{0,10}}\)"
)
_NAME_FOLLOWS = re.compile(
    r"[ ](?!승인|취소|결제|사용|이용|체크|누적|[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님)"
    r"[가-힣A-Za-z]"
)
_BEFORE_NAME = {"", "\n", TIMESTAMP, RUNNING_TOTAL, ":", "|", "님"}
_HAS_BALANCE = re.compile(r"잔[액고여]|한도|남은|가능")
_BENEFIT_WORDS = (
    *("%", "할인", "캐시백", "적립", "인센티브", "포인트", "마일", "봉사료", "부가세"),
    "TOP",
)
_WON_IN_BRACKETS = re.compile(r"원[^()\n]{0,12}\)")
_HAS_RECEIPT_NOISE = re.compile(r"번호|건|금액|접수|\([^()\n]{1,30}\)")
_HAS_LABELS = re.compile(
    "금액|일[시자]|시[각간]|날짜|명|이름|카드|구분|번호|할부|수단|용자"
)
_HAS_NOTICE = re.compile("내역|알림|안내")
_HAS_INSTALLMENTS = re.compile("일시불|개월|할부")
_HAS_ACCOUNT = re.compile(r"\*\*|\d-[\d*]")


@dataclass(slots=True)
class TokenizedMessage:
    """A message as far as it is understood: the skeleton and what was taken."""

    text: str
    masked: MaskedText
    running_total: re.Match[str] | None = None
    balance: re.Match[str] | None = None
    foreign_amounts: list[MoneyMatch] = field(default_factory=list)
    won_amounts: list[MoneyMatch] = field(default_factory=list)
    # The amounts carry no currency at all.
    is_currency_missing: bool = False
    timestamps: list[TimestampMatch] = field(default_factory=list)
    standalone_time: time | None = None
    installment_months: re.Match[str] | None = None
    nickname: tuple[int, int] | None = None
    issuer_match: IssuerMatch | None = None
    issuer_matches: list[IssuerMatch] = field(default_factory=list)
    digits: tuple[int, int] | None = None
    product: tuple[int, int] | None = None
    is_check_card: bool | None = None
    keywords: list[StatusKeyword] = field(default_factory=list)
    # Where the layout itself names the shop.
    labeled_merchant: Span | None = None

    @property
    def has_installment_terms(self) -> bool:
        """Whether 일시불 or a number of months is printed."""
        return INSTALLMENT in self.masked.text


def tokenize(text: str) -> TokenizedMessage:
    """Takes the text apart."""
    reading = TokenizedMessage(text, MaskedText(text))
    _mask_noise(reading)
    _mask_totals_and_foreign(reading)
    _mask_timestamps(reading)
    _mask_installments(reading)
    _mask_won(reading)
    _mask_card(reading)
    _mask_labels_and_keywords(reading)
    return reading


def _mask_noise(reading: TokenizedMessage) -> None:
    skeleton = reading.masked
    text = skeleton.text
    if "발신" in text:
        skeleton.mask_all(_SENT_FROM_WEB, NOISE)
    if "://" in text or "www." in text:
        skeleton.mask_all(_LINK, NOISE)
    reading.labeled_merchant = find_labeled_merchant(skeleton.text)
    if reading.labeled_merchant:
        skeleton.mask(*reading.labeled_merchant, MERCHANT)
    if "'" in text:
        skeleton.mask_all(QUOTED, NOISE)
    if "님의" in text:
        match = _CARD_NICKNAME.search(text)
        if match:
            reading.nickname = match.span("part")
            skeleton.mask(*match.span(), HOLDER_NAME)


def _mask_totals_and_foreign(reading: TokenizedMessage) -> None:
    """Totals, balances, discounts, then money with a foreign sign or code."""
    skeleton = reading.masked
    if "누" in skeleton.text:
        reading.running_total = _mask_and_take_first(
            skeleton, RUNNING_TOTAL_PATTERN, RUNNING_TOTAL
        )
    if _HAS_BALANCE.search(skeleton.text):
        reading.balance = _mask_and_take_first(skeleton, BALANCE_PATTERN, BALANCE)
    if _has_benefit(skeleton.text):
        _mask_trailing_benefits(skeleton)
        skeleton.mask_all(_BENEFIT, BENEFIT)
    reading.foreign_amounts = list(find_foreign_amounts(skeleton.text))
    skeleton.mask_spans([money.span for money in reading.foreign_amounts], AMOUNT)


def _has_benefit(text: str) -> bool:
    words = any(word in text for word in _BENEFIT_WORDS)
    return words or _WON_IN_BRACKETS.search(text) is not None


def _mask_trailing_benefits(skeleton: MaskedText) -> None:
    """Of a payment and a benefit side by side the smaller one is the benefit."""
    for match in _TRAILING_BENEFIT.finditer(skeleton.text):
        if parse_number(match["benefit"]) < parse_number(match["paid"]):
            skeleton.mask(*match.span("part"), BENEFIT)


def _mask_and_take_first(
    skeleton: MaskedText, pattern: re.Pattern[str], sign: str
) -> re.Match[str] | None:
    """Masks all sums of a pattern; the first is the one to report."""
    matches = [
        match for match in pattern.finditer(skeleton.text) if is_plausible_total(match)
    ]
    skeleton.mask_spans([match.span() for match in matches], sign)
    return matches[0] if matches else None


def _mask_timestamps(reading: TokenizedMessage) -> None:
    skeleton = reading.masked
    reading.timestamps = find_timestamps(skeleton.text)
    for sign, is_original in ((TIMESTAMP, False), (ORIGINAL_DATE, True)):
        spans = [m.span for m in reading.timestamps if m.is_original is is_original]
        skeleton.mask_spans(spans, sign)
    if ":" in skeleton.text or "시" in skeleton.text:
        lone = find_standalone_time(skeleton.text)
        if lone:
            span, reading.standalone_time = lone
            skeleton.mask(*span, TIMESTAMP)


def _mask_installments(reading: TokenizedMessage) -> None:
    skeleton = reading.masked
    if not _HAS_INSTALLMENTS.search(skeleton.text):
        return
    matches = [
        match
        for match in _INSTALLMENTS.finditer(skeleton.text)
        if not _is_name_prefix(skeleton.text, match)
    ]
    if len(matches) > 1:
        matches = [
            m for m in matches if not _has_name_after(skeleton.text, m)
        ] or matches
    if matches:
        numbered = [match for match in matches if match.lastgroup]
        reading.installment_months = numbered[0] if numbered else None
        skeleton.mask_spans([match.span() for match in matches], INSTALLMENT)


def _is_name_prefix(text: str, match: re.Match[str]) -> bool:
    """3개월 체형관리: months that open a line, or stand behind the day or a total."""
    if not _has_name_after(text, match):
        return False
    before = text[: match.start()].rstrip(" ")[-1:]
    return before in _BEFORE_NAME


def _has_name_after(text: str, match: re.Match[str]) -> bool:
    return not match["c"] and _NAME_FOLLOWS.match(text, match.end()) is not None


def _mask_won(reading: TokenizedMessage) -> None:
    skeleton = reading.masked
    if _HAS_ACCOUNT.search(skeleton.text):
        skeleton.mask_all(_ACCOUNT_NUMBER, NOISE)
        skeleton.mask_all(_FOOTER_PHONE_NUMBER, NOISE)
    reading.won_amounts = find_won_amounts(skeleton.text)
    if not reading.won_amounts and not reading.foreign_amounts:
        reading.won_amounts = find_amounts_without_currency(skeleton.text)
        reading.is_currency_missing = True
    skeleton.mask_spans([money.span for money in reading.won_amounts], AMOUNT)


def _mask_card(reading: TokenizedMessage) -> None:
    """Headings, the head, the card's digits, the holder's name."""
    skeleton = reading.masked
    if _HAS_RECEIPT_NOISE.search(skeleton.text):
        skeleton.mask_all(_RECEIPT_NOISE, NOISE)
    reading.issuer_matches = head_rules.find_issuer_matches(skeleton.text)
    head = head_rules.choose_issuer_match(reading.issuer_matches, skeleton.text)
    reading.issuer_match = head
    if head:
        reading.digits = head.digits
        reading.is_check_card = head.is_check_card
        reading.product = head_rules.find_product_span(skeleton.text, head)
        head_rules.mask_issuer_matches(skeleton, reading.issuer_matches, head)
    if _HAS_NOTICE.search(skeleton.text):
        skeleton.mask_all(NOTICE_HEADING, NOISE)
    if not reading.digits:
        loose = head_rules.find_standalone_digits(skeleton.text)
        if loose:
            reading.digits = loose.span(loose.lastgroup or 0)
            skeleton.mask(*loose.span(), ISSUER)
    if "*" in skeleton.text or "님" in skeleton.text:
        skeleton.mask_all(_HOLDER_NAMES, HOLDER_NAME)


def _mask_labels_and_keywords(reading: TokenizedMessage) -> None:
    """Labels, check or credit, and the words that say what happened."""
    skeleton = reading.masked
    if _HAS_LABELS.search(skeleton.text):
        skeleton.mask_all(_LABELED_HOLDER_NAME, HOLDER_NAME)
        skeleton.mask_all(_LABELS, LABEL)
    match = _CARD_KIND.search(skeleton.text)
    if match and reading.is_check_card is None:
        reading.is_check_card = match["part"].startswith("체크")
    if match:
        skeleton.mask_all(_CARD_KIND, NOISE)
    reading.keywords = find_keywords(skeleton)
    skeleton.mask_spans([signal.span for signal in reading.keywords], KEYWORD)
