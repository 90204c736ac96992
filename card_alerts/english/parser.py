"""Parse English card alerts: a sentence, or one field per line."""

import re
from dataclasses import replace
from decimal import ROUND_HALF_UP
from itertools import islice

from card_alerts.candidate import (
    PaymentCandidate,
    SourceText,
    build_result,
    rejected_booking,
    resolve_occurred_at,
)
from card_alerts.english.european import EuropeanPayment, find_european_payment
from card_alerts.english.merchants import find_merchant
from card_alerts.english.money import (
    RUNNING_TOTAL,
    TERMS,
    find_balance,
    find_paid_amount,
)
from card_alerts.english.times import find_english_timestamp
from card_alerts.english.words import (
    certain_reason,
    find_status_keyword,
    is_question,
    rejection_reason,
)
from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    ENGLISH,
    JAPANESE,
    KOREAN,
    compile_aliases,
    find_issuer,
    find_issuer_by_page,
    find_namesake,
    get_alias,
)
from card_alerts.money import MAX_AMOUNT, WON, MoneyMatch, parse_number
from card_alerts.patterns import pattern
from card_alerts.result import (
    BankBooking,
    BookingDirection,
    BookingPurpose,
    Doubt,
    Kind,
    ParseResult,
    Reason,
    Span,
    rejected,
)
from card_alerts.times import TimestampMatch

_CARD_HINT = pattern(
    r"""
    (?=(?-i:[abcdelmntABCDELMNT]))
    (?:
        [cd]crd | ending(?:[ ](?:in|with))?
        | ends[ ]with | acct\.? | account | a/c | card[ ]n(?:o|um)\.? | card\]? | no\.
        | mada
        | number | last[ ]4(?:[ ]digits)?(?:[ ]\#)? | (?<=[ \n])by(?=:)
        | terminada[ ]en | cart[ãa]o[ ]final | endziffern? | eindigend[ ]op
        | (?:che[ ]termina|terminant)[ ](?:con|in|par)
    )[ ]?[:#]?[ ]?\(?(?:\.{2,4}|[•·]{1,4})?[ ]?[-(]?
    # 9X3321, 4512******7781
    (?:\d{1,6}[Xx*]{1,12}(?=\d{4}))?
    (?:[Xx*]{4}[ -]){0,3}
    (?P<hint>
        [Xx*]{0,12}[ -]?\d{4,5} | [Xx*]{4,8}\d\d[Xx]{2} | (?:\d\*){2} | \*\d\*\d
        | \d\*\d\d(?=\))
        | \d\dXX(?![A-Za-z])
    )(?![\d,.-]\d|[\d*/])
    """,
    example="ending in 3310",
    flags=re.IGNORECASE,
)
_STANDALONE_CARD_HINT = pattern(
    r"""
    (?=[Xx*•·(\d])
    (?:(?<![\w*])|(?<=[•·])|(?<=[•·][ ])|(?<=\bVISA))
    (?P<hint>
        (?:[Xx]{2,12}|[*]{1,12})\d{3,6} | \d{4}[*]{3,10}\d{4}
        | (?<=\()(?:\d\*){2}(?=\))
        | (?<=[(\n]\.\.\.)\d{4}(?=[)\n])
        | (?:(?<=[•·])|(?<=[•·][ ]))\d{4}
        | (?<=[A-Za-z][ ])\d{4}(?=[ ]purchase[ ]of[ ])
        | (?<=[ ]from[ ])\d{4}(?=[ ]on[ ]\d)
        | (?<=(?:Visa|Amex)[ ]-[ ])\d{4} | (?<=Mastercard[ ]-[ ])\d{4}
        | (?<=\bVISA)\d{4}(?=[ ])
        | (?<=Visa[ ]\()\d{4}(?=\)) | (?<=Mastercard[ ]\()\d{4}(?=\))
        | (?<=(?:Visa|Amex)-)\d{4} | (?<=Mastercard-)\d{4}
        | (?<=(?:Visa|VISA|Amex)[ ]x-)\d{4} | (?<=Mastercard[ ]x-)\d{4}
        | (?<=Signature[ ]-[ ])\d{4}
        | (?<=(?:Visa|Amex)[ ])\d{4}(?=[ ]\(|:[ ]You) | (?<=[*]{4}[ ])\d{4}
        | (?<=[ ][.]{4}[ ])\d{4}
        | (?<=method[ ]-[ ])\d{4} | (?<=Refunded[ ]to[ ]-[ ])\d{4}
    )(?!\d)
    """,
    example="No:XXXXXXXX2915",
)
# Heron Rewards Visa: You made
_CARD_NAME = pattern(
    r"""
    (?P<hint>[A-Z](?<![^\n].)[A-Za-z' ]{2,40}[ ][A-Z][a-z]{2,14}):[ ]You
    """,
    example="Heron Rewards Visa: You made",
)
_ALIAS = pattern(
    rf"""
    (?<![A-Za-z0-9])
    {compile_aliases((*ENGLISH, *JAPANESE, *KOREAN), re.IGNORECASE).pattern}
    """,
    example="American Express",
    flags=re.IGNORECASE,
)
# bunq, e& money
_KOREAN_ISSUERS = frozenset(KOREAN)
_LOWER_NAMES = frozenset(
    name for issuer in ENGLISH for name in issuer.aliases if name[0].islower()
)
_CARD_OF_WALLET = pattern(
    r"[ ]with[ ](?P<card>[^\n•·]{2,40}?)[ ]?[•·]{1,4}[ ]?\d{4}\s{0,3}\Z",
    example="₩7,900 with 신한카드 •5566",
)
# A merchant follows, or the only issuer of the text.
_MERCHANT_PREPOSITION = pattern(r"\b(?:at|to|with)[ ]\Z", example="banking with ")
_ISSUER_PHRASES = tuple(
    (" ".join(phrase.split()), issuer)
    for issuer in ENGLISH
    for phrase in issuer.phrases
)
MAX_ISSUER_PHRASE_SCAN_LENGTH = 60
MAX_CARD_HINTS = 4
# Reasons without a certain word.
_OPEN_REASONS = frozenset((Reason.NO_PAYMENT, Reason.STATEMENT))
_DEPOSIT = pattern(
    r"""
    \bcredited\b
    | \bdeposit(?:ed)?\b
    | \breceived\b | \bsent[ ]you\b | \bincoming\b | \bsalary\b | \bpayroll\b
    """,
    example="direct deposit",
    flags=re.IGNORECASE,
)
_WITHDRAWAL = pattern(
    r"""
    \bdebited\b | \bwithdr\w+
    | \byou(?:'ve)?[ ]sent\b
    | \btransferred\b | \bpaid\b
    | \bsent\b(?![ ]you)
    | \btransfer\b | \bdirect[ ]debit\b | \bstanding[ ]order\b
    """,
    example="Zelle: You sent",
    flags=re.IGNORECASE,
)
_CASH = pattern(
    r"\bATM\b|\bcash[ ]withdrawal\b", example="Cash withdrawal", flags=re.IGNORECASE
)
_REVERSED = pattern(
    r"\brevers(?:ed|al)\b", example="Your payment was reversed", flags=re.IGNORECASE
)
# Layouts without a word for paying.
_WORDLESS = pattern(
    r"""
    # Apple Card: Maple Coffee $6.75 • Daily Cash 2%
    \A[A-Z][A-Za-z ]{2,20}[ ]Card:[ ]
    (?!(?:payment|min|statement|balance|available)\w{0,8}\b)
    [^\n:$€£₩]{2,50}[ ][$€£₩]\d[\d.,]{0,12}
    [ ]?(?:$|[•·|\n])
    | [$]\d[\d.,]{0,12}\s[•·]?\s?\d{1,2}%\sDaily\sCash\b
    | \A(?:[^\n]{1,60}\n)?(?:Tax[ ])?(?:Invoice|Receipt)\n[\s\S]{1,300}?
      (?:Visa|Mastercard|Amex)[ ][•*]{4}[ ]\d{4}[ ][A-Z]{0,2}[$£€]\d
    | \btransaction[ ]of[ ][A-Z]{3}[ ]?\d[\d.,]{0,12}[ ]at[ ][A-Z]
    | \breceipt[ ](?:from|for)[ ][^\n]{2,60}[$£€]\d
    | \breceipt[ ]from\b[\s\S]{1,400}?^total[ :]{1,3}[$£€]\d
    # ₩7,900 with Visa •••• 8343
    | ^[$€£₩¥₹]\d[\d.,]{0,12}[ ]with[ ][^\n•·]{2,40}[ ]?[•·]{1,4}[ ]?\d{4}\s{0,3}\Z
    """,
    example="Apple Card: Maple Coffee $6.75 • Daily Cash 2%",
    flags=re.MULTILINE | re.IGNORECASE,
)
# Merchant | HARBOR COFFEE⏎Amount | $46.10, in any order
_TABLE = pattern(
    r"""
    \A(?=[\s\S]{0,400}?^(?:transaction[ ])?amount[ ]?(?:[|:\t]|(?<=[ ])(?=[$£€]\d)))
    (?=[\s\S]{0,400}?^(?:merchant(?:[ ]name)?|where|at|to|store|payee|description)
       [ ]?(?:[|:\t]|(?<=[ ])(?-i:(?=[A-Z]{2}))))
    """,
    example="Merchant | HARBOR COFFEE\nAmount | $46.10",
    flags=re.MULTILINE | re.IGNORECASE,
)
_SENT_BY = pattern(
    r"(?:^|\n|:[ ])(?P<name>[A-Z][\w .'-]{1,40}?)[ ]sent[ ]you\b",
    example="JANE D sent you £20.00",
)
# If this wasn't you, secure your account: https://card-check.example/id
_NOT_YOU_PAGE = pattern(
    r"""
    \b(?=(?-i:[windugcvlryWINDUGCVLRY]))
    (?:
        (?:
            (?:was|were|is)(?:n['’]t|[ ]not)[ ]you | not[ ]you\b
            | did(?:n['’]t|[ ]not)[ ](?:make|authori[sz]e|recogni[sz]e|do)
            | don['’]t[ ]recogni[sz]e | unauthori[sz]ed | cancel
            | not[ ]done[ ]by[ ]you
        )
        [^\n]{0,120}\n{0,3}[^\n]{0,20}\bhttps?://(?P<host>[a-z0-9.-]{3,60})
        # To dispute, log in at wallet-help.example
        | (?:visit|log[ ]?in[ ](?:at|to)|go[ ]to|respond[ ]at|you\?[ ](?:tap|click))[ ]
          (?P<page>[a-z0-9-]{2,40}(?:\.[a-z0-9-]{2,30}){1,3})
    )
    """,
    example="Not you? https://card-check.example/id",
    flags=re.IGNORECASE,
)
# chase, hdfcbank; kotak of Kotak Bank
_ISSUER_SITES = frozenset(
    site
    for issuer in ENGLISH
    for name in issuer.aliases
    for site in ("".join(name.lower().split()), name.lower().split()[0])
)
# call 1-800-000-0000
_CALL_US = pattern(
    r"\bcall\b[^\n\d]{0,40}\+?\d[\d() -]{6,15}\d",
    example="call 1-800-000-0000",
    flags=re.IGNORECASE,
)
_PARTIAL = pattern(r"\bpartial(?:ly)?\b", example="partial refund", flags=re.IGNORECASE)


# The amount and the merchant
_Parts = tuple[MoneyMatch | None, Span | None]


def parse_english(source: SourceText) -> ParseResult:
    text = source.normalized.text
    issuer, issuer_span, money = _identify_issuer_and_amount(source)
    hint = _find_card_hint(text)
    total, terms = _find_total_and_terms(text, issuer)
    european = find_european_payment(text, money)
    if european:
        return _build_european(european, source, issuer, issuer_span, hint)
    merchant, is_merchant_sure = find_merchant(
        _with_blanks(text, total, terms), money, issuer_span
    )
    balance, balance_currency = find_balance(text, money, source.home_currency, issuer)

    rest = source.text_without(merchant)
    keyword = find_status_keyword(rest)
    lower = text.lower()
    may_be_table = money is not None and hint is not None and "amount" in lower
    is_completed = may_be_table and _TABLE.search(text) is not None
    parts = money, merchant
    if money and not keyword and (is_completed or _is_told(text, parts, issuer, hint)):
        keyword = Kind.APPROVAL, (0, 0)
        is_completed = bool(hint and _find_time(rest, money, issuer, source))
    reason = rejection_reason(
        rest, keyword[0] if keyword else None, is_completed=is_completed
    )
    if reason is Reason.BANK_TRANSFER and money:
        booking = _build_booking(source, rest, money, issuer, hint, merchant)
        return rejected_booking(booking, source)
    is_closed = _is_closed(text, issuer, hint) or _is_question(rest, keyword)
    # The reason may be a certain one.
    is_closed = is_closed or bool(reason and certain_reason(rest, lower))
    reason = reason or (Reason.NO_PAYMENT if keyword is None or is_closed else None)
    if money is None or (reason and not source.is_weighed):
        return rejected(reason or Reason.NO_PAYMENT)
    kind, kind_span = keyword or (Kind.APPROVAL, None)
    months = terms if terms and terms["months"] else None
    result = build_result(
        PaymentCandidate(
            kind=kind,
            kind_span=kind_span,
            issuer=issuer,
            issuer_span=issuer_span,
            card_hint_span=hint.span("hint") if hint else None,
            is_check_card=_is_check_card(lower),
            money=money,
            merchant_span=merchant,
            is_merchant_sure=is_merchant_sure,
            installment_months=int(months["months"]) if months else None,
            installment_months_span=months.span("months") if months else None,
            running_total=_total_number(total) if total else None,
            running_total_span=total.span() if total else None,
            balance=balance,
            balance_currency=balance_currency,
            timestamp=_find_time(rest, money, issuer, source),
            is_partial=kind is Kind.CANCELLATION and bool(_PARTIAL.search(rest)),
        ),
        source,
    )
    return _refuse(reason, result, is_closed=is_closed) if reason else result


def _is_closed(text: str, issuer: Issuer | None, hint: re.Match[str] | None) -> bool:
    """Return True for phishing."""
    lower, is_unknown = text.lower(), issuer is None and hint is None
    if issuer is not None and _has_page_of_stranger(text, lower):
        return True
    return is_unknown and ("http" in lower or _CALL_US.search(text) is not None)


def _is_question(rest: str, keyword: tuple[Kind, Span] | None) -> bool:
    is_declined = keyword is not None and keyword[0] is Kind.DECLINED
    return not is_declined and is_question(rest, rest.lower())


def _has_page_of_stranger(text: str, lower: str) -> bool:
    """Return True if somebody who did not pay is to open a page of no issuer."""
    may_be = any(
        map(lower.__contains__, ("http", "visit", "log", "go to", "you? ", "respond"))
    )
    page = _NOT_YOU_PAGE.search(text) if may_be else None
    if page is None:
        return False
    parts = page[page.lastgroup or 0].lower().split(".")
    return not any(part in _ISSUER_SITES for part in parts)


def _find_total_and_terms(
    text: str, issuer: Issuer | None
) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """Return both of an alert by a Korean issuer."""
    if issuer not in _KOREAN_ISSUERS:
        return None, None
    return RUNNING_TOTAL.search(text), TERMS.search(text)


def _find_card_hint(text: str) -> re.Match[str] | None:
    """Return the digits of the card or the account, or the name of the card."""
    found = list(islice(_CARD_HINT.finditer(text), MAX_CARD_HINTS))
    of_card = (each for each in found if each[0][:4].lower() in {"card", "mada"})
    hint = next(of_card, None) or next(iter(found), None)
    hint = hint or _STANDALONE_CARD_HINT.search(text)
    return hint or next(filter(_names_card, _CARD_NAME.finditer(text)), None)


def _names_card(match: re.Match[str]) -> bool:
    """Return False for Capital One: You made a purchase."""
    name = match["hint"]
    if name.endswith((" Visa", " Mastercard", " Card")):
        return True
    return not name.endswith((" Alert", " Alerts")) and find_issuer(name) is None


def _identify_issuer_and_amount(
    source: SourceText,
) -> tuple[Issuer | None, Span | None, MoneyMatch | None]:
    text = source.normalized.text
    issuer, span = _identify_issuer(source)
    if issuer is None and ".co" in text:
        issuer = find_issuer_by_page(text)
    money = find_paid_amount(text, issuer)
    if money:
        named = text[slice(*span)] if span else source.sender
        issuer = find_namesake(named, money.currency) or issuer
    return issuer, span, money


def _total_number(total: re.Match[str]) -> int:
    return int(parse_number(total["number"] or total["before"]))


def _build_european(
    payment: EuropeanPayment,
    source: SourceText,
    issuer: Issuer | None,
    issuer_span: Span | None,
    hint: re.Match[str] | None,
) -> ParseResult:
    if payment.money is None:
        return rejected(Reason.NO_PAYMENT)
    rest = source.text_without(payment.merchant)
    return build_result(
        PaymentCandidate(
            kind=payment.kind,
            kind_span=payment.kind_span,
            issuer=issuer,
            issuer_span=issuer_span,
            card_hint_span=hint.span("hint") if hint else None,
            money=payment.money,
            merchant_span=payment.merchant,
            is_merchant_sure=True,
            timestamp=find_english_timestamp(
                rest, is_month_first=False, received_on=source.received_at.date()
            ),
        ),
        source,
    )


def _is_told(
    text: str, parts: _Parts, issuer: Issuer | None, hint: re.Match[str] | None
) -> bool:
    """Return True for a layout that only payments have."""
    money, merchant = parts
    between = text[money.span[1] : merchant[0]] if money and merchant else ""
    # Monzo: £3.20 at Tide Coffee
    if issuer is not None and between == " at ":
        return True
    return bool(issuer or hint) and _WORDLESS.search(text) is not None


def _refuse(reason: Reason, result: ParseResult, *, is_closed: bool) -> ParseResult:
    """Tell what the text would have been if no certain word refused it."""
    is_open = reason in _OPEN_REASONS and not is_closed and result.recognized
    if not is_open:
        return rejected(reason)
    if reason is not Reason.NO_PAYMENT:
        result = replace(result, doubts=(Doubt.KIND,))
    return replace(rejected(reason), would_be=result)


def _with_blanks(text: str, *parts: re.Match[str] | None) -> str:
    for part in filter(None, parts):
        start, end = part.span()
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def _is_check_card(text: str) -> bool | None:
    return True if "debit card" in text else False if "credit card" in text else None


def _is_month_first(money: MoneyMatch, issuer: Issuer | None) -> bool:
    """Return True if 05/06 is the 6th of May, as in North America and Korea."""
    if issuer is not None and issuer.is_day_first:
        return False
    return money.currency in {"USD", "CAD", "PHP", WON} or issuer in _KOREAN_ISSUERS


def _find_time(
    text: str, money: MoneyMatch, issuer: Issuer | None, source: SourceText
) -> TimestampMatch | None:
    return find_english_timestamp(
        text,
        is_month_first=_is_month_first(money, issuer),
        received_on=source.received_at.date(),
    )


def _build_booking(
    source: SourceText,
    rest: str,
    money: MoneyMatch,
    issuer: Issuer | None,
    hint: re.Match[str] | None,
    counterparty: Span | None,
) -> BankBooking | None:
    """Return the booking of a refused text; `rest` lacks the counterparty."""
    text = source.normalized.text
    deposit, withdrawal = _DEPOSIT.search(text), _WITHDRAWAL.search(text)
    if not (deposit or withdrawal) or not 0 < money.value <= MAX_AMOUNT:
        return None
    is_deposit = deposit is not None and (
        withdrawal is None or deposit.start() < withdrawal.start()
    )
    if counterparty is None:
        sender = _SENT_BY.search(text)
        counterparty = sender.span("name") if sender else None
    is_home = money.currency == source.home_currency
    timestamp = _find_time(rest, money, issuer, source)
    balance, balance_currency = find_balance(text, money, source.home_currency, issuer)
    day = source.resolve_date(timestamp)
    spans = {
        "amount": money.span,
        "counterparty": counterparty,
        "accountHint": hint.span("hint") if hint else None,
        "occurredAt": timestamp.span if timestamp else None,
    }
    return BankBooking(
        BookingDirection.DEPOSIT if is_deposit else BookingDirection.WITHDRAWAL,
        BookingPurpose.CASH if _CASH.search(text) else BookingPurpose.TRANSFER,
        amount=int(money.value.to_integral_value(ROUND_HALF_UP)) if is_home else None,
        currency=None if is_home else money.currency,
        original_amount=None if is_home else money.value,
        bank=issuer.name if issuer else None,
        account_hint=hint["hint"].strip() if hint else None,
        counterparty=text[slice(*counterparty)] if counterparty else None,
        is_cancelled=_REVERSED.search(text) is not None,
        balance=balance,
        balance_currency=balance_currency,
        occurred_at=resolve_occurred_at(timestamp, None, day, source),
        occurred_on=day,
        spans={
            name: source.normalized.source_span(span)
            for name, span in spans.items()
            if span
        },
    )


def _identify_issuer(source: SourceText) -> tuple[Issuer | None, Span | None]:
    """Return the issuer that the text names, else the sender.

    A name after at, to or with is the merchant's, unless it is the only one.
    """
    text = source.normalized.text
    card = _CARD_OF_WALLET.search(text) if "with " in text else None
    if card and (issuer := find_issuer(card["card"])):
        return issuer, card.span("card")
    merchants = []
    for match in _ALIAS.finditer(text):
        start, end = match.span()
        is_word = not (
            text[start - 1 : start].isalnum() or text[end : end + 1].isalpha()
        )
        is_capitalized = (
            match[0][0].isupper() or match[0][0] > "~" or match[0] in _LOWER_NAMES
        )
        if not (is_word and is_capitalized):
            continue
        issuer = get_alias(match[0]).issuer
        if issuer.is_pay_service and text[start - 1 : start] == "(":
            # mada (Apple Pay)
            continue
        before = _MERCHANT_PREPOSITION.search(text, max(0, start - 6), start)
        is_merchant = before or text.startswith((".com", ".COM"), end)
        if before and before[0].lower() == "at ":
            continue
        if not is_merchant and not text.startswith(" *", end):
            return issuer, match.span()
        merchants.append(match)
    beginning = " ".join(text[:MAX_ISSUER_PHRASE_SCAN_LENGTH].split())
    for phrase, issuer in _ISSUER_PHRASES:
        if phrase in beginning:
            return issuer, None
    if merchants and not source.sender_issuer:
        return get_alias(merchants[0][0]).issuer, merchants[0].span()
    return source.sender_issuer, None
