"""Account deletion on the board: the content of others keeps right counters."""

from typing import Any

from accounts.models import Member
from board.models import (
    Comment,
    CommentVote,
    Image,
    Post,
    PostCount,
    PostImage,
    PostVote,
)
from tests.support.board import find_counter_drift
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post


def delete_account(member: Member) -> None:
    response = JSONClient(member).send("DELETE", "/api/auth/me")
    assert response.status_code == 204, response.content


def vote(member: Member, on: Post | Comment, value: int) -> None:
    if isinstance(on, Post):
        PostVote.objects.create(member=member, post=on, value=value)
    else:
        CommentVote.objects.create(member=member, comment=on, value=value)


def make_image(member: Member) -> Image:
    return Image.objects.create(
        member=member, content=b"x", width=1, height=1, size=1, unused_since=None
    )


def counts_of(post: Post) -> tuple[int, int, int]:
    post.refresh_from_db()
    return post.up_count, post.down_count, post.comment_count


def test_votes_and_comments_leave_the_counters_of_others(
    free_member: Member, other_member: Member
) -> None:
    post = make_post(other_member, ups=2, downs=1)
    comment = make_comment(other_member, post=post, ups=1)
    make_comment(free_member, post=post)
    make_comment(free_member, post=post, is_hidden=True)
    vote(free_member, post, -1)
    vote(free_member, comment, 1)
    assert counts_of(post) == (2, 2, 2)
    delete_account(free_member)
    comment.refresh_from_db()
    assert counts_of(post) == (2, 1, 1)
    assert (comment.up_count, comment.down_count) == (1, 0)
    assert find_counter_drift() == []


def test_own_posts_are_deleted_with_comments_and_votes(
    free_member: Member, other_member: Member
) -> None:
    post = make_post(free_member, ups=2)
    comment = make_comment(other_member, post=post, ups=2)
    vote(free_member, comment, 1)
    own = make_comment(free_member, post=make_post(other_member))
    vote(other_member, own, -1)
    delete_account(free_member)
    assert Post.objects.get().member == other_member
    assert not Comment.objects.exists()
    assert not PostVote.objects.exists()
    assert not CommentVote.objects.exists()
    assert find_counter_drift() == []


def test_stored_counts_are_updated(free_member: Member, other_member: Member) -> None:
    for category in ("tips", "tips", "saving"):
        make_post(free_member, category=category)
    make_post(other_member, category="tips")
    delete_account(free_member)
    counts = dict(PostCount.objects.values_list("category", "posts"))
    assert {name: posts for name, posts in counts.items() if posts} == {"tips": 1}


def test_images_are_deleted_and_those_of_others_are_unused(
    free_member: Member, other_member: Member
) -> None:
    own, theirs = make_image(free_member), make_image(other_member)
    shown_elsewhere, kept = make_image(free_member), make_image(other_member)
    mine, other = make_post(free_member), make_post(other_member)
    for post, image in (
        *((mine, own), (mine, theirs)),
        *((other, shown_elsewhere), (other, kept)),
    ):
        PostImage.objects.create(post=post, image=image)
    delete_account(free_member)
    assert set(Image.objects.all()) == {theirs, kept}
    assert PostImage.objects.get().image == kept
    theirs.refresh_from_db()
    assert theirs.unused_since is not None
    assert find_counter_drift() == []


def test_statements_do_not_grow_with_what_the_member_wrote(
    django_assert_max_num_queries: Any,
) -> None:
    def make_author(posts: int) -> Member:
        member, other = make_member(), make_member()
        for _ in range(posts):
            make_post(member, ups=1)
            vote(member, make_comment(other, post=make_post(other)), 1)
            make_comment(member, post=make_post(other))
        return member

    from board.account_deletion import delete_member_data

    for posts in (1, 12):
        member = make_author(posts)
        with django_assert_max_num_queries(22):
            delete_member_data(member)
    assert find_counter_drift() == []
