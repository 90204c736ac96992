"""Moderation by staff: hide, pin and delete posts and comments, delete images.

Every change is written to the audit log, which names posts, comments and images by
their ids only, since it outlives what their authors wrote.
"""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from accounts.audit_log import CHANGE, DELETION, log_admin_action
from accounts.models import Member
from board.images import delete_images
from board.locking import lock_comments, lock_member_key_share, lock_posts
from board.models import Comment, CommentVote, Image, Post
from board.posts import delete_locked_posts
from core.db.transactions import retry_on_conflict

HIDDEN_MESSAGE, SHOWN_MESSAGE = "Hidden.", "Shown again."
PINNED_MESSAGE, UNPINNED_MESSAGE = "Marked as notice.", "Unmarked as notice."


@retry_on_conflict
@transaction.atomic
def hide_posts(actor: Member, post_ids: Collection[int], *, hidden: bool) -> int:
    """Hide posts, or show them again; return the number of changed posts."""
    posts = _lock_posts(actor, post_ids).filter(is_hidden=not hidden)
    message = HIDDEN_MESSAGE if hidden else SHOWN_MESSAGE
    return _update_and_log(actor, posts, "is_hidden", hidden, message)


@retry_on_conflict
@transaction.atomic
def mark_notices(actor: Member, post_ids: Collection[int], *, notice: bool) -> int:
    """Set the notice flag of posts; return the number of changed posts."""
    posts = _lock_posts(actor, post_ids).filter(is_notice=not notice)
    message = PINNED_MESSAGE if notice else UNPINNED_MESSAGE
    return _update_and_log(actor, posts, "is_notice", notice, message)


@retry_on_conflict
@transaction.atomic
def delete_posts(actor: Member, post_ids: Collection[int], now: datetime) -> int:
    """Delete posts with their comments, votes and images; return the number of posts.

    Images that other posts show stay.
    """
    posts = list(_lock_posts(actor, post_ids))
    for post in posts:
        log_admin_action(actor, post, DELETION)
    delete_locked_posts([post.pk for post in posts], now)
    return len(posts)


@retry_on_conflict
@transaction.atomic
def hide_comments(actor: Member, comment_ids: Collection[int], *, hidden: bool) -> int:
    """Hide comments, or show them again; return the number of changed comments."""
    comments = _lock_comments(actor, comment_ids).filter(is_hidden=not hidden)
    message = HIDDEN_MESSAGE if hidden else SHOWN_MESSAGE
    return _update_and_log(actor, comments, "is_hidden", hidden, message)


@retry_on_conflict
@transaction.atomic
def delete_comments(actor: Member, comment_ids: Collection[int]) -> int:
    """Delete comments with their votes; return the number of comments."""
    comments = _lock_comments(actor, comment_ids)
    for comment in comments:
        log_admin_action(actor, comment, DELETION)
    CommentVote.objects.filter(comment_id__in=comment_ids).delete()
    return comments._raw_delete(comments.db)


@retry_on_conflict
@transaction.atomic
def delete_shown_images(actor: Member, image_ids: Collection[UUID]) -> int:
    """Delete images, also those that posts show; return the number of images."""
    lock_member_key_share(actor)
    deleted = delete_images(image_ids)
    for image_id in deleted:
        log_admin_action(actor, Image(pk=image_id), DELETION)
    return len(deleted)


def _lock_posts(actor: Member, post_ids: Collection[int]) -> QuerySet[Post]:
    """Lock the actor and the posts; return the posts, hidden ones too."""
    lock_member_key_share(actor)
    lock_posts(post_ids)
    return Post.objects.only("id").filter(pk__in=post_ids)


def _lock_comments(actor: Member, comment_ids: Collection[int]) -> QuerySet[Comment]:
    """Lock the actor, the posts and the comments; return the comments."""
    lock_member_key_share(actor)
    comments = Comment.objects.only("id").filter(pk__in=comment_ids)
    # Triggers will change the comment counters of the posts.
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
    """Set a flag of locked rows, log each of them, and return their number."""
    for row in list(rows):
        log_admin_action(actor, row, CHANGE, message)
    return rows.update(**{flag: value})
