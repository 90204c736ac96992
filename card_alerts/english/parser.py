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
from card_alerts.english.money import (
    RUNNING_TOTAL,
    TERMS,
    find_balance,
    find_paid_amount,
)
from card_alerts.english.times import find_english_timestamp
from card_alerts.english.words import find_status_keyword, rejection_reason
from card_alerts.issuer import Issuer
from card_alerts.issuers import (
    ENGLISH,
    JAPANESE,
    KOREAN,
    compile_aliases,
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

_CARD_HINT = pattern(
    r"""
    (?:
        ending(?:[ ](?:in|with))?
        | ends[ ]with | acct\.? | account | a/c | card[ ]no\.? | card\]? | no\. | number
        | last[ ]4(?:[ ]digits)?
    )[ ]?[:#]?[ ]?(?:\.{2,4}|[•·]{2,4})?[ ]?[-(]?
    (?P<hint>[Xx*]{0,12}[ -]?\d{4,5}|(?:\d\*){2}|\*\d\*\d)(?![\d,.]\d|[\d*/])
    """,
    example="ending in 3310",
    flags=re.IGNORECASE,
)
_STANDALONE_CARD_HINT = pattern(
    r"""
    (?<![\w*])(?P<hint>(?:[Xx]{2,12}|[*]{1,12})\d{3,4}|(?<=\()(?:\d\*){2}(?=\)))(?!\d)
    """,
    example="No:XXXXXXXX2915",
)
_ALIAS = pattern(
    rf"""
    (?<![A-Za-z0-9])
    {compile_aliases((*ENGLISH, *JAPANESE, *KOREAN), re.IGNORECASE).pattern}
    """,
    example="American Express",
    flags=re.IGNORECASE,
)
# A merchant follows, or the only issuer of the text.
_MERCHANT_PREPOSITION = pattern(r"\b(?:at|to|with)[ ]\Z", example="banking with ")
_ISSUER_PHRASES = tuple(
    (" ".join(phrase.split()), issuer)
    for issuer in ENGLISH
    for phrase in issuer.phrases
)
_MERCHANT_END = pattern(
    r"""
    [ ](?:
        on | for | was | is | has | using | ending | by | dated | from[ ]your
        | to[ ]your
        | from[ ](?:a/c|acct|account|card|debit|credit|savings|checking)
        | (?:avl|avbl|avail|available|bal|balance|a/c|acct)(?=\b[. :])
        | a/c
        | (?-i:with|via)
        | (?:with|via)[ ](?:your|card|a/c|debit|credit|upi|pos)
        | and[ ]
          (?:your?|it|was|has|is|will|earned|the[ ](?:amount|balance)|available|bal)
        | of[ ](?:[$£€₹]|rs\b|[A-Z]{3}[ ]?\d|\d|your)
        | posted | processed | completed | settled | cleared | credited | debited
        | pending | declined | in[ ]the[ ]amount
        | at[ ]\d{1,2}(?::\d\d)?
        | approved | were | may | will | went | card | ref | after | if | but | as
        | has[ ]been | exceed\w{0,4} | due | because
    )\b(?![.'’])
    | [ ]?(?:
          (?<!\.[A-Z])\.(?:[ \n]|$)
          | ; | \n | $ | \| | [ ]-[ ] | \( | ! | :[ ]
          | ,[ ](?:on|for|and|your)\b
      )
    | ,[ ][A-Z][A-Za-z ]{2,20}\.[ ]
    | [ ](?=[£$€₹])
    | [ ]/[ ]
    | ,?[ ](?=
          (?:\d{4}-\d\d-\d\d|\d{1,2}-\d{1,2}-\d{4}|\d{1,2}/\d{1,2}(?:/\d{2,4})?)
          [ ]\d{1,2}:\d\d
      )
    # Emoji.
    | \)\.(?:[ ]|$)
    | [ ]?[\u2600-\u27bf\U0001f300-\U0001faff]
    """,
    example="STREAMBOX. Avl",
    flags=re.IGNORECASE,
)
_NOT_A_MERCHANT = r"""
    (?!
        (?:your|you|card|debit|credit|a/c|this|payment[ ]of|UPI|NEFT|IMPS|ACH|(?-i:the))
        \b
        | \d{1,2}[:.]\d\d
    )
"""
# Deli, 7-ELEVEN, 3M
_CAPITAL = r"(?=[A-Z]|\d{1,3}-?[A-Z])"
_NOT_A_DATE = r"""
    (?!
        (?:\d{1,2}(?:st|nd|rd|th)?[- ]?)?
        (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[-,]?[ .-]?\d
    )(?!\d{1,2}(?:st|nd|rd|th)\b)
"""
_NOT_A_STATUS = r"""
    (?!
        (?:
            AM | PM | [ECMP][SD]?T | GMT | BST | UTC | IST | [SKJ][GS]T | HKT | CET
            | CEST | on | at | in | to | from | for | by | via | has | was | is | and
            | avl | avail\w* | bal | balance | card | ref | debited | credited
            | approved | spent | charged | declined | cancell?ed | paid | used
            | withdrawn | transferred | txn | transaction | purchase | payment | SMS
            | UPI | not | call | if | deposit\w* | withdraw\w* | [A-Z]{3}[ ]?\d
        )\b
    )
"""
# Words before a merchant, the surest first.
_MERCHANT_STARTS = tuple(
    pattern(
        rf"{before}[ ]{{0,2}}{_NOT_A_MERCHANT}(?=[^\s])",
        example=example,
        flags=re.IGNORECASE,
    )
    for before, example in (
        (r"(?:\bat\b[: ]|@(?:UPI_)?)", "at HARBOR COFFEE"),
        (
            r"""
            \b(?:transaction|purchase|payment|order|charge)[ ](?:made[ ])?
            (?:with|from|to)[ ]
            """,
            "transaction with HARBOR COFFEE",
        ),
        (
            r"\b(?:paid|refund(?:ed)?|spent|sent)\b[^\n]{0,60}?\b(?:to|from|by)[ ]",
            "You paid $12.00 to HARBOR COFFEE",
        ),
        (
            rf"\bpaid[ ](?!(?:to|at|by|with|on|for)\b){_CAPITAL}",
            "You paid HARBOR COFFEE",
        ),
        (
            r"""
            (?:
                \b(?:merchant|shop|store|retailer|info|payee)[ ]?[:\-]
                | (?<=\n)to[ ]?:
            )
            """,
            "Merchant: HARBOR COFFEE",
        ),
        (
            rf"""
            \b(?:on|with|from|to|by)[ ]{_NOT_A_DATE}
            (?!(?:HDFC|ICICI|SBI|Axis)\b){_CAPITAL}
            """,
            "$12.00 on HARBOR COFFEE",
        ),
        (
            rf"""
            (?:(?<![A-Za-z])(?:[A-Z]{{3}}|[$₩€£])[ ]?\d[\d,.]{{0,14}}|\d[ ]?KRW)
            [ ]{{1,24}}{_NOT_A_STATUS}(?-i:(?=[A-Z]))(?=[^\n]{{1,40}}\d\d?:\d\d)
            """,
            "KRW 12,000 Starbucks 11/20 10:00",
        ),
        (
            rf"""
            (?<!\d)\d{{1,2}}[-/]\d{{1,2}}(?:[-/]\d{{2,4}})?
            [ ]\d{{1,2}}:\d\d(?::\d\d)?[ ](?:/[ ])?{_NOT_A_STATUS}(?-i:(?=[A-Z]))
            """,
            "11/20 10:00 STARBUCKS Avl Lmt",
        ),
        (rf"\bfor[ ](?![A-Z]{{3}}[ ]?\d|Rs\b){_CAPITAL}", "for MAPLE DINER"),
        (
            r"\d{4}[ ]\((?-i:(?=[A-Z]))(?=[^()\n]{2,40}\))",
            "card ending 1812 (MAPLE DINER)",
        ),
        (
            r"\bcard[ ]\d{4}[ ](?-i:(?=[A-Z]{2}))(?=[^\n]{2,40}[ ][$€£]\d)",
            "Card 7041 LAUNDRY $158.06",
        ),
        (
            r"""
            \A(?-i:(?=[A-Z]{2}))
            (?=[A-Z][^\n:]{1,40}:[ ][$€£]\d[\d.,]{0,12}[ ]refunded\b)
            """,
            "MOSSY GAMES: €19.68 refunded to",
        ),
    )
)
# The first patterns introduce merchants only.
SURE_MERCHANT_STARTS = 5
MAX_MERCHANT_CANDIDATES = 8
MAX_MERCHANT_SCAN_LENGTH = 120
MAX_LINES = 12
MAX_ISSUER_PHRASE_SCAN_LENGTH = 60
# Reasons without a certain word.
_OPEN_REASONS = frozenset((Reason.NO_PAYMENT, Reason.STATEMENT))
_LINE_NOISE = pattern(
    r"""
    ^(?:
        (?:
            spent | paid | card | debit | credit | avl | avail | sms | not[ ]you | call
            | txn | transaction | purchase | payment | alert | inr | rs | usd
            | available | balance | ref | date | time
        )\b
        | you[ ] | your[ ] | if[ ]
    )
    | \d{2}:\d{2} | ^\W*$
    | ^(?:[a-z]{5,8}[ ])?(?:approv(?:al|ed)|declined|cancell?(?:ed|ation))\W*$
    """,
    example="Avl Lmt INR 91,200",
    flags=re.IGNORECASE,
)
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
_SENT_BY = pattern(
    r"(?:^|\n|:[ ])(?P<name>[A-Z][\w .'-]{1,40}?)[ ]sent[ ]you\b",
    example="JANE D sent you £20.00",
)
_EDGE_PUNCTUATION = " .,;:-–|\"'"
_PARTIAL = pattern(r"\bpartial(?:ly)?\b", example="partial refund", flags=re.IGNORECASE)


def parse_english(source: SourceText) -> ParseResult:
    text = source.normalized.text
    issuer, issuer_span = _identify_issuer(source)
    money = find_paid_amount(text, issuer)
    hint = _CARD_HINT.search(text) or _STANDALONE_CARD_HINT.search(text)
    # Korean issuers print both in English alerts too.
    total = RUNNING_TOTAL.search(text) if issuer in KOREAN else None
    terms = TERMS.search(text) if issuer in KOREAN else None
    merchant, is_merchant_sure = _find_merchant(
        _with_blanks(text, total, terms), money, issuer_span
    )
    balance, balance_currency = find_balance(text, money, source.home_currency)

    rest = source.text_without(merchant)
    keyword = find_status_keyword(rest)
    between = text[money.span[1] : merchant[0]] if money and merchant else ""
    if keyword is None and issuer and between == " at ":
        # Monzo: £3.20 at Tide Coffee
        keyword = Kind.APPROVAL, (0, 0)
    reason = rejection_reason(rest, keyword[0] if keyword else None)
    if reason is Reason.BANK_TRANSFER and money:
        booking = _build_booking(source, rest, money, issuer, hint, merchant)
        return rejected_booking(booking, source)
    lower = text.lower()
    is_strange = issuer is None and hint is None and "http" in lower
    reason = reason or (Reason.NO_PAYMENT if keyword is None or is_strange else None)
    if money is None or (reason and not source.is_weighed):
        return rejected(reason or Reason.NO_PAYMENT)
    kind, kind_span = keyword or (Kind.APPROVAL, None)
    months = terms if terms and terms["months"] else None
    is_month_first = _is_month_first(money, issuer)
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
            running_total=(
                int(parse_number(total["number"] or total["before"])) if total else None
            ),
            running_total_span=total.span() if total else None,
            balance=balance,
            balance_currency=balance_currency,
            timestamp=find_english_timestamp(rest, is_month_first=is_month_first),
            is_partial=kind is Kind.CANCELLATION and bool(_PARTIAL.search(rest)),
        ),
        source,
    )
    return _refuse(reason, result, is_strange=is_strange) if reason else result


def _refuse(reason: Reason, result: ParseResult, *, is_strange: bool) -> ParseResult:
    """Tell what the text would have been if no certain word refused it."""
    is_open = reason in _OPEN_REASONS and not is_strange and result.recognized
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
    return money.currency in {"USD", "CAD", WON} or issuer in KOREAN


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
    is_month_first = _is_month_first(money, issuer)
    timestamp = find_english_timestamp(rest, is_month_first=is_month_first)
    balance, balance_currency = find_balance(text, money, source.home_currency)
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
    merchants = []
    for match in _ALIAS.finditer(text):
        start, end = match.span()
        is_word = not (
            text[start - 1 : start].isalnum() or text[end : end + 1].isalpha()
        )
        is_capitalized = match[0][0].isupper() or match[0][0] > "~"
        if not (is_word and is_capitalized):
            continue
        is_merchant = _MERCHANT_PREPOSITION.search(text, max(0, start - 6), start)
        if not is_merchant and not text.startswith(" *", end):
            return get_alias(match[0]).issuer, match.span()
        merchants.append(match)
    beginning = " ".join(text[:MAX_ISSUER_PHRASE_SCAN_LENGTH].split())
    for phrase, issuer in _ISSUER_PHRASES:
        if phrase in beginning:
            return issuer, None
    if merchants and not source.sender_issuer:
        return get_alias(merchants[0][0]).issuer, merchants[0].span()
    return source.sender_issuer, None


def _find_merchant(
    text: str, money: MoneyMatch | None, issuer: Span | None
) -> tuple[Span | None, bool]:
    """Return the name after a preposition, else a line, and whether it is sure."""
    for index, rule in enumerate(_MERCHANT_STARTS):
        for match in islice(rule.finditer(text), MAX_MERCHANT_CANDIDATES):
            start = match.end()
            limit = min(len(text), start + MAX_MERCHANT_SCAN_LENGTH)
            following = _MERCHANT_END.search(text, start + 1, limit)
            end = following.start() if following else limit
            span = _trim(text, start, end)
            if span and _can_be_merchant(text, span, money, issuer):
                return span, index < SURE_MERCHANT_STARTS
    if "\n" not in text:
        return None, False
    start = 0
    for line in text.split("\n")[:MAX_LINES]:
        span = _trim(text, start, start + len(line))
        start += len(line) + 1
        if span is None or _LINE_NOISE.search(text[slice(*span)]):
            continue
        is_heading = issuer is not None and span[0] <= issuer[0] < span[1]
        if not is_heading and _can_be_merchant(text, span, money, issuer):
            return span, False
    return None, False


def _trim(text: str, start: int, end: int) -> Span | None:
    while end > start and text[end - 1] in _EDGE_PUNCTUATION:
        if text[max(start, end - 5) : end] in {" INC.", " LTD.", ", INC"}:
            break
        end -= 1
    while start < end and text[start] in _EDGE_PUNCTUATION:
        start += 1
    return (start, end) if end > start else None


def _can_be_merchant(
    text: str, span: Span, money: MoneyMatch | None, issuer: Span | None
) -> bool:
    value = text[slice(*span)]
    if money and span[0] < money.span[1] and money.span[0] < span[1]:
        return False
    if issuer and span[0] == issuer[0]:
        return False
    if value.lower().startswith(("http", "your ", "card ")):
        return False
    return any(letter.isalpha() for letter in value)
