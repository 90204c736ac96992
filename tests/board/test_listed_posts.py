"""The post list: the fields and counts of a post in it."""

from datetime import timedelta
from typing import Any

import orjson
import time_machine

from accounts.members.avatar_urls import avatar_url
from accounts.models import Member
from board.models import Post, PostCount, PostVote
from tests.support.board import HOT, NOW, POSTS
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post


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
                    "staff": False,
                },
                "blocked": False,
                "state": "SHOWN",
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
