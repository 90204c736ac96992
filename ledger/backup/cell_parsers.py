"""Parsers of single cells, with the rules of the API's fields.

`ledger.backup.sandboxed_reader` describes cells. A float might not keep the digits of
`{"number": TEXT}`.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from django.utils.translation import gettext
from rest_framework.exceptions import ValidationError

from core.api.fields import (
    DECIMAL_RE,
    MAX_AMOUNT,
    StrictUUIDField,
    has_control_characters,
)
from ledger.base.encryption import ENCRYPTED_PREFIX, MAX_PLAINTEXT_BYTES
from ledger.base.fields import MAX_TAGS_PER_ENTRY
from ledger.cards.schedule import Shift, Term, months_fit
from ledger.currencies.codes import CURRENCY_CODES
from ledger.models.base import (
    COLOR_PATTERN,
    COLOR_TEXT,
    MAX_ICON_LENGTH,
    MAX_NAME_LENGTH,
)

T = TypeVar("T")
CellParser: TypeAlias = Callable[[Any], T]

ISO_DATE_RE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MONTH_RE = re.compile(r"(1[0-9]{3}|[2-9][0-9]{3})-(0[1-9]|1[0-2])")
_DAY = "([1-9]|[12][0-9]|3[01])"
TERM_RE = re.compile(
    rf"([0-9]{{4}}-[0-9]{{2}}) {_DAY} {_DAY} ([0-2]) (NEXT|PREVIOUS|NONE)"
)
PART_RE = re.compile(r"[0-9]{1,15}")
CLOCK_TIME_RE = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
# UTC, in years that every time zone can show.
MOMENT_RE = re.compile(
    r"(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z"
)
TAG_SEPARATOR = ", "
# Larger exponents take long to compute, and fit no column.
MAX_EXPONENT = 1_000
# A number above every bound, and exact as a float.
MAX_WHOLE_NUMBER = 10**18


class CellError(Exception):
    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(detail)


def text_parser(max_length: int) -> CellParser[str]:
    """Return a parser of stripped text; a number in a sheet is its digits."""

    def parse(cell: Any) -> str:
        value = _to_text(cell).strip()
        if len(value) > max_length:
            detail = gettext("Must be at most {limit} characters.")
            raise CellError("max_length", detail.format(limit=max_length))
        if has_control_characters(value):
            raise CellError("control", gettext("Control characters are not allowed."))
        return value

    return parse


def _to_text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    raise CellError("invalid", gettext("Must be text."))


_parse_name_text = text_parser(MAX_NAME_LENGTH)


_parse_icon_text = text_parser(MAX_ICON_LENGTH)


def parse_name(cell: Any) -> str:
    value = _parse_name_text(cell)
    if not value:
        raise CellError("required", gettext("Required."))
    return value


def parse_tag_name(cell: Any) -> str:
    value = parse_name(cell)
    if "," in value:
        raise CellError("comma", gettext("A tag name must not contain commas."))
    return value


def parse_tag_names(cell: Any) -> tuple[str, ...]:
    """Parse a JSON list, or a text with commas; a repeated name counts once."""
    if not isinstance(cell, list):
        cell = [part for part in _to_text(cell).split(",") if part.strip()]
    if len(cell) > MAX_TAGS_PER_ENTRY:
        detail = gettext("At most {limit} tags are allowed.")
        raise CellError("max_length", detail.format(limit=MAX_TAGS_PER_ENTRY))
    return tuple(dict.fromkeys(parse_tag_name(item) for item in cell))


def parse_keys(cell: Any) -> tuple[str, ...]:
    """Parse a JSON list of keys, or a text with commas; a repeated one counts once."""
    if not isinstance(cell, list):
        cell = [part for part in _to_text(cell).split(TAG_SEPARATOR) if part.strip()]
    return tuple(dict.fromkeys(parse_name(item) for item in cell))


def account_number_parser(max_length: int) -> CellParser[str]:
    """Return a parser of account numbers.

    Text that looks encrypted is an error: it would be read back as encrypted.
    """
    parse_text = text_parser(max_length)

    def parse(cell: Any) -> str:
        value = parse_text(cell)
        if len(value.encode()) > MAX_PLAINTEXT_BYTES or value.startswith(
            ENCRYPTED_PREFIX
        ):
            raise CellError("max_length", gettext("This account number is too long."))
        return value

    return parse


def choice_parser(values: list[str]) -> CellParser[str]:
    known = frozenset(values)

    def parse(cell: Any) -> str:
        if not isinstance(cell, str) or cell not in known:
            detail = gettext("Must be one of {values}.")
            raise CellError("invalid_choice", detail.format(values=", ".join(values)))
        return cell

    return parse


def integer_parser(min_value: int, max_value: int) -> CellParser[int]:
    def parse(cell: Any) -> int:
        number = _to_decimal(cell) if isinstance(cell, dict) else cell
        if isinstance(number, (float, Decimal)):
            # The bounds come first: infinity has no remainder.
            if not -MAX_WHOLE_NUMBER < number < MAX_WHOLE_NUMBER or number % 1:
                raise CellError("invalid", gettext("Must be a whole number."))
            number = int(number)
        elif number.__class__ is not int:  # bool is a subclass of int
            raise CellError("invalid", gettext("Must be a whole number."))
        if not min_value <= number <= max_value:
            detail = gettext("Must be between {minimum} and {maximum}.")
            raise CellError(
                "range", detail.format(minimum=min_value, maximum=max_value)
            )
        value: int = number
        return value

    return parse


# Whole home-currency units. A pending entry without a rate has 0.
parse_amount = integer_parser(1, MAX_AMOUNT)
parse_entry_amount = integer_parser(0, MAX_AMOUNT)
parse_signed_amount = integer_parser(-MAX_AMOUNT, MAX_AMOUNT)


def decimal_parser(max_digits: int, decimal_places: int) -> CellParser[Decimal]:
    """Return a parser of exact decimals above 0, given as a number or as text."""
    max_whole_digits = max_digits - decimal_places

    def parse(cell: Any) -> Decimal:
        value = _to_decimal(cell)
        if value <= 0:
            raise CellError("not_positive", gettext("Must be greater than 0."))
        if value.adjusted() >= max_whole_digits:
            detail = gettext("Must have at most {limit} digits before the point.")
            raise CellError("max_digits", detail.format(limit=max_whole_digits))
        if value != round(value, decimal_places):
            detail = gettext("Must have at most {limit} decimal places.")
            raise CellError("max_decimal_places", detail.format(limit=decimal_places))
        return value

    return parse


def _to_decimal(cell: Any) -> Decimal:
    if isinstance(cell, str) and not DECIMAL_RE.fullmatch(cell):
        raise CellError("invalid", gettext("Must be a number."))
    if isinstance(cell, dict):
        cell = cell.get("number")
    if isinstance(cell, bool) or not isinstance(cell, (int, float, str)):
        raise CellError("invalid", gettext("Must be a number."))
    try:
        # The shortest text of a float is the number that the sheet shows.
        value = Decimal(repr(cell) if isinstance(cell, float) else cell)
    except (InvalidOperation, ValueError):
        raise CellError("invalid", gettext("Must be a number.")) from None
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -MAX_EXPONENT < exponent < MAX_EXPONENT:
        raise CellError("invalid", gettext("Must be a number."))
    return value


def parse_boolean(cell: Any) -> bool:
    if not isinstance(cell, bool):
        raise CellError("invalid", gettext("Must be true or false."))
    return cell


def parse_date(cell: Any) -> date:
    """Parse YYYY-MM-DD, the reader's format of date cells."""
    try:
        if isinstance(cell, str) and ISO_DATE_RE.fullmatch(cell):
            return date.fromisoformat(cell)
    except ValueError:
        pass
    raise CellError("invalid", gettext("Must be a date as YYYY-MM-DD."))


def parse_month(cell: Any) -> date:
    """Parse YYYY-MM as the first day of the month."""
    if isinstance(cell, str) and MONTH_RE.fullmatch(cell):
        return date.fromisoformat(f"{cell}-01")
    raise CellError("invalid", gettext("Must be a month as YYYY-MM."))


def parse_amounts(cell: Any) -> tuple[int, ...]:
    """Parse a JSON list of amounts, or a text with commas; 0 is one too."""
    if not isinstance(cell, list):
        cell = [part.strip() for part in _to_text(cell).split(",")]
        cell = [int(part) if PART_RE.fullmatch(part) else part for part in cell]
    return tuple(map(parse_entry_amount, cell))


def parse_category_names(cell: Any) -> tuple[str, ...]:
    """Parse a JSON list of names, or a text with one in each line."""
    if not isinstance(cell, list):
        cell = [part for part in _to_text(cell).splitlines() if part.strip()]
    return tuple(dict.fromkeys(map(parse_name, cell)))


def parse_terms(cell: Any) -> tuple[Term, ...]:
    """Parse a JSON list of terms, or a text with semicolons.

    A term is such as `2026-12 31 14 1 NEXT`: month of the first bill, closing day,
    payment day, months from closing to payment, and shift.
    """
    if not isinstance(cell, list):
        cell = [part.strip() for part in _to_text(cell).split(";") if part.strip()]
    terms = tuple(map(_parse_term, cell))
    months = [term.first_month for term in terms]
    if months != sorted(set(months)):
        raise CellError("invalid", gettext("The months must follow each other."))
    return terms


def _parse_term(cell: Any) -> Term:
    match = TERM_RE.fullmatch(cell) if isinstance(cell, str) else None
    if match is None:
        detail = gettext("Must be a term such as 2026-12 31 14 1 NEXT.")
        raise CellError("invalid", detail)
    month, closing_day, payment_day, months, shift = match.groups()
    term = Term(
        parse_month(month),
        int(closing_day),
        int(payment_day),
        int(months),
        Shift(shift),
    )
    if not months_fit(term.closing_day, term.payment_day, term.payment_month):
        detail = gettext("The payment day must come after the closing day.")
        raise CellError("invalid", detail)
    return term


def parse_clock_time(cell: Any) -> time:
    if isinstance(cell, str) and CLOCK_TIME_RE.fullmatch(cell):
        return time.fromisoformat(cell)
    raise CellError("invalid", gettext("Must be a time as HH:MM."))


def parse_moment(cell: Any) -> datetime:
    """Parse a moment such as 2026-11-02T09:30:00Z, to the microsecond."""
    if isinstance(cell, str) and MOMENT_RE.fullmatch(cell):
        try:
            return datetime.fromisoformat(cell)
        except ValueError:
            pass  # 30 February
    detail = gettext("Must be a moment as YYYY-MM-DDTHH:MM:SSZ.")
    raise CellError("invalid", detail)


def parse_client_id(cell: Any) -> UUID:
    """Parse a UUID with hyphens."""
    try:
        return StrictUUIDField().to_internal_value(cell)
    except ValidationError:
        raise CellError("invalid", gettext("Must be a UUID.")) from None


def parse_line_amount(cell: Any) -> int:
    amount = parse_signed_amount(cell)
    if amount == 0:
        raise CellError("zero", gettext("Must not be 0."))
    return amount


def parse_icon(cell: Any) -> str | None:
    return _parse_icon_text(cell) or None


def parse_color(cell: Any) -> str | None:
    color = _to_text(cell).strip().lower()
    if not color:
        return None
    if not re.fullmatch(COLOR_PATTERN, color):
        raise CellError("invalid", str(COLOR_TEXT))
    return color


def parse_currency(cell: Any) -> str:
    code = _to_text(cell).strip().upper()
    if code not in CURRENCY_CODES:
        raise CellError("invalid", gettext("Unknown currency."))
    return code
