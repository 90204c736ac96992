"""Moves of what refers to a wallet or category to another one, before its deletion.

More entries than fit into a request are left to a job (`ledger.move_job`). Until it has
moved all of them the wallet or category is *moving* and takes no writes: whatever names
it is refused with `MovingError`. All functions are called under `lock_ledger`.
"""

from typing import Any

from django.db import connection
from django.db.models import Exists, Q
from django.utils.translation import gettext

from core.db.rollup_audit import Rollup
from ledger.errors import MovingError
from ledger.models import (
    Category,
    Entry,
    EntryLine,
    Ledger,
    MergedEntry,
    QuickEntry,
    QuickEntryLine,
    RecurringLine,
    RecurringRule,
    Wallet,
)
from ledger.models.base import MovableModel
from ledger.ownership import MAX_ID
from ledger.parted_ids import list_parted_ids, list_parted_rows
from ledger.parted_moves import move_parted_entries, move_templates
from ledger.rollups import FLAT_SOURCES, ROLLUPS, without_triggers

# More are left to the job.
MAX_ENTRIES_OF_REQUEST = 50_000
# Split entries and transfers: triggers keep their totals, at 2 to 7 ms each.
MAX_PARTED_ENTRIES_OF_REQUEST = 150
TEMPLATES = (QuickEntry, RecurringRule)
LINES = (EntryLine, QuickEntryLine, RecurringLine)
# By which column rows refer to it.
_FIELDS: dict[type[MovableModel], str] = {Wallet: "wallet", Category: "category"}
# Flat entries of one wallet, which are moved together.
IS_WHOLE = "line_count = 0 AND to_wallet_id IS NULL"

# Takes what moves off the source's rows and adds it to the target's. A row of the
# source of which all moves is deleted, so that none are left to be found in the end.
# Each is looked up in the primary key: for a join PostgreSQL may read all rows of the
# member.
_MOVE_ROLLUP = """
    WITH moved AS MATERIALIZED (
        SELECT entries.*, stored.place,
            coalesce(({stored_columns}) = ({moved_columns}), false) AS is_whole
        FROM ({source}) entries
        LEFT JOIN LATERAL (
            SELECT ctid AS place, {columns} FROM {table} row
            WHERE row.member_id = %(member)s AND {same_key} LIMIT 1
        ) stored ON true
    ), emptied AS (
        DELETE FROM {table} WHERE member_id = %(member)s
            AND ctid = ANY(ARRAY(SELECT place FROM moved WHERE is_whole))
    )
    {addition}
"""


def _make_rollup_statement(rollup: Rollup, column: str) -> str:
    """Return the statement that moves the entries' part of a rollup to the target.

    The entries are those of `source` with ids above `after`, up to `until`.
    """
    scope = (
        f"member_id = %(member)s AND {column} = %(source)s AND {IS_WHOLE}"
        " AND id > %(after)s AND id <= %(until)s"
    )
    subtracted = [*rollup.key, *(f"-{each}" for each in rollup.columns)]
    added = [
        "%(target)s::bigint" if each == column else each
        for each in rollup.key + rollup.columns
    ]
    # Both sides in one statement: their keys differ.
    addition = rollup.make_addition_statement(
        f"SELECT {', '.join(subtracted)} FROM moved WHERE NOT is_whole"  # noqa: S608  # constants
        f" UNION ALL SELECT {', '.join(added)} FROM moved"
    )
    return _MOVE_ROLLUP.format(
        table=rollup.table,
        columns=", ".join(rollup.columns),
        stored_columns=", ".join(f"stored.{each}" for each in rollup.columns),
        moved_columns=", ".join(f"entries.{each}" for each in rollup.columns),
        same_key=" AND ".join(
            f"row.{each} = entries.{each}" for each in rollup.key if each != "member_id"
        ),
        source=FLAT_SOURCES[rollup.table].format(scope=scope),
        addition=addition,
    )


_ROLLUP_STATEMENTS = {
    field: [
        _make_rollup_statement(rollup, f"{field}_id")
        for rollup in ROLLUPS
        if f"{field}_id" in rollup.key
    ]
    for field in _FIELDS.values()
}


def raise_if_moving(*rows: MovableModel | None) -> None:
    """Raise `MovingError` if one of the rows, which may be None, is moving."""
    if any(row is not None and row.is_moving for row in rows):
        raise MovingError


def raise_if_wallet_is_moving(wallet: Wallet | None) -> None:
    """Raise `MovingError` for the wallet of a request, which was not looked up."""
    if wallet is None:
        return
    rows = Wallet.objects.filter(member_id=wallet.member_id, pk=wallet.pk)
    if rows.filter(moving_to__isnull=False).exists():
        raise MovingError


def raise_if_others_move_to(row: MovableModel) -> None:
    """Raise `MovingError` if another wallet or category is moving to this one."""
    if list_moving_to(row).exists():
        raise MovingError(
            gettext(
                "Another one is moving to this wallet or category. Try again in a few "
                "minutes."
            )
        )


def list_moving_to(row: MovableModel) -> Any:
    """Return the wallets or categories that are moving to this one."""
    rows: Any = type(row).objects
    return rows.filter(member_id=row.member_id, moving_to=row.pk)


def list_whole_entries(row: MovableModel) -> Any:
    """Return the flat entries of a wallet or category, without transfers."""
    rows: Any = Entry.objects.filter(member_id=row.member_id)
    return rows.filter(line_count=0, to_wallet=None, **{_FIELDS[type(row)]: row.pk})


def is_referred_to(row: MovableModel) -> bool:
    """Return whether entries, templates or lines refer to a wallet or category.

    So do the entries that a transfer was merged from.
    """
    member_id, field = row.member_id, _FIELDS[type(row)]
    if list_whole_entries(row).exists():
        return True
    references = [
        model.objects.filter(member_id=member_id, **{field: row.pk})
        for model in (Entry, *TEMPLATES, *LINES)
    ]
    if isinstance(row, Wallet):
        references += [
            model.objects.filter(member_id=member_id, to_wallet=row.pk)
            for model in (Entry, *TEMPLATES)
        ]
    else:
        merged = MergedEntry.objects.filter(member_id=member_id, category=row.pk)
        references.append(merged)
    is_any = Q()
    for rows in references:
        is_any |= Q(Exists(rows))
    return Ledger.objects.filter(is_any, member_id=member_id).exists()


def move_references(source: MovableModel, target: MovableModel) -> bool:
    """Move what refers to `source`; return False if its entries are left to the job."""
    parted = list_parted_rows(source, MAX_PARTED_ENTRIES_OF_REQUEST + 1)
    move_templates(source, target, parted)
    limit = MAX_ENTRIES_OF_REQUEST
    entries = list_whole_entries(source).order_by()
    parted_ids = parted[Entry._meta.db_table]
    if (
        len(parted_ids) > MAX_PARTED_ENTRIES_OF_REQUEST
        or entries[limit : limit + 1].exists()
    ):
        source.moving_to = target
        fields: Any = ["moving_to"]
        source.save(update_fields=fields)
        return False
    _move_whole_entries(source, target)
    move_parted_entries(source, target, parted_ids)
    return True


def move_entries(
    source: MovableModel, target: MovableModel, after: int, until: int
) -> int:
    """Move the entries with ids in this range, and their part of the totals.

    Return their number. `after` is excluded, `until` included.
    """
    moved = _move_whole_entries(source, target, after, until)
    parted_ids = list_parted_ids(source, after, until)
    return moved + move_parted_entries(source, target, parted_ids)


def _move_whole_entries(
    source: MovableModel, target: MovableModel, after: int = 0, until: int = MAX_ID
) -> int:
    field = _FIELDS[type(source)]
    params = {
        "member": source.member_id,
        "source": source.pk,
        "target": target.pk,
        "after": after,
        "until": until,
    }
    # The triggers would do the same for each entry.
    with without_triggers(), connection.cursor() as cursor:
        for statement in _ROLLUP_STATEMENTS[field]:
            cursor.execute(statement, params)
        entries = list_whole_entries(source).filter(pk__gt=after, pk__lte=until)
        moved: int = entries.update(**{field: target})
    return moved
