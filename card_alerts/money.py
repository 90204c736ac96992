"""Find amounts: won, other currencies, running totals and balances."""

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from card_alerts.currencies import CURRENCY_CODES, CURRENCY_SIGNS, CURRENCY_WORDS
from card_alerts.masked_text import (
    ANY_PLACEHOLDER,
    BALANCE,
    BENEFIT,
    INSTALLMENT,
    TIMESTAMP,
)
from card_alerts.patterns import pattern
from card_alerts.result import Span

MAX_AMOUNT = 999_999_999_999
MAX_AMOUNTS = 60
WON = "KRW"

_COMMA_GROUPED = r"\d{1,3}(?:,\d{3}){1,4}"
_WHOLE = rf"(?:{_COMMA_GROUPED}|\d{{1,12}})"
_DECIMALS = r"(?:\.\d{2}(?=\d{1,2}/\d)|\.\d{1,4}(?!\d))?"
# A date may follow without a space: 20.9910/01.
_NUMBER_END = r"(?=\d{1,2}/\d{1,2}(?!\d)|(?!\d|,\d))"
# A colon behind a digit is of a time.
_NUMBER_START = r"(?<![\d,*])(?<!\d[./:])"
# 1.234,56 or 12,50
_DECIMAL_COMMA = r"""
    \d{1,3}(?:\.\d{3}){1,3},\d{2}(?![\d,])
    | \d{1,6},\d{2}(?![\d,])
"""
# 1 234.56
_SPACE_GROUPED = r"\d{1,3}(?:[ ]\d{3}){1,3}[.,]\d{2}(?!\d|[.,]\d)"
# 1'234.50 (Switzerland)
_APOSTROPHE_GROUPED = r"\d{1,3}(?:['’]\d{3}){1,3}(?:\.\d{1,2})?(?!\d)"
# 1.234.000
_DOT_GROUPED = r"\d{1,3}(?:\.\d{3}){2,4}(?![\d.,])"
# EUR 11/20
_NOT_A_DATE = r"(?!(?:(?<=[ :A-Z]\d)|(?<=[ :A-Z]\d\d))(?:/\d|[ ]?개월))"

_CURRENCY_WORD_PATTERN = "|".join(sorted(CURRENCY_WORDS, key=len, reverse=True))
CURRENCY_SIGN_PATTERN = "|".join(
    re.escape(sign) for sign in sorted(CURRENCY_SIGNS, key=len)[::-1]
)

_CURRENCY_FIRST = pattern(
    rf"""
    (?=[A-Z$€£¥₹฿₫₱₽₺₩₦₵₴]|\(\$)
    (?:
        (?P<sign>{CURRENCY_SIGN_PATTERN})
        # A code behind a number belongs to it: 12,000 KRW 3개월.
        | (?<![A-Za-z])(?<![A-Z]-)(?<!\.\d\d[ ])(?<!,\d{{3}})(?<!,\d{{3}}[ ])
          (?P<code>[A-Z]{{3}})
    )[ :]{{0,2}}-?[ ]?
    (?P<number>
        {_SPACE_GROUPED} | {_APOSTROPHE_GROUPED} | {_DOT_GROUPED} | {_DECIMAL_COMMA}
        | (?:{_COMMA_GROUPED}|\d{{1,12}}+){_DECIMALS}
    ){_NUMBER_END}{_NOT_A_DATE}
    """,
    example="₩77,900 일시불",
)
# AUD $38.70, $14.99 USD
_DOLLARS = "USD|CAD|AUD|NZD|SGD|HKD|TWD|MXN|COP|CLP|ARS|CNY|JPY"
_CODE_BEFORE_SIGN = pattern(
    rf"(?<![A-Za-z])(?P<code>{_DOLLARS})[ ]?\Z", example="CBA: AUD "
)
_CODE_BEHIND = pattern(rf"[ ]?(?P<code>{_DOLLARS})(?![A-Za-z])", example=" USD to")
SHARED_SIGNS = frozenset({"$", "¥"})
_CURRENCY_LAST = pattern(
    rf"""
    (?=[\d-]){_NUMBER_START}-?
    (?P<number>\d{{1,3}}(?:[ ]\d{{3}}){{1,3}},\d\d|{_DECIMAL_COMMA}|{_WHOLE}{_DECIMALS})
    (?:
        \s?\((?P<code>[A-Z]{{3}}|(?:US)?\$)\)
        | [ ]?(?P<loose>[A-Z]{{3}})(?![A-Za-z])
        # 17,814⏎엔
        | (?:[ ]?|\n(?=[가-힣]{{1,3}}[ ]{{2}}))(?P<word>{_CURRENCY_WORD_PATTERN})
          (?![가-힣](?!(?<=[을를이가은는])[ \n]))
    )
    """,
    example="12.00 USD 결제",
)
_STATUS_FOLLOWS = pattern(
    rf"[ ]?(?:해외)?(?:결제|승인|사용|이용|취소)|[ ]?(?:\n|$)|[ ]{BENEFIT}",
    example="12 USD 결제",
)
_EVENT_FOLLOWS = pattern(
    r"[ ]?(?:해외[ ]?)?(?:결제|승인|사용|이용|취소)", example=" 결제 완료"
)
_CURRENCY_MAY_FOLLOW = pattern(
    rf"""
    [A-Z${"".join(sorted({word[0] for word in CURRENCY_WORDS}))}]
    (?:(?<=\d.)|(?<=\d[\s(].)|(?<=\d\s\(.))
    """,
    example="천원마트 2호점",
)
# 원 ends a word, or one of these words follows.
_AFTER_WON = r"""
    (?=
        $ | [^가-힣A-Za-z]
        | (?:이|을|은|가|의|도)?(?=[ \n])
        | [이을은가](?=승인|결제|사용|이용|취소)
        | 일시불 | 체크 | 신용 | 승인 | 취소 | 결제 | 사용 | 이용 | 할부 | 무이자 | 누적
        | 누계 | 잔액 | 거절 | 정상 | 해외 | 국내 | 부분
    )
"""
_WON_AMOUNT = pattern(
    rf"""
    (?=[\d-]){_NUMBER_START}(?:-[ ]?)?(?P<number>{_WHOLE})[ ]?원정?{_AFTER_WON}
    """,
    example="373,705원 승인",
)
_GLUED_WON = pattern(
    rf"""
    (?:(?<=완료[ \n])|(?<=승인[ \n])|(?<=결제[ \n])|(?<=사용[ \n])|(?<=취소[ \n]))
    (?P<number>{_WHOLE})원(?=[가-힣(])
    """,
    example="완료 8,000원카페게솔",
)
# 12,000, or a line with nothing but a number, or -500
_BARE_GROUPED = pattern(
    rf"""
    (?=[\d-])(?<![\d,.:/*-])(?:-[ ]?)?(?P<number>{_COMMA_GROUPED})(?![\d,:/*%원-]|\.\d)
    """,
    example="12,000",
)
_BARE_LINE = pattern(
    rf"""
    (?:^|(?<=[\n{ANY_PLACEHOLDER}]))[ ]{{0,3}}-?(?P<number>\d{{1,12}})[ ]{{0,3}}
    (?=$|[\n{ANY_PLACEHOLDER}])
    """,
    example=f"{INSTALLMENT}3",
)
# 예금이자 입금 123: a booking below 1,000
_BARE_BOOKED = pattern(
    rf"""
    (?:(?<=입금[ \n])|(?<=출금[ \n])|(?<=입금)|(?<=출금))(?P<number>\d{{1,3}})[ ]{{0,3}}
    (?=$|[\n{ANY_PLACEHOLDER}]|[ ][가-힣])
    """,
    example=f"예금이자 출금 1 {BALANCE}",
)
# The label of an amount without its currency
_BARE_LABELED = pattern(
    r"결제[ ]?금액[ ]?:[ ]?(?P<number>\d{3,9})(?=[ ]*(?:\n|\Z))",
    example="결제금액: 17000",
)
_BARE_NEGATIVE = pattern(
    r"(?<![\d\w*-])-(?P<number>\d{1,12})(?![\d,:/*-])", example="출금 -5000"
)
# 출금취소⏎5,180, above other amounts
_BARE_PAID = pattern(
    rf"""
    (?:(?:출금|취소|승인)[ \n]|(?:일시불|{TIMESTAMP})[ ]-|금액[ ]?:[ ])
    (?P<number>{_COMMA_GROUPED})(?=[ \n])
    """,
    example="출금취소\n5,180\n",
)

_VALUE = rf"""
    [ :=\-]{{0,3}}\n?[ ₩-]{{0,3}}\[?(?P<number>{_WHOLE})(?!\d|,\d)(?P<won>\s?원)?
    (?:(?<=원)(?:입니다|이에요|이[ ]남았(?:어요|습니다))[.!]?)?
"""
_MONTH = r"(?:(?:이번|지난)[ ]?달|이달|당월|금월|전월)"
RUNNING_TOTAL_PATTERN = pattern(
    rf"""
    (?=[총당금월이누올\d])
    (?:(?:총|당월|금월|(?:(?<!\d)\d{{1,2}})?월|이번[ ]?달|이달|올해)[ ]?)?(?:누적|누계)
    [ ]?\(?(?:이용|사용|승인|결제)?\)?[ ]?(?:금액|액)?{_VALUE}
    """,
    example="누적 235,338원",
)
BALANCE_PATTERN = pattern(
    rf"""
    (?=[통계카충머총남인캐포적보결거사현출이가월부한일하잔전당지실누금]|1[회일])(?:
        (?:
            통장
            | (?<![가-힣A-Za-z])(?:계좌|카드|충전|머니|총|남은)
            | 인센티브 | 캐시백 | 포인트 | 적립금
            | (?:총[ ]?)?보유
            | (?:결제|거래|사용|출금)[ ]?후 | 현재(?:[ ]통장)?
            | (?:출금|사용|이용)[ ]?가능 | 가용
        )[ ]?
    )?(?P<label>
        (?:월|이용|결제|총|카드|부여)?[ ]?한도[ ]?금액
        | (?:이용|결제|총|월간?|1?일|일일|하루|1?회)[ ]?한도
        | 잔액 | 잔고
        | (?:(?:전월|당월|이달|이번[ ]?달|지난[ ]?달)[ ]?)?(?:이용[ ]?|카드[ ]?)?실적
          (?:[ ]?금액)?
        # 이번 달 사용 금액 532,100원, 이번달 총 250,000원
        | {_MONTH}(?:에|은|엔)?[ ]?(?:총[ ]?)?(?:카드[ ]?)?(?:이용|사용|결제|지출|소비)
          [ ]?(?:금액|총?액|합계)
        | {_MONTH}[ ]?(?:까지[ ]?)?총
        | 잔여(?:[ ]?(?:한도|승인|상품권))? | 한도[ ]?잔여
        | 한도[ ]?잔액 | 잔여[ ]?금액 | 남은[ ]?한도 | 남은[ ]?금액
        | 남은[ ]?[가-힣]{{0,6}}머니
        | (?:이용|사용|지급|누적|출금|결제)[ ]?가능[ ]?(?:한도|금액|액)?
        | 가용[ ]?(?:한도|금액|액)
    )(?:은|이|:)?{_VALUE}
    """,
    example="잔액 326,348원",
)

# 잔액 USD 104.20, USD 잔액 104.20, 잔액 12,420엔, 남은 THB 610.00
_FOREIGN_BALANCE = pattern(
    rf"""
    (?=[A-Z잔남])(?:(?<![A-Za-z])(?P<code_before>[A-Z]{{3}})[ ]?)?
    (?:
        잔액 | 잔고 | (?:남은|잔여)[ ]?금액 | 남은[ ][가-힣]{{2,6}}머니
        | 남은(?=[ ](?:[A-Z]{{3}}[ ])?\d)
    )
    (?:은|이)?[ :]{{0,3}}\n?[ ]?
    (?:(?:(?P<sign>{CURRENCY_SIGN_PATTERN})|(?P<code>[A-Z]{{3}}))[ ]?)?
    (?P<number>{_DECIMAL_COMMA}|{_WHOLE}{_DECIMALS})(?!\d|,\d)
    (?:
        [ ]?(?:
            (?P<code_after>[A-Z]{{3}})(?![A-Za-z])
            | (?P<word>{_CURRENCY_WORD_PATTERN})(?![가-힣])
        )
    )?
    """,
    example="잔액 USD 104.20",
)
_BALANCE_WORD = pattern(r"잔[액고여]|남은", example="남은 한도 금액")
# 외화예금 잔액 JPY 32,100
_WALLET_BEFORE = pattern(
    r"(?<![가-힣])[가-힣]{0,6}(?:외화|예금|머니|지갑|월렛)[ ]?\Z",
    example="외화하나머니 ",
)
MAX_WALLET_LENGTH = 12
MAX_FOREIGN_BALANCES = 3

_GROUP_SEPARATORS = str.maketrans("", "", " '’")
_MINUS = pattern(
    rf"""
    (?:^|[\s({ANY_PLACEHOLDER}]|[A-Z$₩])-(?:[A-Z]{{3}}[ ]?|[$₩])?\Z
    """,
    example="삼성7937취소 하*준\n-",
)
CURRENCIES_WITHOUT_DECIMALS = frozenset({"VND", "IDR", "JPY", "KRW", "CLP", "PYG"})


class MoneyMatch(NamedTuple):
    """A printed amount; `value` is absolute."""

    value: Decimal
    currency: str
    span: Span
    currency_span: Span
    is_negative: bool = False


# Won; less with a fraction is in another currency.
MIN_CONVERTED = 100


def parse_number(number: str, currency: str = "") -> Decimal:
    """Return the value of 1,234.56, 1.234,56, 1 234.56, 1'234.56 or 1.234.000.

    A single dot groups thousands of a currency without decimals.
    """
    number = number.translate(_GROUP_SEPARATORS)
    if number[-3:-2] == ",":
        return Decimal(number.replace(".", "").replace(",", "."))
    is_whole = currency in CURRENCIES_WITHOUT_DECIMALS
    is_grouped = is_whole and number[-4:-3] == "." and "," not in number
    if is_grouped or number.count(".") > 1:
        number = number.replace(".", "")
    return Decimal(number.replace(",", ""))


def is_truncated(number: str, currency: str) -> bool:
    """Return True for ₩77,90 and ₩3.50: won have no decimals.

    Converted amounts have some: KRW 17,250.40.
    """
    if currency not in CURRENCIES_WITHOUT_DECIMALS:
        return False
    if number[-3:-2] == "," and "." not in number:
        return True
    value = parse_number(number, currency)
    return currency == WON and value < MIN_CONVERTED and value != int(value)


def find_code_beside(text: str, span: Span) -> str | None:
    """Return the code beside an amount whose sign many currencies have."""
    start, end = span
    before = _CODE_BEFORE_SIGN.search(text, max(0, start - 5), start)
    code = before or _CODE_BEHIND.match(text, end)
    return code["code"] if code else None


def find_foreign_amounts(text: str) -> list[MoneyMatch]:
    """Return the amounts beside their currency, in their order.

    After an amount such as USD 100.20, one such as 12.50 USD counts only if it has the
    same currency and a word such as 결제 follows it.
    """
    found: list[MoneyMatch] = []
    before: list[Span] = []
    for match in islice(_CURRENCY_FIRST.finditer(text), MAX_AMOUNTS):
        sign = match["sign"] or ""
        code = CURRENCY_SIGNS.get(sign, match["code"])
        if sign in SHARED_SIGNS:
            code = find_code_beside(text, match.span()) or code
        if code in CURRENCY_CODES:
            before.append(match.span())
            if not is_truncated(match["number"], code):
                group = "sign" if match["sign"] else "code"
                found.append(_money_match(match, code, group))
    if not _CURRENCY_MAY_FOLLOW.search(text):
        return found
    if not before:
        return list(_find_currency_last(text))
    currencies = {each.currency for each in found}
    behind = [
        money
        for money in _find_currency_last(text)
        if not any(
            start < money.span[1] and money.span[0] < end for start, end in before
        )
        and (
            money.span < before[0]
            or (
                money.currency in currencies
                and _EVENT_FOLLOWS.match(text, money.span[1])
            )
        )
    ]
    return sorted([*found, *behind], key=lambda money: money.span) if behind else found


def _find_currency_last(text: str) -> Iterator[MoneyMatch]:
    for match in islice(_CURRENCY_LAST.finditer(text), MAX_AMOUNTS):
        group = "word" if match["word"] else "code" if match["code"] else "loose"
        code = match[group]
        code = CURRENCY_WORDS.get(code) or CURRENCY_SIGNS.get(code, code)
        is_adjacent = match.start(group) == match.end("number")
        has_point = "," in match["number"] or "." in match["number"]
        if code == "VND" and group == "word" and len(match["number"]) < 4:
            # 구내식당 3동: dong come in thousands.
            continue
        # 12.50 USD, 12USD and 12 USD 결제 are amounts; 12 USD may be part of a name.
        is_amount = group != "loose" or is_adjacent or has_point
        if not is_amount and code in CURRENCY_CODES:
            is_amount = _STATUS_FOLLOWS.match(text, match.end()) is not None
        if code in CURRENCY_CODES and is_amount:
            yield _money_match(match, code, group)


def find_won_amounts(text: str) -> list[MoneyMatch]:
    matches = islice(_WON_AMOUNT.finditer(text), MAX_AMOUNTS)
    return [_money_match(match, WON, "number") for match in matches]


def find_glued_amounts(text: str) -> list[MoneyMatch]:
    """Return amounts before a name (결제 완료 8,000원소라커피)."""
    if "원" not in text:
        return []
    matches = islice(_GLUED_WON.finditer(text), MAX_AMOUNTS)
    return [_money_match(match, WON, "number") for match in matches]


def find_paid_without_currency(text: str, end: int) -> MoneyMatch | None:
    """Return the amount behind a word for paying, before `end` and on another line."""
    last = text.rfind("\n", 0, end)
    match = _BARE_PAID.search(text, 0, last + 1) if last > 0 else None
    return _money_match(match, WON, "number") if match else None


def find_amounts_without_currency(text: str) -> list[MoneyMatch]:
    for rule in (
        _BARE_GROUPED,
        _BARE_LABELED,
        _BARE_NEGATIVE,
        _BARE_LINE,
        _BARE_BOOKED,
    ):
        matches = islice(rule.finditer(text), MAX_AMOUNTS)
        found = [_money_match(match, WON, "number") for match in matches]
        if found:
            return found
    return []


def _money_match(match: re.Match[str], currency: str, group: str) -> MoneyMatch:
    start = match.start("number")
    return MoneyMatch(
        parse_number(match["number"], currency),
        currency,
        match.span(),
        match.span(group),
        "-" in match.string[max(0, start - 6) : start]
        and _MINUS.search(match.string, max(0, start - 6), start) is not None,
    )


def is_balance(match: re.Match[str]) -> bool:
    """Return False for a limit (잔여한도, 이용가능금액)."""
    label = match["label"]
    return (
        "잔액" in label
        or "잔고" in label
        or (label.endswith("금액") and (label[0] in "잔남" and "한도" not in label))
    )


def find_foreign_balances(text: str) -> Iterator[tuple[re.Match[str], str, int]]:
    """Yield (match, currency, start)."""
    word_found = _BALANCE_WORD.search(text)
    if word_found is None:
        return
    # A currency may precede the word.
    first = max(0, word_found.start() - 4)
    for match in islice(_FOREIGN_BALANCE.finditer(text, first), MAX_FOREIGN_BALANCES):
        word, sign = match["word"] or "", match["sign"] or ""
        code = match["code"] or match["code_after"] or match["code_before"]
        code = CURRENCY_WORDS.get(word) or CURRENCY_SIGNS.get(sign, code)
        if code not in CURRENCY_CODES or code == WON:
            continue
        start = match.start()
        if match["code_before"] not in {None, code}:
            # AMAZON.COM 잔액 $87.50
            start = match.end("code_before")
        wallet = _WALLET_BEFORE.search(text, max(0, start - MAX_WALLET_LENGTH), start)
        yield match, code, wallet.start() if wallet else start


def is_plausible_total(match: re.Match[str]) -> bool:
    """Return False for a number in a name (누적 3호점)."""
    number = match["number"]
    if "잔액" in match[0] and match.string[match.end() : match.end() + 1] in {"", "\n"}:
        return True
    return bool(match["won"]) or "," in number or len(number) > 3 or number == "0"
