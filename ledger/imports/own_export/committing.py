"""The commit of a whole exported ledger into an empty one, as one operation."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from ledger.base.ledger_write import LockedLedger
from ledger.base.operations import stop_records, store_whole_operation
from ledger.import_keys.rows import KeyedRow, write_keys
from ledger.imports.judging import JudgedRow
from ledger.imports.own_export.checking import check_export
from ledger.imports.own_export.columns import IMPORT_KEYS
from ledger.imports.own_export.reading import parse_export, read_export
from ledger.imports.own_export.writing import write_export
from ledger.imports.records import Table
from ledger.models import OperationKind, RowAction
from ledger.operations.copies import copy_ledger, count_rows


def commit_export(
    ledger: LockedLedger, tables: Sequence[Table], rows: Sequence[JudgedRow]
) -> Mapping[str, Any]:
    """Write the file with all that a backup lacks; return what the commit did.

    Its rows have keys as those of any file: the same export brings none again.
    """
    stop_records()
    export = read_export(parse_export(str(tables[0].rows[0][0])))
    check_export(export, settings.HOME_CURRENCY)
    # An undo brings the empty ledger back.
    copy_ledger(ledger)
    ids = write_export(ledger, export)
    names = {row["name"]: row["id"] for row in export.rows["wallets"]}
    entries = [row["id"] for row in export.rows["entries"]]
    counts = {
        kind: {RowAction.CREATED.value: count}
        for kind, count in count_rows(ledger).items()
    }
    member_id = ledger.member.pk
    store_whole_operation(member_id, OperationKind.IMPORT, member_id, counts)
    keys: dict[tuple[bytes, int], int | None] = {}
    for known in export.rows[IMPORT_KEYS]:
        wallet, entry = known["wallet_id"], known["entry_id"]
        place = known["digest"], 0 if wallet is None else ids["wallets"][wallet]
        keys[place] = None if entry is None else ids["entries"][entry]
    for row in rows:
        name = row.record.wallet
        wallet_id = 0 if name is None else ids["wallets"][names[name]]
        for digest in row.digests:
            # Rows are numbered as the entries of the file.
            keys[digest, wallet_id] = ids["entries"][entries[row.record.row - 1]]
    write_keys(
        ledger,
        [
            KeyedRow([digest], wallet_id, entry_id)
            for (digest, wallet_id), entry_id in keys.items()
        ],
    )
    return {
        "created": len(entries),
        "merged": 0,
        "paired": 0,
        "skipped": 0,
        "notes": [],
    }
