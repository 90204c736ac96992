"""Moves of what refers to a wallet or category to another one, before its deletion.

More entries than fit into a request are left to a job (`ledger.move_job`). Until it has
moved all of them the wallet or category is *moving* and takes no writes: whatever names
it is refused with `MovingError`. All functions are called under `lock_ledger`.
"""

from typing import Any

from django.db import connection
from django.utils.translation import gettext

from ledger.errors import MovingError
from ledger.models import Category, Entry, QuickEntry, RecurringRule, Wallet
from ledger.models.base import MovableModel
from ledger.ownership import MAX_ID
from ledger.rollups import ROLLUPS, without_triggers

# More are left to the job.
MAX_ENTRIES_OF_REQUEST = 50_000
MODELS_WITH_REFERENCES = (Entry, QuickEntry, RecurringRule)
# By which column rows refer to it.
_FIELDS: dict[type[MovableModel], str] = {Wallet: "wallet", Category: "category"}


def _make_rollup_statements(column: str) -> list[str]:
    """Return statements that add the entries to the totals of another reference.

    The entries are those of `source` with ids above `after`, up to `until`. With `sign`
    -1 they are taken off, before they move.
    """
    scope = (
        f"member_id = %(member)s AND {column} = %(source)s"
        " AND id > %(after)s AND id <= %(until)s"
    )
    statements = []
    for rollup in ROLLUPS:
        if column not in rollup.key:
            continue
        values = [
            "%(reference)s::bigint" if each == column else each for each in rollup.key
        ] + [f"%(sign)s::int * {each}" for each in rollup.columns]
        source = rollup.source_query.format(scope=scope)
        statements.append(
            rollup.make_addition_statement(
                f"SELECT {', '.join(values)} FROM ({source}) moved"  # noqa: S608  # constants
            )
        )
    return statements


_ROLLUP_STATEMENTS = {
    field: _make_rollup_statements(f"{field}_id") for field in _FIELDS.values()
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


def list_references(row: MovableModel) -> list[Any]:
    """Return the entries, quick entries and recurring rules of a wallet or category."""
    return [
        model.objects.filter(member_id=row.member_id, **{_FIELDS[type(row)]: row.pk})
        for model in MODELS_WITH_REFERENCES
    ]


def move_references(source: MovableModel, target: MovableModel) -> bool:
    """Move what refers to `source`; return False if its entries are left to the job."""
    entries, *templates = list_references(source)
    for rows in templates:
        rows.update(**{_FIELDS[type(source)]: target})
    limit = MAX_ENTRIES_OF_REQUEST
    if entries.order_by()[limit : limit + 1].exists():
        source.moving_to = target
        fields: Any = ["moving_to"]
        source.save(update_fields=fields)
        return False
    with without_triggers():
        move_entries(source, target)
    return True


def move_entries(
    source: MovableModel, target: MovableModel, after: int = 0, until: int = MAX_ID
) -> int:
    """Move the entries with ids in this range, and their part of the totals.

    Return their number. `after` is excluded, `until` included. Call without triggers:
    they would do the same for each entry.
    """
    field = _FIELDS[type(source)]
    params = {
        "member": source.member_id,
        "source": source.pk,
        "after": after,
        "until": until,
    }
    sides = ({"sign": -1, "reference": source.pk}, {"sign": 1, "reference": target.pk})
    with connection.cursor() as cursor:
        for statement in _ROLLUP_STATEMENTS[field]:
            for side in sides:
                cursor.execute(statement, params | side)
    entries, *_ = list_references(source)
    moved: int = entries.filter(pk__gt=after, pk__lte=until).update(**{field: target})
    return moved
