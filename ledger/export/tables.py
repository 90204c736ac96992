"""Tables to read: what the CSV file and the sheets of the workbook have (spec 3.28).

Columns have the API's names. Other rows are named, and numbered where they have no
name. `r` is the row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ledger.backup.export import decrypt_number
from ledger.backup.sheet_sql import (
    CARD_TERMS,
    EXCLUDED_CATEGORIES,
    EXCLUDED_TAGS,
    select_tag_names,
)
from ledger.export.scope import Export, fetch_batches

_TRIMMED_ORIGINAL = "trim_scale(r.original_amount)"
_TRIMMED_RATE = "trim_scale(r.exchange_rate)"
_TIME = "to_char(r.time, 'HH24:MI')"
_BILL_MONTH = "to_char(r.bill_month, 'YYYY-MM')"


def _join_names(category: str = "r.category_id", other: str = "r.to_wallet_id") -> str:
    """Return joins of names by the SQL of their ids.

    `c` is the category, `p` its major one, `w` the wallet, `tw` the other wallet.
    """
    return f"""
        LEFT JOIN account_category c
            ON c.member_id = %(member)s AND c.id = {category}
        LEFT JOIN account_category p
            ON p.member_id = %(member)s AND p.id = c.parent_id
        LEFT JOIN account w ON w.member_id = %(member)s AND w.id = r.wallet_id
        LEFT JOIN account tw ON tw.member_id = %(member)s AND tw.id = {other}
    """


_JOIN_NAMES_OF_LINE = _join_names("l.category_id", "l.wallet_id")
# The names that `_join_names` finds.
_CATEGORY = {"majorCategory": "p.name", "category": "c.name"}
_WALLETS = {"wallet": "w.name", "toWallet": "tw.name"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a member: SQL by header, and the rows that it is of."""

    name: str
    columns: Mapping[str, str]
    source: str
    order_by: str
    # It has the entries of the scope alone.
    is_scoped: bool = False
    # Headers of columns that are stored encrypted.
    encrypted: Sequence[str] = ()

    @property
    def headers(self) -> list[str]:
        return list(self.columns)

    def count(self, export: Export) -> int:
        """Return the number of rows."""
        sql = f"SELECT count(*) FROM {self.source} WHERE {self._conditions(export)}"  # noqa: S608 - constants
        (((rows,),),) = fetch_batches(sql, self._params(export))
        return int(rows)

    def fetch(self, export: Export) -> Iterator[list[Sequence[Any]]]:
        """Yield the rows in batches, in the order of the columns."""
        values = ", ".join(self.columns.values())
        sql = (
            f"SELECT {values} FROM {self.source}"  # noqa: S608 - constants
            f" WHERE {self._conditions(export)} ORDER BY {self.order_by}"
        )
        places = [self.headers.index(name) for name in self.encrypted]
        for batch in fetch_batches(sql, self._params(export)):
            if not places:
                yield list(batch)
                continue
            yield [
                [
                    decrypt_number(export.member, value) if place in places else value
                    for place, value in enumerate(row)
                ]
                for row in batch
            ]

    def _conditions(self, export: Export) -> str:
        own = "r.member_id = %(member)s"
        return f"{own} AND {export.scope.conditions()}" if self.is_scoped else own

    def _params(self, export: Export) -> dict[str, Any]:
        return {"member": export.member.pk, **export.scope.params}


_REFUND_OF_LINE = """coalesce(l.refund_of_id, CASE
    WHEN l.id IS NULL OR (l.wallet_id IS NULL AND l.amount > 0) THEN r.refund_of_id
END)"""
# A row for each line; a flat entry is its only line.
ENTRY_LINES = Table(
    "entries",
    {
        "entryId": "r.id",
        "line": "l.position + 1",
        "date": "r.date",
        "time": _TIME,
        "type": "r.type",
        "amount": "coalesce(l.amount, r.amount)",
        "entryAmount": "r.amount",
        "categoryType": "CASE WHEN tw.id IS NULL"
        " THEN coalesce(l.category_type, r.category_type) END",
        **_CATEGORY,
        **_WALLETS,
        "memo": "r.memo",
        "lineMemo": "l.memo",
        "tags": select_tag_names("account_entry_tag", "entry_id"),
        "currency": "r.currency",
        "originalAmount": _TRIMMED_ORIGINAL,
        "exchangeRate": _TRIMMED_RATE,
        "installmentMonths": "r.installment_months",
        "billMonth": _BILL_MONTH,
        "refundOf": _REFUND_OF_LINE,
        "excluded": "r.excluded",
        "pending": "r.pending",
        "source": "r.source",
    },
    "account_entry r LEFT JOIN account_entry_line l"
    " ON l.member_id = r.member_id AND l.entry_id = r.id AND r.line_count > 0"
    + _join_names(
        "coalesce(l.category_id, r.category_id)",
        "coalesce(l.wallet_id, r.to_wallet_id)",
    ),
    "r.date, r.id, l.position",
    is_scoped=True,
)
ENTRIES = Table(
    "entries",
    {
        "id": "r.id",
        "date": "r.date",
        "time": _TIME,
        "type": "r.type",
        "amount": "r.amount",
        "categoryType": "CASE WHEN r.line_count = 0 AND r.to_wallet_id IS NULL"
        " THEN r.category_type END",
        **_CATEGORY,
        **_WALLETS,
        "lines": "r.line_count",
        "memo": "r.memo",
        "tags": select_tag_names("account_entry_tag", "entry_id"),
        "currency": "r.currency",
        "originalAmount": _TRIMMED_ORIGINAL,
        "exchangeRate": _TRIMMED_RATE,
        "installmentMonths": "r.installment_months",
        "billMonth": _BILL_MONTH,
        "refundOf": "r.refund_of_id",
        "excluded": "r.excluded",
        "pending": "r.pending",
        "source": "r.source",
    },
    "account_entry r" + _join_names(),
    "r.date, r.id",
    is_scoped=True,
)
_LINE = {
    "line": "l.position + 1",
    "amount": "l.amount",
    "categoryType": "CASE WHEN l.wallet_id IS NULL THEN l.category_type END",
    **_CATEGORY,
    "wallet": "tw.name",
    "memo": "l.memo",
}
LINES = Table(
    "lines",
    {"entryId": "r.id", "date": "r.date", **_LINE, "refundOf": _REFUND_OF_LINE},
    "account_entry r JOIN account_entry_line l"
    " ON l.member_id = r.member_id AND l.entry_id = r.id" + _JOIN_NAMES_OF_LINE,
    "r.date, r.id, l.position",
    is_scoped=True,
)
_TEMPLATE = {
    "id": "r.id",
    "name": "r.name",
    "type": "r.type",
    "amount": "r.amount",
    "categoryType": "r.category_type",
    **_CATEGORY,
    **_WALLETS,
    "memo": "r.memo",
}


def _template_lines(name: str, table: str, owner: str) -> Table:
    source = (
        f"{table} r JOIN {table}_line l"
        f" ON l.member_id = r.member_id AND l.{owner} = r.id"
    )
    return Table(
        name,
        {"ownerId": "r.id", "owner": "r.name", **_LINE},
        source + _JOIN_NAMES_OF_LINE,
        "r.id, l.position",
    )


_WALLET_TABLE = Table(
    "wallets",
    {
        "id": "r.id",
        "name": "r.name",
        "kind": "r.kind",
        "institution": "r.institution",
        "accountNumber": "r.account_number",
        "openingBalance": "r.opening_balance",
        "balance": "r.opening_balance + coalesce(t.balance, 0)",
        "manualValuation": "r.manual_valuation",
        "currentValue": "r.current_value",
        "archived": "r.archived",
        "memo": "r.memo",
    },
    "account r LEFT JOIN account_wallet_total t"
    " ON t.member_id = r.member_id AND t.wallet_id = r.id",
    "r.sort_order, r.id",
    encrypted=("accountNumber",),
)
_OTHER_TABLES = (
    Table(
        "valuations",
        {"wallet": "w.name", "date": "r.date", "value": "r.value"},
        "account_valuation r JOIN account w"
        " ON w.member_id = r.member_id AND w.id = r.wallet_id",
        "w.sort_order, w.id, r.date",
    ),
    Table(
        "categories",
        {
            "id": "r.id",
            "type": "r.type",
            "majorCategory": "p.name",
            "category": "r.name",
        },
        "account_category r LEFT JOIN account_category p"
        " ON p.member_id = r.member_id AND p.id = r.parent_id",
        "r.type, coalesce(p.sort_order, r.sort_order), coalesce(p.id, r.id),"
        " p.id IS NOT NULL, r.sort_order, r.id",
    ),
    Table(
        "tags",
        {"id": "r.id", "name": "r.name"},
        "account_tag r",
        "r.sort_order, r.id",
    ),
    Table(
        "budgets",
        {
            "year": "r.year",
            "month": "r.month",
            "category": "c.name",
            "amount": "r.amount",
        },
        "account_budget r JOIN account_category c"
        " ON c.member_id = r.member_id AND c.id = r.category_id",
        "r.year, r.month, c.sort_order, r.id",
    ),
    Table(
        "expectedIncomes",
        {"year": "r.year", "month": "r.month", "amount": "r.amount"},
        "account_budget_income r",
        "r.year, r.month",
    ),
    Table(
        "recurring",
        {
            **_TEMPLATE,
            "tags": select_tag_names("account_recurring_tag", "rule_id"),
            "frequency": "r.frequency",
            "interval": "r.interval",
            "anchorDate": "r.anchor_date",
            "endDate": "r.end_date",
            "nextDate": "r.next_date",
            "active": "r.active",
        },
        "account_recurring r" + _join_names(),
        "r.id",
    ),
    _template_lines("recurringLines", "account_recurring", "rule_id"),
    Table(
        "occurrences",
        {
            "recurring": "o.name",
            "dueDate": "r.due_date",
            "status": "r.status",
            "entryId": "r.entry_id",
        },
        "account_recurring_occurrence r JOIN account_recurring o"
        " ON o.member_id = r.member_id AND o.id = r.rule_id",
        "r.rule_id, r.due_date",
    ),
    Table(
        "quickEntries",
        {
            **_TEMPLATE,
            "tags": select_tag_names("account_quick_entry_tag", "quick_entry_id"),
        },
        "account_quick_entry r" + _join_names(),
        "r.sort_order, r.id",
    ),
    _template_lines("quickEntryLines", "account_quick_entry", "quick_entry_id"),
    Table(
        "stocks",
        {
            "id": "r.id",
            "code": "r.code",
            "name": "r.name",
            "market": "r.market",
            "quantity": "trim_scale(coalesce(held.quantity, 0))",
            "currentPrice": "r.current_price",
            "priceAt": "to_char(r.price_at AT TIME ZONE 'UTC',"
            """ 'YYYY-MM-DD"T"HH24:MI:SS"Z"')""",
        },
        "invest_stock r LEFT JOIN invest_position held"
        " ON held.member_id = r.member_id AND held.stock_id = r.id",
        "r.sort_order, r.id",
    ),
    Table(
        "trades",
        {
            "id": "r.id",
            "code": "s.code",
            "stock": "s.name",
            "side": "r.side",
            "date": "r.date",
            "quantity": "trim_scale(r.quantity)",
            "price": "r.price",
            "fee": "r.fee",
            "tax": "r.tax",
            "memo": "r.memo",
        },
        "invest_trade r JOIN invest_stock s"
        " ON s.member_id = r.member_id AND s.id = r.stock_id",
        "r.date, r.id",
    ),
    Table(
        "cards",
        {
            "wallet": "w.name",
            "terms": CARD_TERMS,
            "payFrom": "p.name",
            "autoPay": "r.auto_pay",
            "creditLimit": "r.credit_limit",
            "billedWith": "b.name",
            "targets": "array_to_string(r.targets, ', ')",
            "excludedCategories": EXCLUDED_CATEGORIES,
            "excludedTags": EXCLUDED_TAGS,
            "excludesInstallments": "r.excludes_installments",
        },
        "account_card r JOIN account w ON w.member_id = r.member_id AND w.id = r.id"
        " LEFT JOIN account p"
        " ON p.member_id = r.member_id AND p.id = r.pay_from_wallet_id"
        " LEFT JOIN account b"
        " ON b.member_id = r.member_id AND b.id = r.billed_with_id",
        "w.sort_order, w.id",
    ),
    Table(
        "bills",
        {
            "wallet": "w.name",
            "month": "to_char(r.month, 'YYYY-MM')",
            "periodEnd": "r.period_end",
            "paymentDate": "r.payment_date",
            "amount": "r.amount",
        },
        "account_card_bill r"
        " JOIN account w ON w.member_id = r.member_id AND w.id = r.card_id",
        "w.sort_order, w.id, r.month",
    ),
    Table(
        "cardPayments",
        {
            "wallet": "w.name",
            "month": "to_char(r.month, 'YYYY-MM')",
            "status": "r.status",
            "entryId": "r.entry_id",
        },
        "account_card_payment r"
        " JOIN account w ON w.member_id = r.member_id AND w.id = r.wallet_id",
        "w.sort_order, w.id, r.month",
    ),
)
# The sheets of the workbook, in their order.
SHEETS = (ENTRIES, LINES, _WALLET_TABLE, *_OTHER_TABLES)
