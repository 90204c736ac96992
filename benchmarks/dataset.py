"""The test data: members with entries, computed from row numbers in SQL.

The entries of members who are loaded together are interleaved in the table, as when
many members write at the same time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

MEMBERS, ENTRIES_PER_MEMBER = 1_000, 1_000
LARGE_MEMBER_SIZES = (1_000, 10_000, 100_000, 400_000)
MONTH_FILTER = {"year": 2024, "month": 3}
MINORS, INCOME_MINORS, WALLETS, TAGS = 40, 10, 5, 12
# Ids of a member's wallets, categories and tags begin at this multiple of its id.
IDS_PER_MEMBER = 100
# Requests create rows with later ids.
FIRST_FREE_ID = 1_000_000_000

# Two major categories of income and six of expenses, then the minor ones.
ADD_WALLETS_CATEGORIES_AND_TAGS = """
    INSERT INTO account (id, member_id, name, kind, institution, account_number,
        opening_balance, manual_valuation, archived, memo, sort_order)
    SELECT m * 100 + n, m, 'Wallet ' || n, 'BANK', '', '', 100000 * n, false, false,
        '', n
    FROM unnest(%(members)s::bigint[]) m, generate_series(0, 4) n;
    INSERT INTO account_category (id, member_id, type, name, parent_id, sort_order)
    SELECT m * 100 + n, m, CASE WHEN n < 2 THEN 'income' ELSE 'expense' END,
        'Major ' || n, NULL, n
    FROM unnest(%(members)s::bigint[]) m, generate_series(0, 7) n
    UNION ALL
    SELECT m * 100 + 8 + n, m, CASE WHEN n < 10 THEN 'income' ELSE 'expense' END,
        'Minor ' || n, m * 100 + CASE WHEN n < 10 THEN n %% 2 ELSE 2 + n %% 6 END, n
    FROM unnest(%(members)s::bigint[]) m, generate_series(0, 39) n;
    INSERT INTO account_tag (id, member_id, name, sort_order)
    SELECT m * 100 + n, m, 'tag ' || n, n
    FROM unnest(%(members)s::bigint[]) m, generate_series(0, 11) n;
"""
# Every tenth entry is an income, every third has two tags, every 200th is pending. With
# lines, 10 % are transfers, 10 % are split, and 5 % are refunds of the expense before
# them.
ADD_ENTRIES = """
    WITH numbers AS (
        SELECT m AS member, number, m * 100 AS first, CASE
            WHEN number %% 10 = 0 THEN 'income'
            WHEN NOT %(has_lines)s THEN 'expense'
            WHEN number %% 20 IN (1, 11) THEN 'transfer'
            WHEN number %% 20 IN (5, 15) THEN 'split'
            WHEN number %% 20 = 18 THEN 'refund'
            ELSE 'expense' END AS kind
        FROM generate_series(0, %(count)s - 1) number, unnest(%(members)s::bigint[]) m
    ), entries AS (
        INSERT INTO account_entry (member_id, date, type, amount, category_id,
            wallet_id, to_wallet_id, is_reversal, line_count, memo, pending,
            created_at, updated_at)
        SELECT member, DATE '2021-11-01' + (number::bigint * 1826 / %(count)s)::int,
            CASE kind WHEN 'split' THEN 'expense' WHEN 'refund' THEN 'income'
                ELSE kind END,
            1000 + number::bigint * 7919 %% 99000,
            CASE WHEN kind IN ('transfer', 'split') THEN NULL
                WHEN kind = 'income' THEN first + 8 + number / 10 %% 10
                ELSE first + 18 + number::bigint * 7 %% 30 END,
            first + number %% 5,
            CASE kind WHEN 'transfer' THEN first + (number + 1) %% 5 END,
            kind = 'refund', CASE kind WHEN 'split' THEN 3 ELSE 0 END,
            (ARRAY['lunch', 'market', 'bus', 'coffee', 'rent', 'pharmacy', 'book',
                'cinema', 'salary', 'gift', 'fuel', 'dinner', 'phone', 'shoes',
                'bakery', 'train'])[1 + number %% 16] || ' ' || number %% 997,
            kind = 'expense' AND number %% 200 = 199,
            '2026-11-01 00:00:00+00', '2026-11-01 00:00:00+00'
        FROM numbers ORDER BY number, member
        RETURNING id, member_id, amount, wallet_id, line_count
    ), lines AS (
        INSERT INTO account_entry_line (member_id, entry_id, position, amount,
            category_id, category_type, wallet_id, memo)
        SELECT member_id, id, position,
            CASE position WHEN 0 THEN amount - 600 ELSE 300 END,
            CASE WHEN position < 2
                THEN member_id * 100 + 18 + (id + position) %% 30 END,
            'expense',
            CASE position WHEN 2
                THEN member_id * 100 + (wallet_id - member_id * 100 + 2) %% 5 END,
            ''
        FROM entries, generate_series(0, 2) position WHERE line_count = 3
    )
    INSERT INTO account_entry_tag (entry_id, tag_id, member_id, position)
    SELECT id, member_id * 100 + (id + 5 * position) %% 12, member_id, position
    FROM entries, generate_series(0, 1) position WHERE position = 0 OR id %% 3 = 0;
    -- Members with lines are loaded one by one: their ids are consecutive.
    UPDATE account_entry SET refund_of_id = id - 1
    WHERE is_reversal AND member_id = ANY(%(members)s);
"""


@dataclass(frozen=True)
class DatasetSpec:
    """Typical members with so many entries each, and a large one of each size."""

    members: int
    entries_per_member: int
    sizes: tuple[int, ...]
    scale: float = 1.0

    @classmethod
    def scaled(cls, scale: float) -> "DatasetSpec":
        sizes = tuple(max(100, int(size * scale)) for size in LARGE_MEMBER_SIZES)
        return cls(max(20, int(MEMBERS * scale)), ENTRIES_PER_MEMBER, sizes, scale)

    @property
    def typical_member(self) -> int:
        return self.members // 2

    @property
    def large_members(self) -> dict[int, int]:
        """Large members with their numbers of entries."""
        return dict(enumerate(self.sizes, start=self.members + 1))

    @property
    def large_size(self) -> int:
        """Most ratios are measured at the second largest size."""
        return self.sizes[-2]

    def large_member(self, index: int = -2) -> int:
        return list(self.large_members)[index]

    @property
    def all_members(self) -> range:
        return range(1, self.members + len(self.sizes) + 1)


def load_members(
    connection: psycopg.Connection,
    members: Sequence[int],
    entries: int,
    *,
    has_lines: bool = False,
) -> None:
    """Load entries of members who have no data yet, without totals.

    Checking each foreign key would be slow.
    """
    values = {"members": list(members), "count": entries, "has_lines": has_lines}
    connection.execute("SET LOCAL session_replication_role = replica")
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(ADD_WALLETS_CATEGORIES_AND_TAGS, values)
    cursor.execute(ADD_ENTRIES, values)
    for table in ("account", "account_category", "account_tag"):
        # Never back: requests may have created rows before.
        sequence = f"pg_get_serial_sequence('{table}', 'id')"
        free_id = f"greatest({FIRST_FREE_ID}, nextval({sequence}))"
        connection.execute(f"SELECT setval({sequence}, {free_id})")


def vacuum_and_checkpoint(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
