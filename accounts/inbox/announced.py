"""Announcements in inboxes: one row for all, joined when an inbox is read.

A member has a row of an announcement only once it was read or deleted in the inbox.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection
from django.utils import timezone
from django.utils.translation import get_language

from accounts.announcements.announcements import KNOWN, list_current_for
from accounts.inbox.kinds import ANNOUNCEMENT
from accounts.inbox.sources import Description, ItemRow
from accounts.models import Announcement, AnnouncementMark, Member

PURGE_BATCH_SIZE = 5_000
# A process may list the inbox without a new announcement for so long. A member who
# reads all items up to one has not seen that announcement.
SEEN_BY_ALL = timedelta(seconds=15)
_PURGE = """
    DELETE FROM announcement_mark WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM announcement_mark WHERE announcement_id = %s LIMIT %s
    ))
"""


class Announced(NamedTuple):
    announcement: Announcement
    # The place among the items.
    item_id: int
    is_read: bool


def list_announced(member: Member) -> list[Announced]:
    """Return the current announcements that the member has not deleted."""
    current = list_current_for(member, timezone.now())
    if not current:
        return []
    marks = AnnouncementMark.objects.filter(
        member=member, announcement__in=[each.pk for each in current]
    )
    deleted = dict(marks.values_list("announcement_id", "is_deleted"))
    return [
        Announced(each, each.inbox_id, each.pk in deleted)
        for each in current
        # None is one that another administrator has just deleted.
        if each.inbox_id is not None and not deleted.get(each.pk)
    ]


def describe_announced(
    announced: Iterable[Announced],
) -> tuple[list[ItemRow], dict[int, Description]]:
    """Return items and their descriptions, in the language of the request."""
    is_korean = get_language() == Member.Locale.KO
    rows, descriptions = [], {}
    for announcement, item_id, is_read in announced:
        title, text = (
            (announcement.title_ko, announcement.text_ko)
            if is_korean
            else (announcement.title_en, announcement.text_en)
        )
        rows.append(make_row(announcement, item_id, is_read=is_read))
        target = {"type": ANNOUNCEMENT, "id": announcement.pk, "postId": None}
        descriptions[item_id] = Description(f"{title}\n\n{text}", target)
    return rows, descriptions


def make_row(announcement: Announcement, item_id: int, *, is_read: bool) -> ItemRow:
    return ItemRow(
        id=item_id,
        kind=ANNOUNCEMENT,
        at=announcement.starts_at.isoformat(),
        count=1,
        read=is_read,
        target_type="",
        target_id=announcement.pk,
        actor_id=None,
        display_name=None,
        avatar_version=None,
        idp_picture=None,
        role=None,
    )


def mark_announced(
    member: Member, *, ids: Collection[int] = (), up_to: int | None = None
) -> None:
    """Mark announcements as read: those at the ids, or all up to one."""
    # Another process may have shown one that this one does not know yet.
    KNOWN.forget()
    known_since = timezone.now() - SEEN_BY_ALL
    AnnouncementMark.objects.bulk_create(
        [
            AnnouncementMark(member=member, announcement=each.announcement)
            for each in list_announced(member)
            if not each.is_read
            and (
                each.item_id in ids
                if up_to is None
                else each.item_id <= up_to
                and each.announcement.created_at <= known_since
            )
        ],
        ignore_conflicts=True,
    )


def delete_announced(member: Member, item_id: int) -> bool:
    """Delete an announcement from the inbox of the member; return whether it is one."""
    # As above.
    KNOWN.forget()
    for announcement, number, _is_read in list_announced(member):
        if number == item_id:
            AnnouncementMark.objects.bulk_create(
                [
                    AnnouncementMark(
                        member=member, announcement=announcement, is_deleted=True
                    )
                ],
                update_conflicts=True,
                unique_fields=["member", "announcement"],
                update_fields=["is_deleted"],
            )
            return True
    return False


def purge_marks(now: datetime) -> int:
    """Delete the marks of announcements that are over or gone."""
    marks = AnnouncementMark.objects.order_by("announcement_id")
    # Before the announcements, of which a new one may get its first mark meanwhile.
    marked = list(marks.values_list("announcement_id", flat=True).distinct())
    rows = Announcement.objects.filter(ends_at__gt=now)
    shown = set(rows.values_list("pk", flat=True))
    purged = 0
    for number in marked:
        if number in shown:
            continue
        with connection.cursor() as cursor:
            while True:
                cursor.execute(_PURGE, [number, PURGE_BATCH_SIZE])
                purged += cursor.rowcount
                if cursor.rowcount < PURGE_BATCH_SIZE:
                    break
    return purged
