"""Find the name of the merchant in an English alert."""

import re
import unicodedata
from itertools import islice

from card_alerts.money import MoneyMatch
from card_alerts.patterns import pattern
from card_alerts.result import Span

_MERCHANT_END = pattern(
    r"""
    (?=\W|$)(?:
    [ ](?:
        on(?![ ](?-i:[A-Z][a-z]{2,12})[ ]on[ ])
        | for | was | is | has | sent[ ]you | using | ending | by | dated | from[ ]your
        | to[ ]your
        | from[ ](?:a/c|acct|account|card|debit|credit|savings|checking)
        | (?:till|paybill|agent)[ ](?:number|no)
        | for[ ]account
        | (?:avl|avbl|avail|available|bal|balance|a/c|acct)(?=\b[. :])
        | a/c
        | (?-i:with|via)
        | (?:with|via)[ ](?:your|card|a/c|debit|credit|upi|pos)
        | and[ ]
          (?:your?|it|was|has|is|will|earned|the[ ](?:amount|balance)|available|bal)
        | of[ ](?:[$£€₹]|rs\b|[A-Z]{3}[ ]?\d|\d|your)
        | posted | processed | completed | settled | cleared | credited | debited
        | pending | declined | in[ ]the[ ]amount | made
        | at[ ]\d{1,2}(?::\d\d)?
        | approved | were | may | will | went | card | ref | after | if | but | as
        | needs | awaiting | has[ ]been | exceed\w{0,4} | due | because
    )\b(?![.'’])
    | [ ]?(?:
          (?<!\.[A-Z])(?<![ ]ST)(?<![ ]St)\.
          (?:[ \n](?!(?-i:INC|LLC|LTD|CORP|PLC|CO)\b)|$)
          | ; | \?[ ] | \n | $ | \| | ! | :[ ]
          # HARBOR COFFEE - DELIVERY Avl Bal
          # YA KUN TOAST - B2.
          | [ ]-[ ](?!
                (?-i:[A-Z]{4,20})[ ](?:avl|avail|bal|on)\b
                | (?-i:[A-Z]{0,3}\d{1,3})(?:\.|[ ]with\b)
                | (?-i:[A-Z][A-Za-z]{1,14}(?:[ ][A-Z][a-z]{1,14})?)
                  (?:,[ ]|[ ]on[ ]|\n|$)
            )
          # To Maple Games (Maple Ltd). It may take
          | \((?=[^()\n]{0,60}\))
            (?!(?-i:[A-Z][a-z])[A-Za-z &.,'-]{1,40}\)\.[ ](?:it|your)\b)
            # S-22 (TOA PAYOH 210) FOOD HOUSE
            (?![^()\n]{1,40}\)(?-i:[ ][A-Z]{3,}){2})
          | ,[ ](?:on|for|and|your|(?:credit|debit)[ ]card)\b
      )
    | ,[ ][A-Z][A-Za-z ]{2,20}\.[ ]
    | [ ]from[ ](?:[A-Za-z]{2,20}[ ])?(?:a/c|acct|account|card)[ .:#*-]
    | [ ][cd]r[ ](?:crd?|card)\b | [ ]just[ ]charged[ ]
    | [ ](?:recently[ ])?(?:charged|credited)[ ]your[ ] | [ ]charged[ ]to[ ]
    | [ ](?:subscription[ ])?(?:e-)?receipt(?=[\n:]|$)
    | \][ ](?:sale[ ])?(?:payment|receipt|invoice)\b
    | [ ](?:subscription|membership|plan)[ ]renewed[ ]
    | ,?[ ]above[ ]your[ ] | ,[ ](?=R-?\d)
    | ,?[ ]an?[ ](?:pending|purchase|charge|transaction)\b
    | [ ](?:
          failed | declined | rejected | refused | unsuccessful | bounced
          | revers(?:ed|al) | refunded | arrived | successful
      )\b
    | [ ](?:(?:could|did|was|were|is|has|ca)n['’]?t|(?:could|did|can)[ ]?not)\b
    | [ ](?=[£$€₹₱₩¥]|[A-Z]{3}[ ]?\d{1,6}\.\d\d)
    | [ ]/[ ] | [ ][–—][ ] | [ ]\#\d{3,5}-\d
    | ,?[ ](?=
          (?:\d{4}-\d\d-\d\d|\d{1,2}-\d{1,2}-\d{4}|\d{1,2}/\d{1,2}(?:/\d{2,4})?)
          [ ]\d{1,2}:\d\d
          | \d{1,2}:\d\d[ ]?[ap]m\b
          | \d{1,2}[ -]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)
            [a-z]{0,6}(?:[ ,-]{1,2}\d|[ ]?[.,]?(?:\n|$))
      )
    | ,[ ]\d{1,2}:\d\d | [ ]receipt:
    | [ ]from[ ](?:\w{1,20}[ ]){0,2}(?:wallet|balance)\b
    # Emoji.
    | \)\.(?:[ ]|$)
    | [ ]?[\u2600-\u27bf\U0001f300-\U0001faff]
    )
    """,
    example="STREAMBOX. Avl",
    flags=re.IGNORECASE,
)
_NOT_A_MERCHANT = r"""
    (?!
        (?:
            your | you | card | debit | credit | a/c | this | payment[ ]of
            | UPI(?!-\d) | NEFT | IMPS | ACH | EFT | (?-i:the)
            | (?-i:cyber|fraud|block|dispute|report|call|raise|know|view|see)
            | (?-i:manage|check|track)
            | (?:visa|mastercard|amex)(?=[ ]?(?:ending|card|debit|credit|[•*-]))
            | (?-i:order)
            | help | using | account[ ](?:ending|no|number) | end | stop
            | unsubscribe | opt | any | least | once | all | us | shopping | appear
            | amount | confirm | standing | payroll | salary
            | fund[ ]transfer | (?-i:no)
        )\b
        | \d{1,2}[:.]\d\d | \d{1,2}(?:\.\d{1,2})?%
    )
"""
# Deli, 7-ELEVEN, 3M
_CAPITAL = r"(?=[A-Z]|\d{1,3}-?[A-Z])"
_NOT_A_DATE = r"""
    (?!
        (?:\d{1,2}(?:st|nd|rd|th)?[- ]?)?
        (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[-,]?[ .-]{0,2}\d
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
# Words before a merchant, the surest first. The last ones are quick to look for: a text
# without them, in lower case, has no such merchant.
_MERCHANT_STARTS = tuple(
    (
        pattern(
            rf"{before}[ ]{{0,2}}{_NOT_A_MERCHANT}(?=[^\s])",
            example=example,
            flags=re.IGNORECASE | re.MULTILINE,
        ),
        hints,
    )
    for before, example, hints in (
        (
            r"""
            (?:\A|(?<=\n))(?-i:(?=[A-Z\d]))
            (?=
                [^\n]{2,60}[ ](?:recently[ ])?(?:charged|credited)[ ]your
                [ ](?:account|card)[ ]for[ ][$£€]
                | [^\n]{2,60}[ ]just[ ]charged[ ](?:you[ ])?[A-Z]{0,2}[$£€]
            )
            | \d{4},?[ ]\|[ ](?-i:(?=[A-Z]))
            | \byour[ ](?-i:(?=[A-Z]))
              (?=
                  [^\n]{2,60}[ ](?:subscription|membership|plan)[ ]renewed[ ]
                  | [^\n]{2,30}[ ](?:e-)?receipt(?:\n|$)
              )
            | \A\[?(?-i:(?=[A-Z]))(?=
                  [^\n:]{2,30}[ ]receipt:
                  | [^\[\]\n]{2,30}\][ ](?:sale[ ])?(?:payment|receipt|invoice)\b
              )
            """,
            "HARBOR COFFEE charged your account for $18.64",
            (
                *("charged your ", "credited your ", " just charged"),
                *(" renewed", "receipt", "] ", " | "),
            ),
        ),
        (
            r"""
            (?-i:[aA@])(?<!\w.)
            (?:(?<=a)t\b(?<!alerts[ ]at)[: ]|(?<=@)(?:UPI_)?)
            """,
            "at HARBOR COFFEE",
            ("at", "@"),
        ),
        (
            r"""
            \b(?:transaction|purchase|payment|order(?:ing)?|charge|receipt)
            [ ](?:made[ ])?(?:with|from|to(?-i:(?=[ ]{1,2}[A-Z\d])))[ ]
            """,
            "transaction with HARBOR COFFEE",
            ("transaction", "purchase", "payment", "order", "charge", "receipt"),
        ),
        (
            r"\b(?:paid|refund(?:ed)?|spent|sent)\b[^\n]{0,60}?\b(?:to|from|by)[ ]",
            "You paid $12.00 to HARBOR COFFEE",
            ("paid", "refund", "spent", "sent"),
        ),
        (
            rf"\bpaid[ ](?!(?:to|at|by|with|on|for)\b){_NOT_A_DATE}{_CAPITAL}",
            "You paid HARBOR COFFEE",
            ("paid ",),
        ),
        (
            r"""
            (?:
                \b(?:merchant(?:[ ]name)?|shop|store|retailer|info|payee|where|paid)
                [ ]?(?::|-(?=[ ]))
                | (?<=\.[ ])description:[ ](?:\d{9,16}[ ])?
                | ^transaction[ ]details:
            )
            """,
            "Merchant: HARBOR COFFEE",
            (
                "merchant",
                "shop",
                "store",
                "retailer",
                "info",
                "payee",
                "where",
                "details",
                "paid:",
                "description:",
            ),
        ),
        (
            r"""
            (?:\A|(?<=\n))(?=[A-Z])
            (?:
                (?!from[ ]?:[^\n]{0,40}\b(?:card|account|a/c)\b)
                (?:to|from|desc(?:ription)?)[ ]?:[ ]{0,20}(?:[ ]?POS[ ]PUR(?:CHASE)?\b)?
                | (?:merchant(?:[ ](?:details?|name))?|description|payee|store)
                  (?:[ ]{1,2}|:?\n|[ ]\|[ ])(?-i:(?=[A-Z\d]))
                # Card payment reversed: MAPLE DINER £46.00
                | (?:card[ ]payment|payment|refund|[A-Z][A-Za-z ]{2,20}[ ]card)
                  (?:[ ](?:reversed|reversal|refunded))?:[ ]
                  (?=[^\n:$€£]{2,50}[ ][$€£]\d)
                  (?!(?:due|pending|failed|declined|rent|min(?:imum)?|payment|new)\b)
            )
            """,
            "Merchant detail HARBOR COFFEE",
            (),
        ),
        (
            r"""
            (?:\b(?=[pdcm])|(?=\d,))
            (?:
                pur(?:chase)?,[ ][\d/]{6,10}[ ][A-Z/ ]{4,24}(?:[ ]-|,)[ ]
                | \d,[ ](?-i:(?=[A-Z]))(?=[^\n,]{2,40},[ ](?:credit|debit)[ ]card\b)
                | POS/ | P2M/\d{6,14}/
                | (?:debited|charged|made)\b[^\n]{1,120}[ ]towards?[ ]
            )
            """,
            "POS/HARBOR COFFEE",
            ("pos/", "p2m/", " towards", "purchase, ", "pur, ", "it card"),
        ),
        (
            rf"""
            \b(?:on|with|from|to|by)[ ]{_NOT_A_DATE}
            (?!(?:HDFC|ICICI|SBI|Axis)\b){_CAPITAL}
            """,
            "$12.00 on HARBOR COFFEE",
            (),
        ),
        (
            rf"""
            (?:(?:(?<![A-Za-z])[A-Z]{{3}}|[$₩€£])[ ]?\d[\d,.]{{0,14}}|\d[ ]?KRW)
            [ ]{{1,24}}{_NOT_A_STATUS}(?-i:(?=[A-Z]))(?=[^\n]{{1,40}}\d\d?:\d\d)
            """,
            "KRW 12,000 Starbucks 11/20 10:00",
            (),
        ),
        (
            rf"""
            (?<!\d)\d{{1,2}}[-/]\d{{1,2}}(?:[-/]\d{{2,4}})?
            [ ]\d{{1,2}}:\d\d(?::\d\d)?[ ](?:/[ ])?{_NOT_A_STATUS}(?-i:(?=[A-Z]))
            """,
            "11/20 10:00 STARBUCKS Avl Lmt",
            (),
        ),
        (rf"\bfor[ ](?![A-Z]{{3}}[ ]?\d|Rs\b){_CAPITAL}", "for MAPLE DINER", ("for ",)),
        (
            r"""
            [$£€]\d[\d,.]{0,12}[ ][-–—][ ](?-i:(?=[A-Z]{2}))(?=[^\n]{2,50}[ ][-–—][ ]\d)
            """,
            "$27.40 - KOWHAI DAIRY - 16 Oct",
            (" - ", " – ", " — "),
        ),
        (
            r"\d{4}[ ]\((?-i:(?=[A-Z]))(?=[^()\n]{2,40}\))",
            "card ending 1812 (MAPLE DINER)",
            (" (",),
        ),
        (
            r"""
            \bcard[ ]\d{4}[ ](?:purchase[ ])?(?-i:(?=[A-Z]{2}))
            (?=[^\n]{2,40}[ ][$€£]\d)
            """,
            "Card 7041 LAUNDRY $158.06",
            ("card ",),
        ),
        (
            r"""
            \A(?-i:(?=[A-Z]{2}))
            (?=
                [A-Z][^\n:]{1,40}:[ ](?:[$€£]|RM|[A-Z]{3}[ ]?)\d[\d.,]{0,12}
                [ ](?:refunded|has[ ]been[ ]deducted)\b
            )
            """,
            "MOSSY GAMES: €19.68 refunded to",
            (" refunded", " deducted"),
        ),
        (
            r"""
            (?:\A|(?<=\n))(?-i:(?=[A-Z]))
            (?=[^\n:$€£]{2,40}(?:,[ ]|[ ]-)[$€£]\d[\d.,]{0,12}(?:\n|$))
            """,
            "HARBOR COFFEE, $12.40",
            (", ", " -"),
        ),
        (
            r"""
            \A(?![^:\n]{0,20}\b(?:
                alerts? | reminder | payment | purchase | debit | credit | transaction
                | notice | refund | received | charged? | spent | bank | card | info
                | trial | ending | due | invoice | quote | bill | statement | otp | code
                | note | dear | hi | hello | acct | account
            )\b)(?-i:(?=[A-Z]))(?=[A-Z][\w.&' -]{1,24}:[ ])
            """,
            "HARBOR COFFEE: Your card ending in 3310",
            (": ",),
        ),
        (
            r"""
            (?:\A|(?<=\n))(?-i:[A-Z]\w{2,14}:[ ])?[^\w\s]{0,3}(?-i:(?=[ ]?[A-Z]))
            (?=[^\n]{2,60}\nyou[ ](?:just[ ])?(?:spent|paid)[ ][$£€])
            """,
            "HARBOR COFFEE\nYou spent £11.60",
            ("\nyou ",),
        ),
        (
            r"""
            (?:\A|(?<=\n)|(?<=:[ ]))(?-i:(?=[A-Z]))
            (?=
                [^\n:]{2,40}[ ](?:has[ ])?refunded[ ](?:you[ ])?
                (?:(?:[A-Z]{1,3})?[$£€]|\d[\d.,]{0,12}[ ][A-Z]{3}\b)
                | [^\n:]{2,40}[ ]sent[ ]you[ ]a[ ](?:full|partial)[ ]refund\b
            )
            """,
            "Maple Prints has refunded you $23.00",
            ("refunded ", "sent you a "),
        ),
    )
)
# The first patterns introduce merchants only.
SURE_MERCHANT_STARTS = 8
MAX_MERCHANT_CANDIDATES = 8
MAX_MERCHANT_SCAN_LENGTH = 120
MAX_LINES = 12
_LINE_NOISE = pattern(
    r"""
    ^(?:
        (?:
            spent | paid | card | debit | credit | avl | avail | sms | not[ ]you | call
            | txn | transaction | purchase | payment | alert | inr | rs | usd
            | available | balance | ref | date | time | account | a/c | acct
        )\b
        | (?:visa|mastercard|amex)[ ]?[•*\d]
        | you[ ] | your[ ] | if[ ] | (?:google|apple|samsung)[ ](?:wallet|pay)$
    )
    | ^(?:guest[ ])?(?:folio|invoice|receipt)\W*$
    | ^order[ ](?:number|id|no)\b
    | ^(?:no[ ](?:pre)?payment|selamat|free[ ]cancel|hope[ ]you)
    | ^(?:thank[s ]|dear[ ]|hi[ ]|hello)
    | [ ](?:to|on|from)[ ]your[ ]
      (?:account|card|(?:[a-z]{2,16}[ ]){1,3}(?:card|ending))\b
    | \d{2}:\d{2} | ^\W*$
    | ^(?:[a-z]{3,9},?[ ])?[a-z]{3,9}[ ]\d{1,2},?[ ]20\d\d$
    | ^\d+%[ ]daily[ ]cash\b
    | ^(?:refund(?:ed)?|revers(?:al|e[ ]transaction)|(?:online|internet)[ ]purchase)\W*$
    | ^(?:[a-z]{5,8}[ ])?(?:approv(?:al|ed)|declined|cancell?(?:ed|ation))\W*$
    """,
    example="Avl Lmt INR 91,200",
    flags=re.IGNORECASE,
)
_CARD_AND_DIGITS = pattern(
    r"(?:[•·]{1,4}|\bending)[ ]?\d{4}\)?\Z", example="Visa •••• 8343"
)
_EDGE_PUNCTUATION = " .,;:-–|\"'"
_PAGES = frozenset({" Online", " Mobile", " App", " app", " Online Banking"})
_FORMS = frozenset({" INC.", " LTD.", ", INC", " LLC.", "CORP."})


def find_merchant(
    text: str, money: MoneyMatch | None, issuer: Span | None
) -> tuple[Span | None, bool]:
    """Return the name after a preposition, else a line, and whether it is sure."""
    lower = text.lower()
    for index, (rule, hints) in enumerate(_MERCHANT_STARTS):
        if hints and not any(map(lower.__contains__, hints)):
            continue
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
    return _find_line(text, money, issuer), False


def _find_line(text: str, money: MoneyMatch | None, issuer: Span | None) -> Span | None:
    """Return the line above the amount, else the first that may be a name."""
    start, first = 0, None
    for line in text.split("\n")[:MAX_LINES]:
        span = _trim(text, start, start + len(line))
        start += len(line) + 1
        if span is None or _LINE_NOISE.search(text[slice(*span)]):
            continue
        is_heading = issuer is not None and span[0] <= issuer[0] < span[1]
        if is_heading or not _can_be_merchant(text, span, money, issuer):
            continue
        first = first or span
        if money and _is_directly_above(text, span, money):
            return span
    return first


def _is_directly_above(text: str, span: Span, money: MoneyMatch) -> bool:
    start = money.span[0]
    return span[1] <= start and not text[span[1] : start].strip()


def _trim(text: str, start: int, end: int) -> Span | None:
    while end > start and text[end - 1] in _EDGE_PUNCTUATION:
        if text[max(start, end - 5) : end].upper() in _FORMS:
            break
        end -= 1
    if text[end : end + 1] == ")" and "(" in text[start:end]:
        end += 1
    while start < end and _is_ornament(text[start]):
        start += 1
    return (start, end) if end > start else None


def _is_ornament(letter: str) -> bool:
    """Return True for punctuation, and for an emoji before a name."""
    return letter in _EDGE_PUNCTUATION or (
        letter > "\u2000" and unicodedata.category(letter) == "So"
    )


def _can_be_merchant(
    text: str, span: Span, money: MoneyMatch | None, issuer: Span | None
) -> bool:
    value = text[slice(*span)]
    if money and span[0] < money.span[1] and money.span[0] < span[1]:
        return False
    name = text[slice(*issuer)].rstrip("!") if issuer else ""
    if issuer and (span[0] == issuer[0] or value == name):
        return False
    # The page of the issuer: Wells Fargo Online, chase.com
    if name and value.removeprefix(name) in _PAGES:
        return False
    if issuer and "." in value and value.startswith(text[slice(*issuer)].lower()):
        return False
    if "a/c" in value or value.lower().startswith(("http", "your ", "card ")):
        return False
    if _CARD_AND_DIGITS.search(value):
        return False
    return any(letter.isalpha() for letter in value)
