"""Silencing by moderators, with a case that the member may appeal against."""

from datetime import datetime, timedelta

from django.db import transaction

from accounts.models import Member
from accounts.security.audit_log import CHANGE, log_admin_action, with_reason
from board.locking import lock_members
from board.models import Decision, ModerationCase, TargetType
from board.moderation.decisions import require_judge
from board.moderation.notices import tell_silenced
from board.moderation.silence import end_silence_of
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError


@retry_on_conflict
def set_silence(
    actor: Member, member_id: int, until: datetime, reason: str, now: datetime
) -> None:
    """Silence a member until a moment; it may be sooner than before.

    Raises `NotFoundError`, and `NotYourCaseError` for oneself and for staff.
    """
    with transaction.atomic():
        member = _lock_judged(actor, member_id)
        member.silenced_until, member.silence_reason = until, reason
        member.save_fields("silenced_until", "silence_reason")
        _decide(actor, member, Decision.Action.SILENCE, reason, now, until)
        log_admin_action(actor, member, CHANGE, "Silenced.")


@retry_on_conflict
def end_silence(actor: Member, member_id: int, now: datetime, note: str = "") -> None:
    """End a silence; do nothing if there is none. Raises as `set_silence`.

    The log has `note`.
    """
    with transaction.atomic():
        member = _lock_judged(actor, member_id)
        if not member.is_silenced(now):
            return
        end_silence_of(member.pk)
        _decide(actor, member, Decision.Action.DISMISS, "", now)
        log_admin_action(actor, member, CHANGE, with_reason("Silence ended.", note))


def _lock_judged(actor: Member, member_id: int) -> Member:
    people = lock_members(actor.pk, member_id)
    if member_id not in people:
        raise NotFoundError
    require_judge(actor, people, member_id)
    return people[member_id]


def _decide(
    actor: Member,
    member: Member,
    action: str,
    note: str,
    now: datetime,
    until: datetime | None = None,
) -> None:
    """Make a case of its own: reports on the member wait for somebody to read them."""
    case = ModerationCase.objects.create(
        kind=ModerationCase.Kind.STAFF,
        status=ModerationCase.Status.RESOLVED,
        target_type=TargetType.MEMBER,
        target_id=member.pk,
        author=member,
        title=member.display_name,
        opened_at=now,
    )
    days = None if until is None else max(1, -(-(until - now) // timedelta(days=1)))
    Decision.objects.create(
        case=case,
        action=action,
        note=note,
        silence_days=days,
        actor=actor,
        decided_at=now,
    )
    tell_silenced(case)
