"""Row locks of the board, and their order.

They end with the transaction:

1. the advisory lock of account deletions (`board.account_deletion`),
2. the row of the writing member; staff with that of the author, in the order of ids,
3. posts, in the order of their ids,
4. comments, in the order of their ids,
5. cases, in the order of their ids, and reports from outside after theirs,
6. the member's writes of the hour (`board.rate_limits`),
7. the stored counts of posts,
8. images, in the order of their ids (`board.images`),
   and deletions of their objects, which no writer waits for (`board.image_objects`),
9. items of inboxes, in the order of their members' ids.

Triggers change the counters of posts and comments under these locks.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db import connection
from django.db.models import Q

from accounts.models import Member
from board.models import Comment, HiddenReason, Post
from board.standing import STANDING_FIELDS, require_voice_of
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


def lock_writer(member: Member, now: datetime) -> Member:
    """Serialize one member's writes and return the row with `STANDING_FIELDS`.

    Raises `BoardSuspendedError` for a silenced member.
    """
    rows = Member.objects.select_for_update(no_key=True).only(*STANDING_FIELDS)
    writer = rows.get(pk=member.pk)
    require_voice_of(writer, now)
    return writer


def lock_voice(member: Member, now: datetime) -> Member:
    """Lock the member against deletion and silence, but not against other writes.

    Returns the row with `STANDING_FIELDS`; raises as `lock_writer`.
    """
    columns = ", ".join(STANDING_FIELDS)
    with connection.cursor() as cursor:
        # The weakest lock that excludes a change of these columns.
        cursor.execute(
            f"SELECT {columns} FROM member WHERE id = %s FOR SHARE",  # noqa: S608
            [member.pk],
        )
        row = cursor.fetchone()
    if row is None:
        raise Member.DoesNotExist
    writer = Member(**dict(zip(STANDING_FIELDS, row, strict=True)))
    require_voice_of(writer, now)
    return writer


def lock_members(*member_ids: int | None) -> dict[int, Member]:
    """Lock staff and author, against each other's changes too."""
    rows = Member.objects.select_for_update(no_key=True).order_by("id")
    wanted = [each for each in member_ids if each is not None]
    return {
        row.pk: row
        for row in rows.only(*STANDING_FIELDS, "status").filter(pk__in=wanted)
    }


def lock_post(
    post_id: int, *, for_delete: bool = False, reader: Member | None = None
) -> Post:
    """Lock and return a post that is visible to the reader; raise `NotFoundError`.

    Without a reader it is visible to all. `for_delete` also excludes rows that are
    about to refer to the post.
    """
    posts = Post.objects.select_for_update(no_key=not for_delete)
    posts = posts.defer("content", "search_text")
    post = posts.filter(visible_to(reader), pk=post_id).first()
    if post is None:
        raise NotFoundError
    return post


def visible_to(reader: Member | None) -> Q:
    """Match posts that all may see, and those of the reader that wait for staff."""
    is_visible = Q(is_hidden=False)
    if reader is None:
        return is_visible
    return is_visible | Q(hidden_reason=HiddenReason.HELD, member=reader.pk)


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
