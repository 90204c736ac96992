"""The post list: hot posts, notices, the rest; filters, pages, counts."""

from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
import time_machine
from django.utils import timezone

from accounts.avatars import avatar_url
from accounts.models import Member
from board.models import Post, PostCount, PostVote
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

POSTS = "/api/board/posts"
MINE = "/api/board/my/posts"
NOW = datetime.fromisoformat("2026-11-20T12:00:00+09:00")
HOT, DAY = 50, timedelta(days=1)


def ids_of(body: Any) -> list[Any]:
    return [post["id"] for post in body["results"]]


def read_all(client: JSONClient, path: Any = POSTS, **query: Any) -> list[Any]:
    """Return the ids of all pages, following `next`."""
    body = client.get_json(path, **query)
    ids = ids_of(body)
    while body["next"]:
        body = client.get_json(body["next"])
        ids += ids_of(body)
    return ids


def test_plain_posts_are_ordered_by_id_descending(client: JSONClient) -> None:
    author = make_member()
    posts = [make_post(author).pk for _ in range(5)]
    assert ids_of(client.get_json(POSTS)) == posts[::-1]


def test_notices_come_before_the_rest_newest_first(client: JSONClient) -> None:
    author = make_member()
    first = make_post(author, is_notice=True).pk
    plain = [make_post(author).pk for _ in range(2)]
    second = make_post(author, is_notice=True).pk
    body = client.get_json(POSTS)
    assert ids_of(body) == [second, first, *plain[::-1]]
    assert [post["notice"] for post in body["results"]] == [True, True, False, False]


def test_three_hot_posts_stand_on_top_most_up_votes_first(client: JSONClient) -> None:
    author = make_member()
    ups = {
        votes: make_post(author, ups=votes).pk
        for votes in (HOT, HOT + 2, HOT + 1, HOT + 3)
    }
    notice = make_post(author, is_notice=True).pk
    body = client.get_json(POSTS)
    assert ids_of(body) == [ups[HOT + 3], ups[HOT + 2], ups[HOT + 1], notice, ups[HOT]]
    assert [post["hot"] for post in body["results"]] == [True, True, True, False, True]


def test_equally_hot_posts_stand_newest_first(client: JSONClient) -> None:
    author = make_member()
    posts = [make_post(author, ups=HOT).pk for _ in range(4)]
    newer = make_post(author).pk
    assert ids_of(client.get_json(POSTS)) == [*posts[:0:-1], newer, posts[0]]


def test_hot_notice_stands_among_the_hot_and_nowhere_else(client: JSONClient) -> None:
    author = make_member()
    notice = make_post(author, is_notice=True, ups=HOT).pk
    hot = make_post(author, ups=HOT + 1).pk
    other = make_post(author, is_notice=True).pk
    assert ids_of(client.get_json(POSTS)) == [hot, notice, other]


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


@pytest.mark.parametrize(
    "query",
    [
        *("before=0", "before=-1", "before=x", "category=other", "page=0", "size=x"),
        *("keyword=%00", "tag=%00", "keyword=%1b", f"keyword={'x' * 101}"),
    ],
)
def test_query_that_breaks_a_rule_is_refused(query: Any, client: JSONClient) -> None:
    response = client.send("GET", f"{POSTS}?{query}")
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")


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
    assert client.get_json(POSTS, category="")["count"] == 8


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


def test_own_vote_is_the_readers(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    up, down, none = (make_post(make_member()) for _ in range(3))
    PostVote.objects.create(post=up, member=free_member, value=1)
    PostVote.objects.create(post=down, member=free_member, value=-1)
    for post in (up, down, none):
        PostVote.objects.create(post=post, member=other_member, value=1)
    votes = {post["id"]: post["myVote"] for post in client.get_json(POSTS)["results"]}
    assert votes == {up.pk: "up", down.pk: "down", none.pk: None}


def test_author_comes_without_a_data_url(client: JSONClient) -> None:
    picture = "data:image/png;base64," + "A" * 1000
    author = make_member(profile_image=picture, idp_picture="https://x.example/a.png")
    make_post(author)
    response = client.send("GET", POSTS)
    assert b"data:" not in response.content
    found = response.data["results"][0]["author"]
    assert (found["id"], found["displayName"]) == (author.pk, author.display_name)
    assert found["avatar"].startswith("/api/members/")


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


def test_stored_counts_follow_every_way_of_writing(
    client: JSONClient, free_member: Member
) -> None:
    def kept() -> dict[Any, Any]:
        return {c.category: c.posts for c in PostCount.objects.all() if c.posts}

    first, second = make_post(free_member), make_post(free_member, category="tips")
    Post.objects.bulk_create(
        Post(
            member=free_member, title="b", content="b", search_text="b", category="tips"
        )
        for _ in range(3)
    )
    assert kept() == {"community": 1, "tips": 4}
    client.send("PATCH", f"{POSTS}/{first.pk}", {"category": "tips"})
    assert kept() == {"tips": 5}
    Post.objects.filter(pk=second.pk).update(is_hidden=True)
    assert kept() == {"tips": 4}
    Post.objects.filter(pk=second.pk).update(is_hidden=False, is_notice=True)
    assert kept() == {"tips": 5}
    client.send("DELETE", f"{POSTS}/{first.pk}")
    assert kept() == {"tips": 4}
    Post.objects.all().delete()
    assert kept() == {}


def test_comment_count_is_that_of_visible_comments(client: JSONClient) -> None:
    post = make_post(make_member())
    comments = [make_comment(make_member(), post=post) for _ in range(3)]
    comments[0].is_hidden = True
    comments[0].save()
    assert client.get_json(POSTS)["results"][0]["commentCount"] == 2
    comments[0].delete()
    comments[1].delete()
    assert client.get_json(f"{POSTS}/{post.pk}")["commentCount"] == 1


ODD_TEXT = 'say "no" \\ / <b>&\u2028 tab\t\x1f 한글 😀'


def test_json_of_a_list_is_that_of_the_values(client: JSONClient) -> None:
    # PostgreSQL writes it: whatever the texts, every character is that of orjson.
    reader = Member.objects.get()
    pictures: list[dict[str, Any]] = [
        {"idp_picture": 'https://pictures.example/?a="1"&b=2'},
        {"profile_image": "data:image/png;base64,iVBORw0KGgo="},
        {
            "idp_picture": "https://x.example/",
            "profile_image": "data:image/png;base64,",
        },
        {"display_name": ODD_TEXT},
    ]
    with time_machine.travel(NOW, tick=False):
        for number, fields in enumerate(pictures):
            author = make_member(**fields)
            tags = [[], [ODD_TEXT, "", "null"], ["{x,y}"], ["a"] * 20][number]
            make_post(author, title=ODD_TEXT, tags=tags, ups=HOT * (number == 1))
            post = make_post(
                author,
                is_notice=number == 2,
                created_at=NOW - timedelta(microseconds=[0, 1, 120_000, 10**6][number]),
            )
            if number % 2:
                value = 2 - number
                PostVote.objects.create(post=post, member=reader, value=value)
        response = JSONClient(reader).send("GET", POSTS)
    expected = []
    for number in [post["id"] for post in response.json()["results"]]:
        post = Post.objects.select_related("member").get(pk=number)
        vote = PostVote.objects.filter(post=post, member=reader).first()
        author = post.member
        # A fraction has no zeros at its end, and seconds no fraction of zeros.
        created_at = f"{post.created_at:%Y-%m-%dT%H:%M:%S.%f}".rstrip("0").rstrip(".")
        expected.append(
            {
                "id": post.pk,
                "title": post.title,
                "category": post.category,
                "tags": post.tags,
                "notice": post.is_notice,
                "hot": post.up_count >= HOT,
                "upCount": post.up_count,
                "downCount": post.down_count,
                "commentCount": post.comment_count,
                "myVote": vote and {1: "up", -1: "down"}[vote.value],
                "author": {
                    "id": author.pk,
                    "displayName": author.display_name,
                    "avatar": avatar_url(
                        author.pk, author.avatar_version, author.idp_picture
                    ),
                },
                "createdAt": f"{created_at}+00:00",
            }
        )
    assert len(expected) == 2 * len(pictures)
    _, _, results = response.content.partition(b'"results":')
    assert results == orjson.dumps(expected) + b"}"


def test_post_has_the_same_fields_on_its_own_page(client: JSONClient) -> None:
    post = make_post(make_member(), ups=2, tags=["one", "two"])
    PostVote.objects.create(post=post, member=Member.objects.earliest("pk"), value=-1)
    (summary,) = client.get_json(POSTS)["results"]
    page = client.get_json(f"{POSTS}/{post.pk}")
    assert {name: page[name] for name in summary} == summary
    assert page.keys() - summary.keys() == {"content", "updatedAt", "recommenders"}
