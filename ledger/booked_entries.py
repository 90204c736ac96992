"""Insert the entries of due dates, with the lines of their rules."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from django.db import connection

from ledger.models import RecurringRule

# Entries of rules with lines count only with their lines.
_INSERT_ENTRIES = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, wallet_id, memo,
    to_wallet_id, is_reversal, line_count, source, pending, created_at, updated_at)
SELECT %(member)s, date, type, amount, category_id, wallet_id, memo, to_wallet_id,
    is_reversal,
    CASE WHEN EXISTS (
        SELECT FROM account_recurring_line line
        WHERE line.member_id = %(member)s AND line.rule_id = due.rule_id
    ) THEN NULL ELSE 0 END,
    'RECURRING', false, %(now)s, %(now)s
FROM unnest(
    %(rules)s::bigint[], %(dates)s::date[], %(types)s::text[], %(amounts)s::bigint[],
    %(categories)s::bigint[], %(wallets)s::bigint[], %(memos)s::text[],
    %(to_wallets)s::bigint[], %(reversals)s::boolean[]
) AS due (rule_id, date, type, amount, category_id, wallet_id, memo, to_wallet_id,
    is_reversal)
RETURNING id, line_count
"""
_INSERT_LINES = """
INSERT INTO account_entry_line (member_id, entry_id, position, amount, category_id,
    category_type, wallet_id, memo)
SELECT line.member_id, due.entry_id, line.position, line.amount, line.category_id,
    line.category_type, line.wallet_id, line.memo
FROM unnest(%(rules)s::bigint[], %(entries)s::bigint[]) AS due (rule_id, entry_id)
JOIN account_recurring_line line
    ON line.member_id = %(member)s AND line.rule_id = due.rule_id
"""
# With their lines, the entries count.
_BOOK_LINES = """
UPDATE account_entry entry SET line_count = (
    SELECT count(*) FROM account_entry_line line
    WHERE line.member_id = %(member)s AND line.entry_id = entry.id
)
WHERE entry.member_id = %(member)s AND entry.id = ANY(%(entries)s)
"""


def insert_entries(
    booked: Sequence[tuple[RecurringRule, date]], now: datetime
) -> list[int]:
    """Insert the entries of due dates of one member's rules; return their ids.

    Call under `lock_ledger`.
    """
    rules = [rule for rule, _ in booked]
    params: dict[str, Any] = {
        "member": rules[0].member_id,
        "now": now,
        "rules": [rule.pk for rule in rules],
        "dates": [day for _, day in booked],
        "types": [rule.type for rule in rules],
        "amounts": [rule.amount for rule in rules],
        "categories": [rule.category_id for rule in rules],
        "wallets": [rule.wallet_id for rule in rules],
        "memos": [rule.memo for rule in rules],
        "to_wallets": [rule.to_wallet_id for rule in rules],
        "reversals": [rule.is_reversal for rule in rules],
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_ENTRIES, params)
        rows = cursor.fetchall()
        split = [
            (rule.pk, row[0])
            for rule, row in zip(rules, rows, strict=True)
            if row[1] is None
        ]
        if split:
            of_split: dict[str, Any] = {
                "member": rules[0].member_id,
                "rules": [rule_id for rule_id, _ in split],
                "entries": [entry_id for _, entry_id in split],
            }
            cursor.execute(_INSERT_LINES, of_split)
            cursor.execute(_BOOK_LINES, of_split)
    return [int(row[0]) for row in rows]
