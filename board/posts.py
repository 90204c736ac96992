"""Posts and comments: written, edited by their authors, deleted.

Each write is one transaction: the row, its pictures and the award of points. Locks
are taken in the order of `board.locking`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.audit_log import DELETION, log_admin_action
from accounts.models import Member, PointHistory
from accounts.points import award_points
from board.content import build_search_text, is_empty, sanitize_html
from board.errors import NotAuthorError
from board.images import sync_post_images, unlink_images
from board.locking import (
    lock_comment,
    lock_comments,
    lock_member_for_update,
    lock_member_key_share,
    lock_post,
)
from board.models import Comment, CommentVote, Post, PostVote
from core.errors import InvalidFieldError, NotFoundError


@dataclass(frozen=True, slots=True)
class PostData:
    """A post as its author sends it; `content` is HTML that nobody has checked."""

    title: str
    content: str
    category: str
    tags: list[str] = field(default_factory=list)
    notice: bool = False


def create_post(member: Member, draft: PostData, now: datetime) -> int:
    """Write a post and give its award; the new id.

    `notice` counts only from an administrator (spec 5.5).
    """
    content = sanitize_content(draft.content)
    with transaction.atomic():
        lock_member_for_update(member)
        post = Post.objects.create(
            member=member,
            title=draft.title,
            content=content,
            words=build_search_text(draft.title, content),
            category=draft.category,
            tags=draft.tags,
            is_notice=draft.notice and member.is_administrator,
            created_at=now,
            updated_at=now,
        )
        sync_post_images(post.pk, content, now)
        award_points(member, PointHistory.Reason.POST, now)
    return post.pk


def update_post(
    member: Member, post_id: int, changes: Mapping[str, Any], now: datetime
) -> None:
    """Edit one's own post; what `changes` does not name stays as it is.

    That is how an edit that sends no tags keeps those of the old post, also when it
    moves to another category (spec 5.1). The notice flag follows
    only an administrator who names it.
    """
    changes = dict(changes)
    notice = changes.pop("notice", None)
    if notice is not None and member.is_administrator:
        changes["is_notice"] = notice
    if "content" in changes:
        changes["content"] = sanitize_content(changes["content"])
    with transaction.atomic():
        lock_member_key_share(member)
        post = lock_post(post_id)
        require_author(member, post)
        for name, value in changes.items():
            setattr(post, name, value)
        post.words = build_search_text(post.title, post.content)
        post.updated_at = now
        post.save(update_fields=[*changes, "words", "updated_at"])
        if "content" in changes:
            sync_post_images(post.pk, post.content, now)


def delete_post(member: Member, post_id: int, now: datetime) -> None:
    """Delete a post with its comments and all votes; its author or an administrator.

    What an administrator deletes of others is in the log.
    """
    with transaction.atomic():
        lock_member_key_share(member)
        post = lock_post(post_id, to_end=True)
        require_author(member, post, or_administrator=True)
        if post.member_id != member.pk:
            log_admin_action(member, post, DELETION)
        delete_locked_posts([post_id], now)


def delete_locked_posts(post_ids: list[int], now: datetime) -> None:
    """Delete locked posts and all below them, inside the caller's transaction.

    Their pictures go last, as in `create_post`: stored counts change before pictures.
    """
    comments = Comment.objects.filter(post_id__in=post_ids)
    lock_comments(comments.values_list("id", flat=True))
    CommentVote.objects.filter(comment__post_id__in=post_ids).delete()
    _delete_rows(comments)
    _delete_rows(PostVote.objects.filter(post_id__in=post_ids))
    _delete_rows(Post.objects.filter(pk__in=post_ids))
    unlink_images(post_ids, now)


def create_comment(member: Member, post_id: int, content: str, now: datetime) -> int:
    """Write a comment below a post that can be seen and give its award; the new id."""
    with transaction.atomic():
        lock_member_for_update(member)
        post = lock_post(post_id)
        comment = Comment.objects.create(
            member=member, post=post, content=content, created_at=now, updated_at=now
        )
        award_points(member, PointHistory.Reason.COMMENT, now)
    return comment.pk


def update_comment(
    member: Member, comment_id: int, content: str, now: datetime
) -> None:
    """Edit one's own comment."""
    with transaction.atomic():
        lock_member_key_share(member)
        comment = lock_comment(comment_id)
        require_author(member, comment)
        comment.content = content
        comment.updated_at = now
        comment.save(update_fields=["content", "updated_at"])


def delete_comment(member: Member, comment_id: int) -> None:
    """Delete a comment with its votes; its author or an administrator.

    Its post is locked first, whose counter the deletion changes.
    """
    with transaction.atomic():
        lock_member_key_share(member)
        lock_post(get_comment(comment_id).post_id)
        comment = lock_comment(comment_id, to_end=True)
        require_author(member, comment, or_administrator=True)
        if comment.member_id != member.pk:
            log_admin_action(member, comment, DELETION)
        _delete_rows(CommentVote.objects.filter(comment=comment))
        _delete_rows(Comment.objects.filter(pk=comment_id))


def get_post(post_id: int) -> Post:
    """A post that can be seen, or `NotFoundError`."""
    posts = Post.objects.defer("content", "words").filter(is_hidden=False)
    post = posts.filter(pk=post_id).first()
    if post is None:
        raise NotFoundError
    return post


def get_comment(comment_id: int) -> Comment:
    """A comment that can be seen, below a post that can be, or `NotFoundError`."""
    comments = Comment.objects.filter(is_hidden=False, post__is_hidden=False)
    comment = comments.filter(pk=comment_id).first()
    if comment is None:
        raise NotFoundError
    return comment


def require_author(
    member: Member, written: Post | Comment, *, or_administrator: bool = False
) -> None:
    """Refuse whoever did not write this; administrators may delete, not edit."""
    if written.member_id == member.pk:
        return
    if not (or_administrator and member.is_administrator):
        raise NotAuthorError


def sanitize_content(html: str) -> str:
    """Safe HTML with something in it, or a refusal that names the field."""
    content = sanitize_html(html)
    if is_empty(content):
        raise InvalidFieldError("content", "A post has a text or a picture.", "blank")
    return content


def _delete_rows(rows: Any) -> None:
    """One DELETE, without Django's look at what refers to the rows."""
    rows._raw_delete(rows.db)
