"""Deletion of a member's posts, comments, votes and images with the account.

Rows are locked in the order of `board.locking`, since the triggers that keep the
counters change posts and comments of others.
"""

from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import Member
from board.images import delete_member_images, unlink_images
from core.db.locks import AdvisoryLock, advisory_xact_lock

_LOCK_POSTS = """
    SELECT id, member_id = %(member)s AS is_own FROM board_post WHERE id IN (
        SELECT id FROM board_post WHERE member_id = %(member)s
        UNION SELECT post_id FROM board_comment WHERE member_id = %(member)s
        UNION SELECT post_id FROM board_post_vote WHERE member_id = %(member)s
    )
    ORDER BY id FOR UPDATE
"""
_LOCK_COMMENTS = """
    SELECT id, member_id = %(member)s OR post_id = ANY(%(posts)s) AS is_deleted
    FROM board_comment WHERE id IN (
        SELECT id FROM board_comment WHERE member_id = %(member)s
        UNION SELECT id FROM board_comment WHERE post_id = ANY(%(posts)s)
        UNION SELECT comment_id FROM board_comment_vote WHERE member_id = %(member)s
    )
    ORDER BY id FOR UPDATE
"""
# Children before parents (foreign keys); images follow, as in `board.posts`.
_DELETE = (
    "DELETE FROM board_comment_vote WHERE member_id = %(member)s",
    "DELETE FROM board_comment_vote WHERE comment_id = ANY(%(comments)s)",
    "DELETE FROM board_comment WHERE id = ANY(%(comments)s)",
    "DELETE FROM board_post_vote WHERE member_id = %(member)s",
    "DELETE FROM board_post_vote WHERE post_id = ANY(%(posts)s)",
    "DELETE FROM board_post WHERE id = ANY(%(posts)s)",
)


def lock_for_account_deletion(member: Member) -> None:
    """Serialize account deletions; call before locking any row."""
    # A deletion changes a post twice, by its votes and by its comments. Of a row that a
    # transaction changes twice PostgreSQL checks the foreign key again at commit, which
    # locks the author: two members who had written to each other would deadlock.
    advisory_xact_lock(AdvisoryLock.ACCOUNT_DELETION)


def delete_member_data(member: Member) -> None:
    """Delete everything of the member on the board (spec 2.9).

    Runs in the caller's transaction, which has locked the member, so that nothing is
    added. Posts are deleted with the comments and votes of others, and images also
    where posts of others show them.
    """
    values: dict[str, Any] = {"member": member.pk}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_POSTS, values)
        values["posts"] = [row_id for row_id, is_own in cursor.fetchall() if is_own]
        cursor.execute(_LOCK_COMMENTS, values)
        values["comments"] = [
            row_id for row_id, is_deleted in cursor.fetchall() if is_deleted
        ]
        for statement in _DELETE:
            cursor.execute(statement, values)
    unlink_images(values["posts"], timezone.now())
    delete_member_images(member)
