"""Cases of moderation."""

from datetime import datetime
from typing import Any

from accounts.models import InboxItem, Member
from board.models import Comment, Decision, ModerationCase, Post, Report, TargetType
from board.moderation.decisions import Judgement, judge_content
from board.moderation.reports import report
from tests.support.factories import make_member


def describe(target: Post | Comment | Member) -> dict[str, Any]:
    """Return the columns of a case about the target."""
    match target:
        case Post():
            about = {"target_type": "POST", "post_id": target.pk, "title": target.title}
            return about | {"target_id": target.pk, "author": target.member}
        case Comment():
            about = {"target_type": "COMMENT", "post_id": target.post_id}
            return about | {"target_id": target.pk, "author": target.member}
    return {"target_type": "MEMBER", "target_id": target.pk, "author": target}


def make_case(
    target: Post | Comment | Member, *, reporter: Member | None = None, **fields: Any
) -> ModerationCase:
    """Make a case that waits, with one report, of a new member unless one is given."""
    text = getattr(target, "content", "")
    case = ModerationCase.objects.create(
        **{"kind": "REPORT", "reason": "SPAM", "content": text, "report_count": 1}
        | describe(target)
        | fields
    )
    Report.objects.create(case=case, member=reporter or make_member(), reason="SPAM")
    return case


def make_decided_item(target: Post | Comment | Member) -> InboxItem:
    """Make what the author is told of a decision."""
    case = make_case(target, status="RESOLVED", kind="STAFF")
    Decision.objects.create(case=case, action="HIDE", reason="SPAM")
    return InboxItem.objects.create(
        member_id=case.author_id or 0,
        kind="CONTENT_HIDDEN",
        target_type="CASE",
        target_id=case.pk,
    )


def make_blind(judge: Member, post: Post, now: datetime) -> ModerationCase:
    """Hide a post for the days that the law gives."""
    judgement = Judgement(Decision.Action.BLIND, "PERSONAL_DATA")
    judge_content(judge, TargetType.POST, post.pk, judgement, now)
    return ModerationCase.objects.get(target_id=post.pk, target_type="POST")


def report_by(count: int, target: Post | Comment, now: datetime, **fields: Any) -> None:
    """Report by members who joined long ago."""
    target_type = TargetType.POST if isinstance(target, Post) else TargetType.COMMENT
    for _ in range(count):
        reporter = make_member(**fields)
        report(reporter, target_type, target.pk, "SPAM", "", now)
