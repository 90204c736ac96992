"""Announcements: written by administrators, current for some members (spec 7.12)."""

import time
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Announcement, Member
from accounts.security.audit_log import ADDITION, CHANGE, DELETION, log_admin_action
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, LimitReachedError, NotFoundError

Audience = Announcement.Audience
# Of those that are not over.
MAX_ANNOUNCEMENTS = 100
MAX_ID = 2**63 - 1

# The first reader after the beginning places it in front of the items of that time.
_PLACE = """
    UPDATE announcement
    SET inbox_id = nextval(pg_get_serial_sequence('inbox_item', 'id'))
    WHERE id = %s AND inbox_id IS NULL
    RETURNING inbox_id
"""


class KnownAnnouncements:
    """The announcements that are not over, as read a moment ago by this process."""

    def __init__(self) -> None:
        self.read_at: float | None = None
        self.announcements: tuple[Announcement, ...] = ()
        # The number of changes. Rows that were read before a change are not kept.
        self._changes = 0

    def list_current(self, now: datetime) -> list[Announcement]:
        """Return those that have begun, the newest first."""
        clock, read_at, changes = time.monotonic(), self.read_at, self._changes
        is_old = (
            read_at is None or clock - read_at > settings.ANNOUNCEMENT_CACHE_SECONDS
        )
        if is_old:
            rows = Announcement.objects.filter(ends_at__gt=now)
            announcements = tuple(rows.order_by("starts_at", "id"))
            self.announcements = announcements
            self.read_at = clock if changes == self._changes else None
        else:
            announcements = self.announcements
        current = [
            each for each in announcements if each.starts_at <= now < each.ends_at
        ]
        for each in current:
            if each.inbox_id is None:
                place_in_inboxes(each)
        return sorted(current, key=lambda each: each.inbox_id or 0, reverse=True)

    def forget(self) -> None:
        self._changes += 1
        self.read_at = None

    def forget_after_commit(self) -> None:
        """Forget now, for this transaction, and at its end, for all others."""
        self.forget()
        transaction.on_commit(self.forget)


KNOWN = KnownAnnouncements()


def place_in_inboxes(announcement: Announcement) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_PLACE, [announcement.pk])
        row = cursor.fetchone()
    if row is None:
        # Another process was faster, or it was deleted meanwhile.
        rows = Announcement.objects.filter(pk=announcement.pk)
        announcement.inbox_id = rows.values_list("inbox_id", flat=True).first()
    else:
        announcement.inbox_id = row[0]


def list_current_for(member: Member | None, now: datetime) -> list[Announcement]:
    """Return the current announcements for a member; None is a visitor."""
    current = KNOWN.list_current(now)
    if not current:
        return []
    audiences = list_audiences(member)
    return [each for each in current if each.audience in audiences]


def list_audiences(member: Member | None) -> set[str]:
    audiences: set[str] = {Audience.ALL}
    if member is not None:
        audiences.add(Audience.PREMIUM if member.has_premium else Audience.FREE)
        if member.is_moderator:
            audiences.add(Audience.STAFF)
    return audiences


def get_announcement(announcement_id: int) -> Announcement:
    rows = Announcement.objects.filter(pk=min(announcement_id, MAX_ID))
    announcement = rows.first()
    if announcement is None:
        raise NotFoundError
    return announcement


@retry_on_conflict
def create_announcement(actor: Member, values: dict[str, Any]) -> Announcement:
    """Announce something; raise `LimitReachedError` where too many are not over."""
    with transaction.atomic():
        now = timezone.now()
        values = {"starts_at": now} | values
        raise_if_over_before_it_begins(values["starts_at"], values["ends_at"])
        require_room(now)
        announcement = Announcement.objects.create(**values)
        announcement.refresh_from_db()
        log_admin_action(actor, announcement, ADDITION)
        KNOWN.forget_after_commit()
    return announcement


@retry_on_conflict
def update_announcement(
    actor: Member, announcement_id: int, values: dict[str, Any]
) -> Announcement:
    """Replace an announcement, which stays read for members who have read it.

    Raises `LimitReachedError` for one that was over, where too many are not.
    """
    with transaction.atomic():
        now = timezone.now()
        rows = Announcement.objects.select_for_update()
        announcement = rows.filter(pk=min(announcement_id, MAX_ID)).first()
        if announcement is None:
            raise NotFoundError
        if announcement.ends_at <= now < values.get("ends_at", now):
            require_room(now)
        for name, value in values.items():
            setattr(announcement, name, value)
        raise_if_over_before_it_begins(announcement.starts_at, announcement.ends_at)
        announcement.save(update_fields=list(values))
        log_admin_action(actor, announcement, CHANGE)
        KNOWN.forget_after_commit()
    return announcement


@retry_on_conflict
def delete_announcement(actor: Member, announcement_id: int) -> None:
    with transaction.atomic():
        rows = Announcement.objects.select_for_update()
        announcement = rows.filter(pk=min(announcement_id, MAX_ID)).first()
        if announcement is None:
            raise NotFoundError
        log_admin_action(actor, announcement, DELETION)
        # The marks of members go with the job that purges inboxes.
        Announcement.objects.filter(pk=announcement.pk).delete()
        KNOWN.forget_after_commit()


def require_room(now: datetime) -> None:
    """Raise `LimitReachedError` if too many are not over; writers take turns."""
    advisory_xact_lock(AdvisoryLock.ANNOUNCEMENTS)
    if Announcement.objects.filter(ends_at__gt=now).count() >= MAX_ANNOUNCEMENTS:
        raise LimitReachedError


def raise_if_over_before_it_begins(starts_at: datetime, ends_at: datetime) -> None:
    if ends_at <= starts_at:
        raise InvalidFieldError("until", gettext("Must be after `from`."), "range")
