"""Points for posts and comments: three awards a day in total."""

import itertools
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import Member, PointHistory
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

POSTS, POINTS = "/api/board/posts", "/api/auth/points"
BODY = {"title": "Rice", "content": "Rice", "category": "tips"}
_numbers = itertools.count(1)
EVENING = datetime.fromisoformat("2026-11-20T23:30:00+09:00")


def write_post(client: JSONClient) -> Any:
    # The same post again would be a duplicate.
    body = BODY | {"title": f"Rice {next(_numbers)}"}
    response = client.send("POST", POSTS, body)
    assert response.status_code == 201
    return response.data["id"]


def write_comment(client: JSONClient, post: Any) -> None:
    path = f"{POSTS}/{post.pk}/comments"
    assert client.send("POST", path, {"content": "x"}).status_code == 201


def test_post_and_comment_earn_ten_points_each_three_times_a_day(
    free_member: Member,
) -> None:
    client, post = JSONClient(free_member), make_post(make_member())
    earned = []
    for _ in range(3):
        write_post(client)
        earned.append(client.get_json(POINTS)["points"])
        write_comment(client, post)
        earned.append(client.get_json(POINTS)["points"])
    assert earned == [10, 20, 30, 30, 30, 30]
    answer = client.get_json(POINTS)
    assert answer["awardsToday"] == 3
    reasons = [award["reason"] for award in answer["history"]["results"]]
    assert reasons == ["POST", "COMMENT", "POST"]


def test_day_ends_at_midnight_in_the_home_time_zone(free_member: Member) -> None:
    with time_machine.travel(EVENING, tick=False) as clock:
        client = JSONClient(free_member)
        for _ in range(4):
            write_post(client)
        assert client.get_json(POINTS)["points"] == 30
        clock.shift(timedelta(minutes=30))
        for _ in range(4):
            write_post(client)
        answer = client.get_json(POINTS)
    assert (answer["points"], answer["awardsToday"]) == (60, 3)


def test_points_of_others_are_counted_apart(
    free_member: Member, other_member: Member
) -> None:
    for member in (free_member, other_member):
        for _ in range(4):
            write_post(JSONClient(member))
    assert set(Member.objects.values_list("points", flat=True)) == {30}


def test_points_are_added_to_what_the_member_has(free_member: Member) -> None:
    Member.objects.filter(pk=free_member.pk).update(points=500)
    write_post(JSONClient(free_member))
    assert JSONClient(free_member).get_json(POINTS)["points"] == 510


def test_deleting_gives_neither_points_nor_awards_back(free_member: Member) -> None:
    client = JSONClient(free_member)
    for _ in range(5):
        client.send("DELETE", f"{POSTS}/{write_post(client)}")
    assert client.get_json(POINTS)["points"] == 30


def test_edits_and_refused_posts_earn_nothing(free_member: Member) -> None:
    client = JSONClient(free_member)
    path = f"{POSTS}/{make_post(free_member).pk}"
    assert client.send("PUT", path, BODY).status_code == 200
    comment = f"/api/board/comments/{make_comment(free_member).pk}"
    assert client.send("PUT", comment, {"content": "x"}).status_code == 200
    assert client.send("POST", POSTS, BODY | {"category": "x"}).status_code == 400
    assert client.get_json(POINTS)["points"] == 0


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_award_that_was_taken_back_leaves_room_for_another(
    gone: int, free_member: Member
) -> None:
    client = JSONClient(free_member)
    for _ in range(3):
        write_post(client)
    PointHistory.objects.order_by("id")[gone].delete()
    for _ in range(2):
        write_post(client)
    assert PointHistory.objects.count() == 3
