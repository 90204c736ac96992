"""Numbers of a member's rows, for staff who may not see the rows."""

from typing import NamedTuple

from core.db.rows import fetch_all
from ledger.models import (
    Budget,
    Category,
    Entry,
    Notification,
    QuickEntry,
    RecurringRule,
    Stock,
    Tag,
    Trade,
    Wallet,
)

COUNTED = {
    "entries": Entry,
    "wallets": Wallet,
    "categories": Category,
    "tags": Tag,
    "quick_entries": QuickEntry,
    "recurring_rules": RecurringRule,
    "budgets": Budget,
    "notifications": Notification,
    "stocks": Stock,
    "trades": Trade,
}
_COUNT = " UNION ALL ".join(
    f"SELECT '{name}' AS name, count(*) AS number "  # noqa: S608
    f"FROM {model._meta.db_table} WHERE member_id = %(member_id)s"
    for name, model in COUNTED.items()
)


class _Count(NamedTuple):
    name: str
    number: int


def count_member_rows(member_id: int) -> dict[str, int]:
    """Return the number of rows of each kind, by one statement."""
    rows = fetch_all(_COUNT, {"member_id": member_id}, _Count)
    return {row.name: row.number for row in rows}
