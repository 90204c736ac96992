"""Writing of comments (spec 5.3).

Locks are taken in the order of `board.locking`.
"""

from datetime import datetime

from django.db import transaction

from accounts.models import Member, PointHistory
from accounts.profile.points import award_points
from accounts.security.audit_log import DELETION, log_admin_action
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
    """Create a comment below a visible post; return its id."""
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
    with transaction.atomic():
        lock_member_key_share(member)
        comment = lock_comment(comment_id)
        require_author(member, comment)
        comment.content = content
        comment.updated_at = now
        comment.save(update_fields=["content", "updated_at"])


@retry_on_conflict
def delete_comment(member: Member, comment_id: int) -> None:
    """Delete a comment with its votes, as its author or an administrator."""
    with transaction.atomic():
        lock_member_key_share(member)
        # A trigger changes the comment counter of the post.
        lock_post(get_comment(comment_id).post_id)
        comment = lock_comment(comment_id, for_delete=True)
        require_author(member, comment, or_administrator=True)
        if comment.member_id != member.pk:
            log_admin_action(member, comment, DELETION)
        raw_delete(CommentVote.objects.filter(comment=comment))
        raw_delete(Comment.objects.filter(pk=comment_id))


def get_comment(comment_id: int) -> Comment:
    """Return a visible comment of a visible post."""
    comments = Comment.objects.filter(is_hidden=False, post__is_hidden=False)
    comment = comments.filter(pk=comment_id).first()
    if comment is None:
        raise NotFoundError
    return comment
