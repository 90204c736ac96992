"""What is reported and judged: a post, a comment, a member."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import Member
from board.content import render_html
from board.locking import MAX_ID, lock_comments
from board.models import Comment, HiddenReason, Post, TargetType
from board.removal import delete_locked_posts, remove_comments


@dataclass(frozen=True, slots=True)
class Target:
    """A row as it is, locked if it is content."""

    type: str
    id: int
    post_id: int | None
    author_id: int
    title: str
    content: str
    hidden_reason: str | None = None
    # False for a comment of a hidden post too.
    is_visible: bool = True
    is_removed: bool = False
    # Of the texts; None for a member.
    changed_at: datetime | None = None

    @property
    def is_content(self) -> bool:
        return self.type != TargetType.MEMBER

    def hide(self, reason: HiddenReason, remove_after: datetime | None = None) -> None:
        self._update(is_hidden=True, hidden_reason=reason, remove_after=remove_after)

    def show(self) -> None:
        self._update(is_hidden=False, hidden_reason=None, remove_after=None)

    def remove(self, now: datetime) -> None:
        if self.type == TargetType.POST:
            delete_locked_posts([self.id], now)
        else:
            remove_comments([self.id])

    def _update(self, **values: object) -> None:
        model = Post if self.type == TargetType.POST else Comment
        model._default_manager.filter(pk=self.id).update(**values)


def lock_target(
    target_type: str, target_id: int, *, for_delete: bool = False
) -> Target | None:
    """Lock a post, or a comment after its post; None if there is none any more.

    A member is only read: reports change no row of theirs.
    """
    if target_id > MAX_ID:
        return None
    if target_type == TargetType.POST:
        post = _lock_post(target_id, for_delete=for_delete)
        if for_delete and post is not None:
            # They go with it, and are locked before its case.
            below = Comment.objects.filter(post=post).values_list("id", flat=True)
            lock_comments(below)
        return None if post is None else _describe_post(post)
    if target_type == TargetType.COMMENT:
        return _lock_comment(target_id, for_delete=for_delete)
    member = Member.objects.only("id", "display_name").filter(pk=target_id).first()
    if member is None:
        return None
    return Target(
        target_type, member.pk, None, member.pk, member.display_name, content=""
    )


def _lock_post(post_id: int, *, for_delete: bool) -> Post | None:
    posts = Post.objects.select_for_update(no_key=not for_delete).defer("search_text")
    return posts.filter(pk=post_id).first()


def _describe_post(post: Post) -> Target:
    return Target(
        TargetType.POST,
        post.pk,
        post.pk,
        post.member_id,
        post.title,
        post.content,
        hidden_reason=post.hidden_reason,
        is_visible=not post.is_hidden,
        is_removed=post.remove_after is not None,
        changed_at=post.updated_at,
    )


def _lock_comment(comment_id: int, *, for_delete: bool) -> Target | None:
    known = Comment.objects.only("post_id").filter(pk=comment_id).first()
    if known is None:
        return None
    post = _lock_post(known.post_id, for_delete=False)
    comments = Comment.objects.select_for_update(no_key=not for_delete)
    # Without an author only its place is left.
    comment = comments.filter(pk=comment_id, member__isnull=False).first()
    if post is None or comment is None or comment.member_id is None:
        return None
    return Target(
        TargetType.COMMENT,
        comment.pk,
        post.pk,
        comment.member_id,
        "",
        comment.content,
        hidden_reason=comment.hidden_reason,
        is_visible=not (comment.is_hidden or post.is_hidden),
        is_removed=comment.remove_after is not None,
        changed_at=comment.updated_at,
    )


def find_target_payload(target_type: str, target_id: int) -> dict[str, Any] | None:
    """Return the target as it is now, or None once it is gone."""
    if target_type == TargetType.POST:
        post = Post.objects.defer("search_text").filter(pk=target_id).first()
        if post is None:
            return None
        return _content_payload(post, post.title, render_html(post.content))
    if target_type == TargetType.COMMENT:
        comments = Comment.objects.filter(pk=target_id, member__isnull=False)
        comment = comments.first()
        return (
            None if comment is None else _content_payload(comment, "", comment.content)
        )
    member = Member.objects.only("display_name").filter(pk=target_id).first()
    if member is None:
        return None
    shown = {"state": "SHOWN", "title": member.display_name, "content": ""}
    return shown | {"updatedAt": None}


def _content_payload(row: Post | Comment, title: str, text: str) -> dict[str, Any]:
    return {
        "state": row.hidden_reason or "SHOWN",
        "title": title,
        "content": text,
        "updatedAt": row.updated_at,
    }
