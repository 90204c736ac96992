"""Writing of posts (spec 5.1).

Locks are taken in the order of `board.locking`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from accounts.models import Member, PointHistory
from accounts.profile.points import award_points
from accounts.switches.switches import Switch, lock_switch
from board.content import build_search_text, list_links, sanitize_html
from board.errors import NotAuthorError
from board.images import sync_post_images
from board.locking import (
    lock_member_key_share,
    lock_post,
    lock_voice,
    lock_writer,
    visible_to,
)
from board.models import Comment, HiddenReason, ModerationCase, Post
from board.newcomers import is_newcomer, open_held_case
from board.rate_limits import count_write
from board.removal import delete_locked_posts
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

    `notice` is ignored unless the member is an administrator (spec 5.5). A newcomer's
    post with a link or picture waits for staff, without points (spec 5.1).
    """
    content = sanitize_html(data.content, required=True)
    with transaction.atomic():
        writer = lock_writer(member, now)
        lock_switch(Switch.POSTING)
        count_write(member, "posts")
        recent = Post.objects.filter(member=member, created_at__gt=now - REPEAT_WINDOW)
        if recent.filter(title=data.title, content=content).exists():
            raise DuplicateError(gettext("You have just posted this."))
        is_held = is_newcomer(writer, now) and bool(list_links(content))
        post = Post.objects.create(
            member=member,
            title=data.title,
            content=content,
            search_text=build_search_text(data.title, content),
            category=data.category,
            tags=data.tags,
            is_notice=data.notice and member.is_administrator,
            is_hidden=is_held,
            hidden_reason=HiddenReason.HELD if is_held else None,
            created_at=now,
            updated_at=now,
        )
        if is_held:
            open_held_case(post, now, owes_points=True)
        sync_post_images(post.pk, content, now)
        if not is_held:
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
        writer = lock_voice(member, now)
        lock_switch(Switch.POSTING)
        post = lock_post(post_id, reader=member)
        require_author(member, post)
        may_be_held = is_newcomer(writer, now) and not post.is_hidden
        known_links = list_links(post.content) if may_be_held else set()
        for name, value in changes.items():
            setattr(post, name, value)
        post.search_text = build_search_text(post.title, post.content)
        post.updated_at = now
        post.save(update_fields=[*changes, "search_text", "updated_at"])
        if may_be_held and list_links(post.content) - known_links:
            _hold(post, now)
        if "content" in changes:
            sync_post_images(post.pk, post.content, now)


def _hold(post: Post, now: datetime) -> None:
    """Hold a shown post that got a link later; its points stay."""
    held = Post.objects.filter(pk=post.pk)
    held.update(is_hidden=True, hidden_reason=HiddenReason.HELD)
    open_held_case(post, now, owes_points=False)


@retry_on_conflict
def delete_post(member: Member, post_id: int, now: datetime) -> None:
    """Delete an own post, all below it, and the images that only it shows."""
    with transaction.atomic():
        lock_member_key_share(member)
        post = lock_post(post_id, for_delete=True, reader=member)
        require_author(member, post)
        # Other members have yet to use their images.
        delete_locked_posts(
            [post_id], now, uploader=member, gone=ModerationCase.Gone.AUTHOR
        )


def get_post(post_id: int, reader: Member | None = None) -> Post:
    """Return a post that the reader may see, without its text."""
    posts = Post.objects.defer("content", "search_text").filter(visible_to(reader))
    post = posts.filter(pk=post_id).first()
    if post is None:
        raise NotFoundError
    return post


def require_author(member: Member, content: Post | Comment) -> None:
    if content.member_id != member.pk:
        raise NotAuthorError
