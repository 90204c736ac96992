"""Reads cells of files as amounts and months; sources find all parsers here.

Each function takes a cell as the sandboxed reader sends it and raises
`UnreadableValueError` with a sentence for a person. Pure: no database.
"""

import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

from django.utils.translation import gettext

from core.api.fields import MAX_AMOUNT
from ledger.currencies.codes import CURRENCY_CODES, EXACT, MAX_RATE, RATE_QUANTUM
from ledger.imports.dates import CACHED_CELLS
from ledger.imports.dates import DateAndTime as DateAndTime
from ledger.imports.dates import guess_date_order as guess_date_order
from ledger.imports.dates import parse_date as parse_date
from ledger.imports.dates import parse_time as parse_time
from ledger.imports.errors import UnreadableValueError
from ledger.imports.records import Cell
from ledger.imports.texts import MAX_VALUE_LENGTH, show, to_text
from ledger.imports.texts import clean_text as clean_text
from ledger.imports.texts import join_memo as join_memo
from ledger.imports.texts import normalize_text as normalize_text

# Of an amount as it is written; the ledger's own bound is in whole home units.
MAX_DIGITS = 24
MAX_MONTHS = 24

_NEGATIVE_SIGNS = str.maketrans(
    dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\ufe63▲△▼", "-")
)
_GROUP_SEPARATORS = re.compile(r"(?<=\d)[\s'\u2019_](?=\d{3}(?!\d))")
_CURRENCY_SIGN = re.compile(
    r"원|[₩\\$€£¥元円₫฿₹]|(?<![a-z])(?:"
    + "|".join(sorted(CURRENCY_CODES))
    + r")(?![a-z])",
    re.IGNORECASE,
)
_CREDIT = re.compile(r"(?<![a-z])(cr|dr)\.?$|^(cr|dr)\.?(?![a-z])", re.IGNORECASE)
_THOUSANDS_BY_COMMA = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?")
_THOUSANDS_BY_DOT = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d*)?")
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_CODES_BY_SIGN = {
    "원": "KRW",
    "₩": "KRW",
    "￦": "KRW",
    "원화": "KRW",
    "$": "USD",
    "달러": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "엔": "JPY",
    "元": "CNY",
}
_NO_MONTHS = frozenset({"", "-", "0", "1", "일시불", "일시", "none", "single"})
_MONTHS = re.compile(r"(?:할부)?(\d{1,3})(?:개월|회|months?)?(?:할부)?", re.IGNORECASE)


def parse_amount(cell: Cell, decimal_mark: str = ".") -> Decimal | None:
    """Return a signed amount, None for an empty cell or a dash.

    `decimal_mark` ("." or ",") decides about "1.234" and "1,234" where the cell alone
    does not; see `guess_decimal_mark`. A comma before three digits is for thousands
    unless the mark is a comma. CR is positive and DR negative.
    """
    if isinstance(cell, bool):
        raise _unreadable_amount(cell)
    if isinstance(cell, int | float):
        if not math.isfinite(cell):
            raise _unreadable_amount(cell)
        return _make_decimal(repr(cell), cell)
    if cell is not None and len(cell) > MAX_VALUE_LENGTH:
        raise _unreadable_amount(cell)
    text = unicodedata.normalize("NFKC", to_text(cell).translate(_NEGATIVE_SIGNS))
    text = text.translate(_NEGATIVE_SIGNS).strip()
    text, sign = _take_sign(_CURRENCY_SIGN.sub(" ", text).strip())
    if not text:
        if sign == 1 or to_text(cell) in {"-", "–", "—"}:
            return None
        raise _unreadable_amount(cell)
    digits = _GROUP_SEPARATORS.sub("", text)
    return sign * _make_decimal(_with_decimal_point(digits, decimal_mark), cell)


def _take_sign(text: str) -> tuple[str, int]:
    """Return the text without its signs, and -1 if they say that it is negative."""
    sign = 1
    if match := _CREDIT.search(text):
        sign = -1 if match[0].strip(".").casefold() == "dr" else 1
        text = (text[: match.start()] + text[match.end() :]).strip()
    if text.startswith("(") and text.endswith(")"):
        return text[1:-1].strip(), -sign
    if text.startswith(("-", "+")):
        return text[1:].strip(), -sign if text[0] == "-" else sign
    if text.endswith("-"):
        return text[:-1].strip(), -sign
    return text, sign


def _with_decimal_point(text: str, decimal_mark: str) -> str:
    """Return digits with a point or none; "" if the marks contradict each other."""
    commas, dots = text.count(","), text.count(".")
    by_comma = _THOUSANDS_BY_COMMA.fullmatch(text) is not None
    by_dot = _THOUSANDS_BY_DOT.fullmatch(text) is not None
    if commas and dots:
        if by_comma and text.rfind(".") > text.rfind(","):
            return text.replace(",", "")
        return text.replace(".", "").replace(",", ".") if by_dot else ""
    if commas == 1 and (decimal_mark == "," or not by_comma):
        return text.replace(",", ".")
    if commas:
        return text.replace(",", "") if by_comma else ""
    if dots > 1 or (dots and decimal_mark == "," and by_dot):
        return text.replace(".", "") if by_dot else ""
    return text


def _make_decimal(text: str, cell: Cell) -> Decimal:
    if isinstance(cell, str) and not _NUMBER.fullmatch(text):
        raise _unreadable_amount(cell)
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise _unreadable_amount(cell) from None
    if (
        abs(amount.adjusted()) > MAX_DIGITS
        or len(amount.as_tuple().digits) > MAX_DIGITS
    ):
        raise UnreadableValueError(
            gettext("{value} has too many digits.").format(value=show(cell))
        )
    return amount


def _unreadable_amount(cell: Cell) -> UnreadableValueError:
    text = gettext("{value} is not an amount.").format(value=show(cell))
    return UnreadableValueError(text)


def guess_decimal_mark(cells: Iterable[Cell]) -> str:
    """Return "," if a column writes decimals after a comma, else "."."""
    votes = 0
    for cell in cells:
        if not isinstance(cell, str):
            continue
        text = re.sub(r"[^\d.,]", "", cell)
        mark = re.search(r"([.,])(\d+)$", text)
        if mark is None:
            continue
        # Two digits after the last mark, or both marks, tell which is which.
        if len(mark[2]) != 3 or len(set(text) & {".", ","}) == 2:
            votes += 1 if mark[1] == "," else -1
        elif text.count(mark[1]) > 1:
            votes += 1 if mark[1] == "." else -1
    return "," if votes > 0 else "."


def to_home_units(amount: Decimal) -> int:
    """Return an amount in whole units of the home currency, rounded half up.

    The sign stays; halves are rounded away from 0, as `ledger.currencies.codes` does.
    Raises `UnreadableValueError` beyond the ledger's range; 0 is left to the caller.
    """
    units = int(amount.quantize(Decimal(1), ROUND_HALF_UP, EXACT))
    if abs(units) > MAX_AMOUNT:
        text = gettext("The amount must be between 1 and {maximum}.")
        raise UnreadableValueError(text.format(maximum=MAX_AMOUNT))
    return units


def to_positive_units(amount: Decimal) -> int:
    """Return an amount as `to_home_units` does; raise for one that rounds to 0 too."""
    units = to_home_units(amount)
    if units < 1:
        raise UnreadableValueError(gettext("Must be at least 1."))
    return units


@lru_cache(maxsize=CACHED_CELLS, typed=True)
def parse_months(cell: Cell) -> int | None:
    """Return the months of an instalment purchase; None for one payment or no cell."""
    # Longer texts match nothing.
    text = normalize_text(clean_text(cell)[:MAX_VALUE_LENGTH])
    if text in _NO_MONTHS or text.startswith("일시불"):
        return None
    match = _MONTHS.fullmatch(text)
    months = int(match[1]) if match else -1
    if not 0 <= months <= MAX_MONTHS:
        text = gettext("{value} is not a number of months up to {maximum}.")
        raise UnreadableValueError(text.format(value=show(cell), maximum=MAX_MONTHS))
    return months if months > 1 else None


@lru_cache(maxsize=CACHED_CELLS, typed=True)
def parse_currency(cell: Cell) -> str | None:
    """Return the code of a currency, None for an empty cell; takes 원, ₩, $, € too."""
    text = clean_text(cell).upper()
    if not text or text == "-":
        return None
    code = _CODES_BY_SIGN.get(text, text)
    if code not in CURRENCY_CODES:
        message = gettext("{value} is no currency.").format(value=show(cell))
        raise UnreadableValueError(message)
    return code


def parse_rate(cell: Cell, decimal_mark: str = ".") -> Decimal | None:
    """Return an exchange rate with at most 8 decimals, None for an empty cell or 0."""
    rate = parse_amount(cell, decimal_mark)
    if not rate:
        return None
    rate = rate.quantize(RATE_QUANTUM, ROUND_HALF_UP, EXACT)
    if not 0 < rate < MAX_RATE:
        message = gettext("{value} is no exchange rate.").format(value=show(cell))
        raise UnreadableValueError(message)
    return rate


def parse_tags(cell: Cell) -> tuple[str, ...]:
    """Return the tags of a cell, once each; commas, semicolons and # divide them."""
    names = re.split(r"[,;#\n]", str(cell or "")) if isinstance(cell, str) else [cell]
    return tuple(dict.fromkeys(filter(None, map(clean_text, names))))
