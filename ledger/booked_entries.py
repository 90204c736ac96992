"""Insert the entries of due dates, with the lines of their rules."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from django.db import connection

from ledger.models import RecurringRule

_INSERT_ENTRIES = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, wallet_id, memo,
    to_wallet_id, is_reversal, line_count, source, pending, created_at, updated_at)
SELECT %s, date, type, amount, category_id, wallet_id, memo, to_wallet_id, is_reversal,
    line_count, 'RECURRING', false, %s, %s
FROM unnest(
    %s::date[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[],
    %s::bigint[], %s::boolean[], %s::smallint[]
) AS due (date, type, amount, category_id, wallet_id, memo, to_wallet_id, is_reversal,
    line_count)
RETURNING id
"""
# Rules that are neither for one category nor for one other wallet.
_READ_SPLIT_RULES = """
SELECT rule_id, count(*) FROM account_recurring_line
WHERE member_id = %s AND rule_id = ANY(%s) GROUP BY rule_id
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
UPDATE account_entry entry SET line_count = due.line_count
FROM unnest(%(entries)s::bigint[], %(counts)s::smallint[]) AS due (entry_id, line_count)
WHERE entry.member_id = %(member)s AND entry.id = due.entry_id
"""


def insert_entries(
    booked: Sequence[tuple[RecurringRule, date]], now: datetime
) -> list[int]:
    """Insert the entries of due dates of one member's rules; return their ids.

    Call under `lock_ledger`.
    """
    rules = [rule for rule, _ in booked]
    owner_id = rules[0].member_id
    with connection.cursor() as cursor:
        cursor.execute(_READ_SPLIT_RULES, [owner_id, [rule.pk for rule in rules]])
        line_counts: dict[int, int] = dict(cursor.fetchall())
        cursor.execute(
            _INSERT_ENTRIES,
            [
                *(owner_id, now, now),
                [day for _, day in booked],
                [rule.type for rule in rules],
                [rule.amount for rule in rules],
                [rule.category_id for rule in rules],
                [rule.wallet_id for rule in rules],
                [rule.memo for rule in rules],
                [rule.to_wallet_id for rule in rules],
                [rule.is_reversal for rule in rules],
                # They count only with their lines.
                [None if rule.pk in line_counts else 0 for rule in rules],
            ],
        )
        entry_ids = [int(row[0]) for row in cursor.fetchall()]
        if line_counts:
            split = [
                (rule.pk, entry_id)
                for rule, entry_id in zip(rules, entry_ids, strict=True)
                if rule.pk in line_counts
            ]
            params: dict[str, Any] = {
                "member": owner_id,
                "rules": [rule_id for rule_id, _ in split],
                "entries": [entry_id for _, entry_id in split],
                "counts": [line_counts[rule_id] for rule_id, _ in split],
            }
            cursor.execute(_INSERT_LINES, params)
            cursor.execute(_BOOK_LINES, params)
    return entry_ids
