"""Find the paid amount and the balance of an English alert."""

import re
from collections.abc import Iterator
from decimal import Decimal

from card_alerts.currencies import CURRENCY_CODES, CURRENCY_LETTERS, CURRENCY_SIGNS
from card_alerts.issuer import Issuer
from card_alerts.money import (
    CURRENCY_SIGN_PATTERN,
    SHARED_SIGNS,
    WON,
    MoneyMatch,
    find_code_beside,
    is_truncated,
    parse_number,
)
from card_alerts.patterns import pattern

# The grouping of 1,23,456.00 is Indian.
_NUMBER = r"""
    \d{1,3}(?:,\d{2,3}){0,4},\d{3}(?!\d|,\d)(?:\.\d{1,4})?
    | \d{1,3}(?:\.\d{3}){1,4},\d{2}(?!\d)
    | \d{1,12}(?:\.\d{1,4}|,\d{2}(?!\d))?
"""
_SPACE_GROUPED = r"\d{1,3}(?:[ ]\d{3}){1,3}[.,]\d{2}"
# Letters that are more than a currency need its decimals.
_DECIMALS = {"KWD": 3, "BHD": 3, "OMR": 3, "ZAR": 2}
_LETTERS = "|".join(
    rf"{letters}(?=[ ]?-?\d[\d, ]{{0,12}}[.,]\d{{{_DECIMALS[code]}}}(?!\d))"
    if code in _DECIMALS
    else letters
    for letters, code in sorted(CURRENCY_LETTERS.items(), reverse=True)
)
# N, P, and R without decimals stand for the currency of the issuer.
_OWN_LETTERS = {"P": "PHP", "N": "NGN", "R": "ZAR"}
_RUPEES = frozenset({"PKR", "LKR", "NPR"})
_CURRENCY = rf"""
    (?P<sign>{CURRENCY_SIGN_PATTERN})
    | (?<![A-Za-z])(?:
        (?P<rupees>R[Ss]\.?|INR\.?)
        | (?<![\w&/-])(?-i:(?P<letters>{_LETTERS})\.?)
        | (?<![\w&/-])(?-i:(?P<own>[NPR])(?=[ ]?-?\d))
        | (?<![A-Z]-)(?-i:(?P<code>[A-Z]{{3}}))
    )
"""
_MONEY = pattern(
    rf"""
    (?=[A-Z\d$€£¥₹฿₫₱₽₺₩₦₵₴(-])
    (?:{_CURRENCY})[ ]{{0,2}}-?(?P<number>{_SPACE_GROUPED}|{_NUMBER})(?!\d|[.,]\d)
    | (?<![\w.,/-])(?<!\d:)-?
      (?P<number_after>
          (?:
              (?<=spent[ ]) | (?<=paid[ ]) | (?<=debited[ ]) | (?<=of[ ]) | (?<=for[ ])
              | (?<=[:\n(])
          )
          {_SPACE_GROUPED}
          | {_NUMBER}
      )[ ]?(?P<after>[€£]|(?:SR(?=[ ]for)|[A-Z]{{3}})(?![A-Za-z]|[ ]?\d))
    """,
    example="Rs.1,05,799.00",
)
_NOT_PAID = pattern(
    r"""
    \b(?:
        bal(?:ance)?
        | limit | lmt | available | avl | avbl | avail | cashback | rewards? | points
        | transaction[ ]cost | spent[ ]today | spent[ ]this[ ]\w{4,5} | total
        | accumulated | cumulative | accum\.? | fee | left | remaining | remain
        | sub[ -]?total | delivery[ ]fee | tip | tax
        # Balances in other languages, as they stand beside amounts
        | sd | saldo | solde | dostupno | доступно
    )(?:
        [ ](?:
            is | of | now | today | due | limit | lmt | bal | balance | amount | usage
            | spending | in[ ]\w{2,10}
        )
    )?[ ]?[:.=-]{0,2}[ ]{0,2}(?:is[ ])?$
    # The limit of an alert
    | \b(?:more[ ]than|over|above|at[ ]least|exceed\w{0,4})[ ]
      (?:the[ ]amount[ ]of\s)?\(?$
    | \d%[ ]$
    """,
    example="Alert! Total due ",
    initials=r"\dabcdeflmoprstдABCDEFLMOPRSTД",
    flags=re.IGNORECASE,
)
# Receipt from Blue Bottle. Total $6.50.
_RECEIPT = pattern(
    r"\breceipt\b|\byour[ ][^\n]{0,24}\border\b|\bpurchase[ ]from\b",
    example="Receipt from",
    flags=re.IGNORECASE,
)
_TOTAL = pattern(
    r"\btotal(?:[ ](?:paid|charged))?[ :]{0,2}$", example="Total: ", flags=re.IGNORECASE
)
# The last line of a receipt, or the amount behind the digits of the card
_TOTAL_LINE = pattern(
    r"""
    ^[ ]{0,3}(?:
        (?:grand[ ]|order[ ]|purchase[ ]|refund[ ])?total
        (?:[ ](?:paid|charged|amount|price|refunded))?
        | (?:amount|total)[ ](?:paid|charged|refunded) | paid[ ]amount
    )[ ]{0,3}[:|]?[ ]{0,40}(?=(?:[A-Z]{1,3}[ ]?)?[$£€₹¥]\d|[A-Z]{2,3}\.?[ ]?\d)
    | \ba[ ]total[ ]of[ ]
      (?=[$£€][\d.,]{1,10}[ ](?:is|was|has[ ]been)[ ](?:deducted|charged|paid)\b)
    """,
    example="Total $27.62",
    flags=re.IGNORECASE | re.MULTILINE,
)
# One of these is in every such line.
_TOTALS = ("total", "amount paid", "amount charged", "amount refunded", "paid amount")
_BALANCE = pattern(
    rf"""
    \bbal(?:ance)?\b\.?
    (?:
        [ ](?:
            is | of | now | today | after | on | in | your | card | a/c | account | as
            | at | txn | remaining | available | left
        )\b
    ){{0,4}}[ ]?[:=-]{{0,2}}[ ]{{0,2}}
    (?:{_CURRENCY})?[ ]?(?P<number>{_SPACE_GROUPED}|{_NUMBER})(?!\d|[.,]\d|[/-])
    """,
    example="bal Rs.65447.77",
    flags=re.IGNORECASE,
)


# Accumulated KRW 1,436,459, Total KRW 776,357
RUNNING_TOTAL = pattern(
    r"""
    (?:^|(?<=\n)|(?<=,[ ])|(?<=/[ ])|(?<=\d[ ])|(?<=[A-Za-z)][ ])(?!total))
    (?:accumulated|cumulative|accum\.?|total)(?:[ ](?:amount|usage|spending))?[ ]?:?[ ]
    (?:
        (?:KRW|₩)[ ]?(?P<number>\d{1,3}(?:,\d{3}){0,4})(?![\d,])
        | (?P<before>\d{1,3}(?:,\d{3}){0,4})[ ]?KRW(?![A-Za-z])
    )
    """,
    example="Accumulated KRW 1,436,459",
    flags=re.IGNORECASE,
)
# Lump sum, one-time payment, 3 months
TERMS = pattern(
    r"""
    \(?(?:
        \b(?:lump[- ]?sum|one[- ]time)(?:[ ](?:payment|installment))?\b
        | \b(?P<months>[2-9]|[1-3]\d)[- ]?months?(?:[ ]installments?)?\b
    )\)?
    """,
    example="3 months",
    flags=re.IGNORECASE,
)
# Codes that are more often a word: OASIS FUEL STN 8
_WORDS_TOO = frozenset(
    {"ALL", "BAM", "CUP", "GEL", "LAK", "MOP", "PEN", "SOS", "STN", "TOP"}
)
_GROUPS = ("sign", "rupees", "letters", "own", "code")


def find_paid_amount(text: str, issuer: Issuer | None) -> MoneyMatch | None:
    totals = set()
    if any(map(text.lower().__contains__, _TOTALS)):
        totals = {match.end() for match in _TOTAL_LINE.finditer(text)}
    if totals:
        for money in find_amounts(text, issuer):
            if money.span[0] in totals and money.currency != WON:
                return money
    for money in find_amounts(text, issuer):
        start = money.span[0]
        # A Malaysian SMS costs RM0.00, as it begins.
        is_price = not (money.value or start)
        before = text[max(0, start - 40) : start]
        is_total = _TOTAL.search(before) and _RECEIPT.search(text)
        if not is_price and (is_total or not _NOT_PAID.search(before)):
            return money
    return None


def find_amounts(text: str, issuer: Issuer | None) -> Iterator[MoneyMatch]:
    """Return all amounts with a currency, balances too."""
    for match in _MONEY.finditer(text):
        group = next(name for name in (*_GROUPS, "after") if match[name])
        currency = _find_currency(match, group, issuer)
        number = match["number"] or match["number_after"]
        if currency in _WORDS_TOO and "." not in number:
            continue
        if currency in CURRENCY_CODES and not is_truncated(number, currency):
            value = parse_number(number, currency)
            yield MoneyMatch(value, currency, match.span(), match.span(group))


def _find_currency(
    match: re.Match[str], group: str, issuer: Issuer | None
) -> str | None:
    """Return the code of the letters or the sign beside a number."""
    printed = match[group]
    own = issuer.currency if issuer else ""
    if group == "rupees":
        return own if own in _RUPEES and printed[0] == "R" else "INR"
    if group == "own":
        return own if own == _OWN_LETTERS[printed] else None
    if group == "letters":
        return CURRENCY_LETTERS[printed]
    if printed in SHARED_SIGNS:
        code = find_code_beside(match.string, match.span())
        if code:
            return code
    if printed == "$":
        return issuer.dollar_currency if issuer else "USD"
    return CURRENCY_SIGNS.get(printed) or CURRENCY_LETTERS.get(printed, printed)


def find_balance(
    text: str,
    money: MoneyMatch | None,
    home_currency: str,
    issuer: Issuer | None = None,
) -> tuple[Decimal | None, str | None]:
    """Return the balance and its currency, None for the home currency."""
    match = _BALANCE.search(text)
    if match is None:
        return None, None
    group = next((name for name in _GROUPS if match[name]), None)
    code = _find_currency(match, group, issuer) if group else None
    if match["sign"] == "$" or code not in CURRENCY_CODES:
        code = money.currency if money else home_currency
    value = parse_number(match["number"], code or "")
    return value, None if code == home_currency else code
