"""Posts: create, read, update, delete."""

from datetime import datetime
from typing import Any

import pytest

from accounts.models import Member
from board.models import Comment, CommentVote, Post, PostVote
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

POSTS = "/api/board/posts"
BODY = {"title": "Rice", "content": "<p>Cheap <b>rice</b></p>", "category": "tips"}
HUGE = 10**30
SUMMARY = {
    *("id", "title", "category", "tags", "notice", "hot", "upCount", "downCount"),
    *("commentCount", "myVote", "author", "blocked", "state", "createdAt"),
}


def write(client: JSONClient, **fields: Any) -> Any:
    response = client.send("POST", POSTS, BODY | fields)
    assert response.status_code == 201, response.content
    return response.data


def address(post: Any) -> str:
    return f"{POSTS}/{post.pk if isinstance(post, Post) else post['id']}"


def test_written_post_is_answered_whole_and_read_the_same(
    free_member: Member, client: JSONClient
) -> None:
    post = write(client, tags=["food", "쌀"])
    assert set(post) == SUMMARY | {"content", "updatedAt", "recommenders"}
    author = {"id": free_member.pk, "displayName": free_member.display_name}
    assert post["author"] == author | {"avatar": None, "staff": False}
    expected: dict[str, Any] = {"tags": ["food", "쌀"], "recommenders": []}
    expected |= {"myVote": None, "notice": False, "hot": False}
    expected |= {"upCount": 0, "downCount": 0}
    assert post.items() >= (BODY | expected | {"commentCount": 0}).items()
    assert datetime.fromisoformat(post["createdAt"]).utcoffset() is not None
    assert client.get_json(address(post)) == post


def test_summary_has_neither_content_nor_recommenders(client: JSONClient) -> None:
    write(client)
    assert set(client.get_json(POSTS)["results"][0]) == SUMMARY


def test_content_is_sanitised_on_write_and_on_edit(client: JSONClient) -> None:
    attack = "<p onclick='x()'>hi</p><script>alert(1)</script>"
    post = write(client, content=attack)
    assert post["content"] == "<p>hi</p>"
    for method in ("PUT", "PATCH"):
        edited = client.send(method, address(post), BODY | {"content": attack})
        assert edited.data["content"] == "<p>hi</p>"
    assert Post.objects.get().content == "<p>hi</p>"


@pytest.mark.parametrize(
    "content", ["", " \n ", "<p> </p>", "<script>alert(1)</script>", "<img src=x>"]
)
def test_post_without_text_and_picture_is_refused(
    content: str, free_member: Member, client: JSONClient
) -> None:
    response = client.send("POST", POSTS, BODY | {"content": content})
    assert_invalid(response, "content")
    post = make_post(free_member)
    assert client.send("PATCH", address(post), {"content": content}).status_code == 400


REFUSED: dict[str, list[Any]] = {
    "title": [None, "", 5, "x" * 201, "a\0b", "a\x1bb"],
    "content": [None, ["x"], "x" * 100_001, "a\0b", "a\ud800b"],
    "category": [None, "other", "COMMUNITY"],
    "tags": [
        *("food", {"a": 1}, [1], [""], ["a,b"], ["a\0b"], ["x" * 101]),
        [f"tag{n}" for n in range(21)],
    ],
    "notice": ["yes", 1],
}


@pytest.mark.parametrize(
    ("field", "value"), [(name, each) for name in REFUSED for each in REFUSED[name]]
)
def test_field_that_breaks_a_rule_is_named(
    field: str, value: Any, free_member: Member, client: JSONClient
) -> None:
    post = make_post(free_member)
    for method, path in (("POST", POSTS), ("PUT", address(post))):
        response = client.send(method, path, BODY | {field: value})
        assert response.status_code == 400, response.content
        fields = {error["field"].split(".")[0] for error in response.data["errors"]}
        assert fields == {field}


@pytest.mark.parametrize("body", [[], "x", 5, {}])
def test_body_that_is_no_post_is_refused(body: Any, client: JSONClient) -> None:
    assert client.send("POST", POSTS, body).status_code == 400


def test_largest_post_is_kept(client: JSONClient) -> None:
    fields = {
        "title": "가" * 200,
        "content": "나" * 100_000,
        "tags": [f"{n:0100}" for n in range(20)],
    }
    post = write(client, **fields)
    assert {name: post[name] for name in fields} == fields


def test_tags_are_trimmed_and_count_once(client: JSONClient) -> None:
    post = write(client, tags=[" food ", "food", "Food"])
    assert post["tags"] == ["food", "Food"]


@pytest.mark.parametrize("category", ["community", "saving", "tips"])
def test_edit_without_tags_keeps_the_tags_of_the_old_post(
    category: str, client: JSONClient
) -> None:
    for method in ("PUT", "PATCH"):
        # Equal posts would be duplicates.
        post = write(client, tags=["food", "쌀"], title=method, category="saving")
        edited = client.send(method, address(post), BODY | {"category": category})
        assert edited.status_code == 200
        assert edited.data["category"] == category
        assert edited.data["tags"] == ["food", "쌀"]
        assert client.get_json(address(post))["tags"] == ["food", "쌀"]


def test_edit_with_tags_replaces_them(client: JSONClient) -> None:
    post = write(client, tags=["food"])
    for tags in (["new"], []):
        edited = client.send("PUT", address(post), BODY | {"tags": tags})
        assert edited.data["tags"] == tags


def test_what_was_read_can_be_sent_back_as_it_is(client: JSONClient) -> None:
    post = write(client, tags=["food"], content="<p>1 &lt; 2 &amp; 3</p>")
    sent = client.send("PUT", address(post), post).data
    assert sent == post | {"updatedAt": sent["updatedAt"]}


@pytest.mark.parametrize("missing", ["title", "content", "category"])
def test_put_needs_all_but_the_tags(
    missing: str, free_member: Member, client: JSONClient
) -> None:
    post = make_post(free_member)
    body = {name: value for name, value in BODY.items() if name != missing}
    assert_invalid(client.send("PUT", address(post), body), missing)


@pytest.mark.parametrize("field", ["title", "content", "category"])
def test_patch_changes_only_what_it_names(field: str, client: JSONClient) -> None:
    before = write(client, tags=["food"])
    value = "saving" if field == "category" else "Different"
    after = client.send("PATCH", address(before), {field: value}).data
    assert after == before | {field: value, "updatedAt": after["updatedAt"]}
    assert after["updatedAt"] > before["updatedAt"]


def test_edited_words_are_found_and_old_ones_not(client: JSONClient) -> None:
    post = write(client, title="Old title", content="old text")
    client.send("PATCH", address(post), {"title": "Fresh title"})
    client.send("PATCH", address(post), {"content": "fresh body"})
    found = {
        word: client.get_json(POSTS, keyword=word)["count"]
        for word in ("fresh title", "fresh body", "old title", "old text")
    }
    assert found == {"fresh title": 1, "fresh body": 1, "old title": 0, "old text": 0}


def test_only_the_author_edits(
    free_member: Member,
    other_member: Member,
    administrator: Member,
    client_of: ClientOf,
) -> None:
    post = make_post(free_member)
    for member in (other_member, administrator):
        for method in ("PUT", "PATCH"):
            for body in (BODY, {}):
                response = client_of(member).send(method, address(post), body)
                assert_problem(response, 403, "FORBIDDEN")
    assert Post.objects.get().title == post.title


def test_author_and_administrator_delete(
    free_member: Member,
    other_member: Member,
    administrator: Member,
    client_of: ClientOf,
) -> None:
    post = make_post(free_member)
    response = client_of(other_member).send("DELETE", address(post))
    assert_problem(response, 403, "FORBIDDEN")
    assert Post.objects.count() == 1
    for member in (free_member, administrator):
        post = make_post(free_member)
        response = client_of(member).send("DELETE", address(post))
        assert (response.status_code, response.content) == (204, b"")
        assert client_of(member).send("GET", address(post)).status_code == 404


def test_deleted_post_takes_its_comments_and_votes_along(
    free_member: Member, client: JSONClient
) -> None:
    kept = make_comment(free_member, ups=1, post=make_post(free_member, ups=1))
    post = make_post(free_member, ups=2, downs=1)
    make_comment(make_member(), ups=1, downs=1, post=post)
    assert client.send("DELETE", address(post)).status_code == 204
    assert [comment.pk for comment in Comment.objects.all()] == [kept.pk]
    assert (PostVote.objects.count(), CommentVote.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    "operation",
    [
        *("GET", "PUT", "PATCH", "DELETE", "GET /comments", "POST /comments"),
        *("POST /vote", "GET /recommenders", "POST /notice", "POST /unnotice"),
    ],
)
def test_missing_or_hidden_post_is_404(
    operation: str, administrator: Member, client_of: ClientOf
) -> None:
    # Before the body is validated.
    client, (method, _, path) = client_of(administrator), operation.partition(" ")
    hidden = make_post(administrator, is_hidden=True)
    has_body = method != "DELETE" and "notice" not in path
    for post_id in (987_654_321, 2**63, HUGE, hidden.pk):
        for body in (BODY, {}) if has_body else ({},):
            response = client.send(method, f"{POSTS}/{post_id}{path}", body)
            assert response.status_code == 404, (post_id, response.content)
            assert response.data["code"] == "NOT_FOUND"


def test_errors_have_an_order(
    free_member: Member, anonymous: JSONClient, client: JSONClient
) -> None:
    # 401, then 403, then 404, then 400.
    post, missing = make_post(make_member()), f"{POSTS}/987654321"
    assert anonymous.send("PUT", address(post), {}).status_code == 401
    assert client.send("PUT", address(post), {}).status_code == 403
    assert client.send("POST", f"{missing}/notice").status_code == 403
    assert client.send("PUT", missing, {}).status_code == 404
    own = make_post(free_member)
    assert client.send("PUT", address(own), {}).status_code == 400


def test_detail_names_recommenders_in_the_order_of_their_votes(
    free_member: Member,
    other_member: Member,
    administrator: Member,
    client_of: ClientOf,
) -> None:
    post = make_post(free_member, downs=1)
    for member in (other_member, administrator):
        PostVote.objects.create(post=post, member=member, value=1)
    client = client_of(other_member)
    detail = client.get_json(address(post))
    assert detail["recommenders"] == [
        {
            "id": m.pk,
            "displayName": m.display_name,
            "avatar": None,
            "staff": m.is_moderator,
        }
        for m in (other_member, administrator)
    ]
    assert client.get_json(f"{address(post)}/recommenders") == detail["recommenders"]
    assert (detail["upCount"], detail["downCount"], detail["myVote"]) == (2, 1, "up")


def test_writing_is_one_transaction(
    client: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("board.posts.award_points", fail)
    monkeypatch.setattr("board.comments.award_points", fail)
    assert client.send("POST", POSTS, BODY).status_code == 500
    path = f"{POSTS}/{make_post(free_member).pk}/comments"
    assert client.send("POST", path, {"content": "x"}).status_code == 500
    assert (Post.objects.count(), Comment.objects.count()) == (1, 0)
