"""Who of the board's writers waits for whom.

Four locks, taken in this order: the turn of those who leave, the writing member, posts
by id, comments by id. They end with the transaction. Counters, kept by triggers, are
changed under them.
"""

from collections.abc import Iterable

from django.db import connection

from accounts.models import Member
from board.models import Comment, Post
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.errors import NotFoundError

MAX_ID = 2**63 - 1


def acquire_account_deletion_lock() -> None:
    """Let members leave one after the other, before any of their rows is locked.

    Whoever leaves takes votes and comments back from one post in two statements. Of a
    row that it changes twice PostgreSQL checks the author's reference once more, when
    it commits: two who had written to each other would wait for each other.
    """
    advisory_xact_lock(AdvisoryLock.ACCOUNT_DELETION)


def lock_member_key_share(member: Member) -> None:
    """Write beside others of the same member, but not while the account is erased.

    Erasure locks the member first; a writer that held a post by then would make it
    wait, and itself wait for the member when it commits.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM member WHERE id = %s FOR KEY SHARE", [member.pk])
        if cursor.fetchone() is None:
            raise Member.DoesNotExist


def lock_member_for_update(member: Member) -> None:
    """Let the member write one thing after the other, as points ask for."""
    Member.objects.select_for_update(no_key=True).only("id").get(pk=member.pk)


def lock_post(post_id: int, *, to_end: bool = False) -> Post:
    """The post, which nobody else changes meanwhile, or `NotFoundError`; none hidden.

    `to_end` also keeps off whoever is about to refer to it.
    """
    posts = Post.objects.select_for_update(no_key=not to_end).defer("content", "words")
    post = posts.filter(pk=post_id, is_hidden=False).first()
    if post is None:
        raise NotFoundError
    return post


def lock_comment(comment_id: int, *, to_end: bool = False) -> Comment:
    """The comment, or `NotFoundError`; none that is hidden or below a hidden post."""
    comments = Comment.objects.select_for_update(no_key=not to_end, of=("self",))
    comment = comments.filter(
        pk=comment_id, is_hidden=False, post__is_hidden=False
    ).first()
    if comment is None:
        raise NotFoundError
    return comment


def lock_posts(post_ids: Iterable[int]) -> None:
    """Keep all writers off these posts, for what changes or ends many at once."""
    posts = Post.objects.select_for_update().order_by("id")
    list(posts.filter(pk__in=post_ids).values_list("id"))


def lock_comments(comment_ids: Iterable[int]) -> None:
    """Keep all writers off these comments; their posts are locked before."""
    comments = Comment.objects.select_for_update().order_by("id")
    list(comments.filter(pk__in=comment_ids).values_list("id"))
