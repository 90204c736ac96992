"""The lists and fields of a ledger as JSON (spec 3.28).

An import reads the same names. Fields are the API's, references are ids, and values are
as they are stored: nothing computed. SQL is over the row `r`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ledger.changes.kinds import KINDS
from ledger.entries.transfer_candidates import DISMISSED_PAIRS
from ledger.models import RowKind

FORMAT = "ledger-export"
# Raised when a reader of the version before would read a file wrongly.
VERSION = 1
SETTINGS = "settings"
# Fields that are left out where they are false, an empty text or an empty list. Others
# are left out where they are null.
BOOLEANS = frozenset(
    {
        *("manualValuation", "archived", "excluded", "pending", "active"),
        *("isCut", "isTimed", "isPartial", "isPreliminary", "isCancelled"),
        *("isOwnMove", "awaitsCounterpart", "autoPay", "excludesInstallments"),
        *("isComplete", "isUnsure", "isNameGuessed", "isConfirmed"),
    }
)
TEXTS = frozenset({"institution", "memo", "market", "merchant", "sender"})
ID_LISTS = frozenset(
    {"tagIds", "notificationIds", "excludedCategoryIds", "excludedTagIds"}
)
LINES = "lines"
# Other lists.
TERMS = "terms"
TARGETS = "targets"

_FIELDS = {kind.name: dict(kind.fields) for kind in KINDS}
SETTINGS_FIELDS: Mapping[str, str] = _FIELDS[RowKind.SETTINGS]
_ENTRY = {
    name: sql
    for name, sql in _FIELDS[RowKind.ENTRY].items()
    # A list of its own has what was merged.
    if name != "merged"
}
_CREATED_AT = {"createdAt": "r.created_at"}
_BILL_MONTH = "to_char(r.bill_month, 'YYYY-MM')"
_CARD = {
    name: sql
    for name, sql in _FIELDS[RowKind.CARD].items()
    # Its parts are fields of their own.
    if name != "targetExcludes"
} | {
    "excludedCategoryIds": "r.excluded_category_ids",
    "excludedTagIds": "r.excluded_tag_ids",
    "excludesInstallments": "r.excludes_installments",
}


@dataclass(frozen=True, slots=True)
class ExportList:
    """A list of the file: rows of a table, with their fields in order."""

    name: str
    table: str
    fields: Mapping[str, str]
    order_by: str
    # The row has no id of its own that others refer to.
    has_id: bool = True
    # Fields that are stored encrypted.
    encrypted: frozenset[str] = frozenset()

    @property
    def all_fields(self) -> dict[str, str]:
        """Return the SQL of each field, null where the field is left out."""
        own_id = {"id": "r.id"} if self.has_id else {}
        return own_id | {
            name: _leave_out_empty(name, sql) for name, sql in self.fields.items()
        }


def _leave_out_empty(name: str, sql: str) -> str:
    if name in BOOLEANS:
        return f"NULLIF({sql}, false)"
    if name in TEXTS:
        return f"NULLIF({sql}, '')"
    if name in ID_LISTS or name == TARGETS:
        return f"NULLIF({sql}, '{{}}')"
    if name == TERMS:
        return f"NULLIF({sql}, '[]')"
    if name == LINES:
        # There is no equality of JSON.
        return f"(SELECT x FROM (SELECT {sql}) y (x) WHERE cardinality(x) > 0)"  # noqa: S608 - constants
    return sql


def get_default(name: str) -> Any:
    """Return the value of a field that a row lacks: false, "", [] or None."""
    if name in BOOLEANS:
        return False
    if name in TEXTS:
        return ""
    return [] if name in ID_LISTS | {LINES, TERMS, TARGETS} else None


# A row comes after the rows that it refers to.
LISTS = (
    ExportList(
        "wallets",
        "account",
        _FIELDS[RowKind.WALLET] | {"currentValue": "r.current_value"} | _CREATED_AT,
        "r.sort_order, r.id",
        encrypted=frozenset({"accountNumber"}),
    ),
    ExportList(
        "valuations",
        "account_valuation",
        # Transfers that were written later on the day move the value.
        _FIELDS[RowKind.VALUATION] | {"writtenAt": "r.written_at"},
        "r.wallet_id, r.date",
        has_id=False,
    ),
    ExportList(
        "categories",
        "account_category",
        _FIELDS[RowKind.CATEGORY],
        "r.parent_id IS NOT NULL, r.type, r.sort_order, r.id",
    ),
    ExportList("tags", "account_tag", _FIELDS[RowKind.TAG], "r.sort_order, r.id"),
    ExportList("entries", "account_entry", _ENTRY, "r.date, r.id"),
    ExportList(
        "dismissedTransfers",
        f"(SELECT %(member)s AS member_id, pair.* FROM {DISMISSED_PAIRS} pair)",  # noqa: S608 - constants
        {"outId": "r.expense_id", "inId": "r.income_id"},
        "r.expense_id, r.income_id",
        has_id=False,
    ),
    ExportList(
        "quickEntries",
        "account_quick_entry",
        _FIELDS[RowKind.QUICK_ENTRY],
        "r.sort_order, r.id",
    ),
    ExportList(
        "recurring",
        "account_recurring",
        _FIELDS[RowKind.RECURRING] | _CREATED_AT,
        "r.id",
    ),
    ExportList(
        "occurrences",
        "account_recurring_occurrence",
        {
            "ruleId": "r.rule_id",
            "dueDate": "r.due_date",
            "status": "r.status",
            "entryId": "r.entry_id",
            **_CREATED_AT,
        },
        "r.rule_id, r.due_date",
    ),
    ExportList(
        "budgets",
        "account_budget",
        _FIELDS[RowKind.BUDGET],
        "r.year, r.month, r.id",
    ),
    ExportList(
        "expectedIncomes",
        "account_budget_income",
        _FIELDS[RowKind.BUDGET_INCOME],
        "r.year, r.month",
    ),
    ExportList(
        "stocks",
        "invest_stock",
        _FIELDS[RowKind.STOCK]
        | {"currentPrice": "r.current_price", "priceAt": "r.price_at"},
        "r.sort_order, r.id",
    ),
    ExportList("trades", "invest_trade", _FIELDS[RowKind.TRADE], "r.date, r.id"),
    ExportList(
        "notifications",
        "account_notification",
        {
            "notifKey": "r.notif_key",
            "kind": "r.kind",
            "channel": "r.channel",
            "cardCompany": "r.card_company",
            "cardHint": "r.card_hint",
            "currency": "r.currency",
            "value": "trim_scale(r.value)",
            "merchant": "r.merchant",
            "isCut": "r.is_cut",
            "runningTotal": "r.running_total",
            "balance": "r.balance",
            "happenedAt": "r.happened_at",
            "isTimed": "r.is_timed",
            "isPartial": "r.is_partial",
            "isPreliminary": "r.is_preliminary",
            "isCancelled": "r.is_cancelled",
            "isOwnMove": "r.is_own_move",
            "awaitsCounterpart": "r.awaits_counterpart",
            "originalDate": "r.original_date",
            "paymentId": "r.payment_id",
            "entryId": "r.entry_id",
            "walletId": "r.wallet_id",
            "layoutDigest": "r.layout_digest",
            "isConfirmed": "r.is_confirmed",
        },
        "r.id",
    ),
    ExportList(
        "mergedEntries",
        "account_merged_entry",
        {
            "entryId": "r.entry_id",
            "type": "r.type",
            "formerId": "r.former_id",
            "date": "r.date",
            "time": "to_char(r.time, 'HH24:MI')",
            "categoryId": "r.category_id",
            "categoryType": "r.category_type",
            "memo": "r.memo",
            "tagIds": "r.tag_ids",
            "installmentMonths": "r.installment_months",
            "billMonth": _BILL_MONTH,
            "installmentParts": "r.installment_parts",
            "excluded": "r.excluded",
            "pending": "r.pending",
            "source": "r.source",
            **_CREATED_AT,
            "clientId": "r.client_id",
            "notificationIds": "r.notification_ids",
        },
        "r.entry_id, r.type",
        has_id=False,
    ),
    ExportList(
        "cards",
        "account_card",
        _CARD,
        "r.billed_with_id IS NOT NULL, r.id",
        has_id=False,
    ),
    ExportList(
        "bills",
        "account_card_bill",
        _FIELDS[RowKind.BILL],
        "r.card_id, r.month",
        has_id=False,
    ),
    ExportList(
        "cardPayments",
        "account_card_payment",
        {
            "walletId": "r.wallet_id",
            "month": "to_char(r.month, 'YYYY-MM')",
            "status": "r.status",
            "entryId": "r.entry_id",
            **_CREATED_AT,
        },
        "r.wallet_id, r.month",
        has_id=False,
    ),
    ExportList(
        "layouts",
        "account_notification_layout",
        {
            "sender": "r.sender",
            # The text with its digits and names masked.
            "template": "r.template",
            "walletId": "r.wallet_id",
            "cardHint": "r.card_hint",
            "uses": "r.uses",
            "kind": "r.kind",
            "isComplete": "r.is_complete",
            "isUnsure": "r.is_unsure",
            "isNameGuessed": "r.is_name_guessed",
            **_CREATED_AT,
        },
        "r.id",
    ),
    ExportList(
        "importKeys",
        # An undo of the import has freed the others.
        "(SELECT * FROM account_import_key"
        " WHERE member_id = %(member)s AND freed_by IS NULL)",
        {
            "digest": "encode(r.digest, 'hex')",
            "walletId": "NULLIF(r.wallet_id, 0)",
            "entryId": "r.entry_id",
        },
        "r.wallet_id, r.digest",
        has_id=False,
    ),
)
BY_NAME: Mapping[str, ExportList] = {each.name: each for each in LISTS}
