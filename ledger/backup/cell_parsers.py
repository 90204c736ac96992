"""What one cell of a backup may hold; the rules are those of the API's fields.

Pure. A cell is what the reader found: text, a whole number, true or false, None; from
a sheet also a float, from JSON a list, and the literal of a fraction as bytes.
"""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from core.api.fields import DECIMAL_RE, MAX_AMOUNT, has_control_characters
from ledger.currencies import CURRENCY_CODES
from ledger.encryption import ENCRYPTED_PREFIX, MAX_PLAINTEXT_BYTES
from ledger.models.base import MAX_NAME_LENGTH
from ledger.serializers.fields import MAX_TAGS_PER_ENTRY

CellParser = Callable[[Any], Any]
ISO_DATE_RE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
TAG_SEPARATOR = ", "


class CellError(Exception):
    """A cell that breaks a rule."""

    def __init__(self, code: str, detail: str) -> None:
        self.code = code
        self.detail = detail
        super().__init__(detail)


def text(max_length: int) -> CellParser:
    """Text, trimmed as the API trims it; a number typed into a sheet is its digits."""

    def read(cell: Any) -> str:
        value = _as_text(cell).strip()
        if len(value) > max_length:
            raise CellError("max_length", f"At most {max_length} characters.")
        if has_control_characters(value):
            raise CellError("control", "Control characters are not allowed.")
        return value

    return read


def _as_text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(cell)
    raise CellError("invalid", "This must be text.")


def name(max_length: int = MAX_NAME_LENGTH) -> CellParser:
    """Text that is not empty."""
    read_text = text(max_length)

    def read(cell: Any) -> str:
        value: str = read_text(cell)
        if not value:
            raise CellError("required", "This is required.")
        return value

    return read


def tag_name(cell: Any) -> str:
    value: str = _parse_name(cell)
    if "," in value:
        raise CellError("comma", "A tag has no commas in its name.")
    return value


_parse_name = name()


def tag_names(cell: Any) -> tuple[str, ...]:
    """A list in JSON, one text with commas in a sheet; each tag counts once."""
    if not isinstance(cell, list):
        cell = [part for part in _as_text(cell).split(",") if part.strip()]
    if len(cell) > MAX_TAGS_PER_ENTRY:
        raise CellError("max_length", f"At most {MAX_TAGS_PER_ENTRY} tags.")
    return tuple(dict.fromkeys(tag_name(item) for item in cell))


def account_number(max_length: int) -> CellParser:
    read_text = text(max_length)

    def read(cell: Any) -> str:
        value: str = read_text(cell)
        if len(value.encode()) > MAX_PLAINTEXT_BYTES or value.startswith(
            ENCRYPTED_PREFIX
        ):
            raise CellError("max_length", "This is too long.")
        return value

    return read


def choice(values: list[str]) -> CellParser:
    known = frozenset(values)

    def read(cell: Any) -> str:
        if not isinstance(cell, str) or cell not in known:
            raise CellError("invalid_choice", f"This is one of {', '.join(values)}.")
        return cell

    return read


def integer(least: int, most: int) -> CellParser:
    """A number without a fraction within these bounds."""

    def read(cell: Any) -> int:
        kind = cell.__class__
        if kind is bytes:
            cell = _as_decimal(cell)
            kind = float
        if kind is float:
            if not -1e18 < cell < 1e18 or cell % 1:
                raise CellError("invalid", "This must be a whole number.")
            cell = int(cell)
        elif kind is not int:
            raise CellError("invalid", "This must be a whole number.")
        if not least <= cell <= most:
            raise CellError("range", f"This is from {least} to {most}.")
        number: int = cell
        return number

    return read


amount = integer(1, MAX_AMOUNT)
entry_amount = integer(0, MAX_AMOUNT)
signed_amount = integer(-MAX_AMOUNT, MAX_AMOUNT)


def positive_decimal(max_digits: int, places: int) -> CellParser:
    """An exact decimal above 0, as a number or as text."""

    def read(cell: Any) -> Decimal:
        value = _as_decimal(cell)
        if value <= 0:
            raise CellError("not_positive", "This must be more than 0.")
        if value.adjusted() >= max_digits - places:
            raise CellError(
                "max_digits", f"At most {max_digits - places} whole digits."
            )
        if value != round(value, places):
            raise CellError("max_decimal_places", f"At most {places} decimals.")
        return value

    return read


def _as_decimal(cell: Any) -> Decimal:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str | bytes):
        raise CellError("invalid", "This must be a number.")
    if isinstance(cell, str) and not DECIMAL_RE.fullmatch(cell):
        raise CellError("invalid", "This must be a number.")
    literal = repr(cell) if isinstance(cell, float) else cell
    literal = literal.decode() if isinstance(literal, bytes) else literal
    try:
        value = Decimal(literal)
    except (InvalidOperation, ValueError):
        raise CellError("invalid", "This must be a number.") from None
    if not value.is_finite() or not -1_000 < value.as_tuple().exponent < 1_000:  # type: ignore[operator]
        raise CellError("invalid", "This must be a number.")
    return value


def boolean(cell: Any) -> bool:
    if not isinstance(cell, bool):
        raise CellError("invalid", "This is true or false.")
    return cell


def iso_date(cell: Any) -> date:
    """A day as YYYY-MM-DD, or a date cell of a sheet."""
    try:
        if isinstance(cell, str) and ISO_DATE_RE.fullmatch(cell):
            return date.fromisoformat(cell)
    except ValueError:
        pass
    raise CellError("invalid", "This is a day as YYYY-MM-DD.")


def currency(cell: Any) -> str:
    code = _as_text(cell).strip().upper()
    if code not in CURRENCY_CODES:
        raise CellError("invalid", "There is no such currency.")
    return code
