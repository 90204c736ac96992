"""Row locks of the board, and their order.

Locks are taken in this order, and end with the transaction:

1. the advisory lock of account deletions (`board.account_deletion`),
2. the row of the writing member,
3. posts, in the order of their ids,
4. comments, in the order of their ids,
5. the member's writes of the hour (`board.rate_limits`),
6. the stored counts of posts,
7. images, in the order of their ids (`board.images`).

The triggers that keep the counters change posts and comments under these locks.
"""

from collections.abc import Iterable

from django.db import connection

from accounts.models import Member
from accounts.models.members import CLOSED
from board.models import Comment, Post
from core.errors import NotFoundError

MAX_ID = 2**63 - 1


def lock_member_key_share(member: Member) -> None:
    """Lock the member against account deletion, but not against other writes.

    Raises `Member.DoesNotExist`.
    """
    # Before any post: account deletion locks the member first, so a writer that held a
    # post already would wait for the member while the deletion waits for the post.
    with connection.cursor() as cursor:
        # PostgreSQL compares the status again after it has waited for the row.
        cursor.execute(
            "SELECT id FROM member WHERE id = %s AND status <> %s FOR KEY SHARE",
            [member.pk, CLOSED],
        )
        if cursor.fetchone() is None:
            raise Member.DoesNotExist


def lock_member_for_update(member: Member) -> None:
    """Serialize the writes of one member, for limits by member (points, quotas).

    Raises `Member.DoesNotExist`.
    """
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)


def lock_post(post_id: int, *, for_delete: bool = False) -> Post:
    """Return a visible post, locked against changes; raise `NotFoundError`.

    `for_delete` also locks out rows that are about to refer to the post.
    """
    posts = Post.objects.select_for_update(no_key=not for_delete)
    posts = posts.defer("content", "search_text")
    post = posts.filter(pk=post_id, is_hidden=False).first()
    if post is None:
        raise NotFoundError
    return post


def lock_comment(comment_id: int, *, for_delete: bool = False) -> Comment:
    """Return a visible comment of a visible post, locked; raise `NotFoundError`.

    `for_delete` also locks out rows that are about to refer to the comment.
    """
    comments = Comment.objects.select_for_update(no_key=not for_delete, of=("self",))
    comment = comments.filter(
        pk=comment_id, is_hidden=False, post__is_hidden=False
    ).first()
    if comment is None:
        raise NotFoundError
    return comment


def lock_posts(post_ids: Iterable[int]) -> None:
    """Lock posts, hidden ones too, against every writer, to change or delete them."""
    posts = Post.objects.select_for_update().order_by("id")
    list(posts.filter(pk__in=post_ids).values_list("id"))


def lock_comments(comment_ids: Iterable[int]) -> None:
    """Lock comments, hidden ones too, against every writer; lock their posts before."""
    comments = Comment.objects.select_for_update().order_by("id")
    list(comments.filter(pk__in=comment_ids).values_list("id"))
