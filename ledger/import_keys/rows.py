"""Keys of imported rows in the database."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import connection

from ledger.base.bulk_rows import copy_rows, format_ids
from ledger.base.ledger_write import LockedLedger
from ledger.models import ImportKey, Ledger

# Freed ones, and those whose deleted entry the member wants again.
_DELETE = """
    DELETE FROM account_import_key k
    USING unnest(%(digests)s::bytea[], %(wallets)s::bigint[]) w (digest, wallet_id)
    WHERE k.member_id = %(member)s AND k.digest = w.digest
        AND k.wallet_id = w.wallet_id
"""
_FREE = """
    UPDATE account_import_key SET freed_by = %(undo)s
    WHERE member_id = %(member)s AND operation_id = %(operation)s AND freed_by IS NULL
        AND (entry_id IS NULL OR entry_id = ANY(%(entries)s::bigint[]))
"""
_TAKE_BACK = """
    UPDATE account_import_key SET freed_by = NULL
    WHERE member_id = %(member)s AND freed_by = %(operation)s
        AND (entry_id IS NULL OR entry_id = ANY(%(entries)s::bigint[]))
"""
_RENAME = """
    UPDATE account_import_key k SET wallet_id = w.new_id
    FROM unnest(%(old)s::bigint[], %(new)s::bigint[]) w (old_id, new_id)
    WHERE k.member_id = %(member)s AND k.wallet_id = w.old_id
"""


class KeyedRow(NamedTuple):
    """A row that was committed; `wallet_id` is 0 for none."""

    digests: Sequence[bytes]
    wallet_id: int
    entry_id: int | None


def write_keys(ledger: LockedLedger, rows: Iterable[KeyedRow]) -> None:
    """Write the keys of a commit, of the revision that it is."""
    keys = [
        (row.wallet_id, digest, row.entry_id) for row in rows for digest in row.digests
    ]
    if not keys:
        return
    member_id = ledger.member.pk
    with connection.cursor() as cursor:
        cursor.execute(
            _DELETE,
            {
                "member": member_id,
                "digests": [digest for _, digest, _ in keys],
                "wallets": [wallet_id for wallet_id, _, _ in keys],
            },
        )
    revision = read_revision(ledger)
    copy_rows(
        ImportKey._meta.db_table,
        ["member_id", "digest", "wallet_id", "entry_id", "operation_id"],
        (
            (member_id, digest, wallet_id, entry_id, revision)
            for wallet_id, digest, entry_id in keys
        ),
    )


def follow_undo(
    ledger: LockedLedger, operation_id: int, entry_ids: Collection[int]
) -> None:
    """Free the keys of the entries that an undo has taken back.

    The undo of an undo takes its keys back.
    """
    params: dict[str, Any] = {
        "member": ledger.member.pk,
        "operation": operation_id,
        "undo": read_revision(ledger),
        "entries": format_ids(entry_ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_BACK, params)
        cursor.execute(_FREE, params)


def keep_keys(ledger: LockedLedger, new_wallets: Mapping[int, int]) -> None:
    """Let keys outlive a restore: entries are gone, and wallets have new ids."""
    keys = ImportKey.objects.owned_by(ledger.member)
    keys.update(entry_id=None)
    with connection.cursor() as cursor:
        cursor.execute(
            _RENAME,
            {
                "member": ledger.member.pk,
                "old": list(new_wallets),
                "new": list(new_wallets.values()),
            },
        )


def read_revision(ledger: LockedLedger) -> int:
    rows = Ledger.objects.values_list("revision", flat=True)
    revision: int = rows.get(member_id=ledger.member.pk)
    return revision
