"""Reminders of marketing consents, every two years (spec 2.20)."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from accounts.inbox.items import add_items
from accounts.inbox.kinds import CONSENT
from accounts.mail.outbox import is_mail_configured, queue_notice
from accounts.models import Member
from core.db.rows import fetch_all
from core.db.transactions import retry_on_conflict

YEARS = 2
# A run that failed is made up for within these days. Items of inboxes live longer.
LATE_DAYS = 7
BATCH_SIZE = 5_000
# The last answer of a member counts. Reminders of later years follow the first one.
_LIST_DUE = """
    SELECT c.member_id, c.document_id, c.at
    FROM legal_document d
    CROSS JOIN generate_series(1, 20) AS number
    JOIN consent c ON c.document_id = d.id AND c.accepted
        AND c.at <= %(now)s - number * %(years)s * interval '1 year'
        AND c.at > %(now)s - number * %(years)s * interval '1 year' - %(late)s
    WHERE d.kind = 'MARKETING'
      AND NOT EXISTS (
          SELECT FROM consent later JOIN legal_document ld ON ld.id = later.document_id
          WHERE later.member_id = c.member_id AND later.id > c.id
            AND ld.kind = 'MARKETING'
      )
      AND NOT EXISTS (
          SELECT FROM inbox_item i
          WHERE i.member_id = c.member_id AND i.kind = %(kind)s
            AND i.at > %(now)s - %(late)s
      )
    ORDER BY c.member_id LIMIT %(batch)s
"""
_IS_REMINDED = """
    SELECT EXISTS (
        SELECT FROM inbox_item
        WHERE member_id = %(member)s AND kind = %(kind)s AND at > %(since)s
    )
"""


class DueConsent(NamedTuple):
    member_id: int
    document_id: int
    at: datetime


def remind_of_marketing_consents(now: datetime) -> int:
    """Remind members of a consent of two, four … years ago that still stands.

    Korean law asks for it (정보통신망법 50조 8항). Returns the number of reminders.
    """
    values = {
        "now": now,
        "years": YEARS,
        "late": timedelta(days=LATE_DAYS),
        "kind": CONSENT,
        "batch": BATCH_SIZE,
    }
    due = fetch_all(_LIST_DUE, values, DueConsent)
    return sum(_remind(consent, now) for consent in due)


@retry_on_conflict
def _remind(consent: DueConsent, now: datetime) -> bool:
    with transaction.atomic():
        rows = Member.objects.select_for_update(no_key=True).defer("profile_image")
        member = rows.filter(pk=consent.member_id).first()
        if member is None or _is_reminded(member, now):
            return False
        add_items(
            [member.pk], CONSENT, target_type="CONSENT", target_id=consent.document_id
        )
        if is_mail_configured():
            day = f"{timezone.localtime(consent.at):%Y-%m-%d}"
            queue_notice(member, "marketing_consent", {"day": day})
    return True


def _is_reminded(member: Member, now: datetime) -> bool:
    """Return whether a concurrent run was faster."""
    since = now - timedelta(days=LATE_DAYS)
    with connection.cursor() as cursor:
        cursor.execute(
            _IS_REMINDED, {"member": member.pk, "kind": CONSENT, "since": since}
        )
        return bool(cursor.fetchone()[0])
