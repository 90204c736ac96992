"""The lists of an exported ledger, as the columns of their tables. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FieldKind = (
    Literal["int", "text", "bool", "date", "time", "datetime", "decimal", "uuid"]
    | Literal["digest", "month", "ints", "terms"]
)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a row: the column, what it holds, or the list that it refers to.

    `is_loose` refers to a row that may be gone, and is then null or left out.
    """

    column: str
    kind: FieldKind = "int"
    refers_to: str | None = None
    is_list: bool = False
    is_loose: bool = False


def _ref(
    column: str, name: str, *, is_list: bool = False, is_loose: bool = False
) -> Field:
    return Field(column, refers_to=name, is_list=is_list, is_loose=is_loose)


@dataclass(frozen=True, slots=True)
class OwnList:
    """A list of the file; rows have an id unless it says otherwise."""

    name: str
    table: str
    fields: Mapping[str, Field]
    has_id: bool = True


_LOOK = {"icon": Field("icon", "text"), "color": Field("color", "text")}
_ORDER = {"sortOrder": Field("sort_order")}
_MADE = {"createdAt": Field("created_at", "datetime")}
_SHAPE = {
    "type": Field("type", "text"),
    "amount": Field("amount"),
    "categoryId": _ref("category_id", "categories"),
    "walletId": _ref("wallet_id", "wallets"),
    "toWalletId": _ref("to_wallet_id", "wallets"),
    "memo": Field("memo", "text"),
}
_OF_CARD = {
    "billMonth": Field("bill_month", "month"),
    "installmentParts": Field("installment_parts", "ints"),
}

# They are written with those of the import itself.
IMPORT_KEYS = "importKeys"
# A row comes after the rows that it refers to.
LISTS = (
    OwnList(
        "wallets",
        "account",
        {
            "name": Field("name", "text"),
            "kind": Field("kind", "text"),
            "institution": Field("institution", "text"),
            # Encrypted when it is written.
            "accountNumber": Field("account_number", "text"),
            "openingBalance": Field("opening_balance"),
            "manualValuation": Field("manual_valuation", "bool"),
            "archived": Field("archived", "bool"),
            "memo": Field("memo", "text"),
            "currentValue": Field("current_value"),
            **(_LOOK | _ORDER | _MADE),
        },
    ),
    OwnList(
        "valuations",
        "account_valuation",
        {
            "walletId": _ref("wallet_id", "wallets"),
            "date": Field("date", "date"),
            "value": Field("value"),
            "writtenAt": Field("written_at", "datetime"),
        },
        has_id=False,
    ),
    OwnList(
        "categories",
        "account_category",
        {
            "name": Field("name", "text"),
            "type": Field("type", "text"),
            "parentId": _ref("parent_id", "categories"),
            **(_LOOK | _ORDER),
        },
    ),
    OwnList("tags", "account_tag", {"name": Field("name", "text"), **_LOOK, **_ORDER}),
    OwnList(
        "entries",
        "account_entry",
        {
            "date": Field("date", "date"),
            **_SHAPE,
            "currency": Field("currency", "text"),
            "originalAmount": Field("original_amount", "decimal"),
            "exchangeRate": Field("exchange_rate", "decimal"),
            "installmentMonths": Field("installment_months"),
            **_OF_CARD,
            "refundOf": _ref("refund_of_id", "entries"),
            "time": Field("time", "time"),
            "excluded": Field("excluded", "bool"),
            "source": Field("source", "text"),
            "clientId": Field("client_id", "uuid"),
            "pending": Field("pending", "bool"),
            "updatedAt": Field("updated_at", "datetime"),
            **_MADE,
        },
    ),
    OwnList(
        "mergedEntries",
        "account_merged_entry",
        {
            "entryId": _ref("entry_id", "entries"),
            "type": Field("type", "text"),
            "date": Field("date", "date"),
            "time": Field("time", "time"),
            "categoryId": _ref("category_id", "categories"),
            "memo": Field("memo", "text"),
            "tagIds": _ref("tag_ids", "tags", is_list=True, is_loose=True),
            "installmentMonths": Field("installment_months"),
            **_OF_CARD,
            "excluded": Field("excluded", "bool"),
            "pending": Field("pending", "bool"),
            "source": Field("source", "text"),
            "clientId": Field("client_id", "uuid"),
            "notificationIds": _ref(
                "notification_ids", "notifications", is_list=True, is_loose=True
            ),
            **_MADE,
        },
        has_id=False,
    ),
    OwnList(
        "quickEntries",
        "account_quick_entry",
        {"name": Field("name", "text"), **_SHAPE, **_ORDER},
    ),
    OwnList(
        "recurring",
        "account_recurring",
        {
            "name": Field("name", "text"),
            **_SHAPE,
            "frequency": Field("frequency", "text"),
            "interval": Field("interval"),
            "anchorDate": Field("anchor_date", "date"),
            "endDate": Field("end_date", "date"),
            "nextDate": Field("next_date", "date"),
            "active": Field("active", "bool"),
            **_MADE,
        },
    ),
    OwnList(
        "occurrences",
        "account_recurring_occurrence",
        {
            "ruleId": _ref("rule_id", "recurring"),
            "dueDate": Field("due_date", "date"),
            "status": Field("status", "text"),
            "entryId": _ref("entry_id", "entries", is_loose=True),
            **_MADE,
        },
    ),
    OwnList(
        "budgets",
        "account_budget",
        {
            "categoryId": _ref("category_id", "categories"),
            "year": Field("year"),
            "month": Field("month"),
            "amount": Field("amount"),
        },
    ),
    OwnList(
        "expectedIncomes",
        "account_budget_income",
        {"year": Field("year"), "month": Field("month"), "amount": Field("amount")},
    ),
    OwnList(
        "stocks",
        "invest_stock",
        {
            "code": Field("code", "text"),
            "name": Field("name", "text"),
            "market": Field("market", "text"),
            "currentPrice": Field("current_price"),
            "priceAt": Field("price_at", "datetime"),
            **_ORDER,
        },
    ),
    OwnList(
        "trades",
        "invest_trade",
        {
            "stockId": _ref("stock_id", "stocks"),
            "side": Field("side", "text"),
            "date": Field("date", "date"),
            "quantity": Field("quantity", "decimal"),
            "price": Field("price"),
            "fee": Field("fee"),
            "tax": Field("tax"),
            "memo": Field("memo", "text"),
        },
    ),
    OwnList(
        "notifications",
        "account_notification",
        {
            "notifKey": Field("notif_key", "text"),
            "kind": Field("kind", "text"),
            "channel": Field("channel", "text"),
            "cardCompany": Field("card_company", "text"),
            "cardHint": Field("card_hint", "text"),
            "currency": Field("currency", "text"),
            "value": Field("value", "decimal"),
            "merchant": Field("merchant", "text"),
            "isCut": Field("is_cut", "bool"),
            "runningTotal": Field("running_total"),
            "balance": Field("balance"),
            "happenedAt": Field("happened_at", "datetime"),
            "isTimed": Field("is_timed", "bool"),
            "isPartial": Field("is_partial", "bool"),
            "isPreliminary": Field("is_preliminary", "bool"),
            "isCancelled": Field("is_cancelled", "bool"),
            "isOwnMove": Field("is_own_move", "bool"),
            "awaitsCounterpart": Field("awaits_counterpart", "bool"),
            "originalDate": Field("original_date", "date"),
            "paymentId": _ref("payment_id", "notifications", is_loose=True),
            "entryId": _ref("entry_id", "entries", is_loose=True),
            "walletId": _ref("wallet_id", "wallets", is_loose=True),
            "layoutDigest": Field("layout_digest", "text"),
            "isConfirmed": Field("is_confirmed", "bool"),
        },
    ),
    OwnList(
        "cards",
        "account_card",
        {
            "walletId": _ref("id", "wallets"),
            "terms": Field("terms", "terms"),
            "payFromWalletId": _ref("pay_from_wallet_id", "wallets"),
            "autoPay": Field("auto_pay", "bool"),
            "creditLimit": Field("credit_limit"),
            "billedWithId": _ref("billed_with_id", "wallets"),
            "targets": Field("targets", "ints"),
            "excludedCategoryIds": _ref(
                "excluded_category_ids", "categories", is_list=True, is_loose=True
            ),
            "excludedTagIds": _ref(
                "excluded_tag_ids", "tags", is_list=True, is_loose=True
            ),
            "excludesInstallments": Field("excludes_installments", "bool"),
        },
        has_id=False,
    ),
    OwnList(
        "bills",
        "account_card_bill",
        {
            "walletId": _ref("card_id", "wallets"),
            "month": Field("month", "month"),
            "periodEnd": Field("period_end", "date"),
            "paymentDate": Field("payment_date", "date"),
            "amount": Field("amount"),
        },
        has_id=False,
    ),
    OwnList(
        "cardPayments",
        "account_card_payment",
        {
            "walletId": _ref("wallet_id", "wallets"),
            "month": Field("month", "month"),
            "status": Field("status", "text"),
            "entryId": _ref("entry_id", "entries", is_loose=True),
            **_MADE,
        },
        has_id=False,
    ),
    OwnList(
        "layouts",
        "account_notification_layout",
        {
            "sender": Field("sender", "text"),
            "template": Field("template", "text"),
            "walletId": _ref("wallet_id", "wallets", is_loose=True),
            "cardHint": Field("card_hint", "text"),
            "uses": Field("uses"),
            "kind": Field("kind", "text"),
            "isComplete": Field("is_complete", "bool"),
            "isUnsure": Field("is_unsure", "bool"),
            "isNameGuessed": Field("is_name_guessed", "bool"),
            **_MADE,
        },
    ),
    OwnList(
        IMPORT_KEYS,
        "account_import_key",
        {
            "digest": Field("digest", "digest"),
            "walletId": _ref("wallet_id", "wallets", is_loose=True),
            "entryId": _ref("entry_id", "entries", is_loose=True),
        },
        has_id=False,
    ),
)
# Lines of entries and templates: their table, and the column of their owner.
LINES = {
    "entries": ("account_entry_line", "entry_id"),
    "quickEntries": ("account_quick_entry_line", "quick_entry_id"),
    "recurring": ("account_recurring_line", "rule_id"),
}
TAGS = {
    "entries": ("account_entry_tag", "entry_id"),
    "quickEntries": ("account_quick_entry_tag", "quick_entry_id"),
    "recurring": ("account_recurring_tag", "rule_id"),
}
LINE_FIELDS = {
    "amount": Field("amount"),
    "categoryId": _ref("category_id", "categories"),
    "categoryType": Field("category_type", "text"),
    "walletId": _ref("wallet_id", "wallets"),
    "memo": Field("memo", "text"),
}
REFUND_FIELD = _ref("refund_of_id", "entries")
