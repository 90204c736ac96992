"""Removal of posts and comments, which the caller has locked.

Cases that are open about them keep their copy of the text (spec 5.10).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from accounts.models import Member
from board.images import delete_post_images
from board.locking import lock_comments
from board.models import Comment, CommentVote, ModerationCase, Post, PostVote

# A comment with replies keeps its place, without text and author.
_BLANK_COMMENTS = """
    UPDATE board_comment c SET member_id = NULL, content = '', reply_to_id = NULL,
        is_hidden = true, hidden_reason = 'AUTHOR', remove_after = NULL
    WHERE id = ANY(%(ids)s) AND EXISTS (
        SELECT FROM board_comment r WHERE r.parent_id = c.id AND r.id <> ALL(%(ids)s)
    )
"""
_DELETE_COMMENTS = """
    DELETE FROM board_comment WHERE id = ANY(%(ids)s) AND member_id IS NOT NULL
    RETURNING parent_id
"""
# With the last reply.
_DELETE_EMPTY_PLACES = """
    DELETE FROM board_comment c
    WHERE id = ANY(%(parents)s) AND member_id IS NULL AND NOT EXISTS (
        SELECT FROM board_comment r WHERE r.parent_id = c.id
    )
"""
_MARK_GONE = """
    UPDATE board_case SET target_gone = coalesce(target_gone, %(gone)s),
        title = CASE WHEN status = 'OPEN' THEN title ELSE '' END,
        content = CASE WHEN status = 'OPEN' THEN content ELSE '' END
    WHERE id IN (
        SELECT id FROM board_case
        WHERE ((target_type = 'POST' AND target_id = ANY(%(posts)s))
            OR (target_type = 'COMMENT' AND target_id = ANY(%(comments)s))
        )
        ORDER BY id FOR NO KEY UPDATE
    )
"""
# Nobody has said anything about what only waited for staff.
_DELETE_HELD_CASES = """
    DELETE FROM board_case c
    WHERE target_type = 'POST' AND target_id = ANY(%(posts)s) AND kind = 'HELD'
      AND status = 'OPEN'
      AND NOT EXISTS (SELECT FROM board_report r WHERE r.case_id = c.id)
      AND NOT EXISTS (SELECT FROM board_outside_report o WHERE o.case_id = c.id)
      AND NOT EXISTS (SELECT FROM board_decision d WHERE d.case_id = c.id)
"""


def delete_locked_posts(
    post_ids: list[int],
    now: datetime,
    *,
    uploader: Member | None = None,
    gone: str = ModerationCase.Gone.STAFF,
) -> None:
    """Delete locked posts and all below them.

    Images that no other post shows go too; with `uploader` only this member's.
    """
    comments = Comment.objects.filter(post_id__in=post_ids)
    comment_ids = list(comments.values_list("id", flat=True))
    lock_comments(comment_ids)
    mark_targets_gone(gone, posts=post_ids, comments=comment_ids)
    CommentVote.objects.filter(comment__post_id__in=post_ids).delete()
    raw_delete(comments)
    raw_delete(PostVote.objects.filter(post_id__in=post_ids))
    raw_delete(Post.objects.filter(pk__in=post_ids))
    # Images come last, as in `create_post`: writers lock the stored counts before.
    delete_post_images(post_ids, now, uploader=uploader)


def remove_comments(
    comment_ids: Sequence[int], *, gone: str = ModerationCase.Gone.STAFF
) -> None:
    """Delete comments with their votes, after the locks of their posts.

    Of one with replies only the texts go.
    """
    ids = list(comment_ids)
    if not ids:
        return
    mark_targets_gone(gone, comments=ids)
    raw_delete(CommentVote.objects.filter(comment_id__in=ids))
    with connection.cursor() as cursor:
        cursor.execute(_BLANK_COMMENTS, {"ids": ids})
        cursor.execute(_DELETE_COMMENTS, {"ids": ids})
        parents = [parent for (parent,) in cursor.fetchall() if parent is not None]
        if parents:
            cursor.execute(_DELETE_EMPTY_PLACES, {"parents": parents})


def mark_targets_gone(
    gone: str, *, posts: Iterable[int] = (), comments: Iterable[int] = ()
) -> None:
    """Note in their cases that posts and comments, which are locked, are deleted."""
    values: dict[str, Any] = {
        "gone": gone,
        "posts": list(posts),
        "comments": list(comments),
    }
    if not (values["posts"] or values["comments"]):
        return
    with connection.cursor() as cursor:
        cursor.execute(_MARK_GONE, values)
        if gone == ModerationCase.Gone.AUTHOR and values["posts"]:
            cursor.execute(_DELETE_HELD_CASES, values)


def raw_delete(rows: QuerySet[Any]) -> None:
    """Delete rows without looking for rows that refer to them."""
    rows._raw_delete(rows.db)
