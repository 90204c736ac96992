"""Entries and templates that name a wallet or category as flat entries do not.

Transfers, split entries, and merged ones: `ledger.parted_moves` moves them.
"""

from collections import defaultdict

from django.db import connection

from ledger.models import Wallet
from ledger.models.base import MovableModel
from ledger.ownership import MAX_ID

# Entries that name the wallet or category elsewhere than a flat entry does.
_ENTRIES_OF_WALLET = """
SELECT entry_id FROM account_entry_line
WHERE member_id = %(member)s AND wallet_id = %(source)s
    AND entry_id > %(after)s AND entry_id <= %(until)s
UNION
SELECT id FROM account_entry
WHERE member_id = %(member)s AND wallet_id = %(source)s
    AND (line_count > 0 OR to_wallet_id IS NOT NULL)
    AND id > %(after)s AND id <= %(until)s
UNION
SELECT id FROM account_entry
WHERE member_id = %(member)s AND to_wallet_id = %(source)s
    AND id > %(after)s AND id <= %(until)s
"""
_ENTRIES_OF_CATEGORY = """
SELECT DISTINCT entry_id FROM account_entry_line
WHERE member_id = %(member)s AND category_id = %(source)s
    AND entry_id > %(after)s AND entry_id <= %(until)s
"""
# The same of all tables, each row with the name of its table.
_ALL_OF_WALLET = f"""
(SELECT 'account_entry', * FROM ({_ENTRIES_OF_WALLET}) entries LIMIT %(limit)s)
UNION ALL
SELECT 'account_quick_entry', t.id FROM account_quick_entry t
WHERE t.member_id = %(member)s AND (
    t.to_wallet_id IS NOT NULL AND %(source)s IN (t.wallet_id, t.to_wallet_id)
    OR EXISTS (
        SELECT FROM account_quick_entry_line l
        WHERE l.member_id = %(member)s AND l.quick_entry_id = t.id
            AND %(source)s IN (l.wallet_id, t.wallet_id)
    )
)
UNION ALL
SELECT 'account_recurring', t.id FROM account_recurring t
WHERE t.member_id = %(member)s AND (
    t.to_wallet_id IS NOT NULL AND %(source)s IN (t.wallet_id, t.to_wallet_id)
    OR EXISTS (
        SELECT FROM account_recurring_line l
        WHERE l.member_id = %(member)s AND l.rule_id = t.id
            AND %(source)s IN (l.wallet_id, t.wallet_id)
    )
)
"""  # noqa: S608 - of constants only
_ALL_OF_CATEGORY = f"""
(SELECT 'account_entry', * FROM ({_ENTRIES_OF_CATEGORY}) entries LIMIT %(limit)s)
UNION ALL
SELECT DISTINCT 'account_quick_entry', quick_entry_id FROM account_quick_entry_line
WHERE member_id = %(member)s AND category_id = %(source)s
UNION ALL
SELECT DISTINCT 'account_recurring', rule_id FROM account_recurring_line
WHERE member_id = %(member)s AND category_id = %(source)s
UNION ALL
SELECT DISTINCT 'account_merged_entry', entry_id FROM account_merged_entry
WHERE member_id = %(member)s AND category_id = %(source)s
"""  # noqa: S608 - of constants only


def list_parted_ids(source: MovableModel, after: int, until: int) -> list[int]:
    """Return the transfers and split entries of a wallet or category, in order.

    Those with ids in a range of which `after` is excluded, `until` included.
    """
    statement = _ENTRIES_OF_CATEGORY
    if isinstance(source, Wallet):
        statement = _ENTRIES_OF_WALLET
    params = {"member": source.member_id, "source": source.pk}
    with connection.cursor() as cursor:
        cursor.execute(statement, params | {"after": after, "until": until})
        return sorted(row[0] for row in cursor.fetchall())


def list_parted_rows(source: MovableModel, limit: int) -> dict[str, list[int]]:
    """Return what is moved one by one, as ids by table; at most `limit` entries."""
    statement = _ALL_OF_WALLET if isinstance(source, Wallet) else _ALL_OF_CATEGORY
    params = {"member": source.member_id, "source": source.pk, "limit": limit}
    parted: dict[str, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(statement, params | {"after": 0, "until": MAX_ID})
        for table, row_id in cursor.fetchall():
            parted[table].append(row_id)
    return parted
