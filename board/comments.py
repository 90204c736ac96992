"""Comments: create, update and delete (spec 5.3). `board.comment_list` reads them.

Each write is one transaction; locks are taken in the order of `board.locking`.
"""

from datetime import datetime

from django.db import transaction

from accounts.audit_log import DELETION, log_admin_action
from accounts.models import Member, PointHistory
from accounts.points import award_points
from board.locking import (
    lock_comment,
    lock_member_for_update,
    lock_member_key_share,
    lock_post,
)
from board.models import Comment, CommentVote
from board.posts import raw_delete, require_author
from board.rate_limits import count_write
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError


@retry_on_conflict
def create_comment(member: Member, post_id: int, content: str, now: datetime) -> int:
    """Create a comment below a visible post and award points; return its id.

    Raises `NotFoundError` or `RateLimitedError`.
    """
    with transaction.atomic():
        lock_member_for_update(member)
        post = lock_post(post_id)
        count_write(member, "comments")
        comment = Comment.objects.create(
            member=member, post=post, content=content, created_at=now, updated_at=now
        )
        award_points(member, PointHistory.Reason.COMMENT, now)
    return comment.pk


@retry_on_conflict
def update_comment(
    member: Member, comment_id: int, content: str, now: datetime
) -> None:
    """Update the text of a comment; only its author can."""
    with transaction.atomic():
        lock_member_key_share(member)
        comment = lock_comment(comment_id)
        require_author(member, comment)
        comment.content = content
        comment.updated_at = now
        comment.save(update_fields=["content", "updated_at"])


@retry_on_conflict
def delete_comment(member: Member, comment_id: int) -> None:
    """Delete a comment with its votes.

    Its author and administrators can; what an administrator deletes of others is
    written to the audit log.
    """
    with transaction.atomic():
        lock_member_key_share(member)
        # A trigger will change the comment counter of the post.
        lock_post(get_comment(comment_id).post_id)
        comment = lock_comment(comment_id, for_delete=True)
        require_author(member, comment, or_administrator=True)
        if comment.member_id != member.pk:
            log_admin_action(member, comment, DELETION)
        raw_delete(CommentVote.objects.filter(comment=comment))
        raw_delete(Comment.objects.filter(pk=comment_id))


def get_comment(comment_id: int) -> Comment:
    """Return a visible comment of a visible post; raise `NotFoundError`."""
    comments = Comment.objects.filter(is_hidden=False, post__is_hidden=False)
    comment = comments.filter(pk=comment_id).first()
    if comment is None:
        raise NotFoundError
    return comment
