"""Deletion of a ledger, by account deletion or before a restore."""

from collections.abc import Iterable, Iterator

from django.db.models import Model, QuerySet

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from ledger.batches import batch_transaction
from ledger.locking import lock_ledger
from ledger.models import (
    Budget,
    BudgetIncome,
    Category,
    CategoryRollup,
    DayRollup,
    Entry,
    EntryLine,
    EntryTag,
    Ledger,
    MemoRollup,
    MergedEntry,
    Notification,
    Occurrence,
    Position,
    QuickEntry,
    QuickEntryLine,
    QuickEntryTag,
    RecurringLine,
    RecurringRule,
    RecurringTag,
    Stock,
    Tag,
    TagRollup,
    TaughtLayout,
    Trade,
    Valuation,
    Wallet,
    WalletMonthRollup,
    WalletRollup,
)
from ledger.models.base import CategoryType
from ledger.rollups import bulk_write
from ledger.taught_layouts import forget_texts

# Children before parents (foreign keys).
REPLACED_BY_RESTORE = (
    EntryTag,
    QuickEntryTag,
    RecurringTag,
    Occurrence,
    EntryLine,
    MergedEntry,
    Entry,
    QuickEntryLine,
    QuickEntry,
    RecurringLine,
    RecurringRule,
    Budget,
    Trade,
    Position,
    Stock,
    Tag,
    Category,
    Valuation,
    Wallet,
)
# Not in backups and kept by a restore, so that known payments stay deduplicated and
# texts are read as they were taught.
KEPT_BY_RESTORE = (BudgetIncome, Notification, TaughtLayout)
ROLLUPS = (
    DayRollup,
    WalletMonthRollup,
    CategoryRollup,
    WalletRollup,
    MemoRollup,
    TagRollup,
)
# Tables that may have very many rows of a member, and a column by which they are
# deleted in batches: rows with the same value are few.
_LARGE_TABLES: dict[type[Model], str] = {
    EntryTag: "entry_id",
    EntryLine: "entry_id",
    Occurrence: "id",
    Entry: "id",
    Trade: "id",
    Notification: "id",
    DayRollup: "date",
    WalletMonthRollup: "month",
    CategoryRollup: "month",
    TagRollup: "month",
    MemoRollup: "memo",
}
BATCH_SIZE = 10_000


def lock_for_account_deletion(member: Member) -> None:
    """Block all writers of the ledger; called before the member's row is locked."""
    lock_ledger(member)


def delete_ledger_for_restore(member: Member) -> None:
    """Delete everything that a restore replaces, including trades (spec 3.18).

    Call inside `bulk_write`, which computes the rollups afterwards.
    """
    _delete_rows(member, REPLACED_BY_RESTORE)
    forget_texts(member)


def delete_member_data(member: Member) -> None:
    """Delete the member's whole ledger; call inside a transaction."""
    with bulk_write(member):
        delete_ledger_for_restore(member)
    _delete_rows(member, (*ROLLUPS, *KEPT_BY_RESTORE, Ledger))


def has_more_rows_than(member: Member, limit: int) -> bool:
    """Return whether there are more than `limit` entries, trades or notifications."""
    return any(
        model.objects.owned_by(member).order_by()[limit : limit + 1].exists()
        for model in (Entry, Trade, Notification)
    )


def delete_in_batches(member: Member) -> Iterator[int]:
    """Delete the ledger of a closed account.

    Yields the number of rows of each batch after its transaction, which locks the
    ledger against requests that began before the account was closed. Totals are deleted
    after the entries; until then nobody reads them, nor does `check_totals`.
    """
    for model in (*REPLACED_BY_RESTORE, *KEPT_BY_RESTORE, *ROLLUPS, Ledger):
        rows = model._default_manager.filter(member_id=member.pk).order_by()
        if model is Entry:
            yield from _release_refunds(member)
        column = _LARGE_TABLES.get(model)
        # By type, because the index of memos begins with it.
        parts = (
            [rows.filter(type=entry_type) for entry_type in CategoryType.values]
            if model is MemoRollup
            else [rows]
        )
        for part in parts:
            yield from _delete_part(member, part, column)


def _release_refunds(member: Member) -> Iterator[int]:
    """Take the references to expenses off their refunds, which are deleted later."""
    while _release_batch(member):
        yield 0


@retry_on_conflict
def _release_batch(member: Member) -> int:
    with batch_transaction(member):
        refunds = Entry.objects.filter(member_id=member.pk, refund_of__isnull=False)
        ids = list(refunds.order_by().values_list("pk", flat=True)[:BATCH_SIZE])
        return refunds.filter(pk__in=ids).update(refund_of=None) if ids else 0


def _delete_part(
    member: Member, rows: QuerySet[Model], column: str | None
) -> Iterator[int]:
    """Delete the rows, in batches by the column if one is given."""
    rest = rows
    while column is not None:
        deleted, end = _delete_batch(member, rest, column)
        if end is None:
            break
        yield deleted
        rest = rows.filter(**{f"{column}__gt": end})
    # From the first row on again, for what has been added.
    yield _delete_rest(member, rows)


@retry_on_conflict
def _delete_batch(
    member: Member, rows: QuerySet[Model], column: str
) -> tuple[int, object]:
    """Delete the first rows; return their number, and the last value of the column.

    The value is None, and nothing is deleted, if the rows are fewer than a batch.
    """
    with batch_transaction(member):
        values = rows.order_by(column).values_list(column, flat=True)
        ends = list(values[BATCH_SIZE - 1 : BATCH_SIZE])
        if not ends:
            return 0, None
        batch = rows.filter(**{f"{column}__lte": ends[0]})
        return batch._raw_delete(batch.db), ends[0]


@retry_on_conflict
def _delete_rest(member: Member, rows: QuerySet[Model]) -> int:
    with batch_transaction(member):
        return rows._raw_delete(rows.db)


def _delete_rows(member: Member, models: Iterable[type[Model]]) -> None:
    for model in models:
        rows = model._default_manager.filter(member_id=member.pk)
        # One DELETE per table, without Django's collection of related objects.
        rows._raw_delete(rows.db)
