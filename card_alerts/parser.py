"""Entry point of the parser: normalize the text, then parse it by its language.

Each language's parser builds a `PaymentCandidate`, which becomes the `ParseResult`.
"""

import re
from datetime import datetime

from card_alerts.candidate import SourceText
from card_alerts.english.parser import parse_english
from card_alerts.issuers import find_issuer_by_sender
from card_alerts.japanese import parse_japanese
from card_alerts.korean.parser import parse_korean
from card_alerts.money import WON
from card_alerts.normalization import normalize
from card_alerts.result import ParseResult, Reason, rejected

# Characters of a notification (spec 10.1); the rest is ignored.
MAX_TEXT_LENGTH = 4000

# Characters of an English alert; real ones have fewer than 500.
MAX_ENGLISH_ALERT_LENGTH = 1500

_HANGUL = re.compile("[가-힣]")
_JAPANESE = re.compile("[぀-ヿ]|利用|金額|円|取引|決済|返金")
_FOREIGN = re.compile("[ぁ-ヿ]|[A-Za-z]{3} [A-Za-z]{2,12} [A-Za-z$]")
_SENT_MARKER = "발신"
_SENT_FROM_WEB = re.compile(rf"\[?(?:Web|WEB|web)[ ]?{_SENT_MARKER}\]?")
_AMOUNT = re.compile(r"\d원|\d,\d{3}|[A-Z]{3} ?\d|[$€₩] ?\d|\d\.\d{2}")


def parse(
    text: str, received_at: datetime, sender: str = "", home_currency: str = WON
) -> ParseResult:
    """Return what a notification says. Never raises, whatever the text.

    `received_at` is aware and in the home time zone: printed times are in that zone,
    and a date without a year is the last such date before it. `sender` (a number, an
    app's name or package) names the issuer if the text does not. Of two messages in
    one text, the first one is parsed.
    """
    text = text[:MAX_TEXT_LENGTH]
    normalized = normalize(text)
    if not normalized.text.strip():
        return rejected(Reason.NO_PAYMENT)
    # A second message begins with a mark after an amount.
    last_mark = normalized.text.rfind(_SENT_MARKER)
    amount = _AMOUNT.search(normalized.text, 0, last_mark) if last_mark > 0 else None
    second = _SENT_FROM_WEB.search(normalized.text, amount.end()) if amount else None
    end = second.start() if second else len(normalized.text)
    source = SourceText(
        text,
        normalized.truncated(end),
        received_at,
        home_currency,
        find_issuer_by_sender(sender),
    )
    if _HANGUL.search(normalized.text):
        result = parse_korean(source)
        # Only the title may be Korean.
        is_title = result.reason is Reason.NO_PAYMENT
        if not is_title or not _FOREIGN.search(normalized.text):
            return result
    if _JAPANESE.search(source.normalized.text):
        return parse_japanese(source)
    return parse_english(source.truncated(MAX_ENGLISH_ALERT_LENGTH))
