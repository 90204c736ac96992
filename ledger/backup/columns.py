"""The column table of backups: each sheet with its rows, and each row's columns.

Validation, export, restore and the demo ledger follow these declarations. Headers are
the API's field names. Rows stand in their order, and refer to others by name. Budgets
keep their month, for information only.
"""

import datetime
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from ledger.backup.cell_parsers import (
    account_number_parser,
    choice_parser,
    decimal_parser,
    integer_parser,
    parse_amount,
    parse_amounts,
    parse_boolean,
    parse_category_names,
    parse_client_id,
    parse_clock_time,
    parse_color,
    parse_currency,
    parse_date,
    parse_entry_amount,
    parse_icon,
    parse_keys,
    parse_line_amount,
    parse_moment,
    parse_month,
    parse_name,
    parse_signed_amount,
    parse_tag_name,
    parse_tag_names,
    parse_terms,
    text_parser,
)
from ledger.backup.schema import RowT, Sheet, column, row_class, stored_columns
from ledger.backup.sheet_sql import (
    ALL_LINES,
    CARD_TERMS,
    CREATED_AT,
    EXCLUDED_CATEGORIES,
    EXCLUDED_TAGS,
    JOIN_CATEGORY,
    JOIN_KEY,
    JOIN_NOT_WITH,
    JOIN_PARTS,
    KEYED_ENTRIES,
    KEYED_QUICK_ENTRIES,
    KEYED_RULES,
    TAG_NAMES_BY_IDS,
    select_moment,
    select_tag_names,
)
from ledger.cards.schedule import Term
from ledger.entry_shape import COLUMNS
from ledger.models import (
    Budget,
    Card,
    CardBill,
    Category,
    Entry,
    EntryLine,
    MergedEntry,
    QuickEntry,
    RecurringRule,
    Tag,
    Valuation,
    Wallet,
)
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
    CategoryType,
    EntryType,
)
from ledger.models.budgets import MAX_YEAR, MIN_YEAR
from ledger.models.entries import EntryDetails
from ledger.models.recurring import MAX_INTERVAL
from ledger.models.schedule import Frequency
from ledger.models.wallets import MAX_ACCOUNT_NUMBER_LENGTH

# The next date of a rule without this column. An empty one means an ended rule.
NEXT_DATE_NOT_GIVEN = datetime.date.min

# Fields of an entry with a column, and fields that a merge keeps of each half.
_SHAPE_FIELDS = [name for name, column_name in COLUMNS.items() if name == column_name]
_MERGED_FIELDS = [
    field.name for field in EntryDetails._meta.fields if field.name in _SHAPE_FIELDS
]
_parse_memo = text_parser(MAX_MEMO_LENGTH)
_parse_type = choice_parser(EntryType.values)
_parse_category_type = choice_parser(CategoryType.values)


@row_class
class WalletRow:
    name: str = column(parse_name)
    kind: str = column(choice_parser(Wallet.Kind.values))
    institution: str = column(text_parser(MAX_NAME_LENGTH), default="")
    account_number: str = column(
        account_number_parser(MAX_ACCOUNT_NUMBER_LENGTH), default="", is_encrypted=True
    )
    opening_balance: int = column(parse_signed_amount, default=0)
    manual_valuation: bool = column(parse_boolean, default=False)
    current_value: int | None = column(parse_signed_amount, default=None)
    archived: bool = column(parse_boolean, default=False)
    memo: str = column(_parse_memo, default="", has_recurring_texts=False)
    icon: str | None = column(parse_icon, default=None)
    color: str | None = column(parse_color, default=None)


@row_class
class TagRow:
    name: str = column(parse_tag_name)
    icon: str | None = column(parse_icon, default=None)
    color: str | None = column(parse_color, default=None)


@row_class
class CategoryRow:
    type: str = column(_parse_category_type)
    name: str = column(parse_name)
    parent: str | None = column(parse_name, default=None, select="p.name")
    icon: str | None = column(parse_icon, default=None)
    color: str | None = column(parse_color, default=None)


@row_class
@stored_columns(Entry, _SHAPE_FIELDS)
class EntryRow:
    date: datetime.date = column(parse_date)
    type: str = column(_parse_type)
    # None: converted from the original amount.
    amount: int | None = column(parse_entry_amount, default=None)
    category: str | None = column(parse_name, default=None, select="c.name")
    wallet: str | None = column(parse_name, default=None, select="w.name")
    memo: str = column(_parse_memo, default="", has_recurring_texts=False)
    tags: tuple[str, ...] = column(
        parse_tag_names,
        default=(),
        select=select_tag_names("account_entry_tag", "entry_id"),
    )
    currency: str | None = column(parse_currency, default=None)
    original_amount: Decimal | None = column(decimal_parser(16, 4), default=None)
    exchange_rate: Decimal | None = column(decimal_parser(20, 8), default=None)
    installment_months: int | None = column(integer_parser(2, 24), default=None)
    pending: bool = column(parse_boolean, default=False)
    # Lines and refunds refer to it.
    key: str | None = column(parse_name, default=None, select="k.number::text")
    to_wallet: str | None = column(parse_name, default=None, select="tw.name")
    # None: the category type of the entry type.
    category_type: str | None = column(
        _parse_category_type, default=None, select="r.category_type"
    )
    refund_of: str | None = column(parse_name, default=None, select="o.number::text")
    time: datetime.time | None = column(
        parse_clock_time, default=None, select="to_char(r.time, 'HH24:MI')"
    )
    excluded: bool = column(parse_boolean, default=False)
    source: str = column(
        choice_parser(Entry.Source.values), default=Entry.Source.MANUAL.value
    )
    # Exported only for entries of days with a valuation. None: the time of the restore.
    created_at: datetime.datetime | None = column(
        parse_moment,
        default=None,
        select=CREATED_AT,
        has_recurring_texts=False,
    )
    # Keys of incomes that are no transfer with this expense.
    not_with: tuple[str, ...] = column(
        parse_keys, default=(), select="n.keys", has_recurring_texts=False
    )
    client_id: UUID | None = column(
        parse_client_id,
        default=None,
        select="r.client_id::text",
        has_recurring_texts=False,
    )
    # The month of the bill that it is on, or pays.
    bill_month: datetime.date | None = column(
        parse_month, default=None, select="to_char(r.bill_month, 'YYYY-MM')"
    )
    # Typed-in amounts of the parts.
    installment_parts: tuple[int, ...] | None = column(
        parse_amounts,
        default=None,
        select="array_to_string(r.installment_parts, ', ')",
        has_recurring_texts=False,
    )


@row_class
class RecurringRow:
    name: str = column(parse_name)
    type: str = column(_parse_type)
    amount: int = column(parse_amount)
    category: str | None = column(parse_name, default=None, select="c.name")
    wallet: str | None = column(parse_name, default=None, select="w.name")
    memo: str = column(_parse_memo, default="", has_recurring_texts=False)
    tags: tuple[str, ...] = column(
        parse_tag_names,
        default=(),
        select=select_tag_names("account_recurring_tag", "rule_id"),
    )
    frequency: str = column(choice_parser([each.value for each in Frequency]))
    interval: int = column(integer_parser(1, MAX_INTERVAL), default=1)
    anchor_date: datetime.date = column(parse_date)
    end_date: datetime.date | None = column(parse_date, default=None)
    next_date: datetime.date | None = column(
        parse_date, default=None, absent_default=NEXT_DATE_NOT_GIVEN
    )
    active: bool = column(parse_boolean, default=True)
    key: str | None = column(
        parse_name, default=None, select="'recurring-' || k.number"
    )
    to_wallet: str | None = column(parse_name, default=None, select="tw.name")
    category_type: str | None = column(
        _parse_category_type, default=None, select="r.category_type"
    )


@row_class
class BudgetRow:
    category: str = column(parse_name, select="c.name")
    year: int = column(integer_parser(MIN_YEAR, MAX_YEAR))
    month: int = column(integer_parser(1, 12))
    amount: int = column(parse_amount)


@row_class
class QuickEntryRow:
    name: str = column(parse_name)
    type: str = column(_parse_type)
    amount: int | None = column(parse_amount, default=None)
    category: str | None = column(parse_name, default=None, select="c.name")
    wallet: str | None = column(parse_name, default=None, select="w.name")
    memo: str = column(_parse_memo, default="", has_recurring_texts=False)
    tags: tuple[str, ...] = column(
        parse_tag_names,
        default=(),
        select=select_tag_names("account_quick_entry_tag", "quick_entry_id"),
    )
    key: str | None = column(parse_name, default=None, select="'quick-' || k.number")
    to_wallet: str | None = column(parse_name, default=None, select="tw.name")
    category_type: str | None = column(
        _parse_category_type, default=None, select="r.category_type"
    )


@row_class
class LineRow:
    # The key of an entry, a recurring rule or a quick entry.
    entry: str = column(parse_name)
    amount: int = column(parse_line_amount)
    category: str | None = column(parse_name, default=None, select="c.name")
    category_type: str | None = column(
        _parse_category_type, default=None, select="r.category_type"
    )
    wallet: str | None = column(parse_name, default=None, select="w.name")
    memo: str = column(_parse_memo, default="", has_recurring_texts=False)
    # The key of an expense, unless the whole entry is its refund.
    refund_of: str | None = column(parse_name, default=None, select="o.number::text")


@row_class
class ValuationRow:
    wallet: str = column(parse_name, select="w.name")
    date: datetime.date = column(parse_date)
    value: int = column(parse_signed_amount)
    # Later transfers of the same day change the value. None: the time of the restore.
    written_at: datetime.datetime | None = column(
        parse_moment,
        default=None,
        select=select_moment("r.written_at"),
        has_recurring_texts=False,
    )


@row_class
@stored_columns(MergedEntry, _MERGED_FIELDS)
class MergedEntryRow:
    # The key of the transfer, whose amount and wallets it has.
    entry: str = column(parse_name, select="k.number::text")
    type: str = column(_parse_category_type)
    date: datetime.date = column(parse_date)
    category: str | None = column(parse_name, default=None, select="c.name")
    category_type: str | None = column(
        _parse_category_type, default=None, select="r.category_type"
    )
    memo: str = column(_parse_memo, default="", has_recurring_texts=False)
    tags: tuple[str, ...] = column(parse_tag_names, default=(), select=TAG_NAMES_BY_IDS)
    installment_months: int | None = column(integer_parser(2, 24), default=None)
    pending: bool = column(parse_boolean, default=False)
    time: datetime.time | None = column(
        parse_clock_time, default=None, select="to_char(r.time, 'HH24:MI')"
    )
    excluded: bool = column(parse_boolean, default=False)
    source: str = column(
        choice_parser(Entry.Source.values), default=Entry.Source.MANUAL.value
    )
    # None: the time of the restore.
    created_at: datetime.datetime | None = column(
        parse_moment,
        default=None,
        select=select_moment("r.created_at"),
        has_recurring_texts=False,
    )
    # That an income gets back when the transfer is taken apart.
    client_id: UUID | None = column(
        parse_client_id,
        default=None,
        select="r.client_id::text",
        has_recurring_texts=False,
    )
    # The month of the bill that it is on, or pays.
    bill_month: datetime.date | None = column(
        parse_month, default=None, select="to_char(r.bill_month, 'YYYY-MM')"
    )
    # Typed-in amounts of the parts.
    installment_parts: tuple[int, ...] | None = column(
        parse_amounts,
        default=None,
        select="array_to_string(r.installment_parts, ', ')",
        has_recurring_texts=False,
    )


@row_class
class CardRow:
    wallet: str = column(parse_name, select="w.name")
    # The days of its bills by the month of the first one; none on another card's bill.
    terms: tuple[Term, ...] = column(parse_terms, default=(), select=CARD_TERMS)
    pay_from: str | None = column(parse_name, default=None, select="p.name")
    auto_pay: bool = column(parse_boolean, default=False)
    credit_limit: int | None = column(parse_amount, default=None)
    billed_with: str | None = column(parse_name, default=None, select="b.name")
    targets: tuple[int, ...] = column(
        parse_amounts, default=(), select="array_to_string(r.targets, ', ')"
    )
    excluded_categories: tuple[str, ...] = column(
        parse_category_names, default=(), select=EXCLUDED_CATEGORIES
    )
    excluded_tags: tuple[str, ...] = column(
        parse_tag_names, default=(), select=EXCLUDED_TAGS
    )
    excludes_installments: bool = column(parse_boolean, default=False)


@row_class
class BillRow:
    wallet: str = column(parse_name, select="w.name")
    month: datetime.date = column(parse_month, select="to_char(r.month, 'YYYY-MM')")
    # Values that the issuer printed; an empty cell means the computed value.
    period_end: datetime.date | None = column(parse_date, default=None)
    payment_date: datetime.date | None = column(parse_date, default=None)
    amount: int | None = column(parse_signed_amount, default=None)


ReferringRow = EntryRow | RecurringRow | QuickEntryRow

WALLETS = Sheet("wallets", WalletRow, Wallet, order_by="r.sort_order, r.id")
TAGS = Sheet("tags", TagRow, Tag, order_by="r.sort_order, r.id")
CATEGORIES = Sheet(
    "categories",
    CategoryRow,
    Category,
    joins="LEFT JOIN account_category p"
    " ON p.member_id = r.member_id AND p.id = r.parent_id",
    # Each major category comes right before its minor ones.
    order_by="""
        r.type, coalesce(p.sort_order, r.sort_order), coalesce(p.id, r.id),
        p.id IS NOT NULL, r.sort_order, r.id""",
)
ENTRIES = Sheet(
    "entries",
    EntryRow,
    Entry,
    joins=JOIN_KEY.format(joins=JOIN_PARTS, keyed=KEYED_ENTRIES)
    + f" LEFT JOIN {KEYED_ENTRIES} o ON o.id = r.refund_of_id{JOIN_NOT_WITH}",
    order_by="r.date, r.id",
)
LINES = Sheet(
    "lines",
    LineRow,
    EntryLine,
    rows=ALL_LINES,
    # The rows come from several tables: compare the member.
    joins="LEFT JOIN account_category c"
    " ON c.member_id = %(member)s AND c.id = r.category_id"
    " LEFT JOIN account w ON w.member_id = %(member)s AND w.id = r.wallet_id"
    f" LEFT JOIN {KEYED_ENTRIES} o ON o.id = r.refund_of_id",
    order_by="r.part, r.number, r.position",
)
VALUATIONS = Sheet(
    "valuations",
    ValuationRow,
    Valuation,
    joins="JOIN account w ON w.member_id = r.member_id AND w.id = r.wallet_id",
    order_by="w.sort_order, w.id, r.date",
)
MERGED_ENTRIES = Sheet(
    "merged_entries",
    MergedEntryRow,
    MergedEntry,
    joins=f"{JOIN_CATEGORY} JOIN {KEYED_ENTRIES} k ON k.id = r.entry_id",
    order_by="k.number, r.type",
)
RECURRING = Sheet(
    "recurring",
    RecurringRow,
    RecurringRule,
    joins=JOIN_KEY.format(joins=JOIN_PARTS, keyed=KEYED_RULES),
    order_by="r.id",
)
BUDGETS = Sheet(
    "budgets",
    BudgetRow,
    Budget,
    joins=JOIN_CATEGORY,
    order_by="r.year, r.month, c.name",
)
QUICK_ENTRIES = Sheet(
    "quick_entries",
    QuickEntryRow,
    QuickEntry,
    joins=JOIN_KEY.format(joins=JOIN_PARTS, keyed=KEYED_QUICK_ENTRIES),
    order_by="r.sort_order, r.id",
)

CARDS = Sheet(
    "cards",
    CardRow,
    Card,
    joins="JOIN account w ON w.member_id = r.member_id AND w.id = r.id"
    " LEFT JOIN account p ON p.member_id = r.member_id AND p.id = r.pay_from_wallet_id"
    " LEFT JOIN account b ON b.member_id = r.member_id AND b.id = r.billed_with_id",
    # Cards with a bill of their own first.
    order_by="b.id IS NOT NULL, w.sort_order, w.id",
)
BILLS = Sheet(
    "bills",
    BillRow,
    CardBill,
    joins="JOIN account w ON w.member_id = r.member_id AND w.id = r.card_id",
    order_by="w.sort_order, w.id, r.month",
)

# The order of a restore (spec 3.18): references come after their targets.
SHEETS: tuple[Sheet[Any], ...] = (
    WALLETS,
    TAGS,
    CATEGORIES,
    ENTRIES,
    RECURRING,
    BUDGETS,
    QUICK_ENTRIES,
    LINES,
    VALUATIONS,
    MERGED_ENTRIES,
    CARDS,
    BILLS,
)


class IgnoredName(NamedTuple):
    """A column of a workbook that a restore ignores, or without `column` a sheet."""

    sheet: str
    column: str | None = None


@dataclass(slots=True)
class Backup:
    wallets: list[WalletRow] = field(default_factory=list)
    tags: list[TagRow] = field(default_factory=list)
    categories: list[CategoryRow] = field(default_factory=list)
    entries: list[EntryRow] = field(default_factory=list)
    recurring: list[RecurringRow] = field(default_factory=list)
    budgets: list[BudgetRow] = field(default_factory=list)
    quick_entries: list[QuickEntryRow] = field(default_factory=list)
    lines: list[LineRow] = field(default_factory=list)
    valuations: list[ValuationRow] = field(default_factory=list)
    merged_entries: list[MergedEntryRow] = field(default_factory=list)
    cards: list[CardRow] = field(default_factory=list)
    bills: list[BillRow] = field(default_factory=list)
    # Of a workbook.
    ignored: list[IgnoredName] = field(default_factory=list)

    def rows_of(self, sheet: Sheet[RowT]) -> list[RowT]:
        rows: list[RowT] = getattr(self, sheet.attribute)
        return rows

    def row_counts(self) -> dict[str, int]:
        return {sheet.name: len(self.rows_of(sheet)) for sheet in SHEETS}
