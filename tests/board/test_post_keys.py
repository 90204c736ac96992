"""New posts and comments under an `Idempotency-Key` (spec 3.23)."""

from typing import Any

import pytest

from accounts.models import Member
from administration.tasks import purge_request_keys
from board.models import Comment, Post, PostKey
from core.api.keyed_answers import KEY_LIFETIME
from tests.support.clients import JSONClient
from tests.support.factories import make_post
from tests.support.problems import assert_invalid, assert_problem

pytestmark = pytest.mark.django_db

POSTS = "/api/board/posts"
POST = {"category": "tips", "title": "Rice", "content": "<p>Rinse it.</p>"}


@pytest.fixture
def phone(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def send(client: JSONClient, path: str, body: Any, key: str = "key-1") -> Any:
    return client.send("POST", path, body, HTTP_IDEMPOTENCY_KEY=key)


def test_a_post_that_is_sent_again_is_there_once(phone: JSONClient) -> None:
    first, again = (send(phone, POSTS, POST) for _ in range(2))
    assert first.status_code == 201, first.content
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Location"] == first.headers["Location"]
    assert Post.objects.count() == 1
    # Without the key it is a repetition.
    assert_problem(phone.send("POST", POSTS, POST), 409, "DUPLICATE")


def test_a_comment_that_is_sent_again_is_there_once(
    phone: JSONClient, other_member: Member
) -> None:
    path = f"{POSTS}/{make_post(other_member).pk}/comments"
    first, again = (send(phone, path, {"content": "Yes."}) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert Comment.objects.count() == 1


def test_another_post_under_the_key_is_refused(phone: JSONClient) -> None:
    send(phone, POSTS, POST)
    for body in (POST | {"title": "Other"}, {}, {"unknown": 1}):
        assert_problem(send(phone, POSTS, body), 422, "IDEMPOTENCY_KEY_REUSED")
    path = f"{POSTS}/{2**40}/comments"
    assert_problem(send(phone, path, {"content": "x"}), 422, "IDEMPOTENCY_KEY_REUSED")
    assert_invalid(send(phone, POSTS, POST, key="a b"), "Idempotency-Key")


def test_a_refused_post_leaves_the_key_free(phone: JSONClient) -> None:
    assert send(phone, POSTS, POST | {"title": ""}).status_code == 400
    assert send(phone, POSTS, POST).status_code == 201
    assert PostKey.objects.count() == 1


def test_keys_of_members_are_their_own(phone: JSONClient, other_member: Member) -> None:
    other = JSONClient(other_member)
    ids = {send(each, POSTS, POST).data["id"] for each in (phone, other)}
    assert len(ids) == 2


def test_other_writes_of_the_board_take_no_key(phone: JSONClient) -> None:
    post = send(phone, POSTS, POST).data
    path = f"{POSTS}/{post['id']}"
    for _ in range(2):
        answer = phone.send("PATCH", path, {"title": "x"}, HTTP_IDEMPOTENCY_KEY="key-1")
        assert (answer.status_code, answer.data["title"]) == (200, "x")


def test_old_keys_are_purged(phone: JSONClient) -> None:
    send(phone, POSTS, POST)
    row = PostKey.objects.get()
    PostKey.objects.update(created_at=row.created_at - 2 * KEY_LIFETIME)
    purge_request_keys()
    assert not PostKey.objects.exists()
