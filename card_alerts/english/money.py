"""Find the paid amount and the balance of an English alert."""

import re
from decimal import Decimal

from card_alerts.currencies import CURRENCY_CODES, CURRENCY_SIGNS
from card_alerts.issuer import Issuer
from card_alerts.money import (
    CURRENCY_SIGN_PATTERN,
    MoneyMatch,
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
_MONEY = pattern(
    rf"""
    (?:
        (?P<sign>{CURRENCY_SIGN_PATTERN})
        | (?<![A-Za-z])(?:(?P<rupees>Rs\.?|INR\.?)|(?P<ringgit>RM)|(?P<code>[A-Z]{{3}}))
    )[ ]{{0,2}}-?(?P<number>{_SPACE_GROUPED}|{_NUMBER})(?!\d|[.,]\d)
    | (?<![\w.,/:-])-?
      (?P<number_after>
          (?:(?<=spent[ ])|(?<=paid[ ])|(?<=of[ ])|(?<=for[ ])|(?<=[:\n(]))
          {_SPACE_GROUPED}
          | {_NUMBER}
      )[ ]?(?P<after>[€£]|[A-Z]{{3}}(?![A-Za-z]))
    """,
    example="Rs.1,05,799.00",
)
_NOT_PAID = pattern(
    r"""
    \b(?:
        bal(?:ance)?
        | limit | lmt | available | avl | avbl | avail | cashback | rewards? | points
        | spent[ ]today | spent[ ]this[ ]\w{4,5} | total | accumulated | cumulative
        | accum\.? | fee | left | remaining | remain
    )(?:
        [ ](?:
            is | of | now | today | due | limit | lmt | bal | balance | amount | usage
            | spending | in[ ]\w{2,10}
        )
    )?[ ]?[:.=-]{0,2}[ ]{0,2}(?:is[ ])?$
    """,
    example="Alert! Total due ",
    flags=re.IGNORECASE,
)
_BALANCE = pattern(
    rf"""
    \bbal(?:ance)?\b\.?
    (?:
        [ ](?:
            is | of | now | today | after | on | in | your | card | a/c | account | as
            | at | txn | remaining | available | left
        )\b
    ){{0,4}}[ ]?[:=-]{{0,2}}[ ]{{0,2}}
    (?:
        (?P<sign>{CURRENCY_SIGN_PATTERN})
        | (?P<rupees>Rs\.?|INR\.?)
        | (?P<code>(?-i:[A-Z]{{3}}))
    )?[ ]?(?P<number>{_SPACE_GROUPED}|{_NUMBER})(?!\d|[.,]\d|[/-])
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
_NAMED_CURRENCIES = {"rupees": "INR", "ringgit": "MYR"}


def find_paid_amount(text: str, issuer: Issuer | None) -> MoneyMatch | None:
    for match in _MONEY.finditer(text):
        group = next(
            name
            for name in ("sign", "rupees", "ringgit", "code", "after")
            if match[name]
        )
        currency = CURRENCY_SIGNS.get(match[group], match[group])
        currency = _NAMED_CURRENCIES.get(group, currency)
        if match[group] == "$":
            currency = issuer.dollar_currency if issuer else "USD"
        number = match["number"] or match["number_after"]
        if currency not in CURRENCY_CODES or is_truncated(number, currency):
            continue
        before = text[max(0, match.start() - 40) : match.start()]
        if not _NOT_PAID.search(before):
            value = parse_number(number, currency)
            return MoneyMatch(value, currency, match.span(), match.span(group))
    return None


def find_balance(
    text: str, money: MoneyMatch | None, home_currency: str
) -> tuple[Decimal | None, str | None]:
    """Return the balance and its currency, None for the home currency."""
    match = _BALANCE.search(text)
    if match is None:
        return None, None
    code = CURRENCY_SIGNS.get(match["sign"] or "", match["code"])
    if match["rupees"]:
        code = "INR"
    if match["sign"] == "$" or code not in CURRENCY_CODES:
        code = money.currency if money else home_currency
    value = parse_number(match["number"], code)
    return value, None if code == home_currency else code
