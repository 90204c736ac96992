"""Where the merchant stands: what is left of a Korean message, chosen by layout."""

import re
from dataclasses import dataclass
from itertools import islice

from card_alerts.korean.merchant_labels import MERCHANT_LABEL
from card_alerts.masked_text import (
    AMOUNT,
    ANY_PLACEHOLDER,
    HOLDER_NAME,
    ISSUER,
    KEYWORD,
    NOISE,
    PLACEHOLDERS,
    TIMESTAMP,
)

# Stretches that are looked at; a message has one to twelve.
MAX_SPANS = 80
_BEFORE_BAR = {ISSUER, AMOUNT, KEYWORD, NOISE}
# Blanks that end a merchant's column; behind them stands its city.
MIN_COLUMN_GAP = 4

_UNMASKED_SPAN = re.compile(rf"[^\n{ANY_PLACEHOLDER}]{{1,600}}")
_LEADING_SEPARATORS = re.compile(r"[\s,./|·:;>\]\-—&~_*'\"!]*")
_LABELED = re.compile(
    rf"{MERCHANT_LABEL}"
    rf"(?:[ ]?(?:[:=][ ]?\n?|\n)[ ]?(?P<value>[^\n{ANY_PLACEHOLDER}]{{1,600}})"
    rf"|(?<=\n결제처|\n사용처|\n이용처|\n가맹점|가맹점명)[ ]"
    rf"(?P<rest>[^\n{ANY_PLACEHOLDER}]{{1,600}}))"
)
_NEXT_LABEL = re.compile(
    r"[ ,/\-]{1,4}(?:승인|결제|이용|사용|거래|취소|할부|카드|누적|일시|금액|고객"
    r"|잔액)[가-힣]{0,4}[ ]?:.*"
)
_COUNTRY = re.compile(r"^(?:\([A-Z]{2,3}\)[ ]?|[가-힣]{1,5}[ ]{2,3}(?=[^ ]))")
_BARE_COUNTRY = re.compile(r"^\([A-Z]{2,3}\)?$")
_TRAILING_WORDS = re.compile(
    r"[ ]{1,4}(?:자동[ ]?(?:이체|납부|결제)|정기[ ]?결제|이용건|사용건|결제건|승인건"
    r"|이용|사용|건|(?:이용|승인|결제|사용|거래)?금액)$"
)
_ATTACHED_SUFFIX = re.compile(
    r"(?:\(일시불\)|에서(?:[ ]결제(?:한|하신))?|님께서|[ ]이용건|(?<=[가-힣)])\.)$"
)
_SUFFIX_LAST_CHARACTERS = frozenset("체부제건용액서께한신).")
_SENTENCE = re.compile(
    r"[ ].{0,200}(?:니다|세요|어요|아요|해요|까요|시오|바랍니다|됩니다|바람)[.!~ ]*$"
    r"|(?:^|[ ])[가-힣]{0,4}(?:하기|보기|받기|가기|확인)[.!~ ]*$"
    r"|^[※☞▶▷◆☎*]|(?<![가-힣])문의|고객[ ]?센터[ :]{0,2}\d|추가하고|이용[ ]?안내"
    r"|본인[ ]?(?:이[ ]?)?(?:아닌|아닐|미사용|사용)|앱에서[ ]|에서[ ]확인|[ ]환율"
    r"|(?:이용|사용|승인|결제|거래)[ ]?내역|^\W*안내\W*$|마케팅[ ]?(?:메시지|정보|수신)"
    r"|포인트[ ]?(?:적립|\d)"
)
_PHONE_ONLY = re.compile(
    r"^[\[(]?(?:[가-힣]{2,10}[ ])?(?:☎|T\.?"
    r"|tel\.?)?[ ]?\d{2,4}-?\d{3,4}(?:-\d{4})?[\])]?$",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    r"^[\W\d_]*$|^\d{1,2}월(?:분)?$|^(?:원|월|일|건|체크|신용|카드|체크카드|신용카드|국내|해외|온라인"
    r"|오프라인|본인|가족|회원님|고객님|고객|님|님의"
    r"|자동이체|자동납부|자동결제|접수|이용건|사용건|승인건|결제건|건이|이|가|을|를"
    r"|에서|으로|로|금액|카드로|일자|원거래|뒷자리|끝자리|구분|교통"
    r"|(?:자동|자동이체|타행|당행|인터넷|모바일)?(?:출금|입금|이체|송금))$"
)
_NUMERIC_NAME = re.compile(r"^\d{2,5}$")
_NOTICE_GAP = re.compile(
    r"[ ]{2,}(?=[^\n]{0,60}(?:안내|알림|이용[ ]|확인|문의|수수료)"
    r"|[A-Z .]{2,40}[ ][A-Z]{2,3}$)"
)
# A notice of the company, behind the name on the same line.
_FOOTER = re.compile(
    r"[ ]{0,3}[※☞☎◆▶]|[ ]{1,3}•|[ ]{1,3}(?:고객[ ]?센터|문의[ :]"
    r"|본인이?[ ]?(?:아닐|아닌|미사용)|이용[ ]?안내|이용해[ ]?주셔서|감사합니다)"
)
MIN_NOTICE_LENGTH = 3
_WIDE_GAP = re.compile(rf"[ ]{{{MIN_COLUMN_GAP},}}")


@dataclass(frozen=True, slots=True)
class MerchantSpan:
    """A stretch that nothing else explained, trimmed to what may be a name."""

    start: int
    end: int
    text: str

    def remove_from(self, text: str) -> str:
        """The rest of the message, in which the name's words decide nothing."""
        return f"{text[: self.start]}\n{text[self.end :]}"


def find_merchant(text: str, anchor: int, *, is_overseas: bool) -> MerchantSpan | None:
    """The merchant of a masked text; `anchor` is the end of its day, else amount.

    In order: the value of a label, the place before 에서, what stands behind a bar,
    what opens the message above its amount, the first stretch behind the anchor,
    the last before it.
    """
    labelled = _find_labeled(text)
    if labelled:
        return _trim(text, labelled[0], labelled[1], is_overseas)
    runs = _candidate_spans(text, is_overseas)
    for choose in (
        _before_particle,
        _after_bar,
        _above_amount,
        _after_anchor,
        _before_anchor,
    ):
        chosen = choose(text, runs, anchor)
        if chosen is not None:
            return chosen
    return None


def trim_labeled_merchant(source: str, start: int, end: int) -> MerchantSpan | None:
    """The run of a place that can only be the shop's."""
    start, end = _strip_suffixes(source, *_trim_edges(source, start, end))
    return MerchantSpan(start, end, source[start:end]) if end > start else None


def _find_labeled(text: str) -> tuple[int, int] | None:
    match = _LABELED.search(text)
    if not match:
        return None
    start, end = match.span(match.lastgroup or 0)
    following = _NEXT_LABEL.search(text, start, end)
    return start, following.start() if following else end


def _candidate_spans(text: str, is_overseas: bool) -> list[MerchantSpan]:
    runs = []
    for match in islice(_UNMASKED_SPAN.finditer(text), MAX_SPANS):
        run = _trim(text, match.start(), match.end(), is_overseas)
        if run is not None:
            runs.append(run)
    return runs


def _trim(text: str, start: int, end: int, is_overseas: bool) -> MerchantSpan | None:
    """A stretch without separators, notices and particles; None if nothing is left."""
    start, end = _trim_edges(text, start, end)
    value = text[start:end]
    if is_overseas:
        country = _COUNTRY.match(value)
        if country and country.end() < len(value):
            start += country.end()
    gap = None
    if end - start > MIN_NOTICE_LENGTH:
        gap = _NOTICE_GAP.search(text, start, end) or _FOOTER.search(text, start, end)
        gap = gap or _WIDE_GAP.search(text, start, end)
    if gap and gap.start() > start:
        end = gap.start()
    start, end = _strip_suffixes(text, *_trim_edges(text, start, end))
    value = text[start:end]
    if not value or _is_not_a_name(value):
        return None
    return MerchantSpan(start, end, value)


def _is_not_a_name(value: str) -> bool:
    if _NOT_A_NAME.match(value):
        return not _NUMERIC_NAME.match(value)
    return bool(_SENTENCE.search(value) or _BARE_COUNTRY.match(value))


def _trim_edges(text: str, start: int, end: int) -> tuple[int, int]:
    before = _LEADING_SEPARATORS.match(text, start, end)
    start = before.end() if before else start
    if text.startswith(")", start) or (
        text.startswith("(", start) and ")" not in text[start:end]
    ):
        start += 1
    return start, _trim_end(text, start, end)


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in " ,/|·:;<[(-—~_'\"":
        end -= 1
    if end > start and text[end - 1] in ")]":
        opening = "(" if text[end - 1] == ")" else "["
        if opening not in text[start:end]:
            return _trim_end(text, start, end - 1)
    return end


def _strip_suffixes(text: str, start: int, end: int) -> tuple[int, int]:
    """Without what is printed behind a name: 에서, 자동이체, 이용건, a full stop."""
    if end > start and text[end - 1] == "." and text[end : end + 1] in PLACEHOLDERS:
        end -= 1
    if text[end - 2 : end] == " *" and text[end : end + 2].lstrip(" ")[:1] == ISSUER:
        end = _trim_end(text, start, end - 2)
    if end <= start or text[end - 1] not in _SUFFIX_LAST_CHARACTERS:
        return start, end
    for pattern in (
        _ATTACHED_SUFFIX,
        _TRAILING_WORDS,
        _TRAILING_WORDS,
        _ATTACHED_SUFFIX,
    ):
        match = pattern.search(text, max(start, end - 12), end)
        if match and match.start() > start:
            end = _trim_end(text, start, match.start())
    return start, end


def _before_particle(
    text: str, runs: list[MerchantSpan], anchor: int
) -> MerchantSpan | None:
    """소담카페에서 5,700원: the shop before the particle, next to the amount."""
    for run in runs:
        if text.startswith("에서", run.end) and _is_followed_by(
            text, run.end + 2, AMOUNT + KEYWORD
        ):
            return run
    return None


def _is_followed_by(text: str, place: int, signs: str) -> bool:
    rest = text[place : place + 8].lstrip(" \n,(")
    return bool(rest) and rest[0] in signs


def _after_bar(text: str, runs: list[MerchantSpan], anchor: int) -> MerchantSpan | None:
    """KB국민카드 | 별빛 상점: the shop behind the bar behind a card or an amount."""
    for run in runs:
        before = text[max(0, run.start - 8) : run.start].rstrip(" ")
        if before.endswith("|") and before[:-1].rstrip(" ")[-1:] in _BEFORE_BAR:
            return run
    return None


def _above_amount(
    text: str, runs: list[MerchantSpan], anchor: int
) -> MerchantSpan | None:
    """What opens the message above its amount, if the card is named later."""
    if not runs:
        return None
    first = runs[0]
    if _has_placeholder(text[: first.start]):
        return None
    line_end = text.find("\n", first.start)
    following = text[first.end :].lstrip(" ,·\n")
    if not following or following[0] != AMOUNT:
        return None
    if first.end <= line_end:
        return first
    return first if ISSUER in following else None


def _has_placeholder(part: str) -> bool:
    return any(
        sign in part for sign in (ISSUER, TIMESTAMP, AMOUNT, KEYWORD, HOLDER_NAME)
    )


def _after_anchor(
    text: str, runs: list[MerchantSpan], anchor: int
) -> MerchantSpan | None:
    behind = [run for run in runs if run.start >= anchor]
    return _first_non_numeric(behind)


def _before_anchor(
    text: str, runs: list[MerchantSpan], anchor: int
) -> MerchantSpan | None:
    ahead = [run for run in runs if run.start < anchor]
    return _first_non_numeric(ahead[::-1])


def _first_non_numeric(runs: list[MerchantSpan]) -> MerchantSpan | None:
    """The first that is more than a number; else a bare number (365)."""
    named = [
        run
        for run in runs
        if not _NUMERIC_NAME.match(run.text) and not _PHONE_ONLY.match(run.text)
    ]
    numbers = [run for run in runs if _NUMERIC_NAME.match(run.text)]
    rest = named or numbers
    return rest[0] if rest else None
