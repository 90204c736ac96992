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
from administration.demo.timeline import Timeline
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


def plan_cases(
    timeline: Timeline,
    moderator: Member,
    member: Member,
    neighbors: list[Member],
    now: datetime,
) -> None:
    """Add open cases, and decisions that the member reads in the inbox."""
    author, *others = neighbors
    _plan_reported_post(timeline, author, others, now)
    _plan_reported_comment(timeline, others, now)
    held_at = now - timedelta(hours=1)
    newcomer = max(
        (each for each in neighbors if each.created_at < held_at),
        key=lambda each: each.created_at,
    )
    timeline.add(held_at, lambda: _hold_post(newcomer, held_at))
    _plan_blind_post(timeline, moderator, member, now)
    _plan_appeal(timeline, moderator, others[10], now)


def _write(author: Member, post: ShortPost, written_at: datetime) -> Post:
    data = PostData(post.title, post.content, "community", [])
    return Post.objects.get(pk=create_post(author, data, written_at))


def _plan_reported_post(
    timeline: Timeline, author: Member, reporters: list[Member], now: datetime
) -> None:
    posts: list[Post] = []
    written_at = now - timedelta(hours=9)
    timeline.add(
        written_at, lambda: posts.append(_write(author, REPORTED_POST, written_at))
    )
    for hours, (reporter, note) in enumerate(zip(reporters, SPAM_NOTES, strict=False)):
        time = now - timedelta(hours=6 - hours)

        def report_post(
            reporter: Member = reporter, note: str = note, time: datetime = time
        ) -> None:
            reason = ReportReason.SPAM.value
            report(reporter, TargetType.POST, posts[0].pk, reason, note, time)

        timeline.add(time, report_post)


def _plan_reported_comment(
    timeline: Timeline, members: list[Member], now: datetime
) -> None:
    author, reporter = members[3:5]
    comment_ids: list[int] = []
    written_at, reported_at = now - timedelta(hours=5), now - timedelta(hours=2)

    def write() -> None:
        posts = Post.objects.filter(is_hidden=False).exclude(member=author)
        post_id = posts.earliest("id").pk
        comment_ids.append(
            create_comment(author, post_id, REPORTED_COMMENT, written_at)
        )

    def report_comment() -> None:
        reason = ReportReason.ABUSE.value
        report(reporter, TargetType.COMMENT, comment_ids[0], reason, "", reported_at)

    timeline.add(written_at, write)
    timeline.add(reported_at, report_comment)


def _hold_post(newcomer: Member, written_at: datetime) -> None:
    """Hold a post as `NEWCOMER_HOURS` does, whatever the setting is."""
    post = _write(newcomer, HELD_POST, written_at)
    post.is_hidden, post.hidden_reason = True, HiddenReason.HELD
    post.save(update_fields=["is_hidden", "hidden_reason"])
    open_held_case(post, written_at, owes_points=False)


def _plan_blind_post(
    timeline: Timeline, moderator: Member, author: Member, now: datetime
) -> None:
    """Decide a report from outside: the post is blind for some weeks."""
    posts: list[Post] = []
    cases: list[ModerationCase] = []
    written_at, decided_at = now - timedelta(days=4), now - timedelta(days=2)
    reported_at = now - timedelta(days=3)

    def judge() -> None:
        judgement = Judgement(Action.BLIND, ReportReason.PERSONAL_DATA.value)
        resolve_case(moderator, cases[0].pk, judgement, decided_at)

    timeline.add(
        written_at, lambda: posts.append(_write(author, BLIND_POST, written_at))
    )
    timeline.add(
        reported_at,
        lambda: cases.append(_report_from_outside(posts[0], reported_at)),
    )
    timeline.add(decided_at, judge)


def _report_from_outside(post: Post, reported_at: datetime) -> ModerationCase:
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
    return case


def _plan_appeal(
    timeline: Timeline, moderator: Member, author: Member, now: datetime
) -> None:
    posts: list[Post] = []
    written_at, hidden_at = now - timedelta(days=3), now - timedelta(days=2)
    appealed_at = now - timedelta(hours=20)

    def hide() -> None:
        judgement = Judgement(Action.HIDE, ReportReason.SPAM.value)
        judge_content(moderator, TargetType.POST, posts[0].pk, judgement, hidden_at)

    def object_to_it() -> None:
        case = ModerationCase.objects.get(
            target_type=TargetType.POST, target_id=posts[0].pk, author=author
        )
        appeal(author, case.pk, APPEAL, appealed_at)

    timeline.add(
        written_at, lambda: posts.append(_write(author, APPEALED_POST, written_at))
    )
    timeline.add(hidden_at, hide)
    timeline.add(appealed_at, object_to_it)
