"""The commit of an import: all that it writes to the ledger, as one operation.

The rows are judged again under the lock of the ledger, since it may have changed after
they were shown: what has become known meanwhile is not written twice.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from core.errors import (
    DomainError,
    FieldError,
    InvalidFieldError,
    RateLimitedError,
)
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.bulk.insertion import Inserter, PlannedEntry
from ledger.entries.merges import merge_entries
from ledger.entries.writing import create_entry
from ledger.entry_shape import EntryShape
from ledger.errors import NotMergeableError
from ledger.import_keys.rows import KeyedRow, write_keys
from ledger.imports.balances import apply_balances
from ledger.imports.choices import (
    CategoryName,
    Choices,
    list_categories,
    resolve_wallet,
)
from ledger.imports.commit_state import Commit
from ledger.imports.interpreting import list_own_wallets
from ledger.imports.judging import JudgedRow, Reason, judge, separate_rows
from ledger.imports.keys import WalletRef
from ledger.imports.known import load_known
from ledger.imports.merging import merge_rows
from ledger.imports.names import make_categories, make_tags, make_wallets
from ledger.imports.own_export.committing import commit_export
from ledger.imports.own_export.writing import is_empty
from ledger.imports.preparing import RowChoice, prepare_rows
from ledger.imports.record_json import load_record
from ledger.imports.records import RecordKind
from ledger.imports.shapes import (
    Places,
    category_type_of,
    clean_tags,
    make_shape,
)
from ledger.imports.sources.own import OWN_SOURCE
from ledger.imports.storing import get_open_import, remember_mapping, unpack_tables
from ledger.models import (
    Category,
    Entry,
    Import,
    ImportAction,
    ImportRow,
    ImportStatus,
    Operation,
    OperationKind,
)
from ledger.rollups.time_limit import extend_statement_timeout

# Entries that imports may make in a ledger within a day.
MAX_ENTRIES_A_DAY = 200_000
DAY = timedelta(days=1)


@ledger_write
def commit_import(ledger: LockedLedger, import_id: int, now: datetime) -> Import:
    """Write the rows of an import to the ledger, and return its record.

    Raises `NotFoundError`, `DuplicateError` for a committed import, `RateLimitedError`
    beyond 200,000 entries in a day, `ReferenceGoneError` for a chosen wallet that was
    deleted, and `LimitReachedError`.
    """
    row = get_open_import(ledger.member, import_id, now)
    extend_statement_timeout()
    commit = _load(ledger, row, now)
    if _is_whole(commit, row):
        _require_allowance(commit, len(commit.rows))
        tables = unpack_tables(row)
        row.result = dict(commit_export(ledger, tables, commit.rows))
    else:
        judge(commit.rows, load_known(ledger.member, commit.rows))
        _write(commit, row.description)
        remember_mapping(ledger, row, now)
        row.result = {
            **{name: commit.counts[name] for name in ("created", "merged", "paired")},
            "skipped": commit.counts["skipped"] + len(commit.prepared.bad),
            "notes": commit.notes,
        }
    row.committed_at = now
    stored = Import.objects.owned_by(ledger.member).filter(id=row.id)
    stored.update(committed_at=now, result=row.result, tables=None, stored_bytes=0)
    return row


def _is_whole(commit: Commit, row: Import) -> bool:
    """Return whether an empty ledger takes a whole export, as it is."""
    choices = commit.choices
    chosen = (commit.row_choices, choices.wallets, choices.categories)
    has_choices = any(chosen) or choices.wallet_id is not None
    return row.source == OWN_SOURCE and not has_choices and is_empty(commit.ledger)


def _load(ledger: LockedLedger, row: Import, now: datetime) -> Commit:
    stored = ImportRow.objects.owned_by(ledger.member).filter(import_id=row.id)
    columns = stored.order_by("row").values_list(
        "row", "record", "learned", "chosen", "edits"
    )
    records, row_choices, learned = [], {}, {}
    bad_count = 0
    for number, record, category, chosen, edits in columns.iterator():
        if record is None:
            bad_count += 1
            continue
        records.append(load_record(record))
        if chosen or edits:
            action = chosen and ImportAction(chosen)
            row_choices[number] = RowChoice(action, edits or {})
        if category is not None:
            learned[number] = category
    _forget_lost_targets(ledger, row_choices)
    choices = Choices.from_json(row.choices)
    own = list_own_wallets(ledger.member)
    prepared = prepare_rows(records, choices, own, row_choices)
    commit = Commit(ledger, choices, prepared, row_choices, learned, now)
    commit.counts["skipped"] = bad_count
    return commit


def _forget_lost_targets(
    ledger: LockedLedger, row_choices: dict[int, RowChoice]
) -> None:
    """Let a row stand alone whose named entry was deleted: it is not to be lost."""
    named = {each.edits.get("id") for each in row_choices.values()} - {None}
    rows = Entry.objects.owned_by(ledger.member).filter(pk__in=named).order_by()
    lost = named - set(rows.values_list("pk", flat=True))
    for number, choice in row_choices.items():
        if choice.edits.get("id") in lost:
            edits = {**choice.edits, "id": None}
            row_choices[number] = RowChoice(choice.action, edits)


def _write(commit: Commit, description: dict[str, Any]) -> None:
    """Write wallets and names first, then new entries, transfers, merges and keys."""
    ledger = commit.ledger
    separate_rows(commit.rows)
    wanted = [row for row in commit.rows if row.action is not ImportAction.SKIP]
    becoming = [row for row in wanted if _becomes_entry(row)]
    opened = [row for row in becoming if _is_opening_of_new(row)]
    imported = [row for row in becoming if not _is_opening_of_new(row)]
    _require_allowance(commit, len(imported))
    used = _list_used(wanted, commit)
    places = make_wallets(ledger, commit.prepared.wallets, used, commit.now)
    _make_names(commit, imported)
    _insert(commit, imported, places)
    _join_rows(commit, wanted)
    _join_entries(commit, wanted)
    merge_rows(commit, [row for row in wanted if _is_merged(row)])
    for row in opened:
        commit.entry_ids[row.record.row] = None
    for row in commit.rows:
        if row.reason is Reason.CANCELLED and row.action is ImportAction.SKIP:
            # The same file brings neither of the two again.
            commit.entry_ids[row.record.row] = None
    apply_balances(commit, opened, places, description)
    keyed = [row for row in commit.rows if row.record.row in commit.entry_ids]
    write_keys(ledger, [_keyed(row, commit, places) for row in keyed])
    done = sum(commit.counts[name] for name in ("created", "merged", "paired"))
    commit.counts["skipped"] += len(commit.rows) - done


def _becomes_entry(row: JudgedRow) -> bool:
    """Return whether the row makes an entry of its own, for now or for good."""
    is_half = row.reason is Reason.WITH_ENTRY and _is_joined(row)
    return is_half or row.action is ImportAction.IMPORT


def _is_opening_of_new(row: JudgedRow) -> bool:
    """Return whether the row is the first balance of a wallet that the commit makes."""
    return row.record.kind is RecordKind.OPENING and isinstance(row.wallet, str)


def _is_joined(row: JudgedRow) -> bool:
    return row.action is ImportAction.MERGE and row.target is None


def _is_merged(row: JudgedRow) -> bool:
    if row.action is not ImportAction.MERGE:
        return False
    return row.status == ImportStatus.LIKELY_DUPLICATE or row.target is not None


def _list_used(wanted: Sequence[JudgedRow], commit: Commit) -> set[WalletRef]:
    """Return the wallets that rows need: no other one is made."""
    used = {row.wallet for row in wanted} | {row.other for row in wanted}
    guessed = {each.name: each for each in commit.prepared.wallets}
    for row in wanted:
        for line in row.record.lines:
            if line.wallet is not None:
                used.add(resolve_wallet(line.wallet, guessed))
    return used


def _require_allowance(commit: Commit, count: int) -> None:
    """Raise `RateLimitedError` beyond the entries of a day."""
    since = commit.now - DAY
    rows = Operation.objects.owned_by(commit.ledger.member)
    rows = rows.filter(kind=OperationKind.IMPORT, at__gt=since).order_by("at")
    made = [
        (at, counts.get("entry", {}).get("created", 0))
        for at, counts in rows.values_list("at", "counts")
    ]
    if made and sum(number for _, number in made) + count > MAX_ENTRIES_A_DAY:
        wait = made[0][0] + DAY - commit.now
        raise RateLimitedError(int(wait.total_seconds()))


def _make_names(commit: Commit, rows: Sequence[JudgedRow]) -> None:
    named = list_categories(
        row.record for row in rows if "category" not in commit.edits(row)
    )
    commit.notes += make_categories(commit.ledger, named, commit.choices)
    own = [
        CategoryName(category_type_of(row.record), None, category)
        for row in rows
        if (category := commit.edits(row).get("category")) is not None
    ]
    commit.notes += make_categories(commit.ledger, own, Choices())
    known = Category.objects.owned_by(commit.ledger.member).order_by()
    names = set(known.values_list("name", flat=True))
    # A category may have been deleted since the file was read.
    commit.learned = {
        number: name for number, name in commit.learned.items() if name in names
    }
    make_tags(
        commit.ledger, (tag for row in rows for tag in clean_tags(row.record.tags))
    )


def _insert(commit: Commit, rows: Sequence[JudgedRow], places: Places) -> None:
    """Write new entries in a few statements; refunds of known entries one by one."""
    ledger = commit.ledger
    shapes = [(row, _shape(commit, row, places)) for row in rows]
    ledger.rates.require(
        {
            (shape.currency, shape.date)
            for _, shape in shapes
            if shape.currency
            and shape.date
            and shape.amount is None
            and shape.exchange_rate is None
        }
    )
    inserter = Inserter(ledger)
    planned: list[tuple[JudgedRow, PlannedEntry]] = []
    for row, shape in shapes:
        if shape.refund_of is not None:
            commit.entry_ids[row.record.row] = _create_refund(commit, shape)
        else:
            with _name_row(row):
                planned.append((row, inserter.adopt(shape)))
    if planned:
        ids = inserter.write([entry for _, entry in planned], commit.now)
        for (row, _), entry_id in zip(planned, ids, strict=True):
            commit.entry_ids[row.record.row] = entry_id
    commit.counts["created"] = len(rows)


@contextmanager
def _name_row(row: JudgedRow) -> Iterator[None]:
    """Let an error of an entry name its row, as in a PATCH of rows."""
    try:
        yield
    except InvalidFieldError as error:
        named = [(f"rows.{row.record.row}.{it.field}", it) for it in error.errors]
        errors = tuple(FieldError(name, it.detail, it.code) for name, it in named)
        raise DomainError(errors=errors) from None


def _shape(commit: Commit, row: JudgedRow, places: Places) -> EntryShape:
    return make_shape(
        row,
        places,
        commit.choices,
        learned=commit.learned.get(row.record.row),
        edits=commit.edits(row),
    )


def _create_refund(commit: Commit, shape: EntryShape) -> int:
    """Create a refund of an entry; alone, where the entry has come back before."""
    # What the file does not say is as the expense has it.
    shape = replace(shape, tags=shape.tags or None, excluded=None)
    try:
        return create_entry.within(commit.ledger, shape, commit.now)
    except DomainError:
        shape = replace(shape, refund_of=None)
        return create_entry.within(commit.ledger, shape, commit.now)


def _join_rows(commit: Commit, rows: Sequence[JudgedRow]) -> None:
    """Let the second row of a transfer stand for the entry of the first."""
    for row in rows:
        if row.reason is Reason.OTHER_SIDE and row.other_row is not None:
            first = row.other_row.record.row
            if first in commit.entry_ids:
                commit.entry_ids[row.record.row] = commit.entry_ids[first]
                commit.counts["paired"] += 1


def _join_entries(commit: Commit, rows: Sequence[JudgedRow]) -> None:
    """Make one transfer of a row's entry and one that the ledger had."""
    for row in rows:
        if row.reason is not Reason.WITH_ENTRY or not _is_joined(row):
            continue
        made, known = commit.entry_ids[row.record.row], row.entry_id
        if made is None or known is None:
            continue
        try:
            merged = merge_entries.within(commit.ledger, made, known, commit.now)
        except NotMergeableError:
            continue
        commit.entry_ids[row.record.row] = merged
        commit.counts["created"] -= 1
        commit.counts["paired"] += 1


def _keyed(row: JudgedRow, commit: Commit, places: Places) -> KeyedRow:
    wallet_id = places.find(row.wallet) or 0
    return KeyedRow(row.digests, wallet_id, commit.entry_ids[row.record.row])
