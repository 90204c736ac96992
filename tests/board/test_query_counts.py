"""Each list of the board costs the same number of queries for 1 row and for 50."""

from typing import Any, cast

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from board.models import CommentVote, PostVote
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

MANY = 50
# Hot posts and notices, which keyset pages leave out.
ON_TOP = 5
POSTS = "/api/board/posts"


def add_post(reader: Any, number: Any) -> None:
    """Add a post of a new author, with votes; some are hot or notices."""
    post = make_post(
        make_member(),
        tags=["food"],
        search_text="rice",
        ups=50 if number in {1, 2, 3, 4} else 1,
        is_notice=number in {5, 6},
    )
    PostVote.objects.create(post=post, member=reader, value=1)


def add_comment(reader: Any, number: Any) -> None:
    ups = 50 if number in {1, 2} else 1
    comment = make_comment(make_member(), post=reader.post, ups=ups)
    CommentVote.objects.create(comment=comment, member=reader, value=-1)


def add_own_post(reader: Any, number: Any) -> None:
    make_post(reader, ups=1)


def add_own_comment(reader: Any, number: Any) -> None:
    make_comment(reader, ups=1)


def add_vote(reader: Any, number: Any) -> None:
    PostVote.objects.create(post=reader.post, member=make_member(), value=1)


# Path, function that adds a row, number of statements about the board.
LISTS = [
    (f"{POSTS}?size=100", add_post, 1),
    (f"{POSTS}?size=100&category=community", add_post, 1),
    (f"{POSTS}?size=100&tag=food&keyword=rice", add_post, 1),
    (f"{POSTS}?size=100&before=999999999", add_post, 1),
    (f"{POSTS}/{{post}}", add_vote, 2),
    (f"{POSTS}/{{post}}/recommenders", add_vote, 2),
    (f"{POSTS}/{{post}}/comments?size=100", add_comment, 3),
    ("/api/board/my/posts?size=100", add_own_post, 1),
    ("/api/board/my/comments?size=100", add_own_comment, 2),
]


def capture_queries(client: JSONClient, path: str) -> list[Any]:
    with CaptureQueriesContext(connection) as captured:
        client.get_json(path)
    return [query["sql"] for query in captured]


@pytest.mark.parametrize(("path", "add", "statements"), LISTS)
def test_list_costs_the_same_queries_for_1_row_and_for_50(
    path: str, add: Any, statements: int, free_member: Member
) -> None:
    client, reader = JSONClient(free_member), cast("Any", free_member)
    reader.post = make_post(make_member()) if "{post}" in path else None
    path = path.format(post=reader.post and reader.post.pk)
    add(reader, 0)
    client.get_json(path)
    few = capture_queries(client, path)
    for number in range(1, MANY):
        add(reader, number)
    many = capture_queries(client, path)
    assert len(few) == len(many)
    assert len([sql for sql in many if "board_" in sql]) == statements
    body = client.get_json(path)
    rows = body if isinstance(body, list) else body.get("results")
    assert len(body["recommenders"] if rows is None else rows) >= MANY - ON_TOP


@pytest.mark.parametrize("query", ["", "?category=tips", "?before=999999999"])
def test_list_counts_no_posts(query: str, free_member: Member) -> None:
    make_post(make_member(), category="tips")
    [sql] = [
        sql
        for sql in capture_queries(JSONClient(free_member), POSTS + query)
        if "board_post_count" in sql
    ]
    assert "SELECT count(*) FROM board_post p" not in sql
