"""The job that moves the entries of large wallets and categories (`ledger.moves`).

It can be killed at any time: the next run moves what is left.
"""

import logging
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from django.db import connection, transaction

from accounts.models import Member
from core.db.transactions import retry_on_conflict
from ledger.batches import batch_transaction, extend_statement_timeout
from ledger.categories import delete_moved_category
from ledger.models import Category, Entry, Wallet
from ledger.models.base import MovableModel
from ledger.moves import list_whole_entries, move_entries
from ledger.ownership import MAX_ID
from ledger.parted_ids import list_parted_ids
from ledger.wallets import delete_moved_wallet

# Entries of the member that a transaction passes, and of which it moves its own.
# Writers of the ledger wait for it.
BATCH_SIZE = 2_500
# Transfers and split entries that it moves; they take far longer than others.
MAX_PARTED_ENTRIES = 150

# For the check of the foreign key when the source is deleted: by its statistics, which
# may be older than the move, PostgreSQL expects many entries of the source, and reads
# those of all members. Citus needs the values to find the worker.
_PLAN_FOR_ALL_VALUES = """
SELECT set_config('plan_cache_mode', 'force_generic_plan', true)
WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
"""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MovesResult:
    """The result of a run of the job: entries moved, and moves that failed."""

    entries: int
    failed: int


def list_moves() -> list[MovableModel]:
    """Return the wallets and categories that are moving, the oldest first.

    Those of closed accounts are left out; they are about to be deleted.
    """
    moving: list[MovableModel] = [
        row
        for model in (Wallet, Category)
        for row in model.objects.filter(moving_to__isnull=False).order_by("pk")
    ]
    members = Member.objects.filter(pk__in={row.member_id for row in moving})
    open_accounts = set(members.values_list("pk", flat=True))
    return [row for row in moving if row.member_id in open_accounts]


def run_moves() -> MovesResult:
    """Move all; one move that fails does not keep the others.

    They take turns of one transaction, so that none waits for a larger one.
    """
    entries = failed = 0
    waiting = deque((source, _move_in_batches(source)) for source in list_moves())
    while waiting:
        source, batches = waiting.popleft()
        try:
            entries += next(batches)
        except StopIteration:
            continue
        except Exception:
            name = type(source).__name__.lower()
            logger.exception("the entries of %s %s are not moved", name, source.pk)
            failed += 1
            continue
        waiting.append((source, batches))
    return MovesResult(entries, failed)


def _move_in_batches(source: MovableModel) -> Iterator[int]:
    """Move the entries, then delete the source; yield the number of each batch."""
    after: int | None = 0
    while after is not None:
        moved, after = _move_batch(source, after)
        yield moved
    _pass_moved_entries(source)
    _delete_source(source)


@retry_on_conflict
def _move_batch(source: MovableModel, after: int) -> tuple[int, int | None]:
    """Move the next entries; return their number, and the last id that was passed.

    The id is None after the last batch.
    """
    with batch_transaction(Member(pk=source.member_id)):
        target = _get_target(source)
        if target is None:
            return 0, None
        # All entries of the member, in whose key they follow each other: the index of
        # the wallet or category has the dead rows of the batches before.
        ids = Entry.objects.filter(member_id=source.member_id, pk__gt=after)
        ends = ids.order_by("pk").values_list("pk", flat=True)
        end = next(iter(ends[BATCH_SIZE - 1 : BATCH_SIZE]), None)
        parted_ids = list_parted_ids(source, after, end or MAX_ID)
        if len(parted_ids) > MAX_PARTED_ENTRIES:
            end = parted_ids[MAX_PARTED_ENTRIES - 1]
        return move_entries(source, target, after, end or MAX_ID), end


def _pass_moved_entries(source: MovableModel) -> None:
    """Look for an entry that is left, without the lock of the ledger.

    To find none, PostgreSQL passes all that have moved, and marks them in the index: to
    delete the row it looks again, and writers of the ledger wait for that.
    """
    with transaction.atomic():
        extend_statement_timeout()
        entries = list_whole_entries(source)
        # In the order of the index, so that PostgreSQL reads that and not the table.
        list(entries.order_by("-date").values_list("pk")[:1])


@retry_on_conflict
def _delete_source(source: MovableModel) -> None:
    member = Member(pk=source.member_id)
    with batch_transaction(member):
        target = _get_target(source)
        if target is None:
            return
        with connection.cursor() as cursor:
            cursor.execute(_PLAN_FOR_ALL_VALUES)
        if isinstance(source, Category):
            delete_moved_category(member, source, cast("Category", target))
        else:
            delete_moved_wallet(member, cast("Wallet", source))


def _get_target(source: MovableModel) -> MovableModel | None:
    """Return the row to which the entries move; call under `lock_ledger`.

    None if a restore or the deletion of the account has ended the move.
    """
    rows: Any = type(source).objects
    row: MovableModel | None = (
        rows.filter(member_id=source.member_id, pk=source.pk)
        .select_related("moving_to")
        .first()
    )
    return row and row.moving_to
