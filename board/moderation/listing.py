"""Reading of cases (spec 5.10)."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, OuterRef

from accounts.members.avatar_urls import avatar_url
from accounts.models import Member
from board.content import render_html
from board.models import (
    Comment,
    Decision,
    ModerationCase,
    OutsideReport,
    Post,
    Report,
    TargetType,
)
from board.moderation.decisions import decision_payload
from core.api.pagination import PageRequest
from core.errors import NotFoundError

MAX_COUNTED_CASES = 10_000
MAX_EARLIER_CASES, MAX_SHOWN_REPORTS = 20, 200


def list_cases_page(
    page: PageRequest, *, status: str, kind: str = "", reason: str = ""
) -> tuple[int, list[dict[str, Any]]]:
    """Return the count, up to `MAX_COUNTED_CASES`, and a page."""
    # The queue begins with the oldest, the decided ones with the newest.
    is_queue = status == ModerationCase.Status.OPEN
    cases = ModerationCase.objects.filter(status=status)
    cases = cases.order_by("id" if is_queue else "-id")
    if kind:
        cases = cases.filter(kind=kind)
    if reason:
        cases = cases.filter(reason=reason)
    count = cases[:MAX_COUNTED_CASES].count()
    rows = page.slice_rows(cases[:MAX_COUNTED_CASES])
    return count, _list_payloads(rows)


def get_case_payload(actor: Member, case_id: int) -> dict[str, Any]:
    """Return all that staff need to decide; raise `NotFoundError`.

    Who reported the actor is not told.
    """
    cases = ModerationCase.objects.exclude(status=ModerationCase.Status.WAITING)
    case = cases.filter(pk=case_id).first()
    if case is None:
        raise NotFoundError
    (payload,) = _list_payloads([case])
    reports: Iterable[Report] = ()
    if case.author_id != actor.pk:
        reports = Report.objects.filter(case=case).select_related("member")
        reports = reports.defer("member__profile_image", "member__password")
        reports = reports.order_by("id")[:MAX_SHOWN_REPORTS]
    decisions = Decision.objects.filter(case=case).order_by("id")
    return payload | {
        "target": find_target_payload(case),
        "reports": [_report_payload(each) for each in reports],
        "outsideReports": _list_outside_reports(actor, case),
        "decisions": [decision_payload(each) for each in decisions],
        "earlierCases": _list_earlier_cases(case),
    }


def find_target_payload(case: ModerationCase) -> dict[str, Any] | None:
    """Return the target as it is now, or None once it is gone."""
    if case.target_type == TargetType.POST:
        post = Post.objects.filter(pk=case.target_id).first()
        if post is None:
            return None
        return _content_payload(post, post.title, render_html(post.content))
    if case.target_type == TargetType.COMMENT:
        comments = Comment.objects.filter(pk=case.target_id, member__isnull=False)
        comment = comments.first()
        return (
            None if comment is None else _content_payload(comment, "", comment.content)
        )
    member = Member.objects.only("display_name").filter(pk=case.target_id).first()
    if member is None:
        return None
    return {"state": "SHOWN", "title": member.display_name, "content": ""}


def _content_payload(row: Post | Comment, title: str, text: str) -> dict[str, Any]:
    return {"state": row.hidden_reason or "SHOWN", "title": title, "content": text}


def _list_payloads(cases: list[ModerationCase]) -> list[dict[str, Any]]:
    ids = {case.author_id for case in cases if case.author_id is not None}
    authors = Member.objects.defer("profile_image", "password").in_bulk(ids)
    present = _find_present(cases)
    appealed = _find_appealed(cases)
    return [
        _case_payload(
            case,
            authors.get(case.author_id) if case.author_id else None,
            is_present=(case.target_type, case.target_id) in present,
            is_appealed=case.pk in appealed,
        )
        for case in cases
    ]


def _case_payload(
    case: ModerationCase, author: Member | None, *, is_present: bool, is_appealed: bool
) -> dict[str, Any]:
    content = case.content
    if case.target_type == TargetType.POST:
        content = render_html(content)
    return {
        "id": case.pk,
        "kind": case.kind,
        "status": case.status,
        "reason": case.reason or None,
        "targetType": case.target_type,
        "targetId": case.target_id,
        "postId": case.post_id,
        "author": author and person_payload(author),
        "title": case.title,
        "content": content,
        "reportCount": case.report_count,
        "targetGone": None
        if is_present
        else case.target_gone or ModerationCase.Gone.AUTHOR,
        "openedAt": case.opened_at,
        "blindUntil": case.blind_until,
        "appealed": is_appealed,
    }


def _find_present(cases: list[ModerationCase]) -> set[tuple[str, int]]:
    """Return the targets that nobody has deleted."""
    present: set[tuple[str, int]] = set()
    members = _target_ids(cases, TargetType.MEMBER)
    for target_type, model in ((TargetType.POST, Post), (TargetType.COMMENT, Comment)):
        # No statement is sent for an empty list.
        rows = model._default_manager.filter(
            pk__in=_target_ids(cases, target_type),
            remove_after=None,
            member__isnull=False,
        )
        found = rows.values_list("id", flat=True)
        present |= {(target_type.value, row_id) for row_id in found}
    known = Member.objects.filter(pk__in=members).values_list("id", flat=True)
    return present | {(TargetType.MEMBER.value, row_id) for row_id in known}


def _target_ids(cases: Iterable[ModerationCase], target_type: str) -> list[int]:
    return [case.target_id for case in cases if case.target_type == target_type]


def _find_appealed(cases: list[ModerationCase]) -> set[int]:
    """Return the cases whose newest decision has an appeal."""
    newer = Decision.objects.filter(case=OuterRef("case"), pk__gt=OuterRef("pk"))
    appeals = Decision.objects.filter(case__in=cases, appeal__isnull=False)
    return set(appeals.filter(~Exists(newer)).values_list("case_id", flat=True))


def _report_payload(report: Report) -> dict[str, Any]:
    return {
        "id": report.pk,
        "reason": report.reason,
        "note": report.note,
        "reporter": person_payload(report.member),
        "createdAt": report.created_at,
    }


def _list_outside_reports(actor: Member, case: ModerationCase) -> list[dict[str, Any]]:
    """Return reports from outside; none about the actor's own content."""
    if case.author_id == actor.pk:
        return []
    reports = OutsideReport.objects.filter(case=case).order_by("confirmed_at")
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


def _list_earlier_cases(case: ModerationCase) -> list[dict[str, Any]]:
    if case.author_id is None:
        return []
    others = ModerationCase.objects.filter(author=case.author_id).exclude(pk=case.pk)
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
