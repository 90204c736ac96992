"""Amounts: Korean won, other currencies, running totals and balances."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from card_alerts.currencies import CURRENCY_CODES
from card_alerts.masked_text import ANY_PLACEHOLDER

MAX_AMOUNT = 999_999_999_999
WON = "KRW"

_COMMA_GROUPED = r"\d{1,3}(?:,\d{3}){1,4}"
_WHOLE = rf"(?:{_COMMA_GROUPED}|\d{{1,12}})"
_DECIMALS = r"(?:\.\d{2}(?=\d{1,2}/\d)|\.\d{1,4}(?!\d))?"
_NUMBER_END = r"(?=\d{1,2}/\d{1,2}(?!\d)|(?!\d|,\d))"
"""A number ends, unless a month and a day are glued to it (20.9910/01)."""
_NUMBER_START = r"(?<![\d,.:*])(?<!\d/)"
_DECIMAL_COMMA = r"\d{1,3}(?:\.\d{3}){1,3},\d{2}(?![\d,])|\d{1,6},\d{2}(?![\d,])"
"""A foreign amount with a decimal comma: 1.234,56 or 12,50."""
_SPACE_GROUPED = r"\d{1,3}(?:[ ]\d{3}){1,3}[.,]\d{2}(?!\d|[.,]\d)"
"""Grouped by blanks, told by the two decimals at its end: 1 234.56."""
_APOSTROPHE_GROUPED = r"\d{1,3}(?:['’]\d{3}){1,3}(?:\.\d{1,2})?(?!\d)"
"""Grouped as in Switzerland: 1'234.50."""
_DOT_GROUPED = r"\d{1,3}(?:\.\d{3}){2,4}(?![\d.,])"
"""Grouped by dots, without decimals: 1.234.000."""
_NOT_A_DATE = r"(?!(?:(?<=[ :A-Z]\d)|(?<=[ :A-Z]\d\d))/\d)"
"""EUR 11/20 is a currency and a day."""

CURRENCY_WORDS = {
    "달러": "USD",
    "미달러": "USD",
    "미국달러": "USD",
    "불": "USD",
    "홍콩달러": "HKD",
    "대만달러": "TWD",
    "호주달러": "AUD",
    "캐나다달러": "CAD",
    "싱가포르달러": "SGD",
    "싱가폴달러": "SGD",
    "뉴질랜드달러": "NZD",
    "유로": "EUR",
    "엔": "JPY",
    "엔화": "JPY",
    "위안": "CNY",
    "위안화": "CNY",
    "파운드": "GBP",
    "바트": "THB",
    "밧": "THB",
    "동": "VND",
    "프랑": "CHF",
    "링깃": "MYR",
    "루피아": "IDR",
    "루피": "INR",
    "페소": "PHP",
    "리라": "TRY",
    "디르함": "AED",
}
CURRENCY_SIGNS = {
    "$": "USD",
    "US$": "USD",
    "U$": "USD",
    "HK$": "HKD",
    "NT$": "TWD",
    "CA$": "CAD",
    "C$": "CAD",
    "AU$": "AUD",
    "A$": "AUD",
    "NZ$": "NZD",
    "SG$": "SGD",
    "S$": "SGD",
    "R$": "BRL",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "CN¥": "CNY",
    "₹": "INR",
    "฿": "THB",
    "₫": "VND",
    "₱": "PHP",
    "₽": "RUB",
    "₺": "TRY",
    "₩": WON,
}
_CURRENCY_WORD_PATTERN = "|".join(sorted(CURRENCY_WORDS, key=len, reverse=True))
CURRENCY_SIGN_PATTERN = "|".join(
    re.escape(sign) for sign in sorted(CURRENCY_SIGNS, key=len)[::-1]
)

_CURRENCY_FIRST = re.compile(
    rf"(?:(?P<sign>{CURRENCY_SIGN_PATTERN})|(?<![A-Za-z])(?<!\.\d\d[ ])(?P<code>[A-Z]{{3}}))"
    rf"[ :]{{0,2}}-?[ ]?(?P<number>{_SPACE_GROUPED}|{_APOSTROPHE_GROUPED}|{_DOT_GROUPED}|{_DECIMAL_COMMA}"
    rf"|(?:{_COMMA_GROUPED}|\d{{1,12}}+){_DECIMALS}){_NUMBER_END}{_NOT_A_DATE}"
)
_CURRENCY_LAST = re.compile(
    rf"{_NUMBER_START}-?(?P<number>{_DECIMAL_COMMA}|{_WHOLE}{_DECIMALS})(?:"
    rf"\s?\((?P<code>[A-Z]{{3}}|(?:US)?\$)\)"
    rf"|[ ]?(?P<loose>[A-Z]{{3}})(?![A-Za-z])"
    rf"|[ ]?(?P<word>{_CURRENCY_WORD_PATTERN})(?![가-힣]))"
)
_CURRENCY_MAY_FOLLOW = re.compile(
    rf"\d\s?\(?[A-Z${''.join(sorted({word[0] for word in CURRENCY_WORDS}))}]"
)
"""A number and the first letter of a currency: a quick look before the long one."""
_AFTER_WON = (
    r"(?=$|[^가-힣A-Za-z]|(?:이|을|은|가|의|도)?(?=[ \n])|[이을은가](?=승인|결제|사용"
    r"|이용|취소)"
    r"|일시불|체크|신용|승인|취소|결제|사용|이용|할부|무이자|누적|누계|잔액|거절|정상"
    r"|해외|국내|부분)"
)
_WON_AMOUNT = re.compile(
    rf"{_NUMBER_START}(?:-[ ]?)?(?P<number>{_WHOLE})[ ]?원정?{_AFTER_WON}"
)
_BARE_GROUPED = re.compile(
    rf"(?<![\d,.:/*-])(?:-[ ]?)?(?P<number>{_COMMA_GROUPED})(?![\d,:/*%원-]|\.\d)"
)
_BARE_LINE = re.compile(
    rf"(?:^|(?<=[\n{ANY_PLACEHOLDER}]))[ ]{{0,3}}-?(?P<number>\d{{1,12}})[ ]{{0,3}}(?=$|[\n{ANY_PLACEHOLDER}])"
)
_BARE_NEGATIVE = re.compile(r"(?<![\d\w*-])-(?P<number>\d{1,12})(?![\d,:/*-])")

_VALUE = rf"[ :=\-]{{0,3}}\n?[ ₩-]{{0,3}}(?P<number>{_WHOLE})(?!\d|,\d)(?P<won>\s?원)?"
RUNNING_TOTAL_PATTERN = re.compile(
    r"(?:총[ ]?|당월[ ]?|금월[ ]?|월[ ]?|이번[ ]?달[ ]?)?(?:누적|누계)"
    r"[ ]?\(?(?:이용|사용|승인|결제)?\)?[ ]?(?:금액|액)?" + _VALUE
)
BALANCE_PATTERN = re.compile(
    r"(?:(?:통장|총[ ]?보유|결제[ ]?후|거래[ ]?후|사용[ ]?후|현재|출금[ ]?가능"
    r"|사용[ ]?가능|이용[ ]?가능|가용)[ ]?)?"
    r"(?:잔액|잔고|잔여[ ]?한도|한도[ ]?잔액|잔여[ ]?금액|남은[ ]?한도|남은[ ]?금액"
    r"|(?:이용|사용)[ ]?가능[ ]?(?:한도|금액|액)|가용[ ]?한도)(?:은|이|:)?" + _VALUE
)

_GROUP_SEPARATORS = str.maketrans("", "", " '’")
_MINUS = re.compile(rf"(?:^|[\s({ANY_PLACEHOLDER}]|[A-Z$₩])-(?:[A-Z]{{3}} ?|[$₩])?\Z")
CURRENCIES_WITHOUT_DECIMALS = frozenset({"VND", "IDR", "JPY", "KRW", "CLP", "PYG"})


@dataclass(frozen=True, slots=True)
class MoneyMatch:
    """A printed amount without its sign, and where it and its currency stand."""

    value: Decimal
    currency: str
    span: tuple[int, int]
    currency_span: tuple[int, int]
    is_negative: bool = False
    """A minus is glued to it, which is no dash behind a word."""


def parse_number(number: str) -> Decimal:
    """1,234.56, 1.234,56, 1 234.56, 1'234.56 and 1.234.000, each as it is meant.

    Commas group thousands, unless the last of them has two digits behind it; of
    several dots all group.
    """
    number = number.translate(_GROUP_SEPARATORS)
    if number[-3:-2] == ",":
        return Decimal(number.replace(".", "").replace(",", "."))
    if number.count(".") > 1:
        number = number.replace(".", "")
    return Decimal(number.replace(",", ""))


def parse_amount(number: str, currency: str) -> Decimal:
    """The same; a dot before three digits groups where a currency has no decimals."""
    if (
        currency in CURRENCIES_WITHOUT_DECIMALS
        and number[-4:-3] == "."
        and "," not in number
    ):
        number = number.replace(".", "")
    return parse_number(number)


def is_truncated(number: str, currency: str) -> bool:
    """₩77,90 is a number that was cut off, not 77.90 of what has no decimals."""
    has_cents = number[-3:-2] == "," and "." not in number
    return has_cents and currency in CURRENCIES_WITHOUT_DECIMALS


def find_foreign_amounts(text: str) -> Iterator[MoneyMatch]:
    """Amounts with a currency code, sign or word; 원 is not among them."""
    taken = -1
    for match in _CURRENCY_FIRST.finditer(text):
        code = CURRENCY_SIGNS.get(match["sign"] or "", match["code"])
        if code not in CURRENCY_CODES:
            continue
        taken = match.end()
        if not is_truncated(match["number"], code):
            yield _money_match(match, code, "sign" if match["sign"] else "code")
    if taken >= 0 or not _CURRENCY_MAY_FOLLOW.search(text):
        return
    for match in _CURRENCY_LAST.finditer(text):
        money = _parse_currency_last(match)
        if money:
            yield money


def _parse_currency_last(match: re.Match[str]) -> MoneyMatch | None:
    """12.50(USD), 12.50 USD, 12.50 달러; a whole number and a loose code are none."""
    if match["word"]:
        return _money_match(match, CURRENCY_WORDS[match["word"]], "word")
    if match["code"]:
        code = CURRENCY_SIGNS.get(match["code"], match["code"])
        return _money_match(match, code, "code") if code in CURRENCY_CODES else None
    loose = match["loose"]
    glued = match.start("loose") == match.end("number")
    if loose not in CURRENCY_CODES or not (glued or set(match["number"]) & set(",.")):
        return None
    return _money_match(match, loose, "loose")


def find_won_amounts(text: str) -> list[MoneyMatch]:
    """Amounts with 원."""
    return [_money_match(match, WON, "number") for match in _WON_AMOUNT.finditer(text)]


def find_amounts_without_currency(text: str) -> list[MoneyMatch]:
    """Numbers without a currency that can only be amounts: 12,000, or a line of one."""
    for pattern in (_BARE_GROUPED, _BARE_NEGATIVE, _BARE_LINE):
        found = [_money_match(match, WON, "number") for match in pattern.finditer(text)]
        if found:
            return found
    return []


def _money_match(match: re.Match[str], currency: str, group: str) -> MoneyMatch:
    number = match.start("number")
    return MoneyMatch(
        parse_amount(match["number"], currency),
        currency,
        match.span(),
        match.span(group),
        _MINUS.search(match.string, max(0, number - 6), number) is not None,
    )


def is_plausible_total(match: re.Match[str]) -> bool:
    """Whether 누적 and a number are a sum, not the name of a shop (누적 3호점)."""
    number = match["number"]
    return bool(match["won"]) or "," in number or len(number) > 3 or number == "0"
