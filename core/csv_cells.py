"""Cells of CSV files that spreadsheet programs open."""

from decimal import Decimal

# Spreadsheets run such text as a formula, also after blanks.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Marks the file as UTF-8 for spreadsheets.
BYTE_ORDER_MARK = "\ufeff"


def make_cell(value: object) -> str:
    """Return the text of a cell; None is empty.

    A text that a spreadsheet would run gets a leading apostrophe, a number does not.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return quote_formula(value)
    text = str(value)
    is_number = isinstance(value, int | float | Decimal)
    return text if is_number else quote_formula(text)


def quote_formula(text: str) -> str:
    """Return the text, with a leading apostrophe if a spreadsheet would run it."""
    if text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS):
        return f"'{text}"
    return text
