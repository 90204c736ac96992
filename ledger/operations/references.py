"""Rows that an operation's rows refer to, and that are gone since."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

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
        SELECT 'category' AS what, (part ->> 'category_id')::bigint AS id,
            coalesce(part ->> 'category_type', part ->> 'type') AS type FROM found
        UNION SELECT 'category', (part ->> 'parent_id')::bigint, part ->> 'type'
        FROM found
        UNION SELECT 'wallet', (part ->> 'wallet_id')::bigint, '' FROM found
        UNION SELECT 'wallet', (part ->> 'to_wallet_id')::bigint, '' FROM found
        UNION SELECT 'wallet', (part ->> 'pay_from_wallet_id')::bigint, '' FROM found
        UNION SELECT 'tag', (part ->> 'tag_id')::bigint, '' FROM found
        UNION SELECT 'refund', (part ->> 'refund_of_id')::bigint, '' FROM found
    )
    SELECT what, id, type FROM named WHERE id IS NOT NULL AND NOT CASE what
        WHEN 'category' THEN EXISTS (
            SELECT FROM account_category r
            WHERE r.member_id = %(member)s AND r.id = named.id AND r.type = named.type
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


def find_gone(
    ledger: LockedLedger,
    operation_id: int,
    written: Mapping[str, Iterable[int]],
    restored: Mapping[str, set[int]],
) -> dict[str, dict[int, str]]:
    """Return rows that are not there, nor `restored`: by what they are, then by id.

    The values are the types of categories. One that has another type by now is gone.
    """
    snapshots = Snapshots(ledger, operation_id, {})
    gone: dict[str, dict[int, str]] = {
        name: {} for name in ("category", "wallet", "tag", "refund")
    }
    for kind, ids in written.items():
        for what, row_id, type_ in snapshots.execute(_REFERRED, ids, kind=kind):
            gone[what][row_id] = type_
    for what, kind in (
        ("category", RowKind.CATEGORY),
        ("wallet", RowKind.WALLET),
        ("tag", RowKind.TAG),
        ("refund", RowKind.ENTRY),
    ):
        for row_id in restored.get(kind.value, set()):
            gone[what].pop(row_id, None)
    return gone


def replace_gone(
    ledger: LockedLedger, gone: Mapping[str, Mapping[int, str]], wallet_id: int | None
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
) -> dict[int, str]:
    """Return the last names, from the operations that deleted the rows."""
    rows = OperationRow.objects.owned_by(ledger.member).filter(
        kind=kind.value, row_id__in=ids, before__isnull=False
    )
    # The last name counts.
    found = rows.order_by("operation_id").values_list("row_id", "before")
    return {row_id: before["row"]["name"] for row_id, before in found}


def _make_categories(
    ledger: LockedLedger, types: Mapping[int, str]
) -> dict[int, int | None]:
    names = _find_names(ledger, RowKind.CATEGORY, types) if types else {}
    stored = Category.objects.owned_by(ledger.member).filter(pk__in=list(types))
    # It is there with another type.
    names |= dict(stored.values_list("pk", "name"))
    keys = {row_id: (types[row_id], name) for row_id, name in names.items()}
    made = get_or_create_categories(ledger, set(keys.values()))
    return {
        row_id: made[keys[row_id]].pk if row_id in keys else None for row_id in types
    }


def _make_tags(ledger: LockedLedger, ids: Collection[int]) -> dict[int, int | None]:
    names = _find_names(ledger, RowKind.TAG, ids) if ids else {}
    made = {tag.name: tag.pk for tag in get_or_create_tags(ledger, [*names.values()])}
    return {row_id: made[name] for row_id, name in names.items()}


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
