"""Reads cells of files as texts. Pure: no database."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice

from django.utils.translation import gettext

from core.api.fields import has_control_characters
from ledger.imports.errors import UnreadableValueError
from ledger.imports.records import Cell

MAX_SHOWN_LENGTH = 60
# Of a date or an amount with all that surrounds it; patterns search no longer text.
MAX_VALUE_LENGTH = 80
MAX_BAD_CELLS, MAX_CELL_LENGTH = 64, 100

# Of spreadsheets that keep digits as text: ="0123".
_FORMULA_TEXT = re.compile(r'="(.*)"', re.DOTALL)
# An apostrophe that a spreadsheet keeps before what would be a formula.
_QUOTED_FORMULA = re.compile(r"'(?=[=+\-@\t\r])")


def clean_text(cell: Cell) -> str:
    """Return a cell as one line of text without repeated spaces; "" if it is empty.

    Raises `UnreadableValueError` for control characters, NUL too. The sandboxed reader
    sends NUL for what is no character, such as a lone surrogate.
    """
    if cell.__class__ is str and _is_plain(cell):
        return cell
    text = to_text(cell)
    if has_control_characters(" ".join(text.split())):
        raise UnreadableValueError(gettext("Control characters are not allowed."))
    # A mark of byte order in the middle of a text is a space without width.
    return " ".join(text.replace("\ufeff", "").split())


def _is_plain(text: str) -> bool:
    """Return True for most texts: nothing of them is to be changed or refused."""
    return (
        text.isprintable()
        and "  " not in text
        and not text.startswith((" ", "=", "'"))
        and not text.endswith(" ")
    )


def to_text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell).strip()
    if match := _FORMULA_TEXT.fullmatch(text):
        text = match[1]
    return _QUOTED_FORMULA.sub("", text, count=1) if text[:1] == "'" else text


def normalize_text(text: str) -> str:
    """Return a text for keys: NFKC, without letter case and without spaces."""
    for _ in range(2):
        # Letters without case may have other forms, which have cases again.
        text = unicodedata.normalize("NFKC", text).casefold()
    # Marks that stood after a space belong to the letter before it now.
    return unicodedata.normalize("NFKC", "".join(text.split()))


def join_memo(*texts: str) -> str:
    """Return texts as one memo, without those that repeat what another one says."""
    parts: list[str] = []
    for text in filter(None, texts):
        if not any(text in part for part in parts):
            parts = [part for part in parts if part not in text]
            parts.append(text)
    return " · ".join(parts)


def show(cell: Cell) -> str:
    """Return a cell for a sentence: quoted, shortened, without control characters."""
    text = _printable(to_text(cell))
    if len(text) > MAX_SHOWN_LENGTH:
        text = text[: MAX_SHOWN_LENGTH - 1] + "…"
    return f"“{text}”"


def shorten_cells(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Return the cells of a bad row for a person: 64 texts of 100 characters."""
    return tuple(
        _printable(to_text(cell))[:MAX_CELL_LENGTH]
        for cell in islice(cells, MAX_BAD_CELLS)
    )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
