"""Row locks of the board, and their order.

They end with the transaction:

1. the advisory lock of account deletions (`board.account_deletion`),
2. the row of the writing member,
3. posts, in the order of their ids,
4. comments, in the order of their ids,
5. the member's writes of the hour (`board.rate_limits`),
6. the stored counts of posts,
7. images, in the order of their ids (`board.images`).

Triggers change the counters of posts and comments under these locks.
"""

from collections.abc import Iterable

from django.db import connection

from accounts.models import Member
from board.models import Comment, Post
from core.errors import NotFoundError

MAX_ID = 2**63 - 1


def lock_member_key_share(member: Member) -> None:
    """Lock the member against deletion, but not against other writes."""
    # Account deletion locks the member first. It would wait for a post that this
    # writer already holds.
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM member WHERE id = %s FOR KEY SHARE", [member.pk])
        if cursor.fetchone() is None:
            raise Member.DoesNotExist


def lock_member_for_update(member: Member) -> None:
    """Serialize one member's writes, for points and quotas."""
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)


def lock_post(post_id: int, *, for_delete: bool = False) -> Post:
    """Lock and return a visible post; raise `NotFoundError`.

    `for_delete` also excludes rows that are about to refer to the post.
    """
    posts = Post.objects.select_for_update(no_key=not for_delete)
    posts = posts.defer("content", "search_text")
    post = posts.filter(pk=post_id, is_hidden=False).first()
    if post is None:
        raise NotFoundError
    return post


def lock_comment(comment_id: int, *, for_delete: bool = False) -> Comment:
    comments = Comment.objects.select_for_update(no_key=not for_delete, of=("self",))
    comment = comments.filter(
        pk=comment_id, is_hidden=False, post__is_hidden=False
    ).first()
    if comment is None:
        raise NotFoundError
    return comment


def lock_posts(post_ids: Iterable[int]) -> None:
    """Lock posts, even hidden ones, against every writer."""
    posts = Post.objects.select_for_update().order_by("id")
    list(posts.filter(pk__in=post_ids).values_list("id"))


def lock_comments(comment_ids: Iterable[int]) -> None:
    """Lock comments, even hidden ones, after their posts."""
    comments = Comment.objects.select_for_update().order_by("id")
    list(comments.filter(pk__in=comment_ids).values_list("id"))
