"""Words of cases for staff."""

from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from board.models import Decision, ModerationCase, ReportReason, TargetType
from board.moderation.notes import END_OF_BLINDNESS, translate_note
from core.admin.columns import Badges

Action, Status = Decision.Action, ModerationCase.Status
KINDS: Badges = {
    ModerationCase.Kind.REPORT: (_("Report"), ""),
    ModerationCase.Kind.HELD: (_("Held post"), "info"),
    ModerationCase.Kind.NOTICE: (_("Notice from outside"), "warn"),
    ModerationCase.Kind.STAFF: (_("Without a report"), ""),
}
STATUSES: Badges = {
    Status.OPEN: (_("Open"), "warn"),
    Status.RESOLVED: (_("Decided"), "good"),
}
REASONS: Badges = {each.value: (each.label, "") for each in ReportReason}
TARGETS: Badges = {
    TargetType.POST: (_("Post"), ""),
    TargetType.COMMENT: (_("Comment"), ""),
    TargetType.MEMBER: (_("Member"), ""),
}
OUTCOMES: Badges = {
    Action.DISMISS: (_("Nothing wrong"), "good"),
    Action.HIDE: (_("Hidden"), "warn"),
    Action.BLIND: (_("Hidden for a time"), "warn"),
    Action.DELETE: (_("Deleted"), "bad"),
    Action.SILENCE: (_("Author silenced"), "warn"),
}
STATES: Badges = {
    "SHOWN": (_("Shown"), "good"),
    "STAFF": (_("Hidden by staff"), "warn"),
    "REPORTS": (_("Hidden by reports"), "warn"),
    "HELD": (_("Held until a decision"), "info"),
    "BLIND": (_("Hidden for a time"), "warn"),
    "AUTHOR": (_("Deleted by its author"), "bad"),
}
GONE: Badges = {
    ModerationCase.Gone.AUTHOR: (_("Deleted by its author"), "bad"),
    ModerationCase.Gone.STAFF: (_("Deleted by staff"), "bad"),
}


def name_judge(decision: dict[str, Any], judge: Member | None) -> str:
    """Return who has made a decision, which is one of the API."""
    if judge is not None:
        return judge.login_id
    is_end = decision["note"] == translate_note(END_OF_BLINDNESS)
    if decision["automatic"] or is_end:
        return gettext("The service")
    return gettext("A moderator who has left")
