"""Notices: set and removed by administrators only, idempotent."""

import pytest

from accounts.models import AuditLogEntry, Member
from accounts.security.audit_log import CHANGE, DELETION
from board.models import Comment, ModerationCase, Post
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post

POSTS = "/api/board/posts"
BODY = {"title": "Rules", "content": "Be kind", "category": "community"}


@pytest.fixture
def admin(administrator: Member) -> JSONClient:
    return JSONClient(administrator)


def test_notice_at_creation_counts_only_from_an_administrator(
    free_member: Member, admin: JSONClient
) -> None:
    post = JSONClient(free_member).send("POST", POSTS, BODY | {"notice": True})
    assert (post.status_code, post.data["notice"]) == (201, False)
    assert admin.send("POST", POSTS, BODY | {"notice": True}).data["notice"] is True
    assert admin.send("POST", POSTS, BODY | {"title": "Other"}).data["notice"] is False


@pytest.mark.parametrize("prefix", ["", "/api", "/api/board"])
def test_administrator_turns_the_flag_on_and_off(
    prefix: str, admin: JSONClient
) -> None:
    path = f"{prefix}/posts/{make_post(make_member()).pk}"
    for operation, notice in (
        ("notice", True),
        ("notice", True),
        ("unnotice", False),
        ("unnotice", False),
    ):
        response = admin.send("POST", f"{path}/{operation}")
        assert (response.status_code, response.data["notice"]) == (200, notice)
        assert response.data["content"] == "<p>Words</p>"


@pytest.mark.parametrize("notice", [True, False])
def test_edit_by_a_member_leaves_the_flag(notice: bool, free_member: Member) -> None:
    post = make_post(free_member, is_notice=notice)
    client, path = JSONClient(free_member), f"{POSTS}/{post.pk}"
    for body in (BODY, BODY | {"notice": not notice}):
        for method in ("PUT", "PATCH"):
            assert client.send(method, path, body).data["notice"] is notice


def test_edit_by_an_administrator_follows_the_flag_that_is_sent(
    administrator: Member, admin: JSONClient
) -> None:
    path = f"{POSTS}/{make_post(administrator).pk}"
    assert admin.send("PUT", path, BODY | {"notice": True}).data["notice"] is True
    assert admin.send("PATCH", path, {"title": "Other"}).data["notice"] is True
    assert admin.send("PATCH", path, {"notice": False}).data["notice"] is False
    assert admin.send("PUT", path, BODY | {"notice": True}).data["notice"] is True
    assert admin.send("PUT", path, BODY).data["notice"] is False


def case_of(target: Post | Comment) -> int:
    cases = ModerationCase.objects.filter(target_type=type(target).__name__.upper())
    return cases.get(target_id=target.pk).pk


def test_moderation_by_the_api_is_in_the_log(
    administrator: Member, free_member: Member, admin: JSONClient
) -> None:
    post = make_post(free_member)
    comment = make_comment(free_member, post=post)
    own = make_post(administrator)
    for _ in range(2):
        admin.send("POST", f"{POSTS}/{post.pk}/notice")
    admin.send("POST", f"{POSTS}/{post.pk}/unnotice")
    admin.send("DELETE", f"/api/board/comments/{comment.pk}")
    admin.send("DELETE", f"{POSTS}/{post.pk}")
    admin.send("DELETE", f"{POSTS}/{own.pk}")
    logged = AuditLogEntry.objects.order_by("id").values_list(
        "target_label", "action", "text"
    )
    assert list(logged) == [
        (f"post {post.pk}", CHANGE, "Marked as notice."),
        (f"post {post.pk}", CHANGE, "Unmarked as notice."),
        (f"comment {comment.pk}", DELETION, f"Deleted. Case {case_of(comment)}."),
        (f"post {post.pk}", DELETION, f"Deleted. Case {case_of(post)}."),
    ]


def test_what_authors_delete_is_not_in_the_log(free_member: Member) -> None:
    client, post = JSONClient(free_member), make_post(free_member)
    comment = make_comment(free_member, post=post)
    client.send("DELETE", f"/api/board/comments/{comment.pk}")
    assert client.send("DELETE", f"{POSTS}/{post.pk}").status_code == 204
    assert not AuditLogEntry.objects.exists()
