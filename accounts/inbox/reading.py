"""Reading of items.

Items whose target is hidden or deleted are neither listed nor counted. Unread items are
counted when they are asked for, since a stored counter would drift. Announcements are
joined in memory: without a current one they cost no statement.
"""

from typing import Any, NamedTuple

from accounts.inbox.announced import describe_announced, list_announced
from accounts.inbox.items import MAX_ITEMS
from accounts.inbox.sources import (
    Description,
    ItemRow,
    format_is_shown,
    list_kinds,
    list_sources,
)
from accounts.members.avatar_urls import avatar_url
from accounts.models import Member, MutedKind
from accounts.models.members import MODERATORS
from core.db.rows import fetch_all, fetch_one

# Clients show 99 and, for this number, "more than 99".
MAX_COUNTED = 100

# Members see their newest items alone. A bound on the ID instead of the LIMIT would
# make PostgreSQL plan the statement anew for each execution, half of its time.
_NEWEST = """
    (SELECT * FROM inbox_item WHERE member_id = %(member)s
     ORDER BY id DESC LIMIT {max_items}) i
"""
_IS_SHOWN = """
    (i.actor_id IS NULL OR i.actor_id <> ALL (ARRAY(
        SELECT b.blocked_id FROM member_block b WHERE b.member_id = %(member)s
    )))
    AND {is_shown}
"""
_PAGE = """
    SELECT i.id, i.kind, to_json(i.at) #>> '{{}}' AS at, i.count,
        i.read_at IS NOT NULL AS read, i.target_type, i.target_id,
        m.id AS actor_id, m.display_name, m.avatar_version, m.idp_picture, m.role
    FROM {newest} LEFT JOIN member m ON m.id = i.actor_id
    WHERE {shown} {unread} {before}
    ORDER BY i.id DESC LIMIT {size} + 1
"""
_COUNT = """
    SELECT count(*) AS unread FROM (
        SELECT FROM {newest} WHERE {shown} AND i.read_at IS NULL LIMIT {limit}
    ) counted
"""


class UnreadCount(NamedTuple):
    unread: int


def list_items(
    member: Member, *, before: int | None, size: int, unread: bool
) -> tuple[list[dict[str, Any]], int | None]:
    """Return items, newest first, and the next `before`."""
    sql = _PAGE.format(
        newest=_format_newest(),
        shown=_format_shown(),
        size=size,
        unread="AND i.read_at IS NULL" if unread else "",
        before="" if before is None else "AND i.id < %(before)s",
    )
    stored = fetch_all(sql, {"member": member.pk, "before": before}, ItemRow)
    announced, descriptions = describe_announced(
        each
        for each in list_announced(member)
        if (before is None or each.item_id < before) and not (unread and each.is_read)
    )
    rows = sorted([*stored, *announced], key=lambda row: row.id, reverse=True)
    page = rows[:size]
    next_before = page[-1].id if len(rows) > size else None
    return _describe(member, page, descriptions), next_before


def count_unread(member: Member) -> int:
    """Return the number of unread items; `MAX_COUNTED` stands for more."""
    sql = _COUNT.format(
        newest=_format_newest(), shown=_format_shown(), limit=MAX_COUNTED
    )
    counted = fetch_one(sql, {"member": member.pk}, UnreadCount)
    announced = sum(not each.is_read for each in list_announced(member))
    return min((counted.unread if counted else 0) + announced, MAX_COUNTED)


def list_settings(member: Member) -> list[dict[str, Any]]:
    muted = set(MutedKind.objects.filter(member=member).values_list("kind", flat=True))
    return [
        {"kind": kind, "inbox": kind not in muted}
        for kind, may_be_muted in list_kinds().items()
        if may_be_muted
    ]


def _format_newest() -> str:
    return _NEWEST.format(max_items=MAX_ITEMS)


def _format_shown() -> str:
    return _IS_SHOWN.format(is_shown=format_is_shown())


def _describe(
    member: Member, rows: list[ItemRow], announced: dict[int, Description]
) -> list[dict[str, Any]]:
    described = dict(announced)
    for source in list_sources():
        own = [
            row for row in rows if row.kind in source.kinds and row.id not in announced
        ]
        if own:
            described |= source.describe(member, own)
    return [_item_payload(row, described.get(row.id, Description(""))) for row in rows]


def _item_payload(row: ItemRow, description: Description) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "at": row.at,
        "count": row.count,
        "actor": _actor_payload(row),
        "text": description.text,
        "target": description.target,
        "read": row.read,
    }


def _actor_payload(row: ItemRow) -> dict[str, Any] | None:
    if row.actor_id is None:
        return None
    return {
        "id": row.actor_id,
        "displayName": row.display_name,
        "avatar": avatar_url(row.actor_id, row.avatar_version, row.idp_picture or ""),
        "staff": row.role in MODERATORS,
    }
