"""Limits of what a member writes in an hour, and nothing twice."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Member, PointHistory
from board.models import Comment, CommentVote, Post, PostVote
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_problem
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.settings_process import read_real

BOARD = "/api/board"
POST = {"title": "Title", "content": "<p>Words</p>", "category": "tips"}
LIMITS = {"posts": 60, "comments": 300, "votes": 1_200}
WINDOW = timedelta(hours=1)


def write(client: JSONClient, kind: str, number: int, target: Post) -> Any:
    if kind == "posts":
        return client.send("POST", f"{BOARD}/posts", POST | {"title": f"{number}"})
    path = f"{BOARD}/posts/{target.pk}"
    if kind == "comments":
        return client.send("POST", f"{path}/comments", {"content": f"{number}"})
    return client.send("POST", f"{path}/vote", {"value": "up"})


def test_limits_are_those_of_the_specification() -> None:
    assert read_real("settings.BOARD_LIMITS_PER_HOUR") == str(LIMITS)
    shown = read_real(
        "settings.BOARD_LIMITS_PER_HOUR['votes']", BOARD_VOTES_PER_HOUR="7"
    )
    assert shown == "7"


@pytest.mark.parametrize("kind", LIMITS)
def test_write_beyond_the_limit_is_refused_until_the_hour_has_passed(
    client: JSONClient, settings: Any, kind: str
) -> None:
    settings.BOARD_LIMITS_PER_HOUR = dict.fromkeys(LIMITS, 99) | {kind: 3}
    target = make_post(make_member())
    for number in range(3):
        assert write(client, kind, number, target).status_code in {200, 201}
    response = write(client, kind, 3, target)
    assert_problem(response, 429, "RATE_LIMITED")
    assert 0 < int(response.headers["Retry-After"]) <= WINDOW.total_seconds()
    models: dict[str, Any] = {"posts": Post, "comments": Comment, "votes": PostVote}
    rows = models[kind].objects.filter(member_id=client_member(client))
    # The third vote has withdrawn the second.
    assert rows.count() == (1 if kind == "votes" else 3)
    # Of others, and of another kind.
    assert write(JSONClient(make_member()), kind, 0, target).status_code in {200, 201}
    other = "comments" if kind != "comments" else "posts"
    assert write(client, other, 9, target).status_code == 201


def client_member(client: JSONClient) -> int:
    return int(client.get_json("/api/auth/session")["id"])


def test_votes_on_posts_and_comments_count_together(
    client: JSONClient, settings: Any
) -> None:
    settings.BOARD_LIMITS_PER_HOUR = LIMITS | {"votes": 1}
    comment = make_comment(make_member())
    assert write(client, "votes", 0, comment.post).status_code == 200
    path = f"{BOARD}/comments/{comment.pk}/vote"
    response = client.send("POST", path, {"value": "up"})
    assert_problem(response, 429, "RATE_LIMITED")
    assert not CommentVote.objects.exists()


def test_refused_writes_do_not_count(client: JSONClient, settings: Any) -> None:
    settings.BOARD_LIMITS_PER_HOUR = dict.fromkeys(LIMITS, 1)
    own = make_post(Member.objects.get())
    assert write(client, "votes", 0, own).data["code"] == "SELF_VOTE"
    for body in (POST | {"content": "<p></p>"}, POST | {"category": "none"}):
        assert client.send("POST", f"{BOARD}/posts", body).status_code == 400
    assert write(client, "votes", 0, make_post(make_member())).status_code == 200
    assert write(client, "posts", 0, own).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_last_write_of_the_hour_is_accepted_once(
    client: JSONClient, settings: Any
) -> None:
    settings.BOARD_LIMITS_PER_HOUR = LIMITS | {"comments": 2}
    target = make_post(make_member())
    calls = [
        lambda number=number: write(client, "comments", number, target)
        for number in range(6)
    ]
    responses = run_concurrently(calls)
    assert sorted_statuses(responses) == [201, 201, 429, 429, 429, 429]
    assert Comment.objects.count() == 2


def test_same_post_within_ten_minutes_is_a_duplicate(client: JSONClient) -> None:
    now = timezone.now()
    with time_machine.travel(now, tick=False) as clock:
        assert client.send("POST", f"{BOARD}/posts", POST).status_code == 201
        # Markup that is removed makes no difference.
        again = POST | {"content": "<p onclick='x()'>Words</p>", "category": "saving"}
        response = client.send("POST", f"{BOARD}/posts", again)
        assert_problem(response, 409, "DUPLICATE")
        for change in ({"title": "Other"}, {"content": "<p>Other</p>"}):
            response = client.send("POST", f"{BOARD}/posts", POST | change)
            assert response.status_code == 201
        other = JSONClient(make_member())
        assert other.send("POST", f"{BOARD}/posts", POST).status_code == 201
        assert PointHistory.objects.count() == 4
        clock.move_to(now + timedelta(minutes=10))
        assert client.send("POST", f"{BOARD}/posts", POST).status_code == 201


@pytest.mark.django_db(transaction=True)
def test_same_post_sent_at_once_is_stored_once(client: JSONClient) -> None:
    responses = run_concurrently(
        [lambda: client.send("POST", f"{BOARD}/posts", POST)] * 4
    )
    assert sorted_statuses(responses) == [201, 409, 409, 409]
    assert Post.objects.count() == 1
