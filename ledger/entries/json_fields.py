"""The JSON of an entry by field, as SQL over the row `e`."""

from collections.abc import Mapping

from core.api.serializers import to_camel_case
from ledger.entry_shape import COLUMNS

# The JSON of an entry by field (spec 3.4), built by PostgreSQL: in Python it takes
# three times as long as all the rest. Names are looked up for the rows of the page
# only. Without an offset, and with the number of rows in its text, the statement is
# planned once (decision 0057).
_WALLET = """(
    SELECT row_to_json(found) FROM (
        SELECT w.id, w.name FROM account w
        WHERE w.member_id = %(member)s AND w.id = {id}
    ) found
)"""
_NAMED_FIELDS = {
    "id": "e.id",
    "date": "e.date",
    "type": "e.type",
    "amount": "e.amount",
    "category": """(
        SELECT c.name FROM account_category c
        WHERE c.member_id = %(member)s AND c.id = e.category_id
    )""",
    "walletId": "e.wallet_id",
    "wallet": _WALLET.format(id="e.wallet_id"),
    "toWalletId": "e.to_wallet_id",
    "toWallet": "CASE WHEN e.to_wallet_id IS NOT NULL THEN"
    f" {_WALLET.format(id='e.to_wallet_id')} END",
    "categoryId": "e.category_id",
    "categoryType": "e.category_type",
    "memo": "e.memo",
    "lines": """CASE WHEN e.line_count > 0 THEN (
        SELECT json_agg(json_build_object(
            'id', l.id, 'amount', l.amount, 'category', c.name,
            'categoryId', l.category_id, 'categoryType', l.category_type,
            'walletId', l.wallet_id,
            'wallet', CASE WHEN w.id IS NOT NULL
                THEN json_build_object('id', w.id, 'name', w.name) END,
            'memo', l.memo,
            'refundOf', coalesce(l.refund_of_id, CASE
                WHEN l.wallet_id IS NULL AND l.amount > 0 THEN e.refund_of_id
            END)
        ) ORDER BY l.position)
        FROM account_entry_line l
        LEFT JOIN account_category c
            ON c.member_id = l.member_id AND c.id = l.category_id
        LEFT JOIN account w ON w.member_id = l.member_id AND w.id = l.wallet_id
        WHERE l.member_id = %(member)s AND l.entry_id = e.id
    ) ELSE '[]' END""",
    "tags": """ARRAY(
        SELECT tag.name FROM account_entry_tag link JOIN account_tag tag
            ON tag.member_id = link.member_id AND tag.id = link.tag_id
        WHERE link.member_id = %(member)s AND link.entry_id = e.id
        ORDER BY link.position
    )""",
    "tagIds": """ARRAY(
        SELECT link.tag_id FROM account_entry_tag link
        WHERE link.member_id = %(member)s AND link.entry_id = e.id
        ORDER BY link.position
    )""",
    "currency": "e.currency",
    "originalAmount": "trim_scale(e.original_amount)",
    "exchangeRate": "trim_scale(e.exchange_rate)",
    "installmentMonths": "e.installment_months",
    "billMonth": "to_char(e.bill_month, 'YYYY-MM')",
    "refundOf": "e.refund_of_id",
    "refunded": """CASE WHEN e.type = 'expense' THEN (
        SELECT coalesce(sum(r.amount), 0) FROM account_entry r
        WHERE r.member_id = %(member)s AND r.refund_of_id = e.id AND NOT r.pending
    ) + (
        SELECT coalesce(sum(l.amount), 0) FROM account_entry_line l
        JOIN account_entry r ON r.member_id = l.member_id AND r.id = l.entry_id
        WHERE l.member_id = %(member)s AND l.refund_of_id = e.id AND NOT r.pending
    ) END""",
    "time": "to_char(e.time, 'HH24:MI')",
    "excluded": "e.excluded",
    "source": "e.source",
    "clientId": "e.client_id",
}
# Parts have an answer of their own.
_NOT_SHOWN = {"installment_parts"}
# Fields of the shape that are stored as they are.
FIELDS = _NAMED_FIELDS | {
    to_camel_case(name): f"e.{column}"
    for name, column in COLUMNS.items()
    if to_camel_case(name) not in _NAMED_FIELDS
    and name == column
    and name not in _NOT_SHOWN
}
_DOUBTS = """CASE WHEN e.pending AND e.source = 'NOTIFICATION' THEN (
    SELECT n.doubts -> '{part}' FROM account_notification n
    WHERE n.member_id = %(member)s AND n.entry_id = e.id
        AND NOT n.is_confirmed AND n.doubts -> 'unsure' IS NOT NULL
    ORDER BY n.id LIMIT 1
) END"""
# Present in entries that a person should look at, and left out of all others.
UNSURE_FIELDS = {
    name: _DOUBTS.format(part=name) for name in ("unsure", "doubts", "candidates")
}
LAST_FIELDS = {
    "merged": """e.type = 'transfer' AND EXISTS (
        SELECT FROM account_merged_entry m
        WHERE m.member_id = %(member)s AND m.entry_id = e.id
    )""",
    "pending": "e.pending",
    **UNSURE_FIELDS,
    "createdAt": "e.created_at",
    "updatedAt": "e.updated_at",
    "version": "e.version",
}


_NOT_UNSURE = ",".join(f'"{name}":null' for name in UNSURE_FIELDS)
# A quote within a value has a backslash before it: only the fields are cut out.
ENTRY_TEXT = f"replace(row_to_json(entry)::text, ',{_NOT_UNSURE}', '')"


def select_fields(fields: Mapping[str, str]) -> str:
    return ", ".join(f'{sql} AS "{name}"' for name, sql in fields.items())
