"""What the template of a case's page reads."""

from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from board.admin_columns import AUTHOR_PREFIX
from board.models import Decision, HiddenReason, ReportReason, TargetType
from board.moderation.case_page import CasePage
from board.moderation.forms import JudgementForm
from board.moderation.labels import (
    GONE,
    KINDS,
    OUTCOMES,
    REASONS,
    STATES,
    STATUSES,
    TARGETS,
    name_judge,
)
from core.admin.columns import Text, badge_html, time_html

Action = Decision.Action
# `queue.js` reads the keys from the page.
KEYS: dict[str, tuple[str, Text]] = {
    Action.DISMISS: ("D", _("Nothing wrong")),
    Action.HIDE: ("H", _("Hide")),
    Action.BLIND: ("B", _("Hide for {days} days")),
    Action.DELETE: ("X", _("Delete")),
    Action.SILENCE: ("S", _("Silence the author only")),
}
OF_MEMBERS = frozenset({Action.DISMISS, Action.SILENCE})
# SILENCE does not settle what waits hidden.
WAITING_STATES = frozenset({HiddenReason.HELD, HiddenReason.REPORTS})
STAFF_ROLES: dict[str, Text] = {
    Member.Role.MODERATOR: _("Moderator"),
    Member.Role.ADMIN: _("Administrator"),
}


class Choice(NamedTuple):
    value: str
    label: str
    key: str
    is_chosen: bool


def make_form(page: CasePage, initial: dict[str, Any]) -> JudgementForm:
    """Return a form with the reason of the case and the text that is shown."""
    target = page.case["target"]
    seen = target and target["updatedAt"]
    values = {"reason": page.case["reason"]} | initial
    return JudgementForm(initial=values | {"seen": seen.isoformat() if seen else ""})


def build_context(
    page: CasePage, form: JudgementForm, reader: Member
) -> dict[str, Any]:
    case = page.case
    decisions = [_describe_decision(each, page) for each in case["decisions"]]
    kind = TARGETS[case["targetType"]][0]
    return {
        "page": page,
        "case": case,
        "form": form,
        "actions": _list_actions(case, str(form["action"].value() or "")),
        "reasons": _list_reasons(str(form["reason"].value() or "")),
        "badges": [
            badge_html(*STATUSES[case["status"]]),
            badge_html(*KINDS[case["kind"]]),
            _describe_state(case),
        ],
        "target_name": f"{kind} {case['targetId']}",
        "target_url": _target_url(case, reader),
        "opened": time_html(case["openedAt"]),
        "reports": [_describe_report(each) for each in case["reports"]],
        "outside_reports": [_describe_report(each) for each in case["outsideReports"]],
        "decisions": decisions,
        # Of the newest decision.
        "appeal": decisions[-1] if case["appealed"] else None,
        "earlier": [_describe_earlier(each) for each in case["earlierCases"]],
        "before": [each for each in page.neighbors if each.is_before],
        "behind": [each for each in page.neighbors if not each.is_before],
        "author": _describe_author(page.author, reader),
        "post_url": page.post and _admin_url("board_post", page.post.pk),
    }


def _list_actions(case: dict[str, Any], chosen: str) -> list[Choice]:
    target = case["target"]
    state = target["state"] if target else ""
    offered = []
    for action, (key, label) in KEYS.items():
        is_of_content = action not in OF_MEMBERS
        if is_of_content and case["targetType"] == TargetType.MEMBER:
            continue
        if action == Action.SILENCE and state in WAITING_STATES:
            continue
        text = str(label).format(days=settings.BLIND_DAYS)
        if action == Action.DISMISS and state not in {"", "SHOWN"}:
            text = gettext("Nothing wrong: show it")
        offered.append(Choice(action, text, key, action == chosen))
    return offered


def _list_reasons(chosen: str) -> list[Choice]:
    return [
        Choice(each.value, str(each.label), str(number), each.value == chosen)
        for number, each in enumerate(ReportReason, start=1)
    ]


def _describe_state(case: dict[str, Any]) -> SafeString | str:
    if case["targetGone"]:
        return badge_html(*GONE[case["targetGone"]])
    return badge_html(*STATES[case["target"]["state"]]) if case["target"] else ""


def _describe_report(report: dict[str, Any]) -> dict[str, Any]:
    label = REASONS[report["reason"]][0]
    return report | {"label": label, "time": time_html(report["createdAt"])}


def _describe_decision(decision: dict[str, Any], page: CasePage) -> dict[str, Any]:
    return decision | {
        "badge": badge_html(*OUTCOMES[decision["action"]]),
        "label": REASONS[decision["reason"]][0] if decision["reason"] else "",
        "who": name_judge(decision, page.judges.get(decision["decidedById"])),
        "time": time_html(decision["decidedAt"]),
        "appeal_time": time_html(decision["appealedAt"]),
    }


def _describe_earlier(case: dict[str, Any]) -> dict[str, Any]:
    action = case["action"]
    return {
        "url": _admin_url("board_moderationcase", case["id"]),
        "name": gettext("Case {id}").format(id=case["id"]),
        "target": TARGETS[case["targetType"]][0],
        "reason": REASONS[case["reason"]][0] if case["reason"] else "",
        "badge": badge_html(*(OUTCOMES[action] if action else STATUSES["OPEN"])),
        "time": time_html(case["openedAt"]),
    }


def _describe_author(author: Member | None, reader: Member) -> dict[str, Any] | None:
    if author is None:
        return None
    query = f"?q={AUTHOR_PREFIX}{author.login_id}"
    is_silenced = author.is_silenced(timezone.now())
    return {
        "login_id": author.login_id,
        "name": author.display_name,
        # Pages of members are for administrators.
        "url": _admin_url("accounts_member", author.pk)
        if reader.is_administrator
        else "",
        "role": STAFF_ROLES.get(author.role, ""),
        "joined": time_html(author.created_at),
        "silenced_until": time_html(author.silenced_until) if is_silenced else "",
        "posts_url": reverse("admin:board_post_changelist") + query,
        "comments_url": reverse("admin:board_comment_changelist") + query,
    }


def _target_url(case: dict[str, Any], reader: Member) -> str:
    """Return the page of the target, "" without one."""
    if case["target"] is None:
        return ""
    match case["targetType"]:
        case TargetType.POST:
            return _admin_url("board_post", case["targetId"])
        case TargetType.COMMENT:
            return _admin_url("board_comment", case["targetId"])
        case _:
            is_open = reader.is_administrator
            return _admin_url("accounts_member", case["targetId"]) if is_open else ""


def _admin_url(view: str, row_id: int) -> str:
    return reverse(f"admin:{view}_change", args=[row_id])
