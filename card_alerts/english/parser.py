"""Reads English card alerts: a sentence, or a field per line."""

import re
from collections.abc import Iterator
from itertools import islice

from card_alerts.candidate import PaymentCandidate, SourceText, Span, build_result
from card_alerts.currencies import CURRENCY_CODES
from card_alerts.english.times import find_english_timestamp
from card_alerts.english.words import classify_english, english_rejection_reason
from card_alerts.foreign_issuers import ENGLISH, JAPANESE
from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    compile_aliases,
    find_issuer_by_sender,
    get_issuer_by_alias,
)
from card_alerts.korean_issuers import KOREAN
from card_alerts.money import (
    CURRENCY_SIGN_PATTERN,
    CURRENCY_SIGNS,
    MoneyMatch,
    is_truncated,
    parse_amount,
)
from card_alerts.result import Kind, ParseResult, Reason, rejected

_NUMBER = (
    r"\d{1,3}(?:,\d{2,3}){0,4},\d{3}(?!\d|,\d)(?:\.\d{1,4})?"
    r"|\d{1,3}(?:\.\d{3}){1,4},\d{2}(?!\d)"
    r"|\d{1,12}(?:\.\d{1,4}|,\d{2}(?!\d))?"
)
"""1,234.56, 1,23,456.00 as in India, 1.234,56, 1234.56 and 12,50."""
_SPACE_GROUPED = r"\d{1,3}(?:[ ]\d{3}){1,3}[.,]\d{2}"
_MONEY = re.compile(
    rf"(?:(?P<sign>{CURRENCY_SIGN_PATTERN})|(?<![A-Za-z])(?:(?P<rupees>Rs\.?|INR\.?)"
    rf"|(?P<code>[A-Z]{{3}})))[ ]?-?(?P<number>{_SPACE_GROUPED}|{_NUMBER})(?!\d|[.,]\d)"
    r"|(?<![\w.,/:-])-?(?P<number_after>"
    rf"(?:(?<=spent )|(?<=paid )|(?<=of )|(?<=for )|(?<=[:\n(])){_SPACE_GROUPED}"
    rf"|{_NUMBER})[ ]?(?P<after>[€£]"
    rf"|[A-Z]{{3}}(?![A-Za-z]))"
)
_NOT_PAID = re.compile(
    r"\b(?:bal(?:ance)?|limit|lmt|available|avl|avbl|avail|cashback|rewards?|points"
    r"|spent today|spent this \w{4,5}|total|fee|left|remaining|remain)"
    r"(?:[ ](?:is|of|now|today|due|limit|lmt|bal|balance"
    r"|in \w{2,10}))?[ ]?[:.=-]{0,2}[ ]{0,2}(?:is[ ])?$",
    re.IGNORECASE,
)
_CARD_HINT = re.compile(
    r"(?:ending(?:[ ](?:in|with))?|ends[ ]with|acct\.?|account|a/c|card[ ]no\.?|card"
    r"|no\.|number|last[ ]4(?:[ ]digits)?)[ ]?[:#]?[ ]?(?:\.{2,4}"
    r"|[•·]{2,4})?[ ]?[-(]?"
    r"(?P<hint>[Xx*]{0,12}[ -]?\d{4,5})(?![\d,.]\d|\d|/)",
    re.IGNORECASE,
)
_STANDALONE_CARD_HINT = re.compile(
    r"(?<![\w*])(?P<hint>(?:[Xx]{2,12}|[*]{1,12})\d{3,4})(?!\d)"
)
_ALIAS = re.compile(
    rf"(?<![A-Za-z0-9]){compile_aliases((*ENGLISH, *JAPANESE, *KOREAN)).pattern}",
    re.IGNORECASE,
)
_MERCHANT_PREPOSITION = re.compile(r"\b(?:at|to|with) \Z")
"""Behind it stands a shop, or an issuer where no other is named."""
_ISSUER_PHRASES = tuple(
    (phrase, issuer) for issuer in ENGLISH for phrase in issuer.phrases
)
_MERCHANT_END = re.compile(
    r"[ ](?:on|for|was|is|has|using|via|with|ending|of|by|dated|from your|to your"
    r"|in the amount|and|at \d|approved|were|may|"
    r"went|card|ref|after|if|but|as|has been|exceed\w{0,4}|due|because)\b(?![.'’])"
    r"|[ ]?(?:\.(?:[ \n]|$)|;|\n|$|\||[ ]-[ ]|\(|!|:[ ]|,[ ](?:on|for|and|your)\b)"
    r"|,[ ][A-Z][A-Za-z ]{2,20}\.[ ]|[ ](?=[£$€₹])"
    r"|,?[ ](?=(?:\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}(?:/\d{2,4})?)[ ]\d{1,2}:\d\d)",
    re.IGNORECASE,
)
_NOT_A_MERCHANT = (
    r"(?!(?:your|you|card|debit|credit|a/c|this|UPI|NEFT|IMPS|ACH|(?-i:the))\b"
    r"|\d{1,2}[:.]\d\d)"
)
_CAPITAL = r"(?=[A-Z]|\d{1,3}-?[A-Z])"
"""How a shop's name begins: 7-ELEVEN, 3M."""
_NOT_A_DATE = (
    r"(?!(?:\d{1,2}(?:st|nd|rd|th)?[- ]?)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct"
    r"|nov|dec)[a-z]{0,6}[-,]?[ .-]?\d)(?!\d{1,2}(?:st|nd|rd|th)\b)"
)
_MERCHANT_STARTS = tuple(
    re.compile(rf"{before}[ ]{{0,2}}{_NOT_A_MERCHANT}(?=[^\s])", re.IGNORECASE)
    for before in (
        r"(?:\bat\b[: ]|@)",
        r"\b(?:transaction|purchase|payment|order|charge) (?:made )?(?:with|from|to) ",
        r"\b(?:paid|refund(?:ed)?|spent|sent)\b[^\n]{0,60}?\b(?:to|from|by)[ ]",
        rf"\bpaid[ ](?!(?:to|at|by|with|on|for)\b){_CAPITAL}",
        r"\b(?:merchant|shop|store|retailer|info|payee)[ ]?[:\-]",
        rf"\b(?:on|with|from|to|by)[ ]{_NOT_A_DATE}(?!(?:HDFC|ICICI|SBI|Axis)\b){_CAPITAL}",
        rf"\bfor[ ](?![A-Z]{{3}}[ ]?\d|Rs\b){_CAPITAL}",
    )
)
MAX_MERCHANT_CANDIDATES = 8
"""Places behind one kind of word that are tried for a shop's name."""
MAX_MERCHANT_SCAN_LENGTH = 120
MAX_ISSUER_PHRASE_SCAN_LENGTH = 60
"""Characters in which a phrase that tells the company must stand."""
_LINE_NOISE = re.compile(
    r"^(?:(?:spent|paid|card|debit|credit|avl|avail|sms|not you|call|txn|transaction"
    r"|purchase|payment|alert|inr|rs|usd|available|balance|ref|date|time)\b"
    r"|you |your |if )|\d{2}:\d{2}|^\W*$",
    re.IGNORECASE,
)
_EDGE_PUNCTUATION = " .,;:-–|\"'"
_PARTIAL = re.compile(r"\bpartial(?:ly)?\b", re.IGNORECASE)


def parse_english(source: SourceText, sender: str) -> ParseResult:
    """The answer for an alert in English (or in no language that is known)."""
    text = source.normalized.text
    issuer, issuer_span = identify_issuer(text, sender)
    money = find_paid_amount(text, issuer)
    hint = find_card_hint(text)
    shop = find_english_merchant(text, money, issuer_span)
    rest = source.text_without(shop)
    kind = classify_english(rest)
    if kind is None and _is_minimal_alert(text, money, shop, issuer):
        kind = Kind.APPROVAL, (0, 0)
    reason = english_rejection_reason(rest, kind[0] if kind else None)
    if reason:
        return rejected(reason)
    if kind is None or money is None:
        return rejected(Reason.NO_PAYMENT)
    if issuer is None and hint is None and "http" in text.lower():
        return rejected(Reason.NO_PAYMENT)
    month_first = _is_month_first(issuer, money)
    return build_result(
        PaymentCandidate(
            kind=kind[0],
            kind_span=kind[1],
            issuer=issuer,
            issuer_span=issuer_span,
            card_hint_span=hint,
            is_check_card=_is_debit(text),
            money=money,
            merchant_span=shop,
            timestamp=find_english_timestamp(rest, month_first=month_first),
            is_partial=kind[0] is Kind.CANCELLATION and bool(_PARTIAL.search(rest)),
        ),
        source,
    )


def _is_minimal_alert(
    text: str, money: MoneyMatch | None, shop: Span | None, issuer: Issuer | None
) -> bool:
    """Monzo: £3.20 at Tide Coffee."""
    if money is None or shop is None or issuer is None:
        return False
    return text[money.span[1] : shop[0]] == " at "


def _is_month_first(issuer: Issuer | None, money: MoneyMatch) -> bool:
    """05/06 is the 6th of May in North America: by the issuer and by the currency."""
    by_issuer = issuer is None or not issuer.day_first
    return by_issuer and money.currency in {"USD", "CAD"}


def _is_debit(text: str) -> bool | None:
    lower = text.lower()
    if "debit card" in lower:
        return True
    return False if "credit card" in lower else None


def identify_issuer(text: str, sender: str) -> tuple[Issuer | None, Span | None]:
    """The first issuer that stands as a word of its own, else that of the sender."""
    shops = []
    for match in _ALIAS.finditer(text):
        if _is_whole_word(text, match) and (match[0][0].isupper() or match[0][0] > "~"):
            start = max(0, match.start() - 6)
            shop = _MERCHANT_PREPOSITION.search(text, start, match.start())
            if not shop and not text.startswith(" *", match.end()):
                return get_issuer_by_alias(match[0]), match.span()
            shops.append(match)
    for phrase, issuer in _ISSUER_PHRASES:
        if _has_phrase_at_start(text, phrase):
            return issuer, None
    if shops and not find_issuer_by_sender(sender):
        return get_issuer_by_alias(shops[0][0]), shops[0].span()
    return find_issuer_by_sender(sender), None


def _has_phrase_at_start(text: str, phrase: str) -> bool:
    """Whether one of the first lines begins with the words of a phrase."""
    return " ".join(phrase.split()) in " ".join(
        text[:MAX_ISSUER_PHRASE_SCAN_LENGTH].split()
    )


def _is_whole_word(text: str, match: re.Match[str]) -> bool:
    before, after = (
        text[match.start() - 1 : match.start()],
        text[match.end() : match.end() + 1],
    )
    return not (before.isalnum() or after.isalpha())


def find_paid_amount(text: str, issuer: Issuer | None) -> MoneyMatch | None:
    """The first amount that is no balance, limit or reward."""
    for money in _amounts(text, issuer.dollar_currency if issuer else "USD"):
        before = text[max(0, money.span[0] - 40) : money.span[0]]
        if not _NOT_PAID.search(before):
            return money
    return None


def _amounts(text: str, dollar: str) -> Iterator[MoneyMatch]:
    for match in _MONEY.finditer(text):
        group = next(
            name for name in ("sign", "rupees", "code", "after") if match[name]
        )
        currency = CURRENCY_SIGNS.get(match[group], match[group])
        if group == "rupees":
            currency = "INR"
        if match[group] == "$":
            currency = dollar
        number = match["number"] or match["number_after"]
        if currency in CURRENCY_CODES and not is_truncated(number, currency):
            value = parse_amount(number, currency)
            yield MoneyMatch(value, currency, match.span(), match.span(group))


def find_card_hint(text: str) -> Span | None:
    match = _CARD_HINT.search(text) or _STANDALONE_CARD_HINT.search(text)
    return match.span("hint") if match else None


def find_english_merchant(
    text: str, money: MoneyMatch | None, issuer: Span | None
) -> Span | None:
    """The merchant: behind at, with, to, from or on; else a line of its own."""
    for pattern in _MERCHANT_STARTS:
        for match in islice(pattern.finditer(text), MAX_MERCHANT_CANDIDATES):
            span = _trim(text, (match.end(), _merchant_end(text, match.end())))
            if span and _can_be_merchant(text, span, money, issuer):
                return span
    return _find_merchant_line(text, money, issuer)


def _merchant_end(text: str, start: int) -> int:
    """Where the name ends that begins at `start`."""
    limit = min(len(text), start + MAX_MERCHANT_SCAN_LENGTH)
    end = _MERCHANT_END.search(text, start + 1, limit)
    return end.start() if end else limit


def _trim(text: str, span: Span) -> Span | None:
    start, end = span
    while (
        end > start
        and text[end - 1] in _EDGE_PUNCTUATION
        and text[max(start, end - 5) : end] not in {" INC.", " LTD.", ", INC"}
    ):
        end -= 1
    while start < end and text[start] in _EDGE_PUNCTUATION:
        start += 1
    return (start, end) if end > start else None


def _can_be_merchant(
    text: str, span: Span, money: MoneyMatch | None, issuer: Span | None
) -> bool:
    value = text[span[0] : span[1]]
    if money and span[0] < money.span[1] and money.span[0] < span[1]:
        return False
    if issuer and span[0] == issuer[0]:
        return False
    return any(letter.isalpha() for letter in value) and not value.lower().startswith(
        ("http", "your ", "card ")
    )


def _find_merchant_line(
    text: str, money: MoneyMatch | None, issuer: Span | None
) -> Span | None:
    """A line without amount, time, card or advice: a shop among fields."""
    place = 0
    for line in text.split("\n")[:12]:
        span = _trim(text, (place, place + len(line)))
        place += len(line) + 1
        if span is None or _LINE_NOISE.search(text[span[0] : span[1]]):
            continue
        if _can_be_merchant(text, span, money, issuer) and "\n" in text:
            return span
    return None
