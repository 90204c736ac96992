"""The post list: its filters and its search."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.board import HOT, MINE, POSTS, ids_of, read_all
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.problems import assert_problem


@pytest.mark.parametrize(
    "query",
    [
        *("before=0", "before=-1", "before=x", "category=other", "page=0", "size=x"),
        *("keyword=%00", "tag=%00", "keyword=%1b", f"keyword={'x' * 101}"),
    ],
)
def test_query_that_breaks_a_rule_is_refused(query: Any, client: JSONClient) -> None:
    assert_problem(client.send("GET", f"{POSTS}?{query}"), 400, "VALIDATION_ERROR")


def test_list_is_filtered_by_category(client: JSONClient) -> None:
    author = make_member()
    posts = {c: make_post(author, category=c) for c in ("community", "saving", "tips")}
    hot = make_post(author, category="tips", ups=HOT)
    make_post(author, category="saving", ups=HOT + 5)
    notice = make_post(author, category="tips", is_notice=True)
    make_post(author, category="saving", is_notice=True)
    newest = make_post(author, category="tips")
    body = client.get_json(POSTS, category="tips")
    assert ids_of(body) == [hot.pk, notice.pk, newest.pk, posts["tips"].pk]
    assert body["count"] == 4
    assert read_all(client, category="tips", size=1) == ids_of(body)
    assert ids_of(client.get_json(POSTS, category="tips", before=newest.pk)) == [
        posts["tips"].pk
    ]
    response = client.send("GET", f"{POSTS}?category=")
    assert_problem(response, 400, "VALIDATION_ERROR")


def test_three_hot_ones_are_those_of_the_filtered_list(client: JSONClient) -> None:
    author = make_member()
    for n in range(3):
        make_post(author, category="saving", ups=HOT + 5 + n)
    hot = make_post(author, category="tips", ups=HOT, tags=["food"])
    make_post(author, category="tips", tags=["food"])
    for query in ({"category": "tips"}, {"tag": "food"}):
        assert ids_of(client.get_json(POSTS, **query))[0] == hot.pk


def test_list_is_filtered_by_tag(client: JSONClient) -> None:
    author = make_member()
    found = make_post(author, tags=["food", "쌀"])
    make_post(author, tags=["Food", "foods"])
    make_post(author)
    for tag in ("food", "쌀"):
        body = client.get_json(POSTS, tag=tag)
        assert (ids_of(body), body["count"]) == ([found.pk], 1)
    assert client.get_json(POSTS, tag="foo")["count"] == 0
    assert client.get_json(POSTS, tag="food", category="tips")["count"] == 0


@pytest.mark.parametrize(
    "keyword",
    [
        *("rice", "RICE", "ric", "e por", "쌀", "  rice  ", "50%", "a_b", "\\n"),
        *("적금", "RI", "0%", "_b", " e "),
    ],
)
def test_keyword_is_looked_for_in_title_and_text(
    keyword: Any, client: JSONClient
) -> None:
    in_title = {"title": f"Before {keyword} after"}
    in_text = {"content": f"<p>Before {keyword.strip()}<br>after</p>"}
    body = {"title": "x", "content": "<p>y</p>", "category": "tips"}
    title = client.send("POST", POSTS, body | in_title).data["id"]
    text = client.send("POST", POSTS, body | in_text).data["id"]
    if keyword == "e por":
        body |= {"title": "Rice pork"}
    client.send("POST", POSTS, {"title": "p", "content": "axb 50", "category": "tips"})
    page = client.get_json(POSTS, keyword=keyword)
    assert (ids_of(page), page["count"]) == ([text, title], 2)


@pytest.mark.parametrize("keyword", ["금적", "적 ", "%%", "__", "i_"])
def test_two_letters_stand_side_by_side_and_are_no_pattern(
    keyword: str, client: JSONClient
) -> None:
    make_post(make_member(), title="적금 rice", search_text="적금 rice")
    assert client.get_json(POSTS, keyword=keyword)["count"] == keyword.startswith("적")


def test_keyword_does_not_see_markup(client: JSONClient) -> None:
    body = {"title": "x", "content": "<p><strong>y</strong></p>", "category": "tips"}
    client.send("POST", POSTS, body)
    assert client.get_json(POSTS, keyword="strong")["count"] == 0


def test_hidden_posts_are_nowhere(client: JSONClient, free_member: Member) -> None:
    author = make_member()
    shown = make_post(author, tags=["a"], search_text="rice")
    for fields in ({}, {"is_notice": True}, {"ups": HOT}):
        make_post(author, is_hidden=True, tags=["a"], search_text="rice", **fields)
    make_post(free_member, is_hidden=True)
    for query in ({}, {"category": "community"}, {"tag": "a"}, {"keyword": "rice"}):
        body = client.get_json(POSTS, **query)
        assert (ids_of(body), body["count"]) == ([shown.pk], 1)
    assert client.get_json(MINE)["count"] == 0
    assert client.get_json(POSTS, before=10**6 + shown.pk)["count"] == 1
