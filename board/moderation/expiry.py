"""What ends by itself: blind content, and what staff have deleted (spec 5.11)."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef

from board.models import (
    Comment,
    Decision,
    HiddenReason,
    ModerationCase,
    OutsideReport,
    Post,
    TargetType,
)
from board.moderation.cases import (
    find_last_decision,
    lock_case,
    lock_unresolved_case,
)
from board.moderation.notes import END_OF_BLINDNESS
from board.moderation.notices import tell_author, tell_outside_reporters
from board.moderation.targets import lock_target
from core.db.transactions import retry_on_conflict

Action = Decision.Action
# A report from outside that nobody confirms.
UNCONFIRMED_TIME = timedelta(days=1)
# Names and emails of outside reporters are kept for so long after the last decision, to
# answer their questions.
CONTACT_TIME = timedelta(days=90)


def finish_moderation(now: datetime) -> int:
    """End what is due; return the number of rows."""
    return end_blinds(now) + remove_deleted(now) + purge_outside_reports(now)


def end_blinds(now: datetime) -> int:
    """Show blind content that its author has objected about; delete the rest."""
    due = ModerationCase.objects.filter(blind_until__lte=now).order_by("blind_until")
    return sum(_end_blind(case_id, now) for case_id in due.values_list("id", flat=True))


@retry_on_conflict
def _end_blind(case_id: int, now: datetime) -> bool:
    with transaction.atomic():
        known = ModerationCase.objects.filter(pk=case_id).first()
        if known is None:
            return False
        target = lock_target(known.target_type, known.target_id, for_delete=True)
        case = lock_case(case_id)
        blinded = find_last_decision(case)
        if case.blind_until is None or case.blind_until > now or blinded is None:
            return False
        said = Decision.objects.filter(case=case, appeal__isnull=False)
        is_shown = said.exists()
        is_blind = target is not None and target.hidden_reason == HiddenReason.BLIND
        if target is not None and is_blind and is_shown:
            target.show()
        elif target is not None and is_blind:
            target.remove(now)
            case.target_gone = ModerationCase.Gone.STAFF
        case.blind_until = None
        case.status = ModerationCase.Status.RESOLVED
        case.save(update_fields=["blind_until", "status", "target_gone"])
        Decision.objects.create(
            case=case,
            action=Action.DISMISS if is_shown else Action.DELETE,
            reason=blinded.reason,
            decided_at=now,
            is_final=True,
            note=END_OF_BLINDNESS,
        )
        # Nothing has happened to what is gone.
        if target is not None:
            tell_author(case)
        action = Action.DISMISS if is_shown else Action.DELETE
        tell_outside_reporters(case, action, has_objected=is_shown)
    return True


def remove_deleted(now: datetime) -> int:
    """Remove the rows that staff deleted long enough ago."""
    posts = Post.objects.filter(remove_after__lte=now)
    comments = Comment.objects.filter(remove_after__lte=now)
    removed = 0
    for post_id in posts.order_by("id").values_list("id", flat=True):
        removed += _remove(TargetType.POST, post_id, now)
    for comment_id in comments.order_by("id").values_list("id", flat=True):
        removed += _remove(TargetType.COMMENT, comment_id, now)
    return removed


@retry_on_conflict
def _remove(target_type: TargetType, target_id: int, now: datetime) -> bool:
    with transaction.atomic():
        target = lock_target(target_type, target_id, for_delete=True)
        model = Post if target_type == TargetType.POST else Comment
        due = model._default_manager.filter(pk=target_id, remove_after__lte=now)
        # Staff may have brought it back, or have an appeal to decide.
        is_open = lock_unresolved_case(target_type, target_id) is not None
        if target is None or is_open or not due.exists():
            return False
        target.remove(now)
    return True


def purge_outside_reports(now: datetime) -> int:
    """Delete unconfirmed reports, and wipe names and addresses after `CONTACT_TIME`."""
    unconfirmed = OutsideReport.objects.filter(
        confirmed_at=None, expires_at__lte=now - UNCONFIRMED_TIME
    )
    recent = Decision.objects.filter(
        case=OuterRef("case"), decided_at__gt=now - CONTACT_TIME
    )
    old = OutsideReport.objects.filter(
        ~Exists(recent),
        confirmed_at__lte=now - CONTACT_TIME,
        case__status=ModerationCase.Status.RESOLVED,
    )
    wiped = old.exclude(email="").update(name="", email="")
    return unconfirmed.delete()[0] + wiped
