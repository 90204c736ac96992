"""The sheets of a backup and their columns, as data.

Headers are the API's field names; what refers to another row does so by name. What the
service makes by itself (ids, balances, times of writing, places in an order) is left
out: the rows stand in their order. Budgets carry their month, for information.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

from ledger.backup import cell_parsers
from ledger.backup.cell_parsers import CellParser
from ledger.models import Wallet
from ledger.models.base import MAX_MEMO_LENGTH, MAX_NAME_LENGTH, EntryType
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.models.recurring import MAX_INTERVAL
from ledger.schedule import Frequency
from ledger.serializers.wallets import MAX_ACCOUNT_NUMBER_LENGTH

NEXT_DATE_NOT_GIVEN = date.min
"""The next date of a rule whose column or field is not there at all."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `default` is what an empty cell means where it is not required.

    `absent`: what it means that the column, or the field of an object, is not there;
    None where that is the same. `repeats`: few different texts stand in it, so that
    each is read once.
    """

    name: str
    parse: CellParser
    required: bool = False
    default: Any = None
    missing_default: Any = None
    is_cacheable: bool = True


@dataclass(frozen=True, slots=True)
class Sheet:
    name: str
    columns: tuple[Column, ...]

    @property
    def headers(self) -> list[str]:
        return [column.name for column in self.columns]


_NAME = cell_parsers.name()
_MEMO = Column(
    "memo", cell_parsers.text(MAX_MEMO_LENGTH), default="", is_cacheable=False
)
_TYPE = Column("type", cell_parsers.choice(EntryType.values), required=True)
_CATEGORY = Column("category", _NAME)
_WALLET = Column("wallet", _NAME)
_TAGS = Column("tags", cell_parsers.tag_names, default=())

WALLETS = Sheet(
    "wallets",
    (
        Column("name", _NAME, required=True),
        Column("kind", cell_parsers.choice(Wallet.Kind.values), required=True),
        Column("institution", cell_parsers.text(MAX_NAME_LENGTH), default=""),
        Column(
            "accountNumber",
            cell_parsers.account_number(MAX_ACCOUNT_NUMBER_LENGTH),
            default="",
        ),
        Column("openingBalance", cell_parsers.signed_amount, default=0),
        Column("manualValuation", cell_parsers.boolean, default=False),
        Column("currentValue", cell_parsers.signed_amount),
        Column("archived", cell_parsers.boolean, default=False),
        _MEMO,
    ),
)
TAGS = Sheet("tags", (Column("name", cell_parsers.tag_name, required=True),))
CATEGORIES = Sheet(
    "categories",
    (_TYPE, Column("name", _NAME, required=True), Column("parent", _NAME)),
)
ENTRIES = Sheet(
    "entries",
    (
        Column("date", cell_parsers.iso_date, required=True),
        _TYPE,
        Column("amount", cell_parsers.entry_amount),
        _CATEGORY,
        _WALLET,
        _MEMO,
        _TAGS,
        Column("currency", cell_parsers.currency),
        Column("originalAmount", cell_parsers.positive_decimal(16, 4)),
        Column("exchangeRate", cell_parsers.positive_decimal(20, 8)),
        Column("installmentMonths", cell_parsers.integer(2, 24)),
        Column("pending", cell_parsers.boolean, default=False),
    ),
)
RECURRING = Sheet(
    "recurring",
    (
        Column("name", _NAME, required=True),
        _TYPE,
        Column("amount", cell_parsers.amount, required=True),
        _CATEGORY,
        _WALLET,
        _MEMO,
        _TAGS,
        Column(
            "frequency",
            cell_parsers.choice([each.value for each in Frequency]),
            required=True,
        ),
        Column("interval", cell_parsers.integer(1, MAX_INTERVAL), default=1),
        Column("anchorDate", cell_parsers.iso_date, required=True),
        Column("endDate", cell_parsers.iso_date),
        Column("nextDate", cell_parsers.iso_date, missing_default=NEXT_DATE_NOT_GIVEN),
        Column("active", cell_parsers.boolean, default=True),
    ),
)
BUDGETS = Sheet(
    "budgets",
    (
        Column("category", _NAME, required=True),
        Column("year", cell_parsers.integer(MIN_YEAR, MAX_YEAR), required=True),
        Column("month", cell_parsers.integer(1, 12), required=True),
        Column("amount", cell_parsers.amount, required=True),
    ),
)
QUICK_ENTRIES = Sheet(
    "quickEntries",
    (
        Column("name", _NAME, required=True),
        _TYPE,
        Column("amount", cell_parsers.amount),
        _CATEGORY,
        _WALLET,
        _MEMO,
        _TAGS,
    ),
)

SHEETS = (WALLETS, TAGS, CATEGORIES, ENTRIES, RECURRING, BUDGETS, QUICK_ENTRIES)
"""In the order in which they are restored (spec 3.18)."""
