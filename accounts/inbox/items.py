"""Writing of items: added, read, deleted, purged."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Q

from accounts.inbox.announced import delete_announced, mark_announced, purge_marks
from accounts.models import AnnouncementMark, InboxItem, Member, MutedKind
from core.db.rows import prepared_cursor
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError

MAX_ITEMS = 500
RETENTION = timedelta(days=90)
PURGE_BATCH_SIZE = 5_000

# The rows are written in the order of their members, as `board.locking` says. An unread
# item is raised; its new id puts it in front.
_ADD = """
    INSERT INTO inbox_item AS kept
        (member_id, kind, target_type, target_id, actor_id)
    SELECT m.id, event.kind, event.target_type, told.target_id, event.actor_id
    FROM unnest(%(members)s::bigint[], %(targets)s::bigint[])
        AS told (member_id, target_id)
    JOIN member m ON m.id = told.member_id, (
        SELECT %(kind)s::varchar AS kind, %(target_type)s::varchar AS target_type,
            %(actor)s::bigint AS actor_id
    ) event
    WHERE m.id IS DISTINCT FROM event.actor_id
      AND NOT EXISTS (
          SELECT FROM inbox_muted_kind k
          WHERE k.member_id = m.id AND k.kind = event.kind
      )
      AND NOT EXISTS (
          SELECT FROM member_block b
          WHERE b.member_id = m.id AND b.blocked_id = event.actor_id
      )
    ORDER BY m.id, told.target_id
    ON CONFLICT (member_id, kind, target_type, target_id) WHERE read_at IS NULL
    DO UPDATE SET id = excluded.id, count = kept.count + 1,
        at = excluded.at, actor_id = excluded.actor_id
"""
_PURGE_OLD = """
    DELETE FROM inbox_item WHERE id IN (
        SELECT id FROM inbox_item WHERE at < %(before)s
        LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    )
"""
# Members with too many are few.
_PURGE_SURPLUS = """
    DELETE FROM inbox_item i USING (
        SELECT member_id, (
            SELECT id FROM inbox_item last WHERE last.member_id = full_inbox.member_id
            ORDER BY id DESC OFFSET %(kept)s LIMIT 1
        ) AS last_id
        FROM (
            SELECT member_id FROM inbox_item GROUP BY member_id
            HAVING count(*) > %(kept)s
        ) full_inbox
    ) surplus
    WHERE i.member_id = surplus.member_id AND i.id <= surplus.last_id
      -- Against a decision the member may say something for so long.
      AND (i.target_type <> 'CASE' OR i.at < now() - interval '30 days')
"""


def add_items(
    member_ids: Iterable[int | None],
    kind: str,
    *,
    target_type: str = "",
    target_id: int = 0,
    actor_id: int | None = None,
) -> None:
    """Tell members that something happened; call it in the transaction of the event.

    Left out are the actor, members who have blocked the actor, and members who have
    switched the kind off.
    """
    members = {each for each in member_ids if each is not None}
    add_items_about(
        [(each, target_id) for each in members],
        kind,
        target_type=target_type,
        actor_id=actor_id,
    )


def add_items_about(
    pairs: Iterable[tuple[int, int]],
    kind: str,
    *,
    target_type: str,
    actor_id: int | None = None,
) -> None:
    """Tell each member about a target of their own; a pair must not be repeated."""
    told = sorted(set(pairs))
    if not told:
        return
    with prepared_cursor() as cursor:
        cursor.execute(
            _ADD,
            {
                "members": [member for member, _ in told],
                "targets": [target for _, target in told],
                "kind": kind,
                "target_type": target_type,
                "actor": actor_id,
            },
        )


def mark_read(
    member: Member,
    now: datetime,
    *,
    ids: Collection[int] = (),
    up_to: int | None = None,
) -> None:
    """Mark items as read: those with the ids, or all up to one.

    Those that are not the member's, or are no more, are passed over.
    """
    chosen = Q(pk__in=ids) if up_to is None else Q(pk__lte=up_to)
    mark_announced(member, ids=ids, up_to=up_to)
    items = InboxItem.objects.filter(chosen, member=member, read_at=None)
    items.update(read_at=now)


def delete_item(member: Member, item_id: int) -> None:
    """Delete an item; raise `NotFoundError` if the member has none with the id."""
    deleted, _ = InboxItem.objects.filter(member=member, pk=item_id).delete()
    if not deleted and not delete_announced(member, item_id):
        raise NotFoundError


@retry_on_conflict
def set_muted_kinds(member: Member, wanted: dict[str, bool]) -> None:
    """Say for some kinds whether the member wants items of them."""
    muted = [kind for kind, is_wanted in wanted.items() if not is_wanted]
    with transaction.atomic():
        rows = MutedKind.objects.filter(member=member, kind__in=wanted)
        rows.exclude(kind__in=muted).delete()
        MutedKind.objects.bulk_create(
            [MutedKind(member=member, kind=kind) for kind in muted],
            ignore_conflicts=True,
        )


def purge_inboxes(now: datetime) -> int:
    """Delete old items, and the oldest of members with too many."""
    purged = 0
    with connection.cursor() as cursor:
        while True:
            values: dict[str, Any] = {
                "before": now - RETENTION,
                "batch": PURGE_BATCH_SIZE,
            }
            cursor.execute(_PURGE_OLD, values)
            purged += cursor.rowcount
            if cursor.rowcount < PURGE_BATCH_SIZE:
                break
        cursor.execute(_PURGE_SURPLUS, {"kept": MAX_ITEMS})
        purged += cursor.rowcount
    return int(purged + purge_marks(now))


def delete_inbox(member: Member) -> None:
    """Delete the items of the member, and those of others with the member as actor."""
    InboxItem.objects.filter(Q(member=member) | Q(actor=member)).delete()
    MutedKind.objects.filter(member=member).delete()
    AnnouncementMark.objects.filter(member=member).delete()
