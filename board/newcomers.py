"""Newcomers: staff see their links and pictures first (spec 5.1)."""

from datetime import datetime, timedelta

from django.conf import settings

from accounts.models import Member
from board.models import ModerationCase, Post, TargetType


def is_newcomer(member: Member, now: datetime) -> bool:
    """Without the setting nobody is one; staff never are."""
    hours: int = settings.NEWCOMER_HOURS
    is_young = now - member.created_at < timedelta(hours=hours)
    return is_young and not member.is_moderator


def open_held_case(post: Post, now: datetime, *, owes_points: bool) -> None:
    """Put a held post into the queue; reports may have opened a case before."""
    ModerationCase.objects.bulk_create(
        [
            ModerationCase(
                kind=ModerationCase.Kind.HELD,
                target_type=TargetType.POST,
                target_id=post.pk,
                post_id=post.pk,
                author_id=post.member_id,
                title=post.title,
                content=post.content,
                owes_points=owes_points,
                opened_at=now,
            )
        ],
        ignore_conflicts=True,
    )
    # One that members have opened is about the hold from now on.
    known = ModerationCase.objects.filter(
        target_type=TargetType.POST, target_id=post.pk
    ).exclude(status=ModerationCase.Status.RESOLVED)
    known.exclude(kind=ModerationCase.Kind.NOTICE).update(
        kind=ModerationCase.Kind.HELD, status=ModerationCase.Status.OPEN
    )
