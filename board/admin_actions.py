"""Actions of staff on posts, comments and images, and what they report."""

import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.translation import gettext, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from board.models import Decision, ReportReason, TargetType
from board.moderation import actions as moderation
from board.moderation.bulk import (
    BATCH_SIZE,
    MAX_SECONDS,
    Outcome,
    judge_all,
    start_deed,
)
from board.moderation.decisions import Judgement
from core.admin.actions import REASON_FIELD, Action, get_actor
from core.admin.columns import Text
from core.errors import DomainError

REASONS: dict[str, Text] = {each.value: each.label for each in ReportReason}
HIDDEN = ngettext_lazy("{count:,} hidden.", "{count:,} hidden.", "count")
SHOWN = ngettext_lazy("{count:,} shown again.", "{count:,} shown again.", "count")
DELETED = ngettext_lazy("{count:,} deleted.", "{count:,} deleted.", "count")
HIDING_QUESTION = _("Nobody sees it any more. The author is told why.")


def report_outcome(request: HttpRequest, outcome: Outcome, done: Any) -> None:
    """Tell in numbers what was done, and what was left as it was, and why."""
    if outcome.changed or outcome.error is None:
        messages.success(request, done.format(count=outcome.changed))
    for count, text in (
        (outcome.hidden_again, _tell_of_hidden_again(outcome.hidden_again)),
        (outcome.unchanged, _tell_of_unchanged(outcome.unchanged)),
        (outcome.appealed, _tell_of_appealed(outcome.appealed)),
        (outcome.refused, _tell_of_refused(outcome.refused)),
        (outcome.gone, _tell_of_gone(outcome.gone)),
        (outcome.left, _tell_of_left(outcome.left)),
    ):
        if count:
            messages.warning(request, text.format(count=f"{count:,}"))
    if outcome.error is not None:
        messages.error(request, str(outcome.error.detail))


def _tell_of_hidden_again(count: int) -> str:
    return ngettext(
        "{count} is hidden, as it was before it was deleted.",
        "{count} are hidden, as they were before they were deleted.",
        count,
    )


def _tell_of_unchanged(count: int) -> str:
    return ngettext(
        "{count} left as it is: it was so already, or was decided about since.",
        "{count} left as they are: they were so already, or were decided about since.",
        count,
    )


def _tell_of_appealed(count: int) -> str:
    return ngettext(
        "{count} left as it is: the author objects, which is decided in the queue.",
        "{count} left as they are: their authors object, which is decided in the "
        "queue.",
        count,
    )


def _tell_of_refused(count: int) -> str:
    return ngettext(
        "{count} left as it is: another moderator has to decide about your own "
        "content, administrators about that of staff.",
        "{count} left as they are: another moderator has to decide about your own "
        "content, administrators about that of staff.",
        count,
    )


def _tell_of_gone(count: int) -> str:
    return ngettext(
        "{count} was deleted meanwhile.", "{count} were deleted meanwhile.", count
    )


def _tell_of_left(count: int) -> str:
    return ngettext(
        "{count} is left: repeat the action to go on.",
        "{count} are left: repeat the action to go on.",
        count,
    )


def make_judging(
    target_type: TargetType,
    action: str,
    label: Text,
    report: Any,
    *,
    asks_reason: bool = False,
    **options: Any,
) -> Action:
    """Return an action that decides about rows, as one deed."""

    def apply(request: HttpRequest, ids: Collection[Any]) -> None:
        reason = request.POST[REASON_FIELD] if asks_reason else ""
        targets = {target_type: list(ids)}
        judgement = Judgement(action, reason)
        deed = start_deed(get_actor(request), judgement, timezone.now(), targets)
        report_outcome(request, judge_all(deed, targets), report)

    return Action(label, apply, reasons=REASONS if asks_reason else {}, **options)


def make_batched(
    change: Callable[[Any, Collection[Any]], int],
    label: Text,
    report: Any,
    **options: Any,
) -> Action:
    """Return an action that changes rows without a decision, in batches."""

    def apply(request: HttpRequest, ids: Collection[Any]) -> None:
        outcome = _run_in_batches(partial(change, get_actor(request)), list(ids))
        report_outcome(request, outcome, report)

    return Action(label, apply, **options)


def _run_in_batches(change: Callable[[Any], int], ids: list[Any]) -> Outcome:
    end = time.monotonic() + MAX_SECONDS
    outcome = Outcome()
    for first in range(0, len(ids), BATCH_SIZE):
        batch = ids[first : first + BATCH_SIZE]
        if outcome.error is not None or time.monotonic() >= end:
            outcome.left += len(batch)
            continue
        try:
            changed = change(batch)
        except DomainError as error:
            outcome.error = error
            outcome.left += len(batch)
        else:
            outcome.changed += changed
            outcome.unchanged += len(batch) - changed
    return outcome


def make_judging_actions(target_type: TargetType) -> dict[str, Action]:
    """Return the actions on posts or comments: hide, show again, delete."""
    action = Decision.Action
    return {
        "hide": make_judging(
            target_type,
            action.HIDE,
            _("Hide"),
            HIDDEN,
            question=HIDING_QUESTION,
            asks_reason=True,
            has_effect_on=lambda row: not row.is_hidden,
            due=Q(is_hidden=False),
        ),
        "show": make_judging(
            target_type,
            action.DISMISS,
            _("Show again"),
            SHOWN,
            has_effect_on=lambda row: row.is_hidden,
            due=Q(is_hidden=True),
        ),
        "delete": make_judging(
            target_type,
            action.DELETE,
            _("Delete"),
            DELETED,
            question=DELETION_QUESTION,
            is_dangerous=True,
            asks_reason=True,
            due=Q(remove_after=None),
        ),
    }


def ask_for_deletion() -> str:
    days: int = settings.BOARD_KEPT_DAYS
    if days == 0:
        return gettext("Comments and votes are deleted too. It cannot be undone.")
    return gettext(
        "It is hidden at once, and removed with comments and votes after {days} days; "
        "until then it can be shown again. The author is told."
    ).format(days=days)


# The setting is read when the question is asked.
DELETION_QUESTION: Any = lazy(ask_for_deletion, str)()


def is_administrator(request: HttpRequest) -> bool:
    """Return False for moderators, who pin nothing."""
    return bool(get_actor(request).is_administrator)


NOTICE_ACTIONS = {
    "notice": make_batched(
        partial(moderation.mark_notices, notice=True),
        _("Mark as notice"),
        ngettext_lazy(
            "{count:,} marked as notice.", "{count:,} marked as notices.", "count"
        ),
        has_effect_on=lambda post: not post.is_notice,
        due=Q(is_notice=False),
        is_open_to=is_administrator,
    ),
    "unnotice": make_batched(
        partial(moderation.mark_notices, notice=False),
        _("Unmark as notice"),
        ngettext_lazy(
            "{count:,} is no notice now.", "{count:,} are no notices now.", "count"
        ),
        has_effect_on=lambda post: post.is_notice,
        due=Q(is_notice=True),
        is_open_to=is_administrator,
    ),
}
IMAGE_ACTIONS = {
    "delete": make_batched(
        moderation.delete_shown_images,
        _("Delete"),
        DELETED,
        question=_("Posts that show it lose it too. It cannot be undone."),
        is_dangerous=True,
    )
}
