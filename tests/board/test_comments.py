"""Comments: create, list, update, delete, and the member's own."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from board.models import Comment, CommentVote
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

MINE = "/api/board/my/comments"
HOT = 50
HUGE = 10**30


def below(post: Any) -> str:
    return f"/api/board/posts/{post.pk}/comments"


def address(comment: Any) -> str:
    return f"/api/board/comments/{comment.pk}"


def ids_of(body: Any) -> list[Any]:
    return [comment["id"] for comment in body["results"]]


def test_comment_is_kept_as_plain_text(client: JSONClient, free_member: Member) -> None:
    post = make_post(make_member())
    text = "<b>not bold</b> & <script>x</script>\n쌀 🍚"
    response = client.send("POST", below(post), {"content": text})
    assert response.status_code == 201, response.content
    comment = response.data
    assert comment["content"] == text
    assert set(comment) == {
        *("id", "content", "upCount", "downCount", "myVote", "hot", "author"),
        *("blocked", "deleted", "parentId", "replyTo", "createdAt", "updatedAt"),
    }
    assert comment["author"] == {
        "id": free_member.pk,
        "displayName": free_member.display_name,
        "avatar": None,
        "staff": False,
    }
    assert client.get_json(below(post)) == {
        "count": 1,
        "next": None,
        "previous": None,
        "results": [comment],
    }


@pytest.mark.parametrize(
    "content", [None, "", "  ", 5, ["x"], "x" * 5001, "a\0b", "a\x07b", "a\ufffeb"]
)
def test_content_that_breaks_a_rule_is_refused(
    content: Any, client: JSONClient, free_member: Member
) -> None:
    post, own = make_post(make_member()), make_comment(free_member)
    for method, path in (("POST", below(post)), ("PUT", address(own))):
        response = client.send(method, path, {"content": content})
        assert response.status_code == 400
        assert [error["field"] for error in response.data["errors"]] == ["content"]
    assert Comment.objects.count() == 1


def test_longest_comment_is_kept(client: JSONClient) -> None:
    text = "가" * 5000
    response = client.send("POST", below(make_post(make_member())), {"content": text})
    assert response.data["content"] == text


def test_comments_stand_oldest_first_and_are_paged(client: JSONClient) -> None:
    post = make_post(make_member())
    comments = [make_comment(make_member(), post=post).pk for _ in range(5)]
    make_comment(make_member())
    body = client.get_json(below(post), size=2)
    assert (ids_of(body), body["count"]) == (comments[:2], 5)
    assert ids_of(client.get_json(body["next"])) == comments[2:4]
    assert ids_of(client.get_json(below(post), size=2, page=3)) == comments[4:]
    assert client.send("GET", f"{below(post)}?page=2").status_code == 404


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 20])
def test_three_hot_comments_come_first_on_one_sequence(
    size: int, client: JSONClient
) -> None:
    post = make_post(make_member())
    plain = [make_comment(make_member(), post=post) for _ in range(3)]
    hot = [make_comment(make_member(), post=post, ups=HOT + n) for n in (0, 2, 1, 2)]
    old = make_comment(
        make_member(),
        post=post,
        ups=HOT + 9,
        created_at=timezone.now() - timedelta(days=1, seconds=1),
    )
    order = [hot[3], hot[1], hot[2], *plain, hot[0], old]
    body = client.get_json(below(post), size=size)
    found = body["results"]
    while body["next"]:
        body = client.get_json(body["next"])
        found += body["results"]
    assert [comment["id"] for comment in found] == [comment.pk for comment in order]
    assert [comment["hot"] for comment in found] == [
        *(True, True, True, False, False, False, True, False)
    ]


def test_own_vote_and_counters_are_shown(
    client: JSONClient, free_member: Member
) -> None:
    post = make_post(make_member())
    comment = make_comment(make_member(), post=post, ups=2, downs=1)
    CommentVote.objects.create(comment=comment, member=free_member, value=-1)
    shown = client.get_json(below(post))["results"][0]
    assert (shown["upCount"], shown["downCount"], shown["myVote"]) == (2, 2, "down")


def test_author_edits(
    client: JSONClient, free_member: Member, other_member: Member, administrator: Member
) -> None:
    comment = make_comment(free_member)
    for member in (other_member, administrator):
        for body in ({"content": "x"}, {}):
            response = JSONClient(member).send("PUT", address(comment), body)
            assert (response.status_code, response.data["code"]) == (403, "FORBIDDEN")
    response = client.send("PUT", address(comment), {"content": "new"})
    assert (response.status_code, response.data["content"]) == (200, "new")
    assert response.data["updatedAt"] > response.data["createdAt"]


def test_author_and_administrator_delete(
    free_member: Member, other_member: Member, administrator: Member
) -> None:
    post = make_post(make_member())
    for member, status in (
        (other_member, 403),
        (post.member, 403),
        (free_member, 204),
        (administrator, 204),
    ):
        comment = make_comment(free_member, post=post, ups=1)
        assert JSONClient(member).send("DELETE", address(comment)).status_code == status
        is_visible = Comment.objects.filter(pk=comment.pk, is_hidden=False).exists()
        assert is_visible is (status == 403)


def test_deleted_comment_gives_its_count_back(
    client: JSONClient, free_member: Member
) -> None:
    post = make_post(make_member())
    comment = client.send("POST", below(post), {"content": "x"}).data
    path = f"/api/board/posts/{post.pk}"
    assert client.get_json(path)["commentCount"] == 1
    client.send("DELETE", f"/api/board/comments/{comment['id']}")
    assert client.get_json(path)["commentCount"] == 0
    assert client.get_json(below(post))["count"] == 0


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", ""), ("DELETE", ""), ("POST", "/vote")]
)
def test_comment_that_is_not_there_or_hidden_is_404(
    method: str, path: str, client: JSONClient, free_member: Member
) -> None:
    hidden = make_comment(free_member, is_hidden=True)
    below_hidden = make_comment(
        free_member, post=make_post(free_member, is_hidden=True)
    )
    for comment_id in (987_654_321, 2**63, HUGE, hidden.pk, below_hidden.pk):
        for body in ({"content": "x"}, {"value": "up"}, {}):
            if method == "DELETE" and body:
                continue
            target = f"/api/board/comments/{comment_id}{path}"
            assert client.send(method, target, body).status_code == 404


def test_hidden_comments_are_nowhere(client: JSONClient, free_member: Member) -> None:
    post = make_post(make_member())
    shown = make_comment(free_member, post=post)
    make_comment(free_member, post=post, is_hidden=True, ups=HOT)
    make_comment(free_member, post=make_post(free_member, is_hidden=True))
    for path in (below(post), MINE):
        body = client.get_json(path)
        assert (ids_of(body), body["count"]) == ([shown.pk], 1)


def test_own_comments_name_their_posts_newest_first(
    client: JSONClient, free_member: Member
) -> None:
    post = make_post(make_member(), title="Rice", category="saving")
    comments = [make_comment(free_member, post=post).pk for _ in range(3)]
    make_comment(make_member(), post=post)
    body = client.get_json(MINE, size=2)
    assert (ids_of(body), body["count"]) == (comments[:0:-1], 3)
    assert ids_of(client.get_json(body["next"])) == comments[:1]
    assert body["results"][0]["post"] == {
        "id": post.pk,
        "title": "Rice",
        "category": "saving",
    }
    listed = client.get_json(below(post))["results"][0]
    assert client.get_json(MINE)["results"][-1] == listed | {
        "post": body["results"][0]["post"]
    }
