"""The rows that clients keep a copy of, as the feed of changes has them (spec 3.26).

Stored values by the API's field names: ids in place of names, and nothing computed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ledger.entries.json_fields import FIELDS, LAST_FIELDS, UNSURE_FIELDS
from ledger.models import RowKind

_SHAPE = {
    "type": "r.type",
    "amount": "r.amount",
    "categoryId": "r.category_id",
    "categoryType": "r.category_type",
    "walletId": "r.wallet_id",
    "toWalletId": "r.to_wallet_id",
    "memo": "r.memo",
}
_LOOK = {"icon": "r.icon", "color": "r.color"}
_ORDER = {"sortOrder": "r.sort_order"}
# Names beside ids, sums, and what stands beside the data.
_COMPUTED = {
    *("id", "category", "wallet", "toWallet", "tags", "lines", "refunded", "version"),
    *UNSURE_FIELDS,
}


def _select_lines(table: str, owner: str, more: str = "") -> str:
    return f"""ARRAY(
        SELECT json_build_object(
            'id', l.id, 'amount', l.amount, 'categoryId', l.category_id,
            'categoryType', l.category_type, 'walletId', l.wallet_id, 'memo', l.memo
            {more}
        ) FROM {table} l
        WHERE l.member_id = %(member)s AND l.{owner} = r.id ORDER BY l.position
    )"""  # noqa: S608 - constants


def _select_tags(table: str, owner: str) -> str:
    return f"""ARRAY(
        SELECT link.tag_id FROM {table} link
        WHERE link.member_id = %(member)s AND link.{owner} = r.id
        ORDER BY link.position
    )"""  # noqa: S608 - constants


_ENTRY = {
    name: re.sub(r"\be\.", "r.", sql)
    for name, sql in (FIELDS | LAST_FIELDS).items()
    if name not in _COMPUTED
} | {
    "installmentParts": "r.installment_parts",
    "lines": "CASE WHEN r.line_count > 0 THEN "
    + _select_lines("account_entry_line", "entry_id", ", 'refundOf', l.refund_of_id")
    + " ELSE '{}' END",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of row; SQL is over the row `r`."""

    name: RowKind
    table: str
    fields: Mapping[str, str]
    # Open to premium members alone.
    is_paid: bool = False
    id: str = "r.id"
    version: str = "r.version"


KINDS = (
    Kind(
        RowKind.WALLET,
        "account",
        {
            "name": "r.name",
            "kind": "r.kind",
            "institution": "r.institution",
            # Encrypted here.
            "accountNumber": "r.account_number",
            "openingBalance": "r.opening_balance",
            "manualValuation": "r.manual_valuation",
            "archived": "r.archived",
            "memo": "r.memo",
            **_LOOK,
            **_ORDER,
        },
    ),
    Kind(
        RowKind.CATEGORY,
        "account_category",
        {
            "name": "r.name",
            "type": "r.type",
            "parentId": "r.parent_id",
            **_LOOK,
            **_ORDER,
        },
    ),
    Kind(RowKind.TAG, "account_tag", {"name": "r.name", **_LOOK, **_ORDER}),
    Kind(RowKind.ENTRY, "account_entry", _ENTRY),
    Kind(
        RowKind.QUICK_ENTRY,
        "account_quick_entry",
        {
            "name": "r.name",
            **_SHAPE,
            "lines": _select_lines("account_quick_entry_line", "quick_entry_id"),
            "tagIds": _select_tags("account_quick_entry_tag", "quick_entry_id"),
            **_ORDER,
        },
    ),
    Kind(
        RowKind.RECURRING,
        "account_recurring",
        {
            "name": "r.name",
            **_SHAPE,
            "lines": _select_lines("account_recurring_line", "rule_id"),
            "tagIds": _select_tags("account_recurring_tag", "rule_id"),
            "frequency": "r.frequency",
            "interval": "r.interval",
            "anchorDate": "r.anchor_date",
            "endDate": "r.end_date",
            "nextDate": "r.next_date",
            "active": "r.active",
        },
        is_paid=True,
    ),
    Kind(
        RowKind.BUDGET,
        "account_budget",
        {
            "categoryId": "r.category_id",
            "year": "r.year",
            "month": "r.month",
            "amount": "r.amount",
        },
        is_paid=True,
    ),
    Kind(
        RowKind.BUDGET_INCOME,
        "account_budget_income",
        {"year": "r.year", "month": "r.month", "amount": "r.amount"},
        is_paid=True,
    ),
    Kind(
        RowKind.STOCK,
        "invest_stock",
        {"code": "r.code", "name": "r.name", "market": "r.market", **_ORDER},
        is_paid=True,
    ),
    Kind(
        RowKind.TRADE,
        "invest_trade",
        {
            "stockId": "r.stock_id",
            "side": "r.side",
            "date": "r.date",
            "quantity": "trim_scale(r.quantity)",
            "price": "r.price",
            "fee": "r.fee",
            "tax": "r.tax",
            "memo": "r.memo",
        },
        is_paid=True,
    ),
    Kind(
        RowKind.VALUATION,
        "account_valuation",
        {"walletId": "r.wallet_id", "date": "r.date", "value": "r.value"},
    ),
    Kind(
        RowKind.CARD,
        "account_card",
        {
            "walletId": "r.id",
            "terms": "r.terms",
            "payFromWalletId": "r.pay_from_wallet_id",
            "autoPay": "r.auto_pay",
            "creditLimit": "r.credit_limit",
            "billedWithId": "r.billed_with_id",
            "targets": "r.targets",
            "targetExcludes": """json_build_object(
                'categoryIds', r.excluded_category_ids,
                'tagIds', r.excluded_tag_ids, 'installments', r.excludes_installments
            )""",
        },
    ),
    Kind(
        RowKind.BILL,
        "account_card_bill",
        {
            "walletId": "r.card_id",
            "month": "to_char(r.month, 'YYYY-MM')",
            "periodEnd": "r.period_end",
            "paymentDate": "r.payment_date",
            "amount": "r.amount",
        },
        is_paid=True,
    ),
    Kind(
        RowKind.SETTINGS,
        "account_ledger",
        {"captureBankTexts": "r.captures_bank_texts"},
        # A ledger has one row of them.
        id="0::bigint",
        version="r.settings_version",
    ),
)


def list_kinds(*, is_paid: bool) -> tuple[Kind, ...]:
    """Return the kinds that are open to a member, in the order of their names."""
    kinds = (kind for kind in KINDS if is_paid or not kind.is_paid)
    return tuple(sorted(kinds, key=lambda kind: kind.name.value))
