"""Ledgers made by hypothesis, as the JSON of a backup, and the workbook they must give."""

from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from core.api.fields import MAX_AMOUNT, has_control_characters
from ledger.models import Wallet
from ledger.models.base import MAX_ICON_LENGTH
from tests.support.workbooks import HEADERS, Book

ODD = (
    "=1+1",
    "+82",
    "-5",
    "@home",
    "\t=x",
    "_x0041_",
    "x_x005F_x0041_",
    "_x0041_x0042_",
    "_x005f_x005F_",
    "_x000D_",
    "둘째\n줄",
    "🍜 점심",
    "<&>\"'",
    "'quoted",
    "0012",
    "1e5",
    "TRUE",
    " ",
    "#N/A",
    "a  b",
)
# Fragments that make, and nearly make, the escapes of a spreadsheet.
ESCAPES = st.lists(
    st.sampled_from(["_", "x", "_x005F", "x005f_", "_x0041_", "_x000D_", "x00e9", "5"]),
    max_size=8,
).map("".join)
TEXTS = st.one_of(
    st.sampled_from(ODD),
    ESCAPES,
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(
        lambda text: not has_control_characters(text)
    ),
).map(str.strip)
NAMES = TEXTS.filter(bool)
TAG_NAMES = NAMES.map(lambda name: name.replace(",", ";"))
AMOUNTS = st.integers(1, MAX_AMOUNT)
MONEY = st.integers(-MAX_AMOUNT, MAX_AMOUNT)
TYPES = ("expense", "income")
Rows = st.SearchStrategy[list[dict[str, Any]]]


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of values or None; `rows_of` may leave out fields of None."""
    return st.none() | strategy


def days(first: int, last: int) -> st.SearchStrategy[str]:
    return st.dates(date(first, 1, 1), date(last, 12, 31)).map(date.isoformat)


def decimals(digits: int, places: int) -> st.SearchStrategy[str]:
    return st.integers(1, 10**digits - 1).map(
        lambda number: str(Decimal(number).scaleb(-places))
    )


def rows_of(fields: dict[str, Any], most: int) -> Rows:
    """Return rows with every optional field set, null, or left out."""

    def leave_out(drawn: tuple[dict[str, Any], bool]) -> dict[str, Any]:
        row, is_short = drawn
        return {k: v for k, v in row.items() if v is not None} if is_short else row

    rows = st.tuples(st.fixed_dictionaries(fields), st.booleans()).map(leave_out)
    return st.lists(rows, max_size=most)


@st.composite
def books(draw: st.DrawFn) -> Book:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    tags = draw(st.lists(TAG_NAMES, min_size=1, max_size=4, unique=True))
    base = {
        "category": maybe(st.sampled_from(names[:2])),
        "wallet": maybe(st.sampled_from(names)),
        "memo": maybe(TEXTS),
        "tags": maybe(st.lists(st.sampled_from(tags), unique=True)),
        "type": st.sampled_from(TYPES),
    }
    categories = [{"type": t, "name": n} for t in TYPES for n in names[:2]]
    categories += [
        {"type": "expense", "name": f"{name} minor", "parent": names[0]}
        for name in names[2:]
    ]
    return {
        "wallets": draw(wallets(names)),
        "tags": [{"name": name} | draw(looks()) for name in tags],
        "categories": [
            each | draw(looks()) for each in draw(st.permutations(categories))
        ],
        "entries": draw(entries(base, card=names[0])),
        "recurring": draw(rows_of(base | rule(), 2)),
        "budgets": [
            {"category": name, "year": 2026, "month": 1, "amount": draw(AMOUNTS)}
            for name in names[:2]
        ],
        "quickEntries": draw(
            rows_of(base | {"name": NAMES, "amount": maybe(AMOUNTS)}, 2)
        ),
    }


LOOKS = {
    "icon": maybe(NAMES.filter(lambda text: len(text) <= MAX_ICON_LENGTH)),
    "color": maybe(st.from_regex("#[0-9a-f]{6}", fullmatch=True)),
}


def looks() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(LOOKS)


def wallets(names: list[str]) -> Rows:
    """Draw a wallet for each name; the first is a card."""

    def one(number: int, name: str) -> st.SearchStrategy[dict[str, Any]]:
        kinds = Wallet.Kind.values if number else ["CARD"]
        return st.fixed_dictionaries(
            {
                "name": st.just(name),
                "kind": st.sampled_from(kinds),
                "institution": maybe(TEXTS),
                "accountNumber": maybe(st.text("0123456789-", max_size=20)),
                "openingBalance": maybe(MONEY),
                "manualValuation": maybe(st.booleans()),
                "currentValue": maybe(MONEY),
                "archived": maybe(st.booleans()),
                "memo": maybe(TEXTS),
                **LOOKS,
            }
        )

    return st.tuples(*(one(*pair) for pair in enumerate(names))).map(list)


def entries(base: dict[str, Any], card: str) -> Rows:
    """Draw entries: home and foreign, by card in installments, pending without rate."""
    home = base | {"date": days(1, 9999), "amount": AMOUNTS}
    foreign = home | {"originalAmount": decimals(16, 4)}
    kinds = (
        home | {"pending": maybe(st.booleans())},
        foreign
        | {
            "currency": st.sampled_from(["USD", "JPY"]),
            "exchangeRate": decimals(20, 8),
            "pending": maybe(st.booleans()),
        },
        foreign
        | {
            "amount": st.just(0),
            "currency": st.just("EUR"),
            "pending": st.just(True),
        },
        home
        | {
            "type": st.just("expense"),
            "wallet": st.just(card),
            "installmentMonths": maybe(st.integers(2, 24)),
        },
    )
    return st.tuples(*(rows_of(kind, 2) for kind in kinds)).flatmap(
        lambda lists: st.permutations([row for rows in lists for row in rows])
    )


def rule() -> dict[str, Any]:
    return {
        "name": NAMES,
        "amount": AMOUNTS,
        "frequency": st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
        "interval": maybe(st.integers(1, 1000)),
        "anchorDate": days(1990, 2040),
        "endDate": maybe(days(2041, 2100)),
        "nextDate": maybe(days(1990, 2100)),
        "active": maybe(st.booleans()),
    }


# What the workbook shows for an optional field that is null or missing.
DEFAULTS: dict[str, dict[str, Any]] = {
    "wallets": {"openingBalance": 0, "manualValuation": False, "archived": False},
    "entries": {"pending": False, "excluded": False, "source": "MANUAL"},
    "recurring": {"interval": 1, "active": True},
}


def expect_tables(book: Book, today: date) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of the workbook of this ledger, next dates aside."""
    month = {"year": today.year, "month": today.month}
    sorted_book = book | {
        "categories": sort_categories(book["categories"]),
        "entries": sorted(book["entries"], key=lambda row: row["date"]),
        "budgets": [row | month for row in book["budgets"]],
    }
    return {
        name: [
            tuple(cell_of(name, column, row) for column in columns_of(name))
            for row in sorted_book.get(name, [])
        ]
        for name in HEADERS
    }


def columns_of(sheet: str) -> list[str]:
    return [column for column in HEADERS[sheet] if column != "nextDate"]


def cell_of(sheet: str, column: str, row: dict[str, Any]) -> Any:
    value = row.get(column)
    if value is None:
        value = DEFAULTS.get(sheet, {}).get(column)
    # Of rows that are booked on a category of their own type.
    if column == "categoryType":
        value = row["type"]
    if isinstance(value, list):
        value = ", ".join(value)
    if column in {"originalAmount", "exchangeRate"} and value is not None:
        value = Decimal(value).normalize()
    return None if value == "" else value


def sort_categories(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort categories by type; each major one is followed by its minor ones."""
    majors = [row for kind in TYPES for row in rows if is_major(row, kind)]
    return [
        each
        for major in majors
        for each in (major, *(row for row in rows if is_below(row, major)))
    ]


def is_major(row: dict[str, Any], kind: str) -> bool:
    return row["type"] == kind and "parent" not in row


def is_below(row: dict[str, Any], major: dict[str, Any]) -> bool:
    return (row["type"], row.get("parent")) == (major["type"], major["name"])
