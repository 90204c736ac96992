"""Appeals: the author says something against a decision, once (spec 5.10)."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.functions import Lower

from accounts.models import Member
from board.errors import AppealClosedError
from board.locking import lock_members
from board.models import Decision, ModerationCase, OutsideReport, Report
from board.moderation.cases import (
    find_newest_decision,
    lock_case,
    lock_unresolved_case,
)
from board.moderation.targets import lock_target
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError

APPEAL_TIME = timedelta(days=30)


@retry_on_conflict
def appeal(author: Member, case_id: int, text: str, now: datetime) -> None:
    """Open the case again for another moderator, whose decision is final.

    Raises `NotFoundError` for a case of somebody else, and `AppealClosedError` for a
    second time, a final decision, and after `APPEAL_TIME`.
    """
    known = ModerationCase.objects.filter(pk=case_id, author=author).first()
    if known is None:
        raise NotFoundError
    with transaction.atomic():
        lock_members(author.pk)
        lock_target(known.target_type, known.target_id)
        case = lock_case(case_id)
        decision = require_open_appeal(case, now)
        if case.is_resolved:
            _merge_waiting_reports(case)
            case.status = ModerationCase.Status.OPEN
            case.opened_at = now
            case.save(update_fields=["kind", "status", "opened_at", "report_count"])
        decision.appeal, decision.appealed_at = text, now
        decision.save(update_fields=["appeal", "appealed_at"])


def _merge_waiting_reports(case: ModerationCase) -> None:
    """Take the reports of a later case, in which nobody has decided, into this one."""
    other = lock_unresolved_case(case.target_type, case.target_id)
    if other is None:
        return
    known = Report.objects.filter(case=case).values("member")
    Report.objects.filter(case=other).exclude(member__in=known).update(case=case)
    Report.objects.filter(case=other).delete()
    outside = OutsideReport.objects.filter(case=other)
    known_addresses = OutsideReport.objects.filter(case=case).values_list(
        Lower("email")
    )
    moved = outside.annotate(address=Lower("email")).exclude(
        address__in=known_addresses
    )
    if moved.update(case=case):
        case.kind = ModerationCase.Kind.NOTICE
    other.delete()
    case.report_count = Report.objects.filter(case=case).count()


def require_open_appeal(case: ModerationCase, now: datetime) -> Decision:
    """Return the newest decision; raise `AppealClosedError` if it stands."""
    decision = find_newest_decision(case)
    later = Decision.objects.filter(
        case__target_type=case.target_type,
        case__target_id=case.target_id,
        case__gt=case.pk,
    )
    # What was decided later about the same stands on its own.
    if decision is None or not may_appeal(decision, now) or later.exists():
        raise AppealClosedError
    return decision


def may_appeal(decision: Decision, now: datetime) -> bool:
    """Return whether the author may say something against the newest decision."""
    is_against_author = decision.action != Decision.Action.DISMISS
    is_open = decision.appeal is None and not decision.is_final
    return is_against_author and is_open and now <= decision.decided_at + APPEAL_TIME
