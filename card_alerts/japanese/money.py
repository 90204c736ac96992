"""Find the amount of a Japanese text, its balance and its installments."""

import re
from decimal import Decimal
from itertools import islice

from card_alerts.money import (
    MAX_AMOUNTS,
    MoneyMatch,
    find_foreign_amounts,
    parse_number,
)
from card_alerts.patterns import pattern
from card_alerts.result import Span
from card_alerts.tables import alternatives, read_words

YEN = "JPY"
# Stands for each character of another field; no text has it.
MASK = "\x1f"
MAX_MONTHS_SCAN_LENGTH = 2000
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,12})"
# 1,000円以上, 500円相当: no amount of a payment
_NOT_PAID = r"(?!以上|以下|未満|相当|引き|オフ|OFF|まで|から(?!の))"
_YEN = pattern(
    rf"""
    (?=[\d-])(?<![\d,.])(?P<minus>-)?[ ]?(?P<number>{_NUMBER})[ ]?(?P<yen>円){_NOT_PAID}
    """,
    example="◇利用金額:684円",
)
# 残高 5,000円, 利用可能額: 80,000円, 120円還元
_WORDS = read_words("words.toml")
_SIDE_WORDS = _WORDS["japanese_side_amounts"]
_BENEFITS = alternatives(_WORDS["japanese_benefits"])
_INITIALS = "".join(
    sorted({word[0] for word in (*_SIDE_WORDS, *_WORDS["japanese_benefits"])})
)
_SIDE_AMOUNT = pattern(
    rf"""
    (?=[\d{_INITIALS}])(?:
        (?:{alternatives(_SIDE_WORDS)}|{_BENEFITS})(?:\([^()\n]{{1,6}}\))?
        [ :はが]{{0,3}}\n?[ ]?¥?[ ]?-?\d[\d,]{{0,15}}[ ]?円?
        | (?<![\d,])\d[\d,]{{0,15}}円?(?:分の?)?を?
          (?:{_BENEFITS}|[ ]?(?:pt(?![a-z])|ポイント)|P(?![A-Za-z]))
    )
    """,
    example="利用可能額: 80,000円",
)
_BALANCE = pattern(
    rf"残高[ :はが]{{0,3}}\n?[ ]?¥?[ ]?(?P<number>{_NUMBER})(?![\d,])",
    example="残高 ¥2,140",
)
# 利用金額(円):1,200
_YEN_IN_LABEL = pattern(r"金額[ ]?\((?P<yen>円)\)", example="利用金額(円):1,200")
# 引落通貨：JPY
_YEN_AS_CURRENCY = pattern(r"通貨[ ]{0,6}:[ ]?(?P<yen>JPY)", example="引落通貨:JPY")
_BARE_NUMBER = pattern(
    r"[\d,]{1,16}(?:\.00)?(?=[ ]*(?:\n|$))", example="引落金額:7,920.00"
)
# 合計 ¥880, ご請求金額 ¥900, in a receipt
_RECEIPT_TOTAL = pattern(
    r"(?:(?:^|(?<=\n))[ ]?合計(?:金額)?|ご?請求金額)[ :]{0,3}(?=¥?\d)",
    example="合計 ¥880",
)
_MONTHS = pattern(
    r"(?:分割[ ]?|方法[ ]?:?[ ]?)(?P<months>\d{1,2})回|(?P<terms>\d{1,2})回払",
    example="分割3回払い",
)


def mask_side_amounts(text: str) -> str:
    """Replace balances, limits and benefits by as many masks."""
    return _SIDE_AMOUNT.sub(lambda match: MASK * len(match[0]), text)


def find_amount(text: str, masked: str, labeled: Span | None) -> MoneyMatch | None:
    """Return the amount in the labeled part, else the first one of the text."""
    if labeled:
        # The colon of a label is none of a time.
        start = labeled[0]
        labels_cleared = f"{text[:start].replace(':', ' ')}{text[start:]}"
        amount = _first_amount(labels_cleared, labeled) or _bare_yen(text, labeled)
        if amount:
            return amount
    total = _RECEIPT_TOTAL.search(text) if "領収" in text else None
    whole = (total.end() if total else 0, len(text))
    return _first_amount(masked, whole) or _bare_yen(masked, whole)


def find_yen(text: str) -> list[MoneyMatch]:
    """Return all amounts in yen."""
    return [_yen_amount(match) for match in islice(_YEN.finditer(text), MAX_AMOUNTS)]


def names_yen(text: str) -> bool:
    """Return True for 利用金額(円), or for a line with the currency JPY."""
    return bool(_YEN_IN_LABEL.search(text) or _YEN_AS_CURRENCY.search(text))


def find_balance(text: str) -> Decimal | None:
    match = _BALANCE.search(text) if "残高" in text else None
    return parse_number(match["number"]) if match else None


def find_months(text: str) -> tuple[int, Span] | None:
    if "回" not in text:
        return None
    match = _MONTHS.search(text, 0, MAX_MONTHS_SCAN_LENGTH)
    if match is None:
        return None
    group = "months" if match["months"] else "terms"
    return int(match[group]), match.span(group)


def _first_amount(text: str, span: Span) -> MoneyMatch | None:
    start, end = span
    yen = _YEN.search(text, start, end) if "円" in text else None
    found = [_yen_amount(yen)] if yen else []
    for money in find_foreign_amounts(text):
        if start <= money.span[0] < end:
            found.append(money)
            break
    return min(found, key=lambda money: money.span[0], default=None)


def _yen_amount(match: re.Match[str]) -> MoneyMatch:
    return MoneyMatch(
        parse_number(match["number"]),
        YEN,
        match.span(),
        match.span("yen"),
        match["minus"] is not None,
    )


def _bare_yen(text: str, span: Span) -> MoneyMatch | None:
    """Return a number without a currency; its label or another line may have it."""
    number = _BARE_NUMBER.match(text, *span)
    if number is None:
        return None
    sign = _YEN_IN_LABEL.search(text) or _YEN_AS_CURRENCY.search(text)
    place = sign.span("yen") if sign else number.span()
    return MoneyMatch(parse_number(number[0]), YEN, number.span(), place)
