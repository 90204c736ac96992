"""The post list: hot posts, notices, the rest, and its pages."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Member
from board.models import Post
from tests.support.board import DAY, HOT, MINE, NOW, POSTS, ids_of, read_all
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post

PLAIN: dict[str, Any] = {}
NOTICE: dict[str, Any] = {"is_notice": True}


def hot(ups: int = 0, **fields: Any) -> dict[str, Any]:
    return fields | {"ups": HOT + ups}


# Posts in the order of their writing, and their places in the list.
ORDERS: dict[str, tuple[list[dict[str, Any]], list[int]]] = {
    "newest first": ([PLAIN] * 5, [4, 3, 2, 1, 0]),
    "notices before the rest": ([NOTICE, PLAIN, PLAIN, NOTICE], [3, 0, 2, 1]),
    "three hot on top": ([hot(), hot(2), hot(1), hot(3), NOTICE], [3, 1, 2, 4, 0]),
    "equally hot": ([*[hot()] * 4, PLAIN], [3, 2, 1, 4, 0]),
    "hot notice once": ([hot(is_notice=True), hot(1), NOTICE], [1, 0, 2]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_list_has_its_order(name: str, client: JSONClient) -> None:
    kinds, order = ORDERS[name]
    author = make_member()
    posts = [make_post(author, **fields) for fields in kinds]
    body = client.get_json(POSTS)
    assert ids_of(body) == [posts[place].pk for place in order]
    for flag, field in (("notice", "is_notice"), ("hot", "ups")):
        shown = [post[flag] for post in body["results"]]
        assert shown == [bool(kinds[place].get(field)) for place in order]


@pytest.mark.parametrize(
    ("ups", "age", "hot"),
    [
        (HOT, timedelta(0), True),
        (HOT, DAY, True),
        (HOT, DAY + timedelta(microseconds=1), False),
        (HOT - 1, timedelta(0), False),
    ],
)
def test_hot_is_a_day_of_age_and_fifty_up_votes(
    ups: Any, age: Any, hot: bool, free_member: Member
) -> None:
    with time_machine.travel(NOW, tick=False):
        client = JSONClient(free_member)
        post = make_post(make_member(), ups=ups, created_at=NOW - age)
        newer = make_post(make_member())
        body = client.get_json(POSTS)
        shown = {p["id"]: p["hot"] for p in body["results"]}
        assert shown == {post.pk: hot, newer.pk: False}
        assert ids_of(body)[0] == (post.pk if hot else newer.pk)
        assert client.get_json(f"{POSTS}/{post.pk}")["hot"] is hot


def test_up_votes_count_not_the_balance_of_votes(client: JSONClient) -> None:
    post = make_post(make_member(), ups=HOT, downs=60)
    summary = client.get_json(POSTS)["results"][0]
    assert (summary["id"], summary["hot"]) == (post.pk, True)
    assert (summary["upCount"], summary["downCount"]) == (HOT, 60)


def make_mixed_board() -> Any:
    """Create 4 hot posts (one a notice), 3 notices, 9 others; return the list order."""
    author = make_member()
    plain = [make_post(author) for _ in range(5)]
    hot = [make_post(author, ups=HOT + n) for n in range(3)]
    notices = [make_post(author, is_notice=True) for _ in range(3)]
    hot.append(make_post(author, ups=HOT + 3, is_notice=True))
    plain += [hot[0], *[make_post(author) for _ in range(4)]]
    order = [*hot[:0:-1], *notices[::-1]]
    rest = sorted(plain, key=lambda post: -post.pk)
    return [post.pk for post in order], [post.pk for post in rest]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 15, 16, 100])
def test_pages_cut_one_sequence(size: int, client: JSONClient) -> None:
    front, rest = make_mixed_board()
    assert read_all(client, size=size) == front + rest
    body = client.get_json(POSTS, size=size)
    assert body["count"] == len(front + rest)
    last = -(-len(front + rest) // size)
    assert client.send("GET", f"{POSTS}?size={size}&page={last + 1}").status_code == 404


def test_previous_leads_back(client: JSONClient) -> None:
    front, rest = make_mixed_board()
    body = client.get_json(POSTS, size=6, page=2)
    assert body["previous"] == f"http://testserver{POSTS}?size=6&page=1"
    assert ids_of(client.get_json(body["previous"])) == (front + rest)[:6]


@pytest.mark.parametrize("size", [1, 4, 10, 100])
def test_by_key_plain_posts_follow_without_hot_block_and_notices(
    size: int, client: JSONClient
) -> None:
    front, rest = make_mixed_board()
    assert read_all(client, size=size, before=rest[0] + 10**6) == rest
    body = client.get_json(POSTS, size=size, before=rest[2])
    assert ids_of(body) == rest[3 : 3 + size]
    assert (body["count"], body["previous"]) == (len(front + rest), None)
    if size < len(rest) - 3:
        following = f"before={rest[2 + size]}"
        assert following in body["next"]
        assert f"size={size}" in body["next"]
    else:
        assert body["next"] is None


def test_reader_who_goes_on_by_key_sees_each_post_once(client: JSONClient) -> None:
    front, rest = make_mixed_board()
    seen = ids_of(client.get_json(POSTS, size=8))
    assert seen + read_all(client, before=seen[-1], size=3) == front + rest


@pytest.mark.parametrize("before", [1, 2**63, 10**40])
def test_any_key_is_answered(before: int, client: JSONClient) -> None:
    post = make_post(make_member())
    body = client.get_json(POSTS, before=before)
    assert ids_of(body) == ([] if before == 1 else [post.pk])
    assert (body["count"], body["next"], body["previous"]) == (1, None, None)


def test_empty_board_has_an_empty_first_page(client: JSONClient) -> None:
    empty: dict[str, Any] = {"count": 0, "next": None, "previous": None, "results": []}
    assert client.get_json(POSTS) == empty
    assert client.get_json(POSTS, category="tips", size=5) == empty
    assert client.get_json(POSTS, before=5) == empty
    assert client.get_json(MINE) == empty


def test_size_above_a_hundred_counts_as_a_hundred(client: JSONClient) -> None:
    author = make_member()
    for _ in range(101):
        make_post(author)
    body = client.get_json(POSTS, size=1000)
    assert (len(body["results"]), body["count"]) == (100, 101)
    assert len(client.get_json(POSTS, size=1000, before=2**62)["results"]) == 100


def test_own_posts_are_paged_newest_first(
    client: JSONClient, free_member: Member
) -> None:
    posts = [make_post(free_member, ups=n).pk for n in range(5)]
    make_post(free_member, is_notice=True, created_at=timezone.now() - DAY * 9)
    make_post(make_member())
    posts.append(Post.objects.get(is_notice=True).pk)
    assert read_all(client, MINE, size=4) == posts[::-1]
    body = client.get_json(MINE)
    assert body["count"] == 6
    assert body["results"][0].keys() == client.get_json(POSTS)["results"][0].keys()
