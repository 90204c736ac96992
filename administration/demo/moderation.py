"""Cases of the demo: reports, a held post, a blind one and an appeal."""

from datetime import datetime, timedelta

from accounts.models import Member
from administration.demo.texts import (
    APPEAL,
    APPEALED_POST,
    BLIND_POST,
    HELD_POST,
    NOTICE_FROM_OUTSIDE,
    REPORTED_COMMENT,
    REPORTED_POST,
    SPAM_NOTES,
    ShortPost,
)
from board.comments import create_comment
from board.models import (
    Decision,
    HiddenReason,
    ModerationCase,
    OutsideReport,
    Post,
    ReportReason,
    TargetType,
)
from board.moderation.appeals import appeal
from board.moderation.cases import open_case
from board.moderation.decisions import Judgement, judge_content, resolve_case
from board.moderation.reports import report
from board.moderation.targets import lock_target
from board.newcomers import open_held_case
from board.posts import PostData, create_post

Action = Decision.Action


def create_cases(
    moderator: Member, member: Member, neighbors: list[Member], now: datetime
) -> int:
    """Create open cases, and decisions that the member reads in the inbox."""
    author, *others = neighbors
    _report_post(author, others, now)
    _report_comment(others, now)
    _hold_post(neighbors[-1], now)
    _hide_blind_post(moderator, member, now)
    _appeal(moderator, others[10], now)
    return ModerationCase.objects.count()


def _write(author: Member, post: ShortPost, written_at: datetime) -> Post:
    data = PostData(post.title, post.content, "community", [])
    return Post.objects.get(pk=create_post(author, data, written_at))


def _report_post(author: Member, reporters: list[Member], now: datetime) -> None:
    post = _write(author, REPORTED_POST, now - timedelta(hours=9))
    for hours, (reporter, note) in enumerate(zip(reporters, SPAM_NOTES, strict=False)):
        reported_at = now - timedelta(hours=6 - hours)
        reason = ReportReason.SPAM.value
        report(reporter, TargetType.POST, post.pk, reason, note, reported_at)


def _report_comment(members: list[Member], now: datetime) -> None:
    author, reporter = members[3:5]
    post = Post.objects.filter(is_hidden=False).exclude(member=author).earliest("id")
    written_at = now - timedelta(hours=5)
    comment_id = create_comment(author, post.pk, REPORTED_COMMENT, written_at)
    reported_at, reason = now - timedelta(hours=2), ReportReason.ABUSE.value
    report(reporter, TargetType.COMMENT, comment_id, reason, "", reported_at)


def _hold_post(newcomer: Member, now: datetime) -> None:
    """Hold a post as `NEWCOMER_HOURS` does, whatever the setting is."""
    written_at = now - timedelta(hours=1)
    post = _write(newcomer, HELD_POST, written_at)
    post.is_hidden, post.hidden_reason = True, HiddenReason.HELD
    post.save(update_fields=["is_hidden", "hidden_reason"])
    open_held_case(post, written_at, owes_points=False)


def _hide_blind_post(moderator: Member, author: Member, now: datetime) -> None:
    """Decide a report from outside: the post is blind for some weeks."""
    post = _write(author, BLIND_POST, now - timedelta(days=4))
    reported_at = now - timedelta(days=3)
    reason = ReportReason.PERSONAL_DATA.value
    target = lock_target(TargetType.POST, post.pk)
    assert target is not None  # noqa: S101  # it has just been written
    case = open_case(target, ModerationCase.Kind.NOTICE, reported_at, reason=reason)
    OutsideReport.objects.create(
        case=case,
        target_type=case.target_type,
        target_id=case.target_id,
        reason=reason,
        language=Member.Locale.KO,
        code_hash=b"",
        created_at=reported_at,
        expires_at=reported_at,
        confirmed_at=reported_at,
        **NOTICE_FROM_OUTSIDE,
    )
    judgement = Judgement(Action.BLIND, reason)
    resolve_case(moderator, case.pk, judgement, now - timedelta(days=2))


def _appeal(moderator: Member, author: Member, now: datetime) -> None:
    post = _write(author, APPEALED_POST, now - timedelta(days=3))
    judgement = Judgement(Action.HIDE, ReportReason.SPAM.value)
    judge_content(
        moderator, TargetType.POST, post.pk, judgement, now - timedelta(days=2)
    )
    case = ModerationCase.objects.get(
        target_type=TargetType.POST, target_id=post.pk, author=author
    )
    appeal(author, case.pk, APPEAL, now - timedelta(hours=20))
