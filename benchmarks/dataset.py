"""The members and their entries: functions of row numbers, written with COPY.

Five years of entries, 40 minor categories under 8 major ones, 5 wallets, 12 tags,
one or two tags on every entry. The many members' entries lie mixed in the table, as
they do when many members write at once.
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
    """How much there is: `members` with `each` entries, and one of each of `sizes`."""

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
        """One of the many members, from the middle of the table."""
        return self.members // 2

    def large_member(self, position: int) -> int:
        return self.members + 1 + position

    @property
    def all_members(self) -> range:
        return range(1, self.members + len(self.sizes) + 1)


def load_dataset(address: str, shape: DatasetSpec) -> None:
    """Everything of `shape`, into empty tables."""
    with psycopg.connect(address) as connection:
        add_wallets_categories_and_tags(connection, shape.all_members)
        add_entries(connection, range(1, shape.members + 1), shape.entries_per_member)
        for position, size in enumerate(shape.sizes):
            add_entries(connection, [shape.large_member(position)], size)
    vacuum_and_checkpoint(address)


def load_single_member(address: str, member: int, entries: int) -> None:
    """The same member, with nobody else in the tables."""
    with psycopg.connect(address) as connection:
        add_wallets_categories_and_tags(connection, [member])
        add_entries(connection, [member], entries)
    vacuum_and_checkpoint(address)


def vacuum_and_checkpoint(address: str) -> None:
    """Leave no work of the load for the time of the measurements."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def add_wallets_categories_and_tags(
    connection: psycopg.Connection, members: Sequence[int]
) -> None:
    """Wallets, categories and tags of members that are there."""
    copy_rows(
        connection,
        "account (id, member_id, name, kind, institution, account_number,"
        " opening_balance, manual_valuation, archived, memo, sort_order)",
        (
            (
                *(
                    m * IDS_PER_MEMBER + w,
                    m,
                    f"Wallet {w}",
                    "BANK",
                    "",
                    "",
                    100_000 * w,
                ),
                *("false", "false", "", w),
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
    """Six major categories of expenses and two of income, then the minor ones."""
    first = member * IDS_PER_MEMBER
    for major in range(MAJORS):
        kind = "income" if major < 2 else "expense"
        yield first + major, member, kind, f"Major {major}", None, major
    for minor in range(MINORS):
        is_income = minor < INCOME_MINORS
        parent = minor % 2 if is_income else 2 + minor % 6
        kind = "income" if is_income else "expense"
        category_id = first + MAJORS + minor
        yield category_id, member, kind, f"Minor {minor}", first + parent, minor


def minor_category_index(number: int) -> int:
    """The minor category of a member's entry; every tenth entry is income."""
    if number % 10 == 0:
        return number // 10 % INCOME_MINORS
    return INCOME_MINORS + number * 7 % (MINORS - INCOME_MINORS)


def add_entries(
    connection: psycopg.Connection, members: Sequence[int], each: int
) -> None:
    """`each` entries for all members, in the order of their days."""
    last = connection.execute("SELECT coalesce(max(id), 0) FROM account_entry")
    first = int((last.fetchone() or (0,))[0]) + 1
    for table in ("account_entry", "account_entry_tag"):
        # Foreign keys hold by construction; the totals' triggers stay on.
        connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    connection.execute(
        "ALTER TABLE account_entry ENABLE TRIGGER account_entry_totals_insert"
    )
    copy_rows(
        connection,
        "account_entry (id, date, type, amount, category_id, wallet_id, member_id,"
        " memo, pending, created_at, updated_at)",
        (line for _, line in list_entries(members, each, first)),
    )
    copy_rows(
        connection,
        "account_entry_tag (entry_id, tag_id, member_id, position)",
        list_tag_links(members, each, first),
    )
    for table in ("account_entry", "account_entry_tag"):
        connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER ALL")
    connection.execute(
        "SELECT setval(pg_get_serial_sequence('account_entry', 'id'),"
        " (SELECT max(id) FROM account_entry))"
    )


def list_entries(
    members: Sequence[int], each: int, first: int
) -> Iterator[tuple[int, CopyRow]]:
    entry_id = first
    for number in range(each):
        day = FIRST_DAY + timedelta(number * DAYS // each)
        kind = "income" if number % 10 == 0 else "expense"
        amount = 1_000 + number * 7_919 % 99_000
        category = MAJORS + minor_category_index(number)
        memo = f"{MEMO_WORDS[number % len(MEMO_WORDS)]} {number % 997}"
        pending = "true" if number % 200 == 199 else "false"
        for m in members:
            first_id = m * IDS_PER_MEMBER
            yield (
                entry_id,
                (
                    *(entry_id, day, kind, amount, first_id + category),
                    *(
                        first_id + number % WALLETS,
                        m,
                        memo,
                        pending,
                        CREATED_AT,
                        CREATED_AT,
                    ),
                ),
            )
            entry_id += 1


def list_tag_links(members: Sequence[int], each: int, first: int) -> Iterator[CopyRow]:
    entry_id = first
    for number in range(each):
        tags = (number % TAGS, (number + 5) % TAGS)[: 1 + (number % 3 == 0)]
        for m in members:
            for position, tag in enumerate(tags):
                yield entry_id, m * IDS_PER_MEMBER + tag, m, position
            entry_id += 1


def copy_rows(
    connection: psycopg.Connection, columns: str, lines: Iterable[CopyRow]
) -> None:
    """COPY of texts in which nothing needs quoting."""
    with connection.cursor().copy(f"COPY {columns} FROM STDIN") as copy:
        for line in lines:
            cells = ("\\N" if cell is None else str(cell) for cell in line)
            copy.write("\t".join(cells) + "\n")
