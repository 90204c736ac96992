"""Deletion of a member's content with the account.

Rows are locked in the order of `board.locking`: triggers change the counters of other
members' content.
"""

from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import Member
from board.images import delete_images, unlink_images
from board.models import Image, ModerationCase
from board.moderation.cases import erase_member_from_cases
from board.removal import mark_targets_gone, remove_comments
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
    SELECT id, post_id = ANY(%(posts)s) AS is_below,
        coalesce(member_id = %(member)s, false) AS is_own
    FROM board_comment WHERE id IN (
        SELECT id FROM board_comment WHERE member_id = %(member)s
        UNION SELECT id FROM board_comment WHERE post_id = ANY(%(posts)s)
        UNION SELECT comment_id FROM board_comment_vote WHERE member_id = %(member)s
    )
    ORDER BY id FOR UPDATE
"""
# Children precede parents; images follow, as in `board.posts`.
_DELETE = (
    "DELETE FROM board_comment_vote WHERE member_id = %(member)s",
    "DELETE FROM board_comment_vote WHERE comment_id = ANY(%(below)s)",
    "DELETE FROM board_comment WHERE id = ANY(%(below)s)",
    "DELETE FROM board_post_vote WHERE member_id = %(member)s",
    "DELETE FROM board_post_vote WHERE post_id = ANY(%(posts)s)",
    "DELETE FROM board_post WHERE id = ANY(%(posts)s)",
    "DELETE FROM board_post_key WHERE member_id = %(member)s",
)


def lock_for_account_deletion(member: Member) -> None:
    """Serialize account deletions; call before locking any row."""
    # A deletion changes a post by its votes and by its comments. After the second
    # change PostgreSQL locks the author at commit, to check the foreign key: two
    # members who wrote to each other would deadlock.
    advisory_xact_lock(AdvisoryLock.ACCOUNT_DELETION)


def delete_member_data(member: Member) -> None:
    """Delete all content of the member (spec 2.9), whom the caller has locked.

    Posts go with the comments and votes of others, images also from posts of others.
    Comments that others replied to keep their place, without text and author.
    """
    values: dict[str, Any] = {"member": member.pk}
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_POSTS, values)
        values["posts"] = [row_id for row_id, is_own in cursor.fetchall() if is_own]
        cursor.execute(_LOCK_COMMENTS, values)
        comments = cursor.fetchall()
        values["below"] = [row_id for row_id, is_below, _ in comments if is_below]
        gone = ModerationCase.Gone.AUTHOR
        mark_targets_gone(gone, posts=values["posts"], comments=values["below"])
        # Under the posts of others, replies of others stay.
        elsewhere = [
            row_id for row_id, is_below, is_own in comments if is_own and not is_below
        ]
        remove_comments(elsewhere, gone=gone)
        for statement in _DELETE:
            cursor.execute(statement, values)
    erase_member_from_cases(member)
    unlink_images(values["posts"], timezone.now())
    delete_images(Image.objects.filter(member=member).values_list("id", flat=True))
