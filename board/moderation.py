"""What staff do to posts and comments; every change is in the log.

The log names posts and comments by their ids: it outlives what their authors wrote.
"""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from accounts.audit_log import CHANGE, DELETION, log_admin_action
from accounts.models import Member
from board.locking import lock_comments, lock_member_key_share, lock_posts
from board.models import Comment, CommentVote, Post
from board.posts import delete_locked_posts

HIDDEN, SHOWN = "Hidden.", "Shown again."
NOTICE, NO_NOTICE = "Made a notice.", "No notice any more."


@transaction.atomic
def hide_posts(actor: Member, post_ids: Collection[int], *, hidden: bool) -> int:
    """Hide posts from everybody, or show them again; the number changed."""
    posts = _lock_posts(actor, post_ids).filter(is_hidden=not hidden)
    return _update_and_log(
        actor, posts, "is_hidden", hidden, HIDDEN if hidden else SHOWN
    )


@transaction.atomic
def mark_notices(actor: Member, post_ids: Collection[int], *, notice: bool) -> int:
    """Turn the notice flag of posts on or off; the number changed."""
    posts = _lock_posts(actor, post_ids).filter(is_notice=not notice)
    return _update_and_log(
        actor, posts, "is_notice", notice, NOTICE if notice else NO_NOTICE
    )


@transaction.atomic
def delete_posts(actor: Member, post_ids: Collection[int], now: datetime) -> int:
    """Delete posts with all below them, hidden ones too; the number deleted."""
    posts = list(_lock_posts(actor, post_ids))
    for post in posts:
        log_admin_action(actor, post, DELETION)
    delete_locked_posts([post.pk for post in posts], now)
    return len(posts)


@transaction.atomic
def hide_comments(actor: Member, comment_ids: Collection[int], *, hidden: bool) -> int:
    """Hide comments from everybody, or show them again; the number changed."""
    comments = _lock_comments(actor, comment_ids).filter(is_hidden=not hidden)
    return _update_and_log(
        actor, comments, "is_hidden", hidden, HIDDEN if hidden else SHOWN
    )


@transaction.atomic
def delete_comments(actor: Member, comment_ids: Collection[int]) -> int:
    """Delete comments with their votes, hidden ones too; the number deleted."""
    comments = _lock_comments(actor, comment_ids)
    for comment in comments:
        log_admin_action(actor, comment, DELETION)
    CommentVote.objects.filter(comment_id__in=comment_ids).delete()
    return int(comments._raw_delete(comments.db))


def _lock_posts(actor: Member, post_ids: Collection[int]) -> QuerySet[Post]:
    lock_member_key_share(actor)
    lock_posts(post_ids)
    return Post.objects.only("id").filter(pk__in=post_ids)


def _lock_comments(actor: Member, comment_ids: Collection[int]) -> QuerySet[Comment]:
    """Their posts come first, whose counters change."""
    lock_member_key_share(actor)
    comments = Comment.objects.only("id").filter(pk__in=comment_ids)
    lock_posts(comments.values_list("post_id", flat=True))
    lock_comments(comment_ids)
    return comments


def _update_and_log(
    actor: Member,
    rows: QuerySet[Post] | QuerySet[Comment],
    flag: str,
    value: bool,
    text: str,
) -> int:
    changed = list(rows)
    for row in changed:
        log_admin_action(actor, row, CHANGE, text)
    return rows.update(**{flag: value})
