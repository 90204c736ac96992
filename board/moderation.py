"""Moderation by staff.

The audit log names content by id only, since it outlives the content.
"""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Member
from accounts.security.audit_log import CHANGE, DELETION, log_admin_action
from board.images import delete_images
from board.locking import lock_comments, lock_member_key_share, lock_post, lock_posts
from board.models import Comment, CommentVote, Image, Post
from board.posts import delete_locked_posts
from core.db.transactions import retry_on_conflict

HIDDEN_MESSAGE, SHOWN_MESSAGE = "Hidden.", "Shown again."


@retry_on_conflict
@transaction.atomic
def hide_posts(actor: Member, post_ids: Collection[int], *, hidden: bool) -> int:
    posts = _lock_posts(actor, post_ids).filter(is_hidden=not hidden)
    message = HIDDEN_MESSAGE if hidden else SHOWN_MESSAGE
    return _update_and_log(actor, posts, "is_hidden", hidden, message)


@retry_on_conflict
@transaction.atomic
def mark_notices(actor: Member, post_ids: Collection[int], *, notice: bool) -> int:
    posts = _lock_posts(actor, post_ids).filter(is_notice=not notice)
    message = "Marked as notice." if notice else "Unmarked as notice."
    return _update_and_log(actor, posts, "is_notice", notice, message)


@retry_on_conflict
@transaction.atomic
def set_notice(actor: Member, post_id: int, *, notice: bool) -> None:
    """Pin or unpin a visible post (spec 5.5); raise `NotFoundError`."""
    lock_member_key_share(actor)
    lock_post(post_id)
    mark_notices(actor, [post_id], notice=notice)


@retry_on_conflict
@transaction.atomic
def delete_posts(actor: Member, post_ids: Collection[int], now: datetime) -> int:
    """Delete posts with images that no other post shows."""
    posts = list(_lock_posts(actor, post_ids))
    for post in posts:
        log_admin_action(actor, post, DELETION)
    delete_locked_posts([post.pk for post in posts], now)
    return len(posts)


@retry_on_conflict
@transaction.atomic
def hide_comments(actor: Member, comment_ids: Collection[int], *, hidden: bool) -> int:
    comments = _lock_comments(actor, comment_ids).filter(is_hidden=not hidden)
    message = HIDDEN_MESSAGE if hidden else SHOWN_MESSAGE
    return _update_and_log(actor, comments, "is_hidden", hidden, message)


@retry_on_conflict
@transaction.atomic
def delete_comments(actor: Member, comment_ids: Collection[int]) -> int:
    comments = _lock_comments(actor, comment_ids)
    for comment in comments:
        log_admin_action(actor, comment, DELETION)
    CommentVote.objects.filter(comment_id__in=comment_ids).delete()
    return comments._raw_delete(comments.db)


@retry_on_conflict
@transaction.atomic
def delete_shown_images(actor: Member, image_ids: Collection[UUID]) -> int:
    lock_member_key_share(actor)
    deleted = delete_images(image_ids)
    for image_id in deleted:
        log_admin_action(actor, Image(pk=image_id), DELETION)
    return len(deleted)


def _lock_posts(actor: Member, post_ids: Collection[int]) -> QuerySet[Post]:
    lock_member_key_share(actor)
    lock_posts(post_ids)
    return Post.objects.only("id").filter(pk__in=post_ids)


def _lock_comments(actor: Member, comment_ids: Collection[int]) -> QuerySet[Comment]:
    lock_member_key_share(actor)
    comments = Comment.objects.only("id").filter(pk__in=comment_ids)
    # Triggers change the comment counters of the posts.
    lock_posts(comments.values_list("post_id", flat=True))
    lock_comments(comment_ids)
    return comments


def _update_and_log(
    actor: Member,
    rows: QuerySet[Post] | QuerySet[Comment],
    flag: str,
    value: bool,
    message: str,
) -> int:
    """Set a flag of locked rows; return their number."""
    for row in list(rows):
        log_admin_action(actor, row, CHANGE, message)
    return rows.update(**{flag: value})
