"""Appeals: the author says something against a decision, once (spec 5.10)."""

from datetime import datetime, timedelta

from django.db import transaction

from accounts.models import Member
from board.errors import AppealClosedError
from board.locking import lock_member_key_share
from board.models import Decision, ModerationCase
from board.moderation.cases import lock_case, lock_unresolved_case
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
        lock_member_key_share(author)
        lock_target(known.target_type, known.target_id)
        case = lock_case(case_id)
        decision = require_open_appeal(case, now)
        if case.is_resolved:
            # Another case about the same may have been opened meanwhile.
            if lock_unresolved_case(case.target_type, case.target_id) is not None:
                raise AppealClosedError
            case.status = ModerationCase.Status.OPEN
            case.opened_at = now
            case.save(update_fields=["status", "opened_at"])
        decision.appeal, decision.appealed_at = text, now
        decision.save(update_fields=["appeal", "appealed_at"])


def require_open_appeal(case: ModerationCase, now: datetime) -> Decision:
    """Return the newest decision; raise `AppealClosedError` if it stands."""
    decision = Decision.objects.filter(case=case).order_by("-id").first()
    if decision is None or not may_appeal(decision, now):
        raise AppealClosedError
    return decision


def may_appeal(decision: Decision, now: datetime) -> bool:
    """Return whether the author may say something against the newest decision."""
    is_against_author = decision.action != Decision.Action.DISMISS
    is_open = decision.appeal is None and not decision.is_final
    return is_against_author and is_open and now <= decision.decided_at + APPEAL_TIME
