"""Replies: threads of one level, their order, and places of what is gone (spec 5.3)."""

from itertools import chain
from typing import Any

import pytest

from accounts.models import Block, Member
from board.models import Comment, Post
from tests.support.board import find_counter_drift
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

HOT = 50
NOBODY = {"id": 0, "displayName": "", "avatar": None, "staff": False}


@pytest.fixture
def post() -> Post:
    return make_post(make_member())


def below(post: Post) -> str:
    return f"/api/board/posts/{post.pk}/comments"


def answer_to(client: JSONClient, post: Post, parent: Any, **fields: Any) -> Any:
    body = {"content": "reply", "parentId": getattr(parent, "pk", parent)} | fields
    return client.send("POST", below(post), body)


def list_ids(client: JSONClient, post: Post, **query: Any) -> list[int]:
    page = client.get_json(below(post), **query)
    return [comment["id"] for comment in page["results"]]


def find(client: JSONClient, comment: Comment) -> Any:
    results = client.get_json(below(comment.post), size=100)["results"]
    (found,) = [each for each in results if each["id"] == comment.pk]
    return found


def test_reply_names_its_thread_and_whom_it_answers(
    client: JSONClient, post: Post, free_member: Member
) -> None:
    root = make_comment(make_member(display_name="Root"), post=post)
    first = answer_to(client, post, root)
    assert first.status_code == 201, first.content
    assert first.data["parentId"] == root.pk
    assert first.data["replyTo"]["id"] == root.pk
    assert first.data["replyTo"]["author"]["displayName"] == "Root"
    other = JSONClient(make_member())
    second = answer_to(other, post, root, replyToId=first.data["id"]).data
    assert (second["parentId"], second["replyTo"]["id"]) == (
        root.pk,
        first.data["id"],
    )
    assert second["replyTo"]["author"]["id"] == free_member.pk
    same = answer_to(other, post, root, replyToId=root.pk).data
    assert same["replyTo"]["id"] == root.pk
    assert find(client, root)["replyTo"] is None
    post.refresh_from_db()
    assert post.comment_count == 4


def test_comments_stand_in_threads_and_pages_cut_them(
    client: JSONClient, post: Post
) -> None:
    member = make_member()
    roots = [make_comment(member, post=post) for _ in range(3)]
    late = make_comment(member, post=post, parent=roots[0], reply_to=roots[0])
    later = make_comment(member, post=post, parent=roots[1], reply_to=roots[1])
    last = make_comment(member, post=post, parent=roots[0], reply_to=late)
    expected = [roots[0], late, last, roots[1], later, roots[2]]
    ids = [comment.pk for comment in expected]
    assert list_ids(client, post) == ids
    pages = [list_ids(client, post, size=2, page=page) for page in (1, 2, 3)]
    assert list(chain(*pages)) == ids
    hot = make_comment(member, post=post, parent=roots[2], ups=HOT)
    assert list_ids(client, post) == [hot.pk, *ids]


@pytest.mark.parametrize("which", ["elsewhere", "hidden", "reply", "missing", "gone"])
def test_parent_that_cannot_be_answered_is_refused_with_its_field(
    client: JSONClient, post: Post, which: str
) -> None:
    member = make_member()
    root = make_comment(member, post=post)
    parents = {
        "elsewhere": make_comment(member).pk,
        "hidden": make_comment(member, post=post, is_hidden=True).pk,
        "reply": make_comment(member, post=post, parent=root).pk,
        "missing": 2**62,
        "gone": make_comment(None, post=post, content="", is_hidden=True).pk,
    }
    count = Comment.objects.count()
    assert_invalid(answer_to(client, post, parents[which]), "parentId")
    assert Comment.objects.count() == count


@pytest.mark.parametrize("value", [0, -1, "1", 1.5, True, 2**63, []])
def test_wrong_type_of_parent_is_refused(
    client: JSONClient, post: Post, value: Any
) -> None:
    assert_invalid(answer_to(client, post, value), "parentId")


def test_answered_comment_is_of_the_thread(client: JSONClient, post: Post) -> None:
    member = make_member()
    root, other = (make_comment(member, post=post) for _ in range(2))
    reply = make_comment(member, post=post, parent=other)
    for wrong in (other.pk, reply.pk, 2**62):
        assert_invalid(answer_to(client, post, root, replyToId=wrong), "replyToId")
    assert_invalid(answer_to(client, post, None, replyToId=reply.pk), "parentId")


def test_null_parent_is_none(client: JSONClient, post: Post) -> None:
    assert answer_to(client, post, None).data["parentId"] is None


def test_edit_keeps_the_thread(client: JSONClient, post: Post) -> None:
    root = make_comment(make_member(), post=post)
    reply = answer_to(client, post, root).data
    path = f"/api/board/comments/{reply['id']}"
    edited = client.send("PUT", path, reply | {"content": "other"})
    assert edited.data["parentId"] == root.pk
    assert edited.data["content"] == "other"


def test_deleted_comment_with_replies_keeps_its_place(
    client: JSONClient, post: Post, free_member: Member
) -> None:
    root = make_comment(free_member, post=post, content="secret", ups=2)
    reply = make_comment(make_member(), post=post, parent=root, reply_to=root)
    path = f"/api/board/comments/{root.pk}"
    assert client.send("DELETE", path).status_code == 204
    page = client.get_json(below(post))
    assert page["count"] == 2
    place, shown = page["results"]
    assert (place["id"], place["deleted"], place["content"]) == (root.pk, True, "")
    assert (place["author"], place["upCount"]) == (NOBODY, 0)
    assert shown["replyTo"] == {"id": root.pk, "author": NOBODY}
    root.refresh_from_db()
    assert (root.content, root.member_id, root.hidden_reason) == ("", None, "AUTHOR")
    for method, more in (("PUT", ""), ("DELETE", ""), ("POST", "/vote")):
        body = {"content": "x"} if method == "PUT" else {"value": "up"}
        sent = None if method == "DELETE" else body
        answer = client.send(method, path + more, sent)
        assert_problem(answer, 404, "NOT_FOUND")
    post.refresh_from_db()
    assert post.comment_count == 1
    assert find_counter_drift() == []
    # With the last reply its place goes, too.
    author = JSONClient(reply.member)
    author.send("DELETE", f"/api/board/comments/{reply.pk}")
    assert not Comment.objects.exists()
    assert client.get_json(below(post))["count"] == 0


def test_hidden_comment_keeps_its_place_while_a_reply_is_shown(
    client: JSONClient, post: Post
) -> None:
    root = make_comment(make_member(), post=post, content="secret", is_hidden=True)
    reply = make_comment(make_member(), post=post, parent=root)
    lonely = make_comment(make_member(), post=post, is_hidden=True)
    make_comment(make_member(), post=post, parent=lonely, is_hidden=True)
    page = client.get_json(below(post))
    assert [each["id"] for each in page["results"]] == [root.pk, reply.pk]
    assert page["count"] == 2
    assert "secret" not in str(page)
    assert page["results"][0]["deleted"] is True


def test_replies_stay_when_the_author_above_leaves(
    client: JSONClient, post: Post
) -> None:
    leaving = make_member()
    root = make_comment(leaving, post=post, content="secret")
    reply = make_comment(make_member(), post=post, parent=root)
    own_reply = make_comment(leaving, post=post, parent=root)
    assert JSONClient(leaving).send("DELETE", "/api/auth/me").status_code == 204
    assert list_ids(client, post) == [root.pk, reply.pk]
    assert not Comment.objects.filter(pk=own_reply.pk).exists()
    assert find_counter_drift() == []


def test_name_of_a_blocked_author_is_not_in_the_answer(
    client: JSONClient, post: Post, free_member: Member
) -> None:
    blocked = make_member(display_name="Blocked name")
    Block.objects.create(member=free_member, blocked=blocked)
    root = make_comment(blocked, post=post)
    reply = make_comment(make_member(), post=post, parent=root, reply_to=root)
    found = find(client, reply)
    assert found["replyTo"]["author"] == NOBODY | {"id": blocked.pk}
    assert "Blocked name" not in str(client.get_json(below(post)))


def test_deleted_post_takes_threads_along(client: JSONClient) -> None:
    assert client.member
    post = make_post(client.member)
    root = make_comment(make_member(), post=post)
    make_comment(make_member(), post=post, parent=root, reply_to=root)
    assert client.send("DELETE", f"/api/board/posts/{post.pk}").status_code == 204
    assert not Comment.objects.exists()
