"""Reports by members (spec 5.10)."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from accounts.models import Member
from accounts.security.rate_limits import RateLimitPolicy
from board.errors import SelfReportError
from board.locking import MAX_ID, lock_member_key_share, lock_members, lock_writer
from board.models import (
    Comment,
    Decision,
    HiddenReason,
    ModerationCase,
    OutsideReport,
    Post,
    Report,
    TargetType,
)
from board.moderation.cases import (
    UNRESOLVED,
    delete_if_empty,
    find_last_decision,
    find_last_resolved,
    lock_unresolved_case,
    open_case,
)
from board.moderation.notices import tell_author
from board.moderation.targets import Target, lock_target
from board.standing import require_voice_of
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError

REPORT_LIMIT = RateLimitPolicy("board-reports", 30, timedelta(days=1))
# Dismissed once, the same text needs so many new reporters.
REOPENING_REPORTS = 5
# Of accounts that are old enough, and mostly right.
MIN_ACCOUNT_AGE = timedelta(days=7)
MAX_DISMISSED_SHARE = 0.3
_COUNT_TRUSTED = """
    SELECT count(*) FROM board_report r JOIN member m ON m.id = r.member_id
    WHERE r.case_id = %(case)s AND m.created_at <= %(joined_before)s AND (
        SELECT count(*) FILTER (WHERE o.outcome = 'DISMISSED') <= %(share)s * count(*)
        FROM board_report o WHERE o.member_id = m.id AND o.outcome IS NOT NULL
    )
"""


@retry_on_conflict
def report(
    reporter: Member,
    target_type: TargetType,
    target_id: int,
    reason: str,
    note: str,
    now: datetime,
) -> None:
    """Report a post, comment or member; do nothing the second time.

    Raises `NotFoundError` for what the reporter cannot see, unless its author has
    deleted it since others reported it; `SelfReportError`, `BoardSuspendedError`,
    `RateLimitedError`.
    """
    with transaction.atomic():
        _lock_people(reporter, target_type, target_id, now)
        target = lock_target(target_type, target_id)
        case = lock_unresolved_case(target_type, target_id)
        _require_reportable(reporter, target, case)
        dismissal = _find_dismissal(target, case)
        if _has_reported(reporter, case, dismissal):
            return
        REPORT_LIMIT.consume(str(reporter.pk))
        if case is None and target is not None:
            status = ModerationCase.Status
            case = open_case(
                target,
                ModerationCase.Kind.REPORT,
                now,
                reason=reason,
                status=status.OPEN if dismissal is None else status.WAITING,
            )
        if case is not None:
            _add_report(reporter, case, reason, note, now)
            _open_waiting(case, dismissal, now)
            if target is not None:
                _hide_if_many(case, target, now)


def _lock_people(
    reporter: Member, target_type: TargetType, target_id: int, now: datetime
) -> None:
    """Lock the reporter, and a reported member against the deletion of the account."""
    if target_type != TargetType.MEMBER or target_id > MAX_ID:
        lock_writer(reporter, now)
        return
    people = lock_members(reporter.pk, target_id)
    if reporter.pk not in people:
        raise Member.DoesNotExist
    require_voice_of(people[reporter.pk], now)


def require_target(target_type: TargetType, target_id: int) -> None:
    """Raise `NotFoundError` for what nobody can report.

    `report` asks again under its locks; this comes before the request is looked at.
    """
    if target_id > MAX_ID:
        raise NotFoundError
    rows: dict[TargetType, QuerySet[Any]] = {
        TargetType.POST: Post.objects.filter(is_hidden=False),
        TargetType.COMMENT: Comment.objects.filter(
            is_hidden=False, post__is_hidden=False
        ),
        TargetType.MEMBER: Member.objects.all(),
    }
    cases = ModerationCase.objects.filter(
        target_type=target_type, target_id=target_id, status__in=UNRESOLVED
    )
    if not (rows[target_type].filter(pk=target_id).exists() or cases.exists()):
        raise NotFoundError


def _require_reportable(
    reporter: Member, target: Target | None, case: ModerationCase | None
) -> None:
    was_reported = case is not None and case.kind != ModerationCase.Kind.HELD
    if not (was_reported or (target is not None and target.is_visible)):
        raise NotFoundError
    author_id = target.author_id if target is not None else case and case.author_id
    if author_id == reporter.pk:
        raise SelfReportError


def _find_dismissal(
    target: Target | None, case: ModerationCase | None
) -> Decision | None:
    """Return the decision that staff found nothing wrong with the text as it is."""
    is_waiting = case is None or case.status == ModerationCase.Status.WAITING
    if target is None or not is_waiting:
        return None
    last = find_last_resolved(target.type, target.id)
    decision = None if last is None else find_last_decision(last)
    if decision is None or decision.action != Decision.Action.DISMISS:
        return None
    # What was shown after a hold, or without a report, was not dismissed.
    reports = Report.objects.filter(case=decision.case_id)
    from_outside = OutsideReport.objects.filter(case=decision.case_id)
    if not (reports.exists() or from_outside.exists()):
        return None
    is_edited = (
        target.changed_at is not None and target.changed_at > decision.decided_at
    )
    return None if is_edited else decision


def _has_reported(
    reporter: Member, case: ModerationCase | None, dismissal: Decision | None
) -> bool:
    cases = [case.pk] if case is not None else []
    if dismissal is not None:
        cases.append(dismissal.case_id)
    return Report.objects.filter(case__in=cases, member=reporter).exists()


def _add_report(
    reporter: Member, case: ModerationCase, reason: str, note: str, now: datetime
) -> None:
    Report.objects.create(
        case=case, member=reporter, reason=reason, note=note, created_at=now
    )
    case.report_count += 1
    case.reason = case.reason or reason
    case.save(update_fields=["report_count", "reason"])


def _open_waiting(
    case: ModerationCase, dismissal: Decision | None, now: datetime
) -> None:
    if case.status != ModerationCase.Status.WAITING:
        return
    if dismissal is None or case.report_count >= REOPENING_REPORTS:
        case.status = ModerationCase.Status.OPEN
        case.opened_at = now
        case.save(update_fields=["status", "opened_at"])


def _hide_if_many(case: ModerationCase, target: Target, now: datetime) -> None:
    """Hide what enough trusted members report; staff decide about staff."""
    threshold: int = settings.REPORTS_HIDE
    is_open = case.status == ModerationCase.Status.OPEN
    if not (threshold and is_open and target.is_content and target.is_visible):
        return
    if case.report_count < threshold or _count_trusted(case, now) < threshold:
        return
    if Member.objects.only("role").get(pk=target.author_id).is_moderator:
        return
    target.hide(HiddenReason.REPORTS)
    Decision.objects.create(
        case=case,
        action=Decision.Action.HIDE,
        reason=case.reason,
        is_automatic=True,
        decided_at=now,
    )
    tell_author(case)


def _count_trusted(case: ModerationCase, now: datetime) -> int:
    values: dict[str, Any] = {
        "case": case.pk,
        "joined_before": now - MIN_ACCOUNT_AGE,
        "share": MAX_DISMISSED_SHARE,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_TRUSTED, values)
        return int(cursor.fetchone()[0])


@retry_on_conflict
def withdraw_report(reporter: Member, target_type: TargetType, target_id: int) -> None:
    """Take an open report back; do nothing if there is none."""
    with transaction.atomic():
        lock_member_key_share(reporter)
        lock_target(target_type, target_id)
        case = lock_unresolved_case(target_type, target_id)
        if case is None:
            return
        own = Report.objects.filter(case=case, member=reporter, outcome=None)
        deleted, _ = own.delete()
        if deleted:
            case.report_count -= 1
            case.save(update_fields=["report_count"])
            delete_if_empty(case)
