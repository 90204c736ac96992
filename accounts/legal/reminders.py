"""Reminders of marketing consents, every two years (spec 2.20)."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from accounts.inbox.items import add_items
from accounts.inbox.kinds import CONSENT
from accounts.mail.outbox import is_mail_configured, queue_notice
from accounts.models import ConsentReminder, Member
from core.db.rows import fetch_all
from core.db.transactions import retry_on_conflict

YEARS = 2
MAX_REMINDERS = 20
# A missed run is made up for within these days.
LATE = timedelta(days=60)
BATCH_SIZE = 1_000
# The id of the member's newest answer about marketing.
_LAST_ANSWER = """
    SELECT max(last.id) FROM consent last
    JOIN legal_document ld ON ld.id = last.document_id
    WHERE last.member_id = {member} AND ld.kind = 'MARKETING'
"""
# OFFSET 0 keeps the subquery from being merged into a join, which would read every
# consent: so each range of days is read by the index.
_LIST_DUE = f"""
    WITH due AS MATERIALIZED (
        SELECT found.*, number
        FROM legal_document d
        CROSS JOIN generate_series(1, %(most)s) AS number
        CROSS JOIN LATERAL (
            SELECT c.id, c.member_id, c.document_id, c.at FROM consent c
            WHERE c.document_id = d.id AND c.accepted
              AND c.at <= %(now)s - number * %(years)s * interval '1 year'
              AND c.at > %(now)s - number * %(years)s * interval '1 year' - %(late)s
            OFFSET 0
        ) found
        WHERE d.kind = 'MARKETING'
    )
    SELECT id, member_id, document_id, at, number FROM due
    WHERE id > %(after)s
      AND NOT EXISTS (
          SELECT FROM consent_reminder r
          WHERE r.consent_id = due.id AND r.number = due.number
      )
      AND id = ({_LAST_ANSWER.format(member="due.member_id")})
    ORDER BY id LIMIT %(batch)s
"""  # noqa: S608 - of constants only
_LAST_ANSWER_OF_MEMBER = _LAST_ANSWER.format(member="%(member)s")


class DueConsent(NamedTuple):
    id: int
    member_id: int
    document_id: int
    at: datetime
    # The first reminder is after two years, the second after four.
    number: int


def remind_of_marketing_consents(now: datetime) -> int:
    """Remind members of a consent of two, four … years ago that still stands.

    Korean law asks for it (정보통신망법 50조 8항). Returns the number of reminders.
    """
    values: dict[str, Any] = {
        "now": now,
        "years": YEARS,
        "most": MAX_REMINDERS,
        "late": LATE,
        "batch": BATCH_SIZE,
    }
    reminded, after = 0, 0
    while due := fetch_all(_LIST_DUE, values | {"after": after}, DueConsent):
        reminded += sum(_remind(consent) for consent in due)
        after = due[-1].id
    return reminded


@retry_on_conflict
def _remind(consent: DueConsent) -> bool:
    """Return False if the member has answered since, or another run was faster."""
    with transaction.atomic():
        # A new answer waits for the lock, or is seen here.
        rows = Member.objects.select_for_update().defer("profile_image")
        member = rows.filter(pk=consent.member_id).first()
        if member is None or _find_last_answer(member) != consent.id:
            return False
        _, is_new = ConsentReminder.objects.get_or_create(
            consent_id=consent.id, number=consent.number
        )
        if not is_new:
            return False
        add_items(
            [member.pk], CONSENT, target_type="CONSENT", target_id=consent.document_id
        )
        if is_mail_configured():
            day = f"{timezone.localtime(consent.at):%Y-%m-%d}"
            queue_notice(member, "marketing_consent", {"day": day})
    return True


def _find_last_answer(member: Member) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(_LAST_ANSWER_OF_MEMBER, {"member": member.pk})
        found: int | None = cursor.fetchone()[0]
    return found
