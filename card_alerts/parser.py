"""The parser of card notifications: a text in, a typed answer out. Pure."""

import re
from datetime import datetime

from card_alerts.candidate import SourceText
from card_alerts.english.parser import parse_english
from card_alerts.japanese import parse_japanese
from card_alerts.korean.parser import parse_korean
from card_alerts.money import WON
from card_alerts.normalization import normalize
from card_alerts.result import ParseResult, Reason, rejected

MAX_TEXT_LENGTH = 4000
"""Characters of a notification (spec 10.1); more are not looked at."""

MAX_ENGLISH_ALERT_LENGTH = 1500
"""Characters of an English alert that are looked at; real ones have under 500."""

_HANGUL = re.compile("[가-힣]")
_JAPANESE = re.compile("[぀-ヿ]|利用|金額|円|取引|決済|返金")
_FOREIGN = re.compile("[ぁ-ヿ]|[A-Za-z]{3} [A-Za-z]{2,12} [A-Za-z$]")
SENT_MARKER = "발신"
_SENT_FROM_WEB = re.compile(rf"\[?(?:Web|WEB|web)[ ]?{SENT_MARKER}\]?")
_AMOUNT = re.compile(r"\d원|\d,\d{3}|[A-Z]{3} ?\d|[$€₩] ?\d|\d\.\d{2}")


def parse(
    text: str, received_at: datetime, sender: str = "", home_currency: str = WON
) -> ParseResult:
    """What a notification says; for any text whatever, and never an exception.

    `received_at` is aware and in the home time zone: printed times are read in its
    zone, and a day without a year is the last such day before it. `sender` (a
    number, an app's name or package) tells the company where the text does not.
    Of two messages in one text the first decides.
    """
    sent = text[:MAX_TEXT_LENGTH]
    plain = normalize(sent)
    if not plain.text.strip():
        return rejected(Reason.NO_PAYMENT)
    source = SourceText(
        sent,
        plain.truncated(end_of_first_message(plain.text)),
        received_at,
        home_currency,
    )
    if not _HANGUL.search(plain.text):
        return parse_non_korean(source, sender)
    parsed = parse_korean(source, sender)
    if parsed.reason is Reason.NO_PAYMENT and _FOREIGN.search(plain.text):
        return parse_non_korean(source, sender)
    return parsed


def parse_non_korean(source: SourceText, sender: str) -> ParseResult:
    """The answer for a text without Korean words, or with no more than a title."""
    if _JAPANESE.search(source.normalized.text):
        return parse_japanese(source, sender)
    return parse_english(source.truncated(MAX_ENGLISH_ALERT_LENGTH), sender)


def end_of_first_message(text: str) -> int:
    """Where a second message begins that was sent along with the first."""
    last = text.rfind(SENT_MARKER)
    amount = _AMOUNT.search(text, 0, last) if last > 0 else None
    second = amount and _SENT_FROM_WEB.search(text, amount.end())
    return second.start() if second else len(text)
