"""The test data: members with entries, computed from row numbers, loaded with COPY.

Each member has five years of entries, 40 minor categories under 8 major ones, 5 wallets
and 12 tags, one or two of them on every entry. The entries of the typical members are
interleaved in the table, as when many members write at the same time.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import psycopg

MEMBERS, ENTRIES_PER_MEMBER = 1_000, 1_000
LARGE_MEMBER_SIZES = (1_000, 10_000, 100_000, 1_000_000)
FIRST_DAY, DAYS = date(2021, 11, 1), 1_826
MONTH_FILTER = {"year": 2024, "month": 3}
MAJORS, MINORS, INCOME_MINORS = 8, 40, 10
WALLETS, TAGS, IDS_PER_MEMBER = 5, 12, 100
MEMO_WORDS = (
    *("lunch", "market", "bus", "coffee", "rent", "pharmacy", "book", "cinema"),
    *("salary", "gift", "fuel", "dinner", "phone", "shoes", "bakery", "train"),
)
CREATED_AT = "2026-11-01 00:00:00+00"

CopyRow = Iterable[object]


@dataclass(frozen=True)
class DatasetSpec:
    """The amount of data: typical members, and one large member of each size.

    There are `members` typical members with `entries_per_member` entries each. `sizes`
    are the numbers of entries of the large members, smallest first.
    """

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
        """Return a typical member from the middle of the table."""
        return self.members // 2

    def large_member(self, index: int) -> int:
        """Return the member with `sizes[index]` entries."""
        return self.members + 1 + index

    @property
    def all_members(self) -> range:
        return range(1, self.members + len(self.sizes) + 1)


def load_dataset(url: str, spec: DatasetSpec) -> None:
    """Load wallets, categories, tags and entries of all members into empty tables.

    `check_totals --repair` has to compute the rollups afterwards.
    """
    with psycopg.connect(url) as connection:
        add_wallets_categories_and_tags(connection, spec.all_members)
        add_entries(connection, range(1, spec.members + 1), spec.entries_per_member)
        for index, size in enumerate(spec.sizes):
            add_entries(connection, [spec.large_member(index)], size)
    vacuum_and_checkpoint(url)


def load_single_member(url: str, member: int, entries: int) -> None:
    """Load the data of one typical member; the rollups come afterwards here too."""
    with psycopg.connect(url) as connection:
        add_wallets_categories_and_tags(connection, [member])
        add_entries(connection, [member], entries)
    vacuum_and_checkpoint(url)


def vacuum_and_checkpoint(url: str) -> None:
    """Do the cleanup after the load now, so that it does not disturb measurements."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def add_wallets_categories_and_tags(
    connection: psycopg.Connection, members: Sequence[int]
) -> None:
    """Load wallets, categories and tags of existing members."""
    copy_rows(
        connection,
        "account (id, member_id, name, kind, institution, account_number,"
        " opening_balance, manual_valuation, archived, memo, sort_order)",
        (
            (
                *(m * IDS_PER_MEMBER + w, m, f"Wallet {w}", "BANK", "", ""),
                *(100_000 * w, "false", "false", "", w),
            )
            for m in members
            for w in range(WALLETS)
        ),
    )
    copy_rows(
        connection,
        "account_category (id, member_id, type, name, parent_id, sort_order)",
        (category for m in members for category in list_categories(m)),
    )
    copy_rows(
        connection,
        "account_tag (id, member_id, name, sort_order)",
        (
            (m * IDS_PER_MEMBER + t, m, f"tag {t}", t)
            for m in members
            for t in range(TAGS)
        ),
    )


def list_categories(member: int) -> Iterator[CopyRow]:
    """Yield 2 major categories of income and 6 of expenses, then the minor ones."""
    first = member * IDS_PER_MEMBER
    for major in range(MAJORS):
        category_type = "income" if major < 2 else "expense"
        yield first + major, member, category_type, f"Major {major}", None, major
    for minor in range(MINORS):
        is_income = minor < INCOME_MINORS
        parent = minor % 2 if is_income else 2 + minor % 6
        category_type = "income" if is_income else "expense"
        category_id = first + MAJORS + minor
        yield (
            category_id,
            member,
            category_type,
            f"Minor {minor}",
            first + parent,
            minor,
        )


def minor_category_index(number: int) -> int:
    """Return the minor category of an entry of a member; every tenth is income."""
    if number % 10 == 0:
        return number // 10 % INCOME_MINORS
    return INCOME_MINORS + number * 7 % (MINORS - INCOME_MINORS)


def add_entries(
    connection: psycopg.Connection, members: Sequence[int], entries_per_member: int
) -> None:
    """Load `entries_per_member` entries of each of the members, ordered by date."""
    cursor = connection.execute("SELECT coalesce(max(id), 0) FROM account_entry")
    first_id = int((cursor.fetchone() or (0,))[0]) + 1
    for table in ("account_entry", "account_entry_tag"):
        # The rows satisfy their foreign keys; checking each of them would be slow.
        connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    copy_rows(
        connection,
        "account_entry (id, date, type, amount, category_id, wallet_id, member_id,"
        " memo, pending, created_at, updated_at)",
        list_entries(members, entries_per_member, first_id),
    )
    copy_rows(
        connection,
        "account_entry_tag (entry_id, tag_id, member_id, position)",
        list_tag_links(members, entries_per_member, first_id),
    )
    for table in ("account_entry", "account_entry_tag"):
        connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")
    connection.execute(
        "SELECT setval(pg_get_serial_sequence('account_entry', 'id'),"
        " (SELECT max(id) FROM account_entry))"
    )


def list_entries(
    members: Sequence[int], entries_per_member: int, first_id: int
) -> Iterator[CopyRow]:
    """Yield the entries by date, with the members interleaved."""
    entry_id = first_id
    for number in range(entries_per_member):
        day = FIRST_DAY + timedelta(number * DAYS // entries_per_member)
        entry_type = "income" if number % 10 == 0 else "expense"
        amount = 1_000 + number * 7_919 % 99_000
        category = MAJORS + minor_category_index(number)
        memo = f"{MEMO_WORDS[number % len(MEMO_WORDS)]} {number % 997}"
        pending = "true" if number % 200 == 199 else "false"
        for m in members:
            category_id = m * IDS_PER_MEMBER + category
            wallet_id = m * IDS_PER_MEMBER + number % WALLETS
            yield (
                *(entry_id, day, entry_type, amount, category_id, wallet_id, m),
                *(memo, pending, CREATED_AT, CREATED_AT),
            )
            entry_id += 1


def list_tag_links(
    members: Sequence[int], entries_per_member: int, first_id: int
) -> Iterator[CopyRow]:
    """Yield the tags of the entries; every third entry has two of them."""
    entry_id = first_id
    for number in range(entries_per_member):
        tags = (number % TAGS, (number + 5) % TAGS)[: 1 + (number % 3 == 0)]
        for m in members:
            for position, tag in enumerate(tags):
                yield entry_id, m * IDS_PER_MEMBER + tag, m, position
            entry_id += 1


def copy_rows(
    connection: psycopg.Connection, columns: str, rows: Iterable[CopyRow]
) -> None:
    """Load rows with COPY; `columns` is the table with its columns in parentheses.

    Values are not escaped, so they must not contain tabs, newlines or backslashes.
    """
    with connection.cursor().copy(f"COPY {columns} FROM STDIN") as copy:
        for row in rows:
            values = ("\\N" if value is None else str(value) for value in row)
            copy.write("\t".join(values) + "\n")
