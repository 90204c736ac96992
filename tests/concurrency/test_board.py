"""Concurrent votes, writes and deletions: counters and awards stay exact."""

from functools import partial
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import Member, PointHistory
from board.models import Comment, CommentVote, Post, PostCount, PostVote
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

POSTS = "/api/board/posts"
BODY = {"title": "Rice", "content": "Rice", "category": "tips"}
VOTERS = 64


def send(client: JSONClient, method: str, path: str, body: Any = None) -> Any:
    return lambda: client.send(method, path, body)


def assert_counters_are_right() -> None:
    call_command("check_board_counters")


def assert_all_are(responses: Any, *statuses: Any) -> None:
    found = set(sorted_statuses(responses))
    assert found <= set(statuses), [r.content for r in responses if r.status_code > 404]


@pytest.mark.parametrize(
    ("kind", "rounds"), [("posts", scaled(1, 50)), ("comments", scaled(1, 10))]
)
def test_64_members_voting_at_once_and_one_toggling_64_times(
    kind: str, rounds: int
) -> None:
    # In every round all voters toggle; then one of them alone, 64 times.
    make = make_post if kind == "posts" else make_comment
    votes = PostVote if kind == "posts" else CommentVote
    path = f"/api/board/{kind}/{make(make_member()).pk}/vote"
    members = [make_member() for _ in range(VOTERS)]
    clients = [JSONClient(member) for member in members]
    for number in range(rounds):
        value = ("up", "down", "up")[number % 3]
        responses = run_concurrently(
            [send(client, "POST", path, {"value": value}) for client in clients]
        )
        assert_all_are(responses, 200)
        if number == 0:
            # Each answer counts the votes before it.
            ups = sorted(response.data["upCount"] for response in responses)
            assert ups == list(range(1, VOTERS + 1))
        own = votes.objects.filter(member=members[number])
        before = own.values_list("value", flat=True).first()
        responses = run_concurrently(
            [send(clients[number], "POST", path, {"value": "up"})] * VOTERS
        )
        assert_all_are(responses, 200)
        after = own.values_list("value", flat=True).first()
        assert after == (1 if before == 1 else None)
        assert_counters_are_right()


def test_same_state_set_64_times_at_once_is_one_vote() -> None:
    post, client = make_post(make_member()), JSONClient(make_member())
    path = f"{POSTS}/{post.pk}/vote"
    responses = run_concurrently([send(client, "POST", path, {"set": "up"})] * VOTERS)
    assert {tuple(r.data.values()) for r in responses} == {(1, 0, "up")}
    assert PostVote.objects.count() == 1


def test_without_the_lock_votes_at_once_break_the_uniqueness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Without it, two requests read no vote and both insert one.
    def look(post_id: Any) -> Any:
        return Post.objects.get(pk=post_id)

    monkeypatch.setattr("board.voting.lock_post", look)
    # It would make the votes of one member wait for each other as well.
    monkeypatch.setattr("board.voting.count_write", lambda member, kind: None)
    client, statuses = JSONClient(make_member()), set()
    for _ in range(20):
        path = f"{POSTS}/{make_post(make_member()).pk}/vote"
        responses = run_concurrently([send(client, "POST", path, {"value": "up"})] * 8)
        statuses |= set(sorted_statuses(responses))
        if statuses > {200}:
            return
    pytest.fail("no two votes met")


@pytest.mark.parametrize("round_", range(3))
def test_20_posts_and_comments_at_once_bring_exactly_three_awards(round_: Any) -> None:
    member, post = make_member(), make_post(make_member())
    client, comments = JSONClient(member), f"{POSTS}/{post.pk}/comments"
    calls = [
        send(client, "POST", comments, {"content": "x"})
        if round_ and number % 2
        else send(client, "POST", POSTS, BODY | {"title": f"{number}"})
        for number in range(20)
    ]
    assert sorted_statuses(run_concurrently(calls)) == [201] * 20
    assert PointHistory.objects.filter(member=member).count() == 3
    assert Member.objects.get(pk=member.pk).points == 30
    assert_counters_are_right()


def test_comments_written_and_deleted_at_once_are_counted() -> None:
    post = make_post(make_member())
    client, path = JSONClient(make_member()), f"{POSTS}/{post.pk}/comments"
    for _ in range(scaled(3, 10)):
        old = [make_comment(post.member, post=post).pk for _ in range(4)]
        admin = JSONClient(make_member(role="ADMIN"))
        calls = [send(client, "POST", path, {"content": "x"})] * 4
        calls += [send(admin, "DELETE", f"/api/board/comments/{n}") for n in old] * 2
        assert_all_are(run_concurrently(calls), 201, 204, 404)
        assert_counters_are_right()


def test_post_deleted_while_others_write_below_it_leaves_nothing_behind(
    settings: Any,
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    # Each write comes before the deletion or gets 404.
    voters = [JSONClient(make_member()) for _ in range(4)]
    author, admin = make_member(), JSONClient(make_member(role="ADMIN"))
    for _ in range(scaled(4, 20)):
        post = make_post(author, ups=2)
        comment = make_comment(make_member(), post=post, ups=2)
        path, owner = f"{POSTS}/{post.pk}", JSONClient(author)
        calls = [send(c, "POST", f"{path}/vote", {"value": "up"}) for c in voters]
        calls += [
            send(c, "POST", f"/api/board/comments/{comment.pk}/vote", {"value": "down"})
            for c in voters
        ]
        calls += [send(c, "POST", f"{path}/comments", {"content": "x"}) for c in voters]
        calls += [
            send(owner, "DELETE", path),
            send(owner, "PATCH", path, {"category": "saving"}),
            send(admin, "DELETE", f"/api/board/comments/{comment.pk}"),
            send(admin, "POST", f"{path}/notice"),
            send(admin, "DELETE", path),
        ]
        assert_all_are(run_concurrently(calls), 200, 201, 204, 404)
        assert Post.objects.count() == Comment.objects.count() == 0
        assert PostVote.objects.count() == CommentVote.objects.count() == 0
    assert set(PostCount.objects.values_list("posts", flat=True)) <= {0}


def test_members_who_leave_at_once_while_others_write_never_wait_crosswise() -> None:
    # Two members commented and voted on each other's posts; a third writes.
    for _ in range(scaled(2, 15)):
        leavers, other = [make_member() for _ in range(2)], make_member()
        members = [*leavers, other]
        posts = [make_post(member) for member in members]
        for member in members:
            for post in posts:
                comment = make_comment(member, post=post)
                for voter in members:
                    CommentVote.objects.create(comment=comment, member=voter, value=1)
                PostVote.objects.create(post=post, member=member, value=1)
        clients = {member: JSONClient(member) for member in members}
        calls = [send(clients[m], "DELETE", "/api/auth/me") for m in leavers]
        for post in posts:
            path = f"{POSTS}/{post.pk}"
            calls += [
                send(c, "POST", f"{path}/comments", {"content": "x"})
                for c in clients.values()
            ]
            calls += [
                send(c, "POST", f"{path}/vote", {"value": "down"})
                for member, c in clients.items()
                if member != post.member
            ]
        calls += [send(c, "POST", POSTS, BODY) for c in clients.values()]
        assert_all_are(run_concurrently(calls), 200, 201, 204, 401, 404)
        assert set(Post.objects.values_list("member_id", flat=True)) == {other.pk}
        assert_counters_are_right()
        Post.objects.all().delete()


def test_categories_changed_crosswise_are_counted() -> None:
    author = make_member()
    client = JSONClient(author)
    posts = [make_post(author, category=c) for c in ("tips", "saving")] * 4
    for _ in range(scaled(3, 10)):
        calls = [
            send(client, "PATCH", f"{POSTS}/{post.pk}", {"category": category})
            for post, category in zip(
                posts, ("saving", "tips", "community", "tips") * 2, strict=True
            )
        ]
        assert_all_are(run_concurrently(calls), 200)
        assert_counters_are_right()


def test_16_posts_under_one_key_are_one(free_member: Member) -> None:
    phones = [JSONClient(free_member) for _ in range(16)]

    def post(phone: JSONClient) -> Any:
        return phone.send("POST", POSTS, BODY, HTTP_IDEMPOTENCY_KEY="key")

    answers = run_concurrently([partial(post, phone) for phone in phones])
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert Post.objects.count() == 1
