"""Points: the balance, today's awards in the home time zone, the history."""

from datetime import datetime, timedelta

import pytest
import time_machine

from accounts.models import Member, PointHistory
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem

PATH = "/api/auth/points"
NOON = datetime.fromisoformat("2026-11-20T12:00:00+09:00")


def award(member: Member, at: datetime, reason: str = "POST") -> PointHistory:
    return PointHistory.objects.create(
        member=member, points=10, reason=reason, created_at=at
    )


@pytest.mark.parametrize("path", [PATH, "/auth/points"])
def test_new_member_has_no_points(client: JSONClient, path: str) -> None:
    assert client.get_json(path) == {
        "points": 0,
        "pointsPerAward": 10,
        "dailyAwardLimit": 3,
        "awardsToday": 0,
        "history": {"count": 0, "next": None, "previous": None, "results": []},
    }


def test_points_and_history_are_the_callers(
    free_member: Member, other_member: Member, client: JSONClient
) -> None:
    Member.objects.filter(pk=free_member.pk).update(points=20)
    first = award(free_member, NOON - timedelta(days=2))
    second = award(free_member, NOON - timedelta(days=1), "COMMENT")
    award(other_member, NOON)
    answer = client.get_json(PATH)
    assert answer["points"] == 20
    rows = answer["history"]["results"]
    assert [row["id"] for row in rows] == [second.pk, first.pk]
    assert [row["reason"] for row in rows] == ["COMMENT", "POST"]
    assert {row["points"] for row in rows} == {10}
    assert datetime.fromisoformat(rows[0]["createdAt"]) == second.created_at


def test_history_is_paged(free_member: Member, client: JSONClient) -> None:
    awards = [award(free_member, NOON + timedelta(hours=n)).pk for n in range(5)]
    first = client.get_json(PATH, size=2)["history"]
    assert (first["count"], first["previous"]) == (5, None)
    assert first["next"] == f"http://testserver{PATH}?size=2&page=2"
    ids = [row["id"] for row in first["results"]]
    while first["next"]:
        first = client.get_json(first["next"])["history"]
        ids += [row["id"] for row in first["results"]]
    assert ids == awards[::-1]
    assert client.send("GET", f"{PATH}?size=2&page=4").status_code == 404


def test_awards_of_one_moment_have_an_order(
    free_member: Member, client: JSONClient
) -> None:
    awards = [award(free_member, NOON).pk for _ in range(4)]
    pages = [
        client.get_json(PATH, size=1, page=page)["history"]["results"]
        for page in range(1, 5)
    ]
    assert [row["id"] for page in pages for row in page] == awards[::-1]


@pytest.mark.parametrize(
    ("at", "counted"),
    [
        ("2026-11-19T23:59:59.999+09:00", 0),
        ("2026-11-20T00:00:00+09:00", 1),
        ("2026-11-20T23:59:59.999+09:00", 1),
        ("2026-11-21T00:00:00+09:00", 0),
        ("2026-11-19T15:00:00+00:00", 1),
    ],
)
def test_day_of_an_award_is_a_day_in_the_home_time_zone(
    free_member: Member, client: JSONClient, at: str, counted: int
) -> None:
    award(free_member, datetime.fromisoformat(at))
    with time_machine.travel(NOON, tick=False):
        assert client.get_json(PATH)["awardsToday"] == counted


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", "size=0", "size=x"])
def test_page_that_cannot_be_is_refused(client: JSONClient, query: str) -> None:
    assert_problem(client.send("GET", f"{PATH}?{query}"), 400, "VALIDATION_ERROR")
