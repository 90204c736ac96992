"""Self-deletion of a member's part of the board: posts, comments, votes, images.

Other people's posts and comments keep right counters: the triggers count by
difference, under locks taken in the order of `board.locking`.
"""

from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import Member
from board.images import delete_member_images, unlink_images
from board.locking import acquire_account_deletion_lock

_LOCK_POSTS = """
    SELECT id, member_id = %(member)s FROM board_post WHERE id IN (
        SELECT id FROM board_post WHERE member_id = %(member)s
        UNION SELECT post_id FROM board_comment WHERE member_id = %(member)s
        UNION SELECT post_id FROM board_post_vote WHERE member_id = %(member)s
    )
    ORDER BY id FOR UPDATE
"""
_LOCK_COMMENTS = """
    SELECT id, member_id = %(member)s OR post_id = ANY(%(posts)s)
    FROM board_comment WHERE id IN (
        SELECT id FROM board_comment WHERE member_id = %(member)s
        UNION SELECT id FROM board_comment WHERE post_id = ANY(%(posts)s)
        UNION SELECT comment_id FROM board_comment_vote WHERE member_id = %(member)s
    )
    ORDER BY id FOR UPDATE
"""
_DELETE = (
    "DELETE FROM board_comment_vote WHERE member_id = %(member)s",
    "DELETE FROM board_comment_vote WHERE comment_id = ANY(%(comments)s)",
    "DELETE FROM board_comment WHERE id = ANY(%(comments)s)",
    "DELETE FROM board_post_vote WHERE member_id = %(member)s",
    "DELETE FROM board_post_vote WHERE post_id = ANY(%(posts)s)",
    "DELETE FROM board_post WHERE id = ANY(%(posts)s)",
)
"""What refers to something goes before it; pictures follow, as in `board.posts`."""


def lock_for_account_deletion(member: Member) -> None:
    """Serialize account deletions, before the member's row is locked."""
    acquire_account_deletion_lock()


def delete_member_data(member: Member) -> None:
    """Delete all that the member has on the board, inside the caller's transaction.

    The caller has locked the member, so that nothing new comes meanwhile. With a post
    go the comments and votes of others below it, with a picture its place in others'
    posts.
    """
    values: dict[str, Any] = {"member": member.pk}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_POSTS, values)
        values["posts"] = [post for post, is_own in cursor.fetchall() if is_own]
        cursor.execute(_LOCK_COMMENTS, values)
        values["comments"] = [row[0] for row in cursor.fetchall() if row[1]]
        for statement in _DELETE:
            cursor.execute(statement, values)
    unlink_images(values["posts"], timezone.now())
    delete_member_images(member)
