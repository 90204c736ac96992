"""Entry points: normalize the text, split it, parse each message."""

import re
from dataclasses import replace
from datetime import datetime

from card_alerts.candidate import SourceText
from card_alerts.confidence import weigh
from card_alerts.english.parser import parse_english
from card_alerts.issuers import find_issuer, find_issuer_by_sender
from card_alerts.japanese.parser import parse_japanese
from card_alerts.korean.parser import parse_korean
from card_alerts.messages import split_messages
from card_alerts.money import WON
from card_alerts.normalization import NormalizedText, normalize
from card_alerts.opinion.opinion import Opinion, load_opinion
from card_alerts.patterns import pattern
from card_alerts.result import ParseResult, Reason, Span, rejected

# Characters of a notification and its title (spec 10.1).
MAX_TEXT_LENGTH = 4000
MAX_TITLE_LENGTH = 200

# A title so short may begin another word.
MAX_SHORT_TITLE_LENGTH = 3

# Real English alerts have fewer than 500 characters.
MAX_ENGLISH_ALERT_LENGTH = 1500

_HANGUL = pattern(r"[가-힣]", example="신한카드 승인")
_JAPANESE = pattern(r"[\u3040-ヿ]|利用|金額|円|取引|決済|返金", example="ご利用金額")
_FOREIGN = pattern(
    r"[ぁ-ヿ]|[A-Za-z]{3}[ ][A-Za-z]{2,12}[ ][A-Za-z$]", example="Your du Pay Card"
)
# The only Korean words of an English text.
_KOREAN_HEADING = pattern(
    r"""
    \s{0,4}(?P<name>[가-힣A-Za-z ]{2,12})?(?:\s{0,4}\[Web[ ]?발신\])?\s{1,4}
    """,
    example="HARBOR OUTDOOR",
)
# Google Wallet on a Korean phone, below the name of the shop
_PHONE_WALLET = pattern(
    r"""
    \A(?:[^\n]{1,80}\n){0,2}[₩$€£¥]\d[\d,.]{0,12}[ ]with[ ][^\n•·]{2,40}?[ ]?
    [•·]{1,4}[ ]?\d{4}\s{0,3}\Z
    """,
    example="₩7,900 with 신한카드 •5566",
)
_MONEY_OF_APP = pattern(r"머니|포인트", example="카카오페이머니")
_NOT_BREAK = pattern(r"[^\n]", example="신한카드")
_KOREAN_EVENT = pattern(
    r"승인|취소|거절|결제|이용|사용|출금|입금|환불", example="카드 승인"
)
# Approved 류*태 KRW 9,950
_MASKED_HOLDER = pattern(
    r"(?<=[ ])[가-힣]{1,2}\*{1,2}[가-힣]{0,2}님?(?=[ ])", example="KEB하나 구*님 8*2*"
)
_ENGLISH_EVENT = pattern(
    r"""
    \b(?:approv(?:ed|al)|declined|cancell?(?:ed|ation)|refunded|reversed)\b
    """,
    example="Card] Approved",
    flags=re.IGNORECASE,
)


def parse(
    text: str,
    received_at: datetime,
    sender: str = "",
    home_currency: str = WON,
    title: str = "",
    *,
    with_opinion: bool = True,
) -> ParseResult:
    """Return the first payment of a text, else its first result. Never raises."""
    results = parse_all(
        text, received_at, sender, home_currency, title, with_opinion=with_opinion
    )
    return next((each for each in results if each.recognized), results[0])


def parse_all(
    text: str,
    received_at: datetime,
    sender: str = "",
    home_currency: str = WON,
    title: str = "",
    *,
    with_opinion: bool = True,
) -> list[ParseResult]:
    """Return 1 to 20 results, one for each message of a text. Never raises.

    `received_at` is aware and in the home time zone, as are the printed times. `sender`
    (a phone number, a name, an app's name or package) names the issuer if the text does
    not. `title` is the title of a push message outside the text. Spans are offsets into
    `text`. Without an opinion, the grammar decides alone.
    """
    opinion = load_opinion() if with_opinion else None
    return parse_by(opinion, text, received_at, sender, home_currency, title)


def parse_by(
    opinion: Opinion | None,
    text: str,
    received_at: datetime,
    sender: str = "",
    home_currency: str = WON,
    title: str = "",
) -> list[ParseResult]:
    """Return what `parse_all` does, by a given opinion or by the grammar alone."""

    def read(message: str, normalized: NormalizedText) -> ParseResult:
        if not normalized.text.strip():
            return rejected(Reason.NO_PAYMENT)
        issuer = find_issuer_by_sender(sender)
        source = SourceText(
            message,
            normalized,
            received_at,
            home_currency,
            issuer,
            sender,
            is_weighed=opinion is not None,
        )
        return weigh(_parse_message(source), source, opinion)

    text, title = text[:MAX_TEXT_LENGTH], title[:MAX_TITLE_LENGTH].strip()
    normalized = normalize(text)
    parts = split_messages(normalized.text)
    if len(parts) == 1:
        if not title or _begins_with_title(text, title):
            return [read(text, normalized)]
        parts = [(0, len(normalized.text))]
    results = []
    for part in parts:
        start, end = normalized.source_span(part) if part[1] > part[0] else (0, 0)
        is_repeated = _begins_with_title(text[start:end], title)
        heading = "" if is_repeated else f"{title}\n"
        message = heading + text[start:end]
        parsed = read(message, normalize(message))
        parsed = _move_spans(parsed, start - len(heading), (start, end))
        if len(parts) > 1:
            parsed = replace(parsed, text_span=(start, end))
        results.append(parsed)
    return results


def _begins_with_title(text: str, title: str) -> bool:
    """Return False for 토스 before 토스트가게."""
    text = text.lstrip()
    if not text.startswith(title):
        return False
    following = text[len(title) : len(title) + 1]
    if _MONEY_OF_APP.match(text, len(title)):
        # 카카오페이 above 카카오페이머니로 12,000원
        return False
    return len(title) > MAX_SHORT_TITLE_LENGTH or not _HANGUL.match(following)


def _move_spans(parsed: ParseResult, distance: int, message: Span) -> ParseResult:
    def moved(spans: dict[str, Span]) -> dict[str, Span]:
        return {
            name: (start + distance, end + distance)
            for name, (start, end) in spans.items()
            if start + distance >= message[0]
        }

    booking = parsed.bank_booking
    if booking:
        booking = replace(booking, spans=moved(booking.spans))
    candidates = tuple(
        replace(each, span=(each.span[0] + distance, each.span[1] + distance))
        for each in parsed.candidates
        if each.span[0] + distance >= message[0]
    )
    would_be = parsed.would_be
    if not (parsed.spans or booking or would_be):
        return parsed
    return replace(
        parsed,
        spans=moved(parsed.spans),
        bank_booking=booking,
        candidates=candidates,
        would_be=would_be and _move_spans(would_be, distance, message),
    )


def _parse_message(source: SourceText) -> ParseResult:
    normalized = source.normalized
    if _HANGUL.search(normalized.text):
        if english := _as_english(source):
            return parse_english(english.truncated(MAX_ENGLISH_ALERT_LENGTH))
        result = parse_korean(source)
        if result.reason is not Reason.NO_PAYMENT or _is_korean(normalized.text):
            return result
    if _JAPANESE.search(normalized.text):
        return parse_japanese(source)
    return parse_english(source.truncated(MAX_ENGLISH_ALERT_LENGTH))


def _is_korean(text: str) -> bool:
    """Return False for a foreign text with Korean words; the title may be Korean."""
    title = text.lstrip().partition("\n")[0]
    below = text.find(title) + len(title)
    if _FOREIGN.search(text) is None or _KOREAN_EVENT.search(text, below):
        return True
    # A text of one line is its own title.
    is_alone = not text[below:].strip()
    return bool(
        _KOREAN_EVENT.search(title) and (is_alone or _HANGUL.search(text, below))
    )


def _as_english(source: SourceText) -> SourceText | None:
    text = source.normalized.text
    if " with " in text and _PHONE_WALLET.match(text):
        return source
    lower = text.lower()
    if not (
        "pprov" in lower
        or "declined" in lower
        or "cancel" in lower
        or "refunded" in lower
        or "reversed" in lower
    ):
        return None
    heading = _KOREAN_HEADING.match(text)
    if heading is None:
        return None
    holder = _MASKED_HOLDER.search(text) if "*" in text else None
    if holder:
        text = f"{text[: holder.start()]}{'x' * len(holder[0])}{text[holder.end() :]}"
    if _HANGUL.search(text, heading.end()):
        return None
    if not _ENGLISH_EVENT.search(text, heading.end()):
        return None
    issuer, name = source.sender_issuer, heading["name"]
    if name:
        issuer = None if _KOREAN_EVENT.search(name) else find_issuer(name)
        if issuer is None:
            return None
    blanks = _NOT_BREAK.sub(" ", heading[0])
    normalized = source.normalized._replace(text=blanks + text[heading.end() :])
    return source._replace(normalized=normalized, sender_issuer=issuer)
