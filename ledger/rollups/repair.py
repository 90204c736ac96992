"""Check and repair of the rollups while members read and write.

Triggers change the stored and the right value by the same amount: their difference
stays. It is computed from one snapshot, without locks, and added afterwards, unless the
version of the rollups has changed: `ledger.rollups.definitions` sets values.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import NamedTuple

from django.db import connection, transaction

from accounts.models import Member
from core.db.rows import fetch_all, prepared_cursor
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.models import Ledger
from ledger.rollups.definitions import OF_MEMBER, ROLLUPS

# Rows of one statement and transaction, for which writers wait.
CHUNK_SIZE = 2_000
BATCH_SIZE, SHARE_SIZE = 1_000, 20

_WRONG_ROWS = """
    SELECT '{table}' AS table_name, count(*) AS row_count,
        json_agg(row_to_json(numbered))::text AS rows
    FROM (
        SELECT *, (row_number() OVER (ORDER BY {key}) - 1) / {size} AS chunk
        FROM ({difference}) difference
    ) numbered
    GROUP BY chunk
"""
_WRONG_ROWS_OF_LEDGER = """
    WITH account_entry AS MATERIALIZED (
        SELECT member_id, id, date, type, category_type, amount, category_id, wallet_id,
            to_wallet_id, line_count, memo, pending, excluded
        FROM account_entry WHERE {scope}
    )
    SELECT ledger.rollup_version, wrong.table_name, wrong.row_count, wrong.rows
    FROM (SELECT rollup_version FROM account_ledger WHERE {scope}) ledger,
        ({wrong}) wrong
""".format(
    scope=OF_MEMBER,
    wrong=" UNION ALL ".join(
        _WRONG_ROWS.format(
            table=rollup.table,
            key=", ".join(rollup.key),
            size=CHUNK_SIZE,
            difference=rollup.make_difference_query(OF_MEMBER),
        )
        for rollup in ROLLUPS
    ),
)
# Locks the row as the triggers do.
_CLAIM_VERSION = f"""
    UPDATE account_ledger SET rollup_version = rollup_version + 1
    WHERE {OF_MEMBER} AND rollup_version = %(version)s
"""
_ROWS = """
    SELECT {columns} FROM json_populate_recordset(NULL::{table}, %(rows)s::json)
"""
_ADDITIONS = {
    rollup.table: rollup.make_addition_statement(
        _ROWS.format(table=rollup.table, columns=", ".join(rollup.key + rollup.columns))
    )
    for rollup in ROLLUPS
}


class WrongRows(NamedTuple):
    rollup_version: int
    table_name: str
    row_count: int
    rows: str


def process_ledgers(
    process: Callable[[int], Counter[str]], thread_count: int, after: int = 0
) -> Iterator[tuple[int, Counter[str]]]:
    """Call `process` for the ledgers of members above `after`, in several threads.

    Yields the ids of members in order, with the numbers of rows.
    """
    ids = Ledger.objects.order_by("member_id").values_list("member_id", flat=True)
    threads = ThreadPoolExecutor(thread_count, thread_name_prefix="rollups")
    try:
        while batch := list(ids.filter(member_id__gt=after)[:BATCH_SIZE]):
            shares = [
                batch[start : start + SHARE_SIZE]
                for start in range(0, len(batch), SHARE_SIZE)
            ]
            counts = threads.map(partial(_process_share, process), shares)
            yield from zip(batch, chain.from_iterable(counts), strict=True)
            after = batch[-1]
    finally:
        # An interrupted command finishes the shares that threads have begun.
        threads.shutdown(cancel_futures=True)


def _process_share(
    process: Callable[[int], Counter[str]], share: list[int]
) -> list[Counter[str]]:
    try:
        return [process(member_id) for member_id in share]
    finally:
        connection.close()


def count_wrong_rows(member_id: int) -> Counter[str]:
    """Return the number of wrong rows by table, without locks."""
    return _count_rows(_list_wrong_rows(member_id))


def repair_rollups(member_id: int) -> Counter[str]:
    """Add the differences; return the number of rows by table."""
    repaired: Counter[str] = Counter()
    member = Member(pk=member_id)
    while wrong := _list_wrong_rows(member_id):
        version = wrong[0].rollup_version
        for number, batch in enumerate(_split(wrong)):
            if not _add(member, version + number, batch):
                break
            repaired += _count_rows(batch)
        else:
            break
    return repaired


def _list_wrong_rows(member_id: int) -> list[WrongRows]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 0")
        return fetch_all(_WRONG_ROWS_OF_LEDGER, {"member": member_id}, WrongRows)


def _count_rows(wrong: list[WrongRows]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in wrong:
        counts[each.table_name] += each.row_count
    return counts


def _split(wrong: list[WrongRows]) -> Iterator[list[WrongRows]]:
    batch: list[WrongRows] = []
    for each in wrong:
        if batch and _count_rows([*batch, each]).total() > CHUNK_SIZE:
            yield batch
            batch = []
        batch.append(each)
    yield batch


# A restore or a move of a wallet takes longer than requests wait.
@ledger_write(lock_timeout=False)
def _add(ledger: LockedLedger, version: int, batch: list[WrongRows]) -> bool:
    """Return False if the rollups have another version by now."""
    with prepared_cursor() as cursor:
        cursor.execute(_CLAIM_VERSION, {"member": ledger.member.pk, "version": version})
        is_valid = bool(cursor.rowcount)
        for each in batch if is_valid else ():
            cursor.execute(_ADDITIONS[each.table_name], {"rows": each.rows})
    return is_valid
