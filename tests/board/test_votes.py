"""Votes: toggle, set, switch, withdraw; never on the member's own content."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Member
from board.models import Comment, Post, PostVote
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_problem

KINDS = ["posts", "comments"]


def make_target(kind: str, member: Member | None = None, **fields: Any) -> Any:
    make = make_post if kind == "posts" else make_comment
    return make(member or make_member(), **fields)


def cast(client: JSONClient, kind: str, target: Any, **body: Any) -> Any:
    return client.send("POST", f"/api/board/{kind}/{target.pk}/vote", body)


def tally(up: Any, down: Any, mine: Any) -> dict[str, Any]:
    return {"upCount": up, "downCount": down, "myVote": mine}


def stored(kind: str, target: Any) -> Any:
    """Return the stored counters, which must equal the votes."""
    model: Any = Post if kind == "posts" else Comment
    row = model.objects.get(pk=target.pk)
    votes = row.votes.all()
    counted = (votes.filter(value=1).count(), votes.filter(value=-1).count())
    assert (row.up_count, row.down_count) == counted
    return counted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("votes", "result"),
    [
        *((["up"], tally(3, 1, "up")), (["down"], tally(2, 2, "down"))),
        *((["up", "up"], tally(2, 1, None)), (["down", "down"], tally(2, 1, None))),
        *((["up", "down"], tally(2, 2, "down")), (["down", "up"], tally(3, 1, "up"))),
        (["up", "up", "up"], tally(3, 1, "up")),
    ],
)
def test_same_vote_withdraws_and_the_other_switches(
    kind: str, votes: list[str], result: Any, client: JSONClient
) -> None:
    target = make_target(kind, ups=2, downs=1)
    for value in votes:
        response = cast(client, kind, target, value=value)
        assert response.status_code == 200, response.content
    assert response.data == result
    assert stored(kind, target) == (result["upCount"], result["downCount"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", ["up", "down", "none"])
@pytest.mark.parametrize(
    ("state", "result"),
    [
        ("up", tally(1, 0, "up")),
        ("down", tally(0, 1, "down")),
        ("none", tally(0, 0, None)),
    ],
)
def test_state_that_is_set_stays_however_often(
    kind: str, first: str, state: str, result: Any, client: JSONClient
) -> None:
    target = make_target(kind)
    cast(client, kind, target, set=first)
    for _ in range(3):
        assert cast(client, kind, target, set=state).data == result
        assert stored(kind, target) == (result["upCount"], result["downCount"])


@pytest.mark.parametrize("kind", KINDS)
def test_own_post_or_comment_is_not_voted_on(
    kind: str, client: JSONClient, free_member: Member
) -> None:
    target = make_target(kind, free_member)
    for body in ({"value": "up"}, {"value": "down"}, {"set": "none"}):
        assert_problem(cast(client, kind, target, **body), 400, "SELF_VOTE")
    assert stored(kind, target) == (0, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body",
    [
        *({}, {"value": "none"}, {"value": "UP"}, {"value": None}, {"value": 1}),
        *({"value": True}, {"value": ["up"]}, {"set": "sideways"}),
        *({"set": None}, {"value": "up", "set": "up"}),
    ],
)
def test_anything_but_one_vote_is_refused(
    kind: str, body: dict[str, Any], client: JSONClient
) -> None:
    target = make_target(kind)
    response = cast(client, kind, target, **body)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert response.data["errors"]
    assert stored(kind, target) == (0, 0)


def test_author_of_the_post_votes_on_comments_of_others(
    client: JSONClient, free_member: Member
) -> None:
    comment = make_comment(make_member(), post=make_post(free_member))
    assert cast(client, "comments", comment, value="up").status_code == 200


def test_counters_follow_every_way_of_writing_votes() -> None:
    # The triggers count bulk updates and deletions too.
    member = make_member()
    first, second = make_post(member, ups=2), make_post(member, ups=1, downs=2)
    PostVote.objects.filter(value=1).update(value=-1)
    assert (stored("posts", first), stored("posts", second)) == ((0, 2), (0, 3))
    PostVote.objects.filter(post=second).update(post=first)
    assert (stored("posts", first), stored("posts", second)) == ((0, 5), (0, 0))
    PostVote.objects.all().delete()
    assert (stored("posts", first), stored("posts", second)) == ((0, 0), (0, 0))


def test_counters_never_go_below_zero() -> None:
    post = make_post(make_member())
    for name in ("up_count", "down_count", "comment_count"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Post.objects.filter(pk=post.pk).update(**{name: -1})


def test_database_keeps_one_vote_of_a_member() -> None:
    post, member = make_post(make_member()), make_member()
    PostVote.objects.create(post=post, member=member, value=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        PostVote.objects.create(post=post, member=member, value=-1)
    for value in (0, 2):
        with pytest.raises(IntegrityError), transaction.atomic():
            PostVote.objects.create(post=post, member=make_member(), value=value)


def test_votes_open_and_close_the_hot_block(free_member: Member) -> None:
    post = make_post(make_member(), ups=49)
    client = JSONClient(free_member)

    def is_hot() -> Any:
        return client.get_json("/api/board/posts")["results"][0]["hot"]

    seen = [is_hot()]
    for _ in range(2):
        cast(client, "posts", post, value="up")
        seen.append(is_hot())
    assert seen == [False, True, False]
