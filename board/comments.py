"""Writing of comments and replies (spec 5.3).

Locks are taken in the order of `board.locking`.
"""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from accounts.inbox.items import add_items
from accounts.models import Member, PointHistory
from accounts.profile.points import award_points
from accounts.switches.switches import Switch, lock_switch
from board.locking import (
    lock_comment,
    lock_member_key_share,
    lock_post,
    lock_voice,
    lock_writer,
)
from board.models import Comment, ModerationCase, Post, TargetType
from board.posts import require_author
from board.rate_limits import count_write
from board.removal import remove_comments
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, MissingItemError, NotFoundError

PARENT, REPLY_TO = "parentId", "replyToId"


@retry_on_conflict
def create_comment(
    member: Member,
    post_id: int,
    content: str,
    now: datetime,
    parent_id: int | None = None,
    reply_to_id: int | None = None,
) -> int:
    """Create a comment below a visible post, or a reply; return its id.

    `parent_id` is the comment at the top of the thread, `reply_to_id` the one in it
    that is answered, by default the same. Raises `InvalidFieldError` for one that
    cannot be seen below the post, and for a reply as parent.
    """
    with transaction.atomic():
        lock_writer(member, now)
        lock_switch(Switch.POSTING)
        post = lock_post(post_id)
        parent = _lock_parent(post, parent_id)
        answered = _lock_answered(parent, reply_to_id)
        count_write(member, "comments")
        comment = Comment.objects.create(
            member=member,
            post=post,
            parent=parent,
            reply_to=answered,
            content=content,
            created_at=now,
            updated_at=now,
        )
        award_points(member, PointHistory.Reason.COMMENT, now)
        _tell(member, post, answered)
    return comment.pk


def _lock_parent(post: Post, parent_id: int | None) -> Comment | None:
    if parent_id is None:
        return None
    parent = _lock_below(post, parent_id, PARENT)
    if parent.parent_id is not None:
        text = gettext("It is a reply: send the comment at the top of its thread.")
        raise InvalidFieldError(PARENT, text)
    return parent


def _lock_answered(parent: Comment | None, reply_to_id: int | None) -> Comment | None:
    if reply_to_id is None or (parent is not None and parent.pk == reply_to_id):
        return parent
    if parent is None:
        text = gettext("Send the comment at the top of the thread, too.")
        raise InvalidFieldError(PARENT, text, "required")
    answered = _lock_below(parent.post, reply_to_id, REPLY_TO)
    if answered.parent_id != parent.pk:
        raise MissingItemError(REPLY_TO)
    return answered


def _lock_below(post: Post, comment_id: int, field: str) -> Comment:
    """Lock a visible comment of the post against deletion."""
    try:
        comment = lock_comment(comment_id)
    except NotFoundError:
        raise MissingItemError(field) from None
    if comment.post_id != post.pk:
        raise MissingItemError(field)
    return comment


def _tell(member: Member, post: Post, answered: Comment | None) -> None:
    """Tell the author of the post, or of the comment that is answered, not both."""
    answered_id = None if answered is None else answered.member_id
    if answered is not None:
        add_items(
            [answered_id],
            "REPLY",
            target_type=TargetType.COMMENT,
            target_id=answered.pk,
            actor_id=member.pk,
        )
    if post.member_id != answered_id:
        add_items(
            [post.member_id],
            "COMMENT",
            target_type=TargetType.POST,
            target_id=post.pk,
            actor_id=member.pk,
        )


@retry_on_conflict
def update_comment(
    member: Member, comment_id: int, content: str, now: datetime
) -> None:
    with transaction.atomic():
        lock_voice(member, now)
        lock_switch(Switch.POSTING)
        comment = lock_comment(comment_id)
        require_author(member, comment)
        comment.content = content
        comment.updated_at = now
        comment.save(update_fields=["content", "updated_at"])


@retry_on_conflict
def delete_comment(member: Member, comment_id: int) -> None:
    """Delete an own comment with its votes; one with replies keeps its place."""
    with transaction.atomic():
        lock_member_key_share(member)
        # A trigger changes the comment counter of the post.
        lock_post(get_comment(comment_id).post_id)
        comment = lock_comment(comment_id, for_delete=True)
        require_author(member, comment)
        remove_comments([comment.pk], gone=ModerationCase.Gone.AUTHOR)


def get_comment(comment_id: int) -> Comment:
    """Return a visible comment of a visible post."""
    comments = Comment.objects.filter(is_hidden=False, post__is_hidden=False)
    comment = comments.filter(pk=comment_id).first()
    if comment is None:
        raise NotFoundError
    return comment
