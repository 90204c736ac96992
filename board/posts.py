"""Writing of posts (spec 5.1).

Locks are taken in the order of `board.locking`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from accounts.models import Member, PointHistory
from accounts.profile.points import award_points
from accounts.security.audit_log import DELETION, log_admin_action
from board.content import build_search_text, sanitize_html
from board.errors import NotAuthorError
from board.images import delete_post_images, sync_post_images
from board.locking import (
    lock_comments,
    lock_member_for_update,
    lock_member_key_share,
    lock_post,
)
from board.models import Comment, CommentVote, Post, PostVote
from board.rate_limits import count_write
from core.db.transactions import retry_on_conflict
from core.errors import DuplicateError, NotFoundError

# The same post within this time is refused.
REPEAT_WINDOW = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class PostData:
    """A post in a request, not yet sanitized."""

    title: str
    content: str
    category: str
    tags: list[str] = field(default_factory=list)
    notice: bool = False


@retry_on_conflict
def create_post(member: Member, data: PostData, now: datetime) -> int:
    """Create a post; return its id.

    `notice` is ignored unless the member is an administrator (spec 5.5).
    """
    content = sanitize_html(data.content, required=True)
    with transaction.atomic():
        lock_member_for_update(member)
        count_write(member, "posts")
        recent = Post.objects.filter(member=member, created_at__gt=now - REPEAT_WINDOW)
        if recent.filter(title=data.title, content=content).exists():
            raise DuplicateError(gettext("You have just posted this."))
        post = Post.objects.create(
            member=member,
            title=data.title,
            content=content,
            search_text=build_search_text(data.title, content),
            category=data.category,
            tags=data.tags,
            is_notice=data.notice and member.is_administrator,
            created_at=now,
            updated_at=now,
        )
        sync_post_images(post.pk, content, now)
        award_points(member, PointHistory.Reason.POST, now)
    return post.pk


@retry_on_conflict
def update_post(
    member: Member, post_id: int, changes: Mapping[str, Any], now: datetime
) -> None:
    """Update the fields that `changes` names; only the author can (spec 5.1)."""
    changes = dict(changes)
    notice = changes.pop("notice", None)
    if notice is not None and member.is_administrator:
        changes["is_notice"] = notice
    if "content" in changes:
        changes["content"] = sanitize_html(changes["content"], required=True)
    with transaction.atomic():
        lock_member_key_share(member)
        post = lock_post(post_id)
        require_author(member, post)
        for name, value in changes.items():
            setattr(post, name, value)
        post.search_text = build_search_text(post.title, post.content)
        post.updated_at = now
        post.save(update_fields=[*changes, "search_text", "updated_at"])
        if "content" in changes:
            sync_post_images(post.pk, post.content, now)


@retry_on_conflict
def delete_post(member: Member, post_id: int, now: datetime) -> None:
    """Delete a post, all below it, and the images that only it shows."""
    with transaction.atomic():
        lock_member_key_share(member)
        post = lock_post(post_id, for_delete=True)
        require_author(member, post, or_administrator=True)
        is_author = post.member_id == member.pk
        if not is_author:
            log_admin_action(member, post, DELETION)
        # Other members have yet to use their images.
        delete_locked_posts([post_id], now, uploader=member if is_author else None)


def delete_locked_posts(
    post_ids: list[int], now: datetime, *, uploader: Member | None = None
) -> None:
    """Delete locked posts and all below them.

    Images that no other post shows go too; with `uploader` only this member's.
    """
    comments = Comment.objects.filter(post_id__in=post_ids)
    lock_comments(comments.values_list("id", flat=True))
    CommentVote.objects.filter(comment__post_id__in=post_ids).delete()
    raw_delete(comments)
    raw_delete(PostVote.objects.filter(post_id__in=post_ids))
    raw_delete(Post.objects.filter(pk__in=post_ids))
    # Images come last, as in `create_post`: writers lock the stored counts before.
    delete_post_images(post_ids, now, uploader=uploader)


def get_post(post_id: int) -> Post:
    posts = Post.objects.defer("content", "search_text").filter(is_hidden=False)
    post = posts.filter(pk=post_id).first()
    if post is None:
        raise NotFoundError
    return post


def require_author(
    member: Member, content: Post | Comment, *, or_administrator: bool = False
) -> None:
    if content.member_id == member.pk:
        return
    if not (or_administrator and member.is_administrator):
        raise NotAuthorError


def raw_delete(rows: QuerySet[Any]) -> None:
    """Delete rows without looking for rows that refer to them."""
    rows._raw_delete(rows.db)
