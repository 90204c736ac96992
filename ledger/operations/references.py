"""Rows that an operation's rows refer to, and that are gone since."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ledger.base.ledger_write import LockedLedger
from ledger.categories.categories import get_or_create_categories
from ledger.errors import ReferenceGoneError
from ledger.models import Category, OperationRow, RowKind, Tag, Wallet
from ledger.operations.snapshots import Replacements, Snapshots
from ledger.tags.tags import get_or_create_tags

# `ids` are the rows of a kind that are written.
_REFERRED = """
    WITH kept AS MATERIALIZED (
        SELECT kind, before FROM account_operation_row
        WHERE member_id = %(member)s AND operation_id = %(operation)s
            AND kind = %(kind)s AND row_id = ANY(%(ids)s::bigint[])
    ), found AS (
        SELECT before -> 'row' AS part FROM kept WHERE kind <> 'valuation'
        UNION ALL
        SELECT part FROM kept, jsonb_array_elements(before -> 'lines') part
        UNION ALL
        SELECT part - 'wallet_id'
        FROM kept, jsonb_array_elements(before -> 'merged') part
        UNION ALL
        SELECT part FROM kept, jsonb_array_elements(before -> 'tags') part
    ), named AS (
        SELECT 'category' AS what, (part ->> 'category_id')::bigint AS id FROM found
        UNION SELECT 'category', (part ->> 'parent_id')::bigint FROM found
        UNION SELECT 'wallet', (part ->> 'wallet_id')::bigint FROM found
        UNION SELECT 'wallet', (part ->> 'to_wallet_id')::bigint FROM found
        UNION SELECT 'tag', (part ->> 'tag_id')::bigint FROM found
        UNION SELECT 'refund', (part ->> 'refund_of_id')::bigint FROM found
    )
    SELECT what, id FROM named WHERE id IS NOT NULL AND NOT CASE what
        WHEN 'category' THEN EXISTS (
            SELECT FROM account_category r
            WHERE r.member_id = %(member)s AND r.id = named.id
        )
        WHEN 'wallet' THEN EXISTS (
            SELECT FROM account r WHERE r.member_id = %(member)s AND r.id = named.id
        )
        WHEN 'tag' THEN EXISTS (
            SELECT FROM account_tag r
            WHERE r.member_id = %(member)s AND r.id = named.id
        )
        ELSE EXISTS (
            SELECT FROM account_entry r
            WHERE r.member_id = %(member)s AND r.id = named.id
        )
    END
"""


class Named(NamedTuple):
    """The name of a category or tag; `type` is None for a tag."""

    name: str
    type: str | None


def find_gone(
    ledger: LockedLedger,
    operation_id: int,
    written: Mapping[str, Iterable[int]],
    restored: Mapping[str, set[int]],
) -> dict[str, set[int]]:
    """Return the ids of rows that are not there, nor `restored`, by what they are."""
    snapshots = Snapshots(ledger, operation_id, {})
    gone: dict[str, set[int]] = {"category": set(), "wallet": set(), "tag": set()}
    gone["refund"] = set()
    for kind, ids in written.items():
        for what, row_id in snapshots.execute(_REFERRED, ids, kind=kind):
            gone[what].add(row_id)
    for what, kind in (
        ("category", RowKind.CATEGORY),
        ("wallet", RowKind.WALLET),
        ("tag", RowKind.TAG),
        ("refund", RowKind.ENTRY),
    ):
        gone[what] -= restored.get(kind.value, set())
    return gone


def replace_gone(
    ledger: LockedLedger, gone: Mapping[str, set[int]], wallet_id: int | None
) -> Replacements:
    """Return what stands for the rows that are gone.

    Categories and tags are made again by name, a refund loses its expense. Raises
    `ReferenceGoneError` for wallets without `wallet_id`.
    """
    if gone["wallet"] and wallet_id is None:
        raise ReferenceGoneError
    return {
        "wallet": dict.fromkeys(gone["wallet"], wallet_id),
        "refund": dict.fromkeys(gone["refund"]),
        "category": _make_categories(ledger, gone["category"]),
        "tag": _make_tags(ledger, gone["tag"]),
    }


def _find_names(
    ledger: LockedLedger, kind: RowKind, ids: Iterable[int]
) -> dict[int, Named]:
    """Return the last names, from the operations that deleted the rows."""
    rows = OperationRow.objects.owned_by(ledger.member).filter(
        kind=kind.value, row_id__in=ids, before__isnull=False
    )
    # The last name counts.
    found = rows.order_by("operation_id").values_list("row_id", "before")
    return {
        row_id: Named(before["row"]["name"], before["row"].get("type"))
        for row_id, before in found
    }


def _make_categories(ledger: LockedLedger, ids: set[int]) -> dict[int, int | None]:
    names = _find_names(ledger, RowKind.CATEGORY, ids) if ids else {}
    keys = {row_id: (str(named.type), named.name) for row_id, named in names.items()}
    made = get_or_create_categories(ledger, set(keys.values()))
    return {row_id: made[keys[row_id]].pk if row_id in keys else None for row_id in ids}


def _make_tags(ledger: LockedLedger, ids: set[int]) -> dict[int, int | None]:
    names = _find_names(ledger, RowKind.TAG, ids) if ids else {}
    made = {
        tag.name: tag.pk
        for tag in get_or_create_tags(ledger, [each.name for each in names.values()])
    }
    return {row_id: made[names[row_id].name] for row_id in ids if row_id in names}


def find_taken(
    ledger: LockedLedger, operation_id: int, kind: RowKind, ids: Iterable[int]
) -> dict[int, int]:
    """Return the category or tag that has the name of a deleted one, by its id."""
    if not ids:
        return {}
    rows = OperationRow.objects.owned_by(ledger.member).filter(
        operation_id=operation_id, kind=kind.value, row_id__in=ids
    )
    found = rows.values_list("row_id", "before")
    kept = {row_id: before["row"] for row_id, before in found}
    model: Any = Category if kind == RowKind.CATEGORY else Tag
    names = [row["name"] for row in kept.values()]
    stored = model.objects.owned_by(ledger.member).filter(name__in=names)
    by_key = {(row.name, getattr(row, "type", None)): row.pk for row in stored}
    keys = {row_id: (row["name"], row.get("type")) for row_id, row in kept.items()}
    return {row_id: by_key[key] for row_id, key in keys.items() if key in by_key}


def free_wallet_names(
    ledger: LockedLedger, operation_id: int, ids: Iterable[int]
) -> None:
    """Change names of kept wallets that other wallets have taken since."""
    rows = OperationRow.objects.owned_by(ledger.member).filter(
        operation_id=operation_id, kind=RowKind.WALLET.value, row_id__in=ids
    )
    wallets = Wallet.objects.owned_by(ledger.member).order_by()
    taken = set(wallets.values_list("name", flat=True))
    for row in rows:
        name = row.before["row"]["name"]
        if name in taken:
            row.before["row"]["name"] = _find_free_name(name, taken)
            rows.filter(row_id=row.row_id).update(before=row.before)
        taken.add(row.before["row"]["name"])


def _find_free_name(name: str, taken: set[str]) -> str:
    number = 2
    while (candidate := f"{name[:90]} ({number})") in taken:
        number += 1
    return candidate
