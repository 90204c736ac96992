"""Decisions of staff: one ends all reports of a case (spec 5.10)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from accounts.models import Member, PointHistory
from accounts.models.members import MODERATORS
from accounts.profile.points import award_points
from accounts.security.audit_log import CHANGE, DELETION, log_admin_action
from board.errors import (
    AlreadyResolvedError,
    NotYourCaseError,
    OwnCaseError,
    StaffCaseError,
)
from board.locking import MAX_ID, lock_members
from board.models import (
    Comment,
    Decision,
    HiddenReason,
    ModerationCase,
    Post,
    Report,
    TargetType,
)
from board.moderation.cases import (
    find_last_decision,
    find_newest_decision,
    lock_case,
    lock_unresolved_case,
    open_case,
)
from board.moderation.notes import translate_note
from board.moderation.notices import (
    tell_author,
    tell_outside_reporters,
    tell_reporters,
    tell_silenced,
)
from board.moderation.silence import end_silence_of, silence_author
from board.moderation.targets import Target, find_target_payload, lock_target
from core.api.permissions import ModeratorRequiredError
from core.api.preconditions import VersionConflictError
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, NotFoundError

Action = Decision.Action
MAX_SILENCE_DAYS = 3_650
LOGGED_MODELS: dict[str, type[Post | Comment | Member]] = {
    TargetType.POST: Post,
    TargetType.COMMENT: Comment,
    TargetType.MEMBER: Member,
}


# Translated where the log is read.
LOGGED_TEXTS: dict[str, str] = {
    Action.DISMISS: "Shown again.",
    Action.HIDE: "Hidden.",
    Action.BLIND: "Hidden for a time.",
    Action.DELETE: "Deleted.",
    Action.SILENCE: "Silenced.",
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What staff decide; `silence_days` also silences the author."""

    action: str
    reason: str = ""
    note: str = ""
    silence_days: int | None = None
    # Of the text that staff have read; None decides about any.
    target_updated_at: datetime | None = None
    # False where one notice tells the author of many decisions.
    tells_author: bool = True

    def require_fit(self, target_type: str) -> None:
        """Raise `InvalidFieldError` for what cannot be done to the target."""
        is_for_content = self.action in {Action.HIDE, Action.BLIND, Action.DELETE}
        if is_for_content and target_type == TargetType.MEMBER:
            text = gettext("A member can be silenced, not hidden or deleted.")
            raise InvalidFieldError("action", text)
        if self.action == Action.SILENCE and self.silence_days is None:
            text = gettext("This field is required.")
            raise InvalidFieldError("silenceDays", text, "required")
        if self.action == Action.DISMISS and self.silence_days is not None:
            text = gettext("Nobody is silenced by a dismissal.")
            raise InvalidFieldError("silenceDays", text)


def require_open_case(actor: Member, case_id: int) -> None:
    """Raise what refuses a decision, before anybody looks at it.

    `resolve_case` asks again under its locks, and names the same errors.
    """
    case = ModerationCase.objects.filter(pk=case_id).first()
    if case is None or case.status == ModerationCase.Status.WAITING:
        raise NotFoundError
    ids = [actor.pk, case.author_id or actor.pk]
    require_judge(actor, Member.objects.in_bulk(ids), case.author_id)
    if case.is_resolved:
        last = find_last_decision(case)
        raise AlreadyResolvedError(decision_payload(last) if last else None)


def require_judged_content(
    actor: Member, target_type: TargetType, target_id: int
) -> None:
    """Raise what refuses a decision about content, before anybody looks at it."""
    if target_id > MAX_ID:
        raise NotFoundError
    author_id = find_author(target_type, target_id)
    require_judge(actor, Member.objects.in_bulk([actor.pk, author_id]), author_id)


def require_judged_member(actor: Member, member_id: int) -> None:
    """Raise what refuses a decision about a member, before anybody looks at it."""
    people = Member.objects.in_bulk([actor.pk, member_id])
    if member_id not in people:
        raise NotFoundError
    require_judge(actor, people, member_id)


@retry_on_conflict
def resolve_case(
    actor: Member, case_id: int, judgement: Judgement, now: datetime
) -> ModerationCase:
    """Decide an open case; it works when the target is gone, too.

    Raises `NotFoundError`, `NotYourCaseError`, `AlreadyResolvedError` with the first
    decision if somebody was faster, and `VersionConflictError` with the target if its
    text is not the one that was read.
    """
    known = ModerationCase.objects.filter(pk=case_id).first()
    if known is None or known.status == ModerationCase.Status.WAITING:
        raise NotFoundError
    judgement.require_fit(known.target_type)
    with transaction.atomic():
        people = lock_members(actor.pk, known.author_id)
        require_judge(actor, people, known.author_id)
        target = _lock_target(known.target_type, known.target_id, judgement)
        case = lock_case(case_id)
        last = find_last_decision(case)
        if case.is_resolved:
            raise AlreadyResolvedError(decision_payload(last) if last else None)
        _require_read_text(judgement, target)
        _decide(people[actor.pk], case, target, judgement, now)
    return case


@retry_on_conflict
def judge_content(
    actor: Member,
    target_type: TargetType,
    target_id: int,
    judgement: Judgement,
    now: datetime,
    *,
    revise: Callable[[Target, Judgement], Judgement | None] | None = None,
) -> bool:
    """Hide, show or delete content without or with a report; return False if it is so.

    The open case of the target is decided with it; without one the decision makes one,
    so that the author is told. `revise` changes the judgement for the locked target, or
    returns None to leave it as it is. Raises `NotFoundError`, `NotYourCaseError`.
    """
    author_id = find_author(target_type, target_id)
    judgement.require_fit(target_type)
    with transaction.atomic():
        people = lock_members(actor.pk, author_id)
        target = _lock_target(target_type, target_id, judgement)
        if target is None or target.author_id != author_id:
            raise NotFoundError
        require_judge(actor, people, author_id)
        revised = judgement if revise is None else revise(target, judgement)
        if revised is None:
            return False
        judgement = revised
        case = lock_unresolved_case(target_type, target_id)
        if case is None and not _has_effect(judgement, target):
            return False
        if case is None:
            case = open_case(target, ModerationCase.Kind.STAFF, now)
        _decide(people[actor.pk], case, target, judgement, now)
    return True


def find_author(target_type: TargetType, target_id: int) -> int:
    model = Post if target_type == TargetType.POST else Comment
    rows = model._default_manager.filter(pk=target_id, member__isnull=False)
    author_id = rows.values_list("member_id", flat=True).first()
    if author_id is None:
        raise NotFoundError
    return int(author_id)


def require_judge(
    actor: Member, people: dict[int, Member], author_id: int | None
) -> None:
    """Raise an error unless the actor, as locked, may decide about the author."""
    current = people.get(actor.pk)
    if current is None or not (current.is_active and current.is_moderator):
        raise ModeratorRequiredError
    author = people.get(author_id) if author_id is not None else None
    if author is None:
        return
    if author.pk == actor.pk:
        raise OwnCaseError
    if author.is_moderator and not current.is_administrator:
        raise StaffCaseError


def find_refusal(actor: Member, author: Member) -> str:
    """Return why the actor decides nothing about the author, or an empty text."""
    try:
        require_judge(actor, {actor.pk: actor, author.pk: author}, author.pk)
    except NotYourCaseError as error:
        return str(error.detail)
    return ""


def require_another_judge(actor: Member, first: Decision, case: ModerationCase) -> None:
    """Leave an appeal to another moderator, wherever there is one."""
    if first.actor_id != actor.pk:
        return
    others = Member.objects.filter(status=Member.Status.ACTIVE)
    others = others.exclude(pk__in=[actor.pk, case.author_id or 0])
    authors = Member.objects.filter(pk=case.author_id or 0)
    roles = [Member.Role.ADMIN]
    if not authors.filter(role__in=MODERATORS).exists():
        roles.append(Member.Role.MODERATOR)
    if others.filter(role__in=roles).exists():
        raise NotYourCaseError


def _lock_target(
    target_type: str, target_id: int, judgement: Judgement
) -> Target | None:
    is_removed_at_once = (
        judgement.action == Action.DELETE and settings.BOARD_KEPT_DAYS == 0
    )
    return lock_target(target_type, target_id, for_delete=is_removed_at_once)


def _require_read_text(judgement: Judgement, target: Target | None) -> None:
    # A target that is gone can be decided.
    read_at = judgement.target_updated_at
    if read_at is None or target is None or target.changed_at == read_at:
        return
    raise VersionConflictError(find_target_payload(target.type, target.id))


def _has_effect(judgement: Judgement, target: Target) -> bool:
    match judgement.action:
        case Action.DISMISS:
            return target.hidden_reason is not None
        case Action.HIDE:
            return target.hidden_reason is None
        case Action.DELETE:
            return not target.is_removed
        case _:
            return True


def _decide(
    actor: Member,
    case: ModerationCase,
    target: Target | None,
    judgement: Judgement,
    now: datetime,
) -> None:
    """Apply the judgement and close the case, under all locks."""
    last = find_newest_decision(case)
    if last is not None and last.appeal is not None:
        require_another_judge(actor, last, case)
    _require_whole(judgement, target)
    was_hidden = target is not None and target.hidden_reason is not None
    case.blind_until = None
    end_blindness(case)
    _apply(case, target, judgement, now)
    case.status = ModerationCase.Status.RESOLVED
    case.reason = case.reason or judgement.reason
    if target is None and case.target_type != TargetType.MEMBER:
        # The copy was for this decision.
        case.title = case.content = ""
    case.save(
        update_fields=[
            *("status", "reason", "blind_until", "target_gone"),
            *("title", "content"),
        ]
    )
    Decision.objects.create(
        case=case,
        action=judgement.action,
        reason=judgement.reason,
        note=judgement.note,
        silence_days=judgement.silence_days,
        actor=actor,
        decided_at=now,
        is_final=last is not None and last.appeal is not None,
    )
    is_dismissed = judgement.action == Action.DISMISS
    outcome = Report.Outcome.DISMISSED if is_dismissed else Report.Outcome.UPHELD
    tell_reporters(case)
    tell_outside_reporters(case, judgement.action)
    Report.objects.filter(case=case).update(outcome=outcome)
    is_answer = last is not None and last.appeal is not None
    is_new = judgement.action not in {Action.DISMISS, Action.SILENCE}
    is_for_content = case.target_type != TargetType.MEMBER and judgement.tells_author
    if is_for_content and (is_answer or was_hidden or is_new):
        tell_author(case)
    author_id = case.author_id
    # It is None after the account of the author was deleted.
    if author_id is not None and judgement.silence_days is not None:
        days = timedelta(days=judgement.silence_days)
        silence_author(author_id, now + days, judgement.reason)
        tell_silenced(case)
    elif author_id and is_dismissed and last and last.silence_days is not None:
        end_silence_of(author_id, last)
        tell_silenced(case)
    _log(actor, case, judgement)


def _require_whole(judgement: Judgement, target: Target | None) -> None:
    """Refuse a decision about the author alone while the content waits for one."""
    waits = target is not None and target.hidden_reason in {
        HiddenReason.HELD,
        HiddenReason.REPORTS,
    }
    if waits and judgement.action == Action.SILENCE:
        text = gettext("It is hidden until somebody decides: show, hide or delete it.")
        raise InvalidFieldError("action", text)


def end_blindness(case: ModerationCase) -> None:
    """Cancel the dates at which earlier cases would show or delete the content."""
    others = ModerationCase.objects.filter(
        target_type=case.target_type, target_id=case.target_id
    )
    others.filter(blind_until__isnull=False).update(blind_until=None)


def _apply(
    case: ModerationCase,
    target: Target | None,
    judgement: Judgement,
    now: datetime,
) -> None:
    if target is None or not target.is_content:
        return
    match judgement.action:
        case Action.DISMISS:
            _show(case, target, now)
        case Action.HIDE:
            _clear_gone(case)
            target.hide(HiddenReason.STAFF)
        case Action.BLIND:
            _clear_gone(case)
            case.blind_until = now + timedelta(days=settings.BLIND_DAYS)
            target.hide(HiddenReason.BLIND)
        case Action.DELETE:
            case.target_gone = ModerationCase.Gone.STAFF
            _delete(target, now)


def _show(case: ModerationCase, target: Target, now: datetime) -> None:
    if target.hidden_reason is None:
        return
    target.show()
    _clear_gone(case)
    held = ModerationCase.objects.filter(
        target_type=target.type, target_id=target.id, owes_points=True
    )
    if held.update(owes_points=False):
        # Its points come with its place.
        author = Member.objects.only("id").get(pk=target.author_id)
        award_points(author, PointHistory.Reason.POST, now)


def _clear_gone(case: ModerationCase) -> None:
    """Note in all cases of the target that it is not deleted any more."""
    case.target_gone = None
    about = ModerationCase.objects.filter(
        target_type=case.target_type, target_id=case.target_id
    )
    about.filter(target_gone__isnull=False).update(target_gone=None)


def _delete(target: Target, now: datetime) -> None:
    days: int = settings.BOARD_KEPT_DAYS
    if days == 0:
        target.remove(now)
    else:
        target.hide(HiddenReason.STAFF, now + timedelta(days=days))


def _log(actor: Member, case: ModerationCase, judgement: Judgement) -> None:
    model = LOGGED_MODELS[case.target_type]
    kind = DELETION if judgement.action == Action.DELETE else CHANGE
    text = f"{LOGGED_TEXTS[judgement.action]} Case {case.pk}."
    log_admin_action(actor, model(pk=case.target_id), kind, text)


def decision_payload(decision: Decision) -> dict[str, Any]:
    return {
        "action": decision.action,
        "reason": decision.reason or None,
        "note": translate_note(decision.note),
        "silenceDays": decision.silence_days,
        "decidedById": decision.actor_id,
        "automatic": decision.is_automatic,
        "final": decision.is_final,
        "decidedAt": decision.decided_at,
        "appeal": decision.appeal,
        "appealedAt": decision.appealed_at,
    }
