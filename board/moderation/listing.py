"""Reading of cases (spec 5.10)."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from accounts.members.avatar_urls import avatar_url
from accounts.models import Member
from accounts.models.members import MODERATORS
from board.content import render_html
from board.models import (
    Decision,
    ModerationCase,
    OutsideReport,
    Report,
    TargetType,
)
from board.moderation.decisions import decision_payload
from board.moderation.targets import find_target_payload
from core.api.pagination import PageRequest
from core.db.rows import fetch_all, fetch_one
from core.errors import NotFoundError

MAX_COUNTED_CASES = 10_000
MAX_EARLIER_CASES, MAX_SHOWN_REPORTS = 20, 200

# With the author, whether the target is there, whether the newest decision has an
# appeal, and the number of confirmed reports from outside.
_CASE = """
    SELECT {total} AS total, c.id, c.kind, c.status, c.reason, c.target_type,
        c.target_id, c.post_id, c.author_id, c.title, c.content, c.report_count,
        c.target_gone, c.opened_at, c.blind_until,
        m.display_name, m.avatar_version, m.idp_picture, m.role,
        CASE c.target_type
            WHEN 'POST' THEN EXISTS (
                SELECT FROM board_post t
                WHERE t.id = c.target_id AND t.remove_after IS NULL)
            WHEN 'COMMENT' THEN EXISTS (
                SELECT FROM board_comment t
                WHERE t.id = c.target_id AND t.remove_after IS NULL
                  AND t.member_id IS NOT NULL)
            ELSE EXISTS (SELECT FROM member t WHERE t.id = c.target_id)
        END AS is_present,
        coalesce((
            SELECT d.appeal IS NOT NULL FROM board_decision d
            WHERE d.case_id = c.id ORDER BY d.id DESC LIMIT 1
        ), false) AS is_appealed,
        (SELECT count(*) FROM board_outside_report r WHERE r.case_id = c.id)
            AS outside_report_count
    FROM {cases} LEFT JOIN member m ON m.id = c.author_id
"""
_ONE = _CASE.format(total=1, cases="board_case c") + (
    "WHERE c.id = %(case)s AND c.status <> 'WAITING'"
)
# Status and size are part of the text: a plan for unknown ones would not use the index
# of the queue.
_COUNT = """
    (SELECT count(*) FROM (
        SELECT FROM board_case c WHERE {condition} LIMIT {most}
    ) counted)
"""
_PAGE = """
    (SELECT * FROM board_case c WHERE {condition}
     ORDER BY c.id {direction} LIMIT {size} OFFSET %(offset)s) c
"""
_CONDITION = """
    c.status = '{status}' AND (%(kind)s = '' OR c.kind = %(kind)s)
    AND (%(reason)s = '' OR c.reason = %(reason)s)
"""


class CaseRow(NamedTuple):
    total: int
    id: int
    kind: str
    status: str
    reason: str
    target_type: str
    target_id: int
    post_id: int | None
    # The columns of the author are None once they have left.
    author_id: int | None
    title: str
    content: str
    report_count: int
    target_gone: str | None
    opened_at: datetime
    blind_until: datetime | None
    display_name: str | None
    avatar_version: str | None
    idp_picture: str | None
    role: str | None
    is_present: bool
    is_appealed: bool
    outside_report_count: int


def list_cases_page(
    page: PageRequest, *, status: str, kind: str = "", reason: str = ""
) -> tuple[int, list[dict[str, Any]]]:
    """Return the count, up to `MAX_COUNTED_CASES`, and a page."""
    # The queue begins with the oldest, the decided ones with the newest.
    is_queue = status == ModerationCase.Status.OPEN
    direction = "ASC" if is_queue else "DESC"
    condition = _CONDITION.format(status=ModerationCase.Status(status).value)
    size = max(0, min(page.size, MAX_COUNTED_CASES - page.offset))
    sql = _CASE.format(
        total=_COUNT.format(condition=condition, most=MAX_COUNTED_CASES),
        cases=_PAGE.format(condition=condition, direction=direction, size=size),
    )
    params = {"kind": kind, "reason": reason, "offset": page.offset}
    rows = fetch_all(f"{sql} ORDER BY c.id {direction}", params, CaseRow)
    # An empty page is the first one, or does not exist.
    return rows[0].total if rows else 0, [_case_payload(each) for each in rows]


def get_case_payload(actor: Member, case_id: int) -> dict[str, Any]:
    """Return all that staff need to decide; raise `NotFoundError`.

    Who reported the actor is not told.
    """
    case = fetch_one(_ONE, {"case": case_id}, CaseRow)
    if case is None:
        raise NotFoundError
    reports: Iterable[Report] = ()
    if case.author_id != actor.pk:
        reports = Report.objects.filter(case=case.id).select_related("member")
        reports = reports.defer("member__profile_image", "member__password")
        reports = reports.order_by("id")[:MAX_SHOWN_REPORTS]
    decisions = Decision.objects.filter(case=case.id).order_by("id")
    return _case_payload(case) | {
        "target": find_target_payload(case.target_type, case.target_id),
        "reports": [_report_payload(each) for each in reports],
        "outsideReports": _list_outside_reports(actor, case),
        "decisions": [decision_payload(each) for each in decisions],
        "earlierCases": _list_earlier_cases(case),
    }


def _case_payload(case: CaseRow) -> dict[str, Any]:
    content = case.content
    if case.target_type == TargetType.POST:
        content = render_html(content)
    return {
        "id": case.id,
        "kind": case.kind,
        "status": case.status,
        "reason": case.reason or None,
        "targetType": case.target_type,
        "targetId": case.target_id,
        "postId": case.post_id,
        "author": _author_payload(case),
        "title": case.title,
        "content": content,
        "reportCount": case.report_count,
        "outsideReportCount": case.outside_report_count,
        "targetGone": None
        if case.is_present
        else case.target_gone or ModerationCase.Gone.AUTHOR,
        "openedAt": case.opened_at,
        "blindUntil": case.blind_until,
        "appealed": case.is_appealed,
    }


def _author_payload(case: CaseRow) -> dict[str, Any] | None:
    # The member's columns are None together.
    if case.author_id is None or case.display_name is None:
        return None
    picture = case.idp_picture or ""
    return {
        "id": case.author_id,
        "displayName": case.display_name,
        "avatar": avatar_url(case.author_id, case.avatar_version, picture),
        "staff": case.role in MODERATORS,
    }


def _report_payload(report: Report) -> dict[str, Any]:
    return {
        "id": report.pk,
        "reason": report.reason,
        "note": report.note,
        "reporter": person_payload(report.member),
        "createdAt": report.created_at,
    }


def _list_outside_reports(actor: Member, case: CaseRow) -> list[dict[str, Any]]:
    """Return reports from outside; none about the actor's own content."""
    # Servers of an earlier release may have made it HELD.
    kinds = {ModerationCase.Kind.NOTICE, ModerationCase.Kind.HELD}
    if case.kind not in kinds or case.author_id == actor.pk:
        return []
    reports = OutsideReport.objects.filter(case=case.id).order_by("confirmed_at")
    return [
        {
            "id": each.pk,
            "reason": each.reason,
            "text": each.text,
            "name": each.name,
            "email": each.email if actor.is_administrator else None,
            "createdAt": each.created_at,
        }
        for each in reports[:MAX_SHOWN_REPORTS]
    ]


def _list_earlier_cases(case: CaseRow) -> list[dict[str, Any]]:
    if case.author_id is None:
        return []
    others = ModerationCase.objects.filter(author=case.author_id).exclude(pk=case.id)
    others = others.exclude(status=ModerationCase.Status.WAITING).defer("content")
    found = list(others.order_by("-id")[:MAX_EARLIER_CASES])
    newest = Decision.objects.filter(case__in=found, is_automatic=False)
    newest = newest.order_by("case_id", "-id").distinct("case_id")
    actions = {each.case_id: each.action for each in newest}
    return [
        {
            "id": each.pk,
            "kind": each.kind,
            "targetType": each.target_type,
            "reason": each.reason or None,
            "action": actions.get(each.pk),
            "openedAt": each.opened_at,
        }
        for each in found
    ]


def person_payload(member: Member) -> dict[str, Any]:
    return {
        "id": member.pk,
        "displayName": member.display_name,
        "avatar": avatar_url(member.pk, member.avatar_version, member.idp_picture),
        "staff": member.is_moderator,
    }
