"""The parts of a Korean message, masked in the order in which they can be told.

Running totals and balances first, so that they cannot be taken for the amount; then
days, months, foreign money, won, heads, names and signals.
"""

import re
from dataclasses import dataclass, field
from datetime import time

from card_alerts import issuer_match as head_rules
from card_alerts.candidate import Span
from card_alerts.issuer_match import Head
from card_alerts.masked_text import (
    AMOUNT,
    ANY,
    BALANCE,
    BENEFIT,
    HEAD,
    LABEL,
    MONTHS,
    NAME,
    NOISE,
    ORIGINAL,
    SHOP,
    SIGNAL,
    TOTAL,
    WHEN,
    Skeleton,
)
from card_alerts.merchant_labels import find_place
from card_alerts.money import (
    BALANCE_PATTERN,
    TOTAL_PATTERN,
    Money,
    find_bare,
    find_foreign,
    find_won,
    is_total,
    read_number,
)
from card_alerts.status_keywords import NOTICE, Signal, find_signals
from card_alerts.times import Moment, find_lone_time, find_moments

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
_BENEFIT_BEHIND = re.compile(
    rf"(?<![\d,.])(?P<paid>{_NUMBER})[ ]?원[ ,/]{{0,2}}"
    r"(?P<part>(?:(?:청구|즉시|현장)[ ]?)?(?:할인|캐시백|적립)[ :]{0,2}-?"
    rf"(?P<benefit>{_NUMBER})[ ]?(?:원|P|점))(?![가-힣])"
)
"""5,000원 할인 500원 is 500 less; in 500원 할인 4,500원 the discount stands first."""
_MONTHS = re.compile(
    r"(?=[\[(일유부무할\d ])[\[(]?[ ]?(?:일시불|"
    r"(?:(?:유이자|부분무이자|무이자|할부|\(무\)|\(유\)|무"
    r"|유)[ ]?[:(/]?[ ]?)?(?<!\d)0?(?P<a>\d{1,2})[ ]?개월(?:[ ]?(?:무이자|할부"
    r"|유이자))?"
    r"|할부[ ]?(?:개월(?:수)?)?[ ]?[:(/][ ]?0?(?P<b>\d{1,2})(?!\d)(?:[ ]?개월"
    r")?)[ ]?[\])]?"
    r"(?![가-힣]|[ ]?(?:사진|아기))|[\[(]?(?:일시불"
    r"|(?P<c>\d{1,2})개월)[ ]?[\])]?(?=승인|취소|결제|체크|거절|누적|[가-힣]\*)"
)
_NAMES = re.compile(
    r"(?<![가-힣])[가-힣]{1,2}\*{1,2}[가-힣]{0,2}(?:[ ]?(?:고객)?님)?(?:께서"
    r")?(?![가-힣*])"
    rf"|(?:(?<![가-힣])"
    rf"|(?<=고객명[ :]))[가-힣]{{2,4}}[ ]?님(?![가-힣"
    rf"])(?=[^{WHEN}]{{0,150}}[{WHEN}{AMOUNT}])"
)
_NICKNAME = re.compile(
    r"(?:[가-힣]{1,2}\*{1,2}[가-힣]{0,2}|[가-힣]{2,4}"
    r"|[가-힣*]{2,4})님의[ ](?P<part>[^\n]{1,40}?카드)(?![가-힣])"
)
_ACCOUNT = re.compile(
    r"(?<![\d*])(?:\d{2,6}\*{2,6}\d{2,6}"
    r"|\d{2,6}-[\d*]{2,6}-[\d*]{2,8}(?:-[\d*]{1,4})?|\d{3,6}\*{3,8})(?![\d*])"
)
_FOOTER_NUMBER = re.compile(
    r"\[[^\]\n]{0,30}\d{3,4}-\d{4}\]|(?:문의|☎|고객센터)[^\n]{0,20}\d{3,4}-?\d{4}"
)
_CARD_KIND = re.compile(
    rf"(?<![가-힣])(?P<part>(?:체크|신용)(?:카드)?)(?![가-힣])(?=[ ]?(?:$"
    rf"|[\n{ANY}(\d·|,.]))"
)
_LABELS = re.compile(
    rf"(?:^|(?<=[\n{ANY}\-·•■▶*]))[ \-·•■▶*]{{0,4}}(?P<part>"
    r"(?:승인|이용|사용|결제|거래|취소"
    r"|매출|카드)?[ ]?"
    r"(?:카드|카드명|카드번호|금액|일시|일자|시각|시간|날짜|번호|종류|구분|유형|방법"
    r"|수단|상태)|이용카드|결제카드|고객명|손님명|성명|이름|할부|할부개월|할부기간"
    r"|사용자|이용자|회원명)"
    r"(?=[ ]?[:=]|[ ]?\n|[ ](?:승인|취소)(?=\n|$)"
    rf"|[ ]?[{HEAD}{AMOUNT}{WHEN}{MONTHS}{NAME}])"
)
_LABELLED_NAME = re.compile(
    r"(?:고객명|손님명|성명|이름|회원명|사용자"
    r"|이용자)(?:[ ]?[:=][ \n]?|[ \n])(?P<part>[가-힣*]{2,5})(?=[ \n]|$)"
)
_RECEIPT_NOISE = re.compile(
    r"\(금액\)|(?:승인|거래)[ ]?번호[ ]?[:(]?[ ]?\d{4,12}\)?|\(\d{1,4}건\)"
    r"|(?<=[ ])\d{1,4}건(?![가-힣])"
    rf"|(?<=[{WHEN}])[ ]?접수(?![가-힣])|\([^()\n]{{0,20}}(?:미등록|불가|초과|부족"
    rf"|오류|거절|정지|제한|차단)[^()\n]{{0,10}}\)"
)
_NAME_FOLLOWS = re.compile(
    r"[ ](?!승인|취소|결제|사용|이용|체크|누적|[가-힣]{1,2}\*|[가-힣]{2,4}[ ]?님)"
    r"[가-힣A-Za-z]"
)
_BEFORE_NAME = {"", "\n", WHEN, TOTAL, ":", "|", "님"}
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
_HAS_MONTHS = re.compile("일시불|개월|할부")
_HAS_ACCOUNT = re.compile(r"\*\*|\d-[\d*]")


@dataclass(slots=True)
class Reading:
    """A message as far as it is understood: the skeleton and what was taken."""

    source: str
    skeleton: Skeleton
    total: re.Match[str] | None = None
    balance: re.Match[str] | None = None
    foreign: list[Money] = field(default_factory=list)
    won: list[Money] = field(default_factory=list)
    is_bare: bool = False
    """The amounts carry no currency at all."""
    moments: list[Moment] = field(default_factory=list)
    clock: time | None = None
    months: re.Match[str] | None = None
    nickname: tuple[int, int] | None = None
    head: Head | None = None
    heads: list[Head] = field(default_factory=list)
    digits: tuple[int, int] | None = None
    product: tuple[int, int] | None = None
    is_check: bool | None = None
    signals: list[Signal] = field(default_factory=list)
    place: Span | None = None
    """Where the layout itself names the shop."""

    @property
    def has_months(self) -> bool:
        """Whether 일시불 or a number of months is printed."""
        return MONTHS in self.skeleton.text


def read(text: str) -> Reading:
    """Takes the text apart."""
    reading = Reading(text, Skeleton(text))
    _mask_noise(reading)
    _mask_sums(reading)
    _mask_days(reading)
    _mask_months(reading)
    _mask_won(reading)
    _mask_card(reading)
    _mask_words(reading)
    return reading


def _mask_noise(reading: Reading) -> None:
    skeleton = reading.skeleton
    text = skeleton.text
    if "발신" in text:
        skeleton.mask_all(_SENT_FROM_WEB, NOISE)
    if "://" in text or "www." in text:
        skeleton.mask_all(_LINK, NOISE)
    reading.place = find_place(skeleton.text)
    if reading.place:
        skeleton.mask(*reading.place, SHOP)
    if "'" in text:
        skeleton.mask_all(QUOTED, NOISE)
    if "님의" in text:
        match = _NICKNAME.search(text)
        if match:
            reading.nickname = match.span("part")
            skeleton.mask(*match.span(), NAME)


def _mask_sums(reading: Reading) -> None:
    """Totals, balances, discounts, then money with a foreign sign or code."""
    skeleton = reading.skeleton
    if "누" in skeleton.text:
        reading.total = _mask_first(skeleton, TOTAL_PATTERN, TOTAL)
    if _HAS_BALANCE.search(skeleton.text):
        reading.balance = _mask_first(skeleton, BALANCE_PATTERN, BALANCE)
    if _has_benefit(skeleton.text):
        _mask_benefits_behind(skeleton)
        skeleton.mask_all(_BENEFIT, BENEFIT)
    reading.foreign = list(find_foreign(skeleton.text))
    skeleton.mask_spans([money.span for money in reading.foreign], AMOUNT)


def _has_benefit(text: str) -> bool:
    words = any(word in text for word in _BENEFIT_WORDS)
    return words or _WON_IN_BRACKETS.search(text) is not None


def _mask_benefits_behind(skeleton: Skeleton) -> None:
    """Of a payment and a benefit side by side the smaller one is the benefit."""
    for match in _BENEFIT_BEHIND.finditer(skeleton.text):
        if read_number(match["benefit"]) < read_number(match["paid"]):
            skeleton.mask(*match.span("part"), BENEFIT)


def _mask_first(
    skeleton: Skeleton, pattern: re.Pattern[str], sign: str
) -> re.Match[str] | None:
    """Masks all sums of a pattern; the first is the one to report."""
    matches = [match for match in pattern.finditer(skeleton.text) if is_total(match)]
    skeleton.mask_spans([match.span() for match in matches], sign)
    return matches[0] if matches else None


def _mask_days(reading: Reading) -> None:
    skeleton = reading.skeleton
    reading.moments = find_moments(skeleton.text)
    for sign, is_original in ((WHEN, False), (ORIGINAL, True)):
        spans = [m.span for m in reading.moments if m.is_original is is_original]
        skeleton.mask_spans(spans, sign)
    if ":" in skeleton.text or "시" in skeleton.text:
        lone = find_lone_time(skeleton.text)
        if lone:
            span, reading.clock = lone
            skeleton.mask(*span, WHEN)


def _mask_months(reading: Reading) -> None:
    skeleton = reading.skeleton
    if not _HAS_MONTHS.search(skeleton.text):
        return
    matches = [
        match
        for match in _MONTHS.finditer(skeleton.text)
        if not _opens_name(skeleton.text, match)
    ]
    if len(matches) > 1:
        matches = [m for m in matches if not _name_follows(skeleton.text, m)] or matches
    if matches:
        numbered = [match for match in matches if match.lastgroup]
        reading.months = numbered[0] if numbered else None
        skeleton.mask_spans([match.span() for match in matches], MONTHS)


def _opens_name(text: str, match: re.Match[str]) -> bool:
    """3개월 체형관리: months that open a line, or stand behind the day or a total."""
    if not _name_follows(text, match):
        return False
    before = text[: match.start()].rstrip(" ")[-1:]
    return before in _BEFORE_NAME


def _name_follows(text: str, match: re.Match[str]) -> bool:
    return not match["c"] and _NAME_FOLLOWS.match(text, match.end()) is not None


def _mask_won(reading: Reading) -> None:
    skeleton = reading.skeleton
    if _HAS_ACCOUNT.search(skeleton.text):
        skeleton.mask_all(_ACCOUNT, NOISE)
        skeleton.mask_all(_FOOTER_NUMBER, NOISE)
    reading.won = find_won(skeleton.text)
    if not reading.won and not reading.foreign:
        reading.won = find_bare(skeleton.text)
        reading.is_bare = True
    skeleton.mask_spans([money.span for money in reading.won], AMOUNT)


def _mask_card(reading: Reading) -> None:
    """Headings, the head, the card's digits, the holder's name."""
    skeleton = reading.skeleton
    if _HAS_RECEIPT_NOISE.search(skeleton.text):
        skeleton.mask_all(_RECEIPT_NOISE, NOISE)
    reading.heads = head_rules.find_heads(skeleton.text)
    head = head_rules.choose_head(reading.heads, skeleton.text)
    reading.head = head
    if head:
        reading.digits = head.digits
        reading.is_check = head.is_check
        reading.product = head_rules.product_hint(skeleton.text, head)
        head_rules.mask_heads(skeleton, reading.heads, head)
    if _HAS_NOTICE.search(skeleton.text):
        skeleton.mask_all(NOTICE, NOISE)
    if not reading.digits:
        loose = head_rules.find_loose_digits(skeleton.text)
        if loose:
            reading.digits = loose.span(loose.lastgroup or 0)
            skeleton.mask(*loose.span(), HEAD)
    if "*" in skeleton.text or "님" in skeleton.text:
        skeleton.mask_all(_NAMES, NAME)


def _mask_words(reading: Reading) -> None:
    """Labels, check or credit, and the words that say what happened."""
    skeleton = reading.skeleton
    if _HAS_LABELS.search(skeleton.text):
        skeleton.mask_all(_LABELLED_NAME, NAME)
        skeleton.mask_all(_LABELS, LABEL)
    match = _CARD_KIND.search(skeleton.text)
    if match and reading.is_check is None:
        reading.is_check = match["part"].startswith("체크")
    if match:
        skeleton.mask_all(_CARD_KIND, NOISE)
    reading.signals = find_signals(skeleton)
    skeleton.mask_spans([signal.span for signal in reading.signals], SIGNAL)
