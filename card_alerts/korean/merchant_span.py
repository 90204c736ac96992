"""Stage 2, classify: find the merchant, with the parts that belong to its name.

Merchants have names such as 11/11 선물샵, 5000원 국밥, 승인 카페 and 하나은행 앞 분식.
A date, amount, keyword or issuer that is not used belongs to the name that follows.
"""

import re

from card_alerts.korean.issuer_match import find_heading_above
from card_alerts.korean.merchants import (
    MerchantSpan,
    find_merchant,
    trim_labeled_merchant,
)
from card_alerts.korean.status_keywords import RANK_ATTACHED, StatusKeyword
from card_alerts.korean.tokenizer import TokenizedMessage
from card_alerts.masked_text import AMOUNT, PLACEHOLDERS
from card_alerts.money import MoneyMatch
from card_alerts.result import Span
from card_alerts.times import TimestampMatch

OVERSEAS = re.compile("해외|국외")
# Parts that a name may begin with; 12월 31일 호프 begins with one.
MAX_PREFIX_PARTS = 4


def find_merchant_span(
    message: TokenizedMessage,
    money: MoneyMatch | None,
    home_money: MoneyMatch | None,
    keyword: StatusKeyword | None,
    timestamp: TimestampMatch | None,
) -> MerchantSpan | None:
    """Return the merchant; the other arguments are the parts that are used."""
    if message.labeled_merchant:
        return trim_labeled_merchant(message.text, *message.labeled_merchant)
    anchor = timestamp.span[1] if timestamp else money.span[1] if money else 0
    is_overseas = bool(message.foreign_amounts or OVERSEAS.search(message.text))
    name = find_merchant(message.masked.text, anchor, is_overseas=is_overseas)
    if name is not None:
        before = message.masked.text[max(0, name.start - 3) : name.start].rstrip(" ")
        if before[-1:] not in PLACEHOLDERS:
            return name
        unused = [
            *(
                each.span
                for each in message.timestamps
                if each is not timestamp and not each.is_original
            ),
            *(
                each.span
                for each in (*message.won_amounts, *message.foreign_amounts)
                if each not in (money, home_money)
            ),
            *_unused_keywords(message, keyword),
            *_unused_issuer_names(message, name),
        ]
        return _extend(name, unused, message)
    if message.issuer_match is None:
        return None
    # A pay service may be the merchant itself: 네이버페이 above the card.
    heading = find_heading_above(
        message.issuer_matches, message.issuer_match, message.text
    )
    if heading is None or not heading.is_app:
        return None
    return MerchantSpan(*heading.span, message.text[slice(*heading.span)])


def _unused_keywords(
    message: TokenizedMessage, chosen: StatusKeyword | None
) -> list[Span]:
    text = message.masked.text
    return [
        each.span
        for each in message.keywords
        if each.is_weak
        and each is not chosen
        # A word after the amount is rather a keyword, unless the chosen one is surer.
        and (
            chosen is None
            or chosen.rank == RANK_ATTACHED
            or chosen.span > each.span
            or text[: each.span[0]].rstrip(" ")[-1:] != AMOUNT
        )
    ]


def _unused_issuer_names(message: TokenizedMessage, name: MerchantSpan) -> list[Span]:
    """Return the names of issuers if the merchant's name ends its line."""
    after = message.masked.text[name.end : name.end + 3].lstrip(" ")
    if after and after[0] != "\n":
        return []
    return [
        each.span
        for each in message.issuer_matches
        if each is not message.issuer_match and each.has_following_word
    ]


def _extend(
    name: MerchantSpan, parts: list[Span], message: TokenizedMessage
) -> MerchantSpan:
    """Return the name with the parts directly before it."""
    text = message.masked.text
    start = name.start
    for _ in range(MAX_PREFIX_PARTS):
        # At most two spaces are between a part and what follows it.
        adjacent = [
            part
            for part in parts
            if part[1] <= start <= part[1] + 2 and not text[part[1] : start].strip(" ")
        ]
        if not adjacent:
            break
        start = adjacent[0][0]
    return MerchantSpan(start, name.end, message.text[start : name.end])
