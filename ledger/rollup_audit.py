"""The ledger's rollups: totals of entries that triggers maintain."""

from core.db.rollup_audit import Rollup

_MONTH = "date - (extract(day FROM date)::int - 1)"
_NORMALIZED_MEMO = "translate(lower(memo), E' \\t\\n\\u00a0\\u3000', '')"
_SIGNED_AMOUNT = "CASE type WHEN 'income' THEN amount ELSE -amount END"
# Rows of 0 entries are left over from deletions and mean the same as none.
_IN_USE = "entry_count <> 0"

ROLLUPS = (
    Rollup(
        "account_ledger_total",
        ("member_id",),
        ("entry_count", "pending_count"),
        "SELECT member_id, count(*), count(*) FILTER (WHERE pending)"
        " FROM account_entry GROUP BY 1",
        condition=_IN_USE,
    ),
    Rollup(
        "account_month_total",
        ("member_id", "month", "type", "pending"),
        ("amount", "entry_count"),
        f"SELECT member_id, {_MONTH} AS month, type, pending, sum(amount), count(*)"
        " FROM account_entry GROUP BY 1, 2, 3, 4",
        condition=_IN_USE,
    ),
    Rollup(
        "account_entry_total",
        ("member_id", "month", "type", "pending", "category_id", "wallet_id"),
        ("amount", "entry_count"),
        f"SELECT member_id, {_MONTH} AS month, type, pending, category_id, wallet_id,"
        " sum(amount), count(*) FROM account_entry GROUP BY 1, 2, 3, 4, 5, 6",
        condition=_IN_USE,
    ),
    Rollup(
        "account_day_total",
        ("member_id", "date", "type", "pending", "wallet_id"),
        ("amount", "entry_count"),
        "SELECT member_id, date, type, pending, wallet_id, sum(amount), count(*)"
        " FROM account_entry GROUP BY 1, 2, 3, 4, 5",
        condition=_IN_USE,
    ),
    Rollup(
        "account_tag_total",
        ("member_id", "month", "tag_id", "type"),
        ("amount", "entry_count"),
        f"SELECT e.member_id, {_MONTH} AS month, l.tag_id, type, sum(amount), count(*)"
        " FROM account_entry e JOIN account_entry_tag l ON l.entry_id = e.id"
        " WHERE NOT pending GROUP BY 1, 2, 3, 4",
        condition=_IN_USE,
    ),
    Rollup(
        "account_memo_total",
        ("member_id", "type", "memo", "category_id"),
        ("entry_count",),
        f"SELECT member_id, type, {_NORMALIZED_MEMO} AS memo, category_id, count(*)"
        " FROM account_entry WHERE NOT pending AND category_id IS NOT NULL"
        f" AND {_NORMALIZED_MEMO} <> '' GROUP BY 1, 2, 3, 4",
        condition=_IN_USE,
    ),
    Rollup(
        "account_wallet_total",
        ("wallet_id",),
        ("member_id", "balance", "entry_count"),
        "SELECT wallet_id, member_id,"
        f" coalesce(sum({_SIGNED_AMOUNT}) FILTER (WHERE NOT pending), 0), count(*)"
        " FROM account_entry WHERE wallet_id IS NOT NULL GROUP BY 1, 2",
        condition=_IN_USE,
    ),
)
# Writers of entries and of their tags wait while the rollups are rebuilt.
LOCKED_TABLES = ("account_entry", "account_entry_tag")
