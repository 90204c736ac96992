"""Small ledgers of the other members of the demo."""

from collections.abc import Sequence
from datetime import date, datetime
from random import Random

from ledger.backup.columns import Backup, CategoryRow, EntryRow
from ledger.backup.ledger_writer import LedgerWriter
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.demo.written import set_written_times
from ledger.models.base import CategoryType
from ledger.models.entries import EntrySource
from ledger.rollups.definitions import bulk_write

# Category, merchant and mean amount.
PURCHASES = (
    ("식료품", "동네마트", 31_000),
    ("외식", "김밥천국", 11_000),
    ("카페/간식", "메가커피", 4_800),
    ("대중교통", "티머니 충전", 20_000),
    ("생활용품", "다이소", 9_000),
)
MAX_ENTRIES_A_DAY = 3
# Of ten entries, by the texts of a card company.
BY_NOTIFICATION = 6


@ledger_write
def create_small_ledger(
    ledger: LockedLedger, days: Sequence[date], now: datetime, rng: Random
) -> int:
    """Write some entries on each of the days; return their number."""
    entries = [
        _make_entry(day, rng)
        for day in days
        for _ in range(rng.randint(1, MAX_ENTRIES_A_DAY))
    ]
    backup = Backup(
        entries=entries,
        categories=[
            CategoryRow(type=CategoryType.EXPENSE, name=name)
            for name in sorted({entry.category or "" for entry in entries})
        ],
    )
    with bulk_write(ledger):
        LedgerWriter(ledger.member, now).write(backup)
    set_written_times(ledger.member, now)
    return len(entries)


def _make_entry(day: date, rng: Random) -> EntryRow:
    category, merchant, amount = rng.choice(PURCHASES)
    is_notified = rng.randrange(10) < BY_NOTIFICATION
    source = EntrySource.NOTIFICATION if is_notified else EntrySource.MANUAL
    return EntryRow(
        date=day,
        type="expense",
        category=category,
        memo=merchant,
        amount=amount * rng.randint(60, 140) // 1000 * 10,
        source=source.value,
    )
