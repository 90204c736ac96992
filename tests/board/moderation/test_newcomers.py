"""Posts of newcomers with a link or picture wait for staff (spec 5.1)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from board.models import ModerationCase, Post
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.problems import assert_problem

B = "/api/board"
LINK = '<p><a href="https://example.com">x</a></p>'
IMAGE = '<img src="/api/images/00000000-0000-4000-8000-000000000000">'


@pytest.fixture
def newcomer(settings: Any) -> Member:
    settings.NEWCOMER_HOURS = 24
    return make_member(created_at=timezone.now() - timedelta(hours=23))


def write(client: JSONClient, content: str, title: str = "Rice") -> Any:
    body = {"title": title, "content": content, "category": "tips"}
    answer = client.send("POST", f"{B}/posts", body)
    assert answer.status_code == 201, answer.content
    return answer.data


@pytest.mark.parametrize(
    "content", [LINK, IMAGE, "<p>see https://example.com</p>", "<p>www.example.com</p>"]
)
def test_link_or_picture_of_a_newcomer_is_held(
    newcomer: Member, client: JSONClient, moderator: JSONClient, content: str
) -> None:
    own = JSONClient(newcomer)
    post = write(own, content)
    assert post["state"] == "HELD"
    path = f"{B}/posts/{post['id']}"
    assert own.get_json(path)["state"] == "HELD"
    assert own.get_json(f"{B}/my/posts")["results"][0]["state"] == "HELD"
    assert own.get_json(f"{B}/posts")["count"] == 0
    for other in (client, moderator):
        assert_problem(other.send("GET", path), 404, "NOT_FOUND")
        answer = other.send("POST", f"{path}/comments", {"content": "x"})
        assert_problem(answer, 404, "NOT_FOUND")
    newcomer.refresh_from_db()
    assert newcomer.points == 0
    (case,) = moderator.get_json("/api/moderation/cases", kind="HELD")["results"]
    assert (case["targetId"], case["reportCount"]) == (post["id"], 0)


def test_shown_post_stands_in_its_place_and_earns_its_points(
    newcomer: Member, client: JSONClient, moderator: JSONClient
) -> None:
    held = write(JSONClient(newcomer), LINK)
    later = make_post(make_member())
    case = ModerationCase.objects.get()
    path = f"/api/moderation/cases/{case.pk}/resolve"
    for status in (200, 409):
        answer = moderator.send("POST", path, {"action": "DISMISS"})
        assert answer.status_code == status
    listed = client.get_json(f"{B}/posts")["results"]
    assert [post["id"] for post in listed] == [later.pk, held["id"]]
    assert {post["state"] for post in listed} == {"SHOWN"}
    newcomer.refresh_from_db()
    assert newcomer.points == 10


def test_refused_post_is_hidden_from_its_author_too(
    newcomer: Member, moderator: JSONClient
) -> None:
    own = JSONClient(newcomer)
    post = write(own, LINK)
    case = ModerationCase.objects.get()
    body = {"action": "HIDE", "reason": "SPAM"}
    moderator.send("POST", f"/api/moderation/cases/{case.pk}/resolve", body)
    assert_problem(own.send("GET", f"{B}/posts/{post['id']}"), 404, "NOT_FOUND")
    newcomer.refresh_from_db()
    assert newcomer.points == 0


def test_post_that_gets_a_link_later_is_held_too(
    newcomer: Member, client: JSONClient
) -> None:
    own = JSONClient(newcomer)
    post = write(own, "<p>Words</p>")
    assert post["state"] == "SHOWN"
    path = f"{B}/posts/{post['id']}"
    assert own.send("PATCH", path, {"title": "x"}).data["state"] == "SHOWN"
    assert own.send("PATCH", path, {"content": LINK}).data["state"] == "HELD"
    assert_problem(client.send("GET", path), 404, "NOT_FOUND")
    newcomer.refresh_from_db()
    assert newcomer.points == 10


def test_points_come_once(newcomer: Member, moderator: JSONClient) -> None:
    own = JSONClient(newcomer)
    early, late = write(own, LINK), write(own, "<p>Words</p>", "Soup")
    newcomer.refresh_from_db()
    assert newcomer.points == 10
    path = f"{B}/posts/{late['id']}"
    assert own.send("PATCH", path, {"content": LINK}).data["state"] == "HELD"
    for post in (early, late):
        hide = f"/api/moderation/posts/{post['id']}"
        moderator.send("POST", f"{hide}/hide", {"reason": "SPAM"})
        for _ in range(2):
            moderator.send("POST", f"{hide}/show")
            moderator.send("POST", f"{hide}/hide", {"reason": "SPAM"})
    newcomer.refresh_from_db()
    assert newcomer.points == 20


def test_known_links_do_not_hold_an_edited_post(
    newcomer: Member, moderator: JSONClient
) -> None:
    own = JSONClient(newcomer)
    post = write(own, LINK)
    path = f"{B}/posts/{post['id']}"
    moderator.send("POST", f"/api/moderation/posts/{post['id']}/show")
    more = LINK + "<p>more words</p>"
    assert own.send("PATCH", path, {"content": more}).data["state"] == "SHOWN"
    other = more.replace("example.com", "other.example")
    assert own.send("PATCH", path, {"content": other}).data["state"] == "HELD"


def test_author_edits_and_deletes_what_is_held(newcomer: Member) -> None:
    own = JSONClient(newcomer)
    path = f"{B}/posts/{write(own, LINK)['id']}"
    answer = own.send("PATCH", path, {"content": "<p>Words</p>"})
    assert (answer.status_code, answer.data["state"]) == (200, "HELD")
    assert own.send("DELETE", path).status_code == 204
    # Nothing is left to look at.
    assert not ModerationCase.objects.exists()


def test_others_are_not_held(
    newcomer: Member, client: JSONClient, free_member: Member, settings: Any
) -> None:
    assert write(JSONClient(newcomer), "<p>Words</p>")["state"] == "SHOWN"
    Member.objects.filter(pk=free_member.pk).update(
        created_at=timezone.now() - timedelta(hours=25)
    )
    assert write(client, LINK)["state"] == "SHOWN"
    staff = JSONClient(make_member(role="MODERATOR"))
    assert write(staff, LINK)["state"] == "SHOWN"
    settings.NEWCOMER_HOURS = 0
    assert write(JSONClient(newcomer), LINK, "Soup")["state"] == "SHOWN"
    assert not Post.objects.filter(is_hidden=True).exists()
