"""A switch that is turned off while somebody writes (spec 7.11)."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from accounts.errors import SwitchedOffError
from accounts.models import Member
from accounts.profile import profile
from accounts.signup import signup
from accounts.switches.switches import Switches, set_switches
from board import comments, images, posts
from board.models import Comment, Image, Post
from tests.support.board import upload
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member, make_post
from tests.support.images import draw
from tests.support.problems import assert_problem
from tests.support.races import call_before

pytestmark = pytest.mark.django_db(transaction=True)

POST = {"title": "Title", "content": "<p>Words</p>", "category": "tips"}


@pytest.fixture
def administrator() -> Member:
    return make_member(role="ADMIN")


def write_post(client: JSONClient) -> Any:
    # The same post twice is refused.
    title = f"Post {Post.objects.count()}"
    return client.send("POST", "/api/board/posts", POST | {"title": title})


def write_comment(client: JSONClient) -> Any:
    post = Post.objects.first() or make_post(make_member())
    path = f"/api/board/posts/{post.pk}/comments"
    return client.send("POST", path, {"content": "words"})


def write_image(client: JSONClient) -> Any:
    return upload(client, draw())


def write_member(client: JSONClient) -> Any:
    number = Member.objects.count()
    body = {"loginId": f"newcomer{number}", "displayName": f"Newcomer {number}"}
    body |= {"password": PASSWORD, "email": f"newcomer{number}@example.com"}
    return JSONClient().send("POST", "/api/auth/signup", body)


@pytest.mark.parametrize(
    ("write", "module", "model", "switch"),
    [
        (write_post, posts, Post, "posting"),
        (write_comment, comments, Comment, "posting"),
        (write_image, images, Image, "images"),
    ],
)
def test_nothing_is_written_after_a_switch_was_turned_off(
    administrator: Member,
    write: Callable[[JSONClient], Any],
    module: Any,
    model: Any,
    switch: str,
) -> None:
    client = JSONClient(make_member())
    if model is Comment:
        make_post(make_member())
    statement = f'INSERT INTO "{model._meta.db_table}"'

    def turn_off() -> int:
        """Return the number of rows when the switch is off for good."""
        set_switches(Switches(**{switch: False}), administrator)
        return int(model.objects.count())

    # Without the lock a row appears after the switch was turned off.
    unlocked = mock.patch.object(module, "lock_switch")
    with unlocked, call_before(statement, turn_off) as other:
        assert write(client).status_code == 201
    assert (other.result(), model.objects.count()) == (0, 1)

    set_switches(Switches(), administrator)
    with call_before(statement, turn_off) as other:
        assert write(client).status_code == 201
    assert other.result() == model.objects.count() == 2
    assert_problem(write(client), 403, "SWITCHED_OFF")


def test_writer_that_comes_while_a_switch_is_turned_off_is_refused(
    administrator: Member,
) -> None:
    client = JSONClient(make_member())

    def turn_off() -> None:
        set_switches(Switches(posting=False), administrator)

    with call_before('INSERT INTO "audit_log"', lambda: write_post(client)) as other:
        turn_off()
    assert_problem(other.result(), 403, "SWITCHED_OFF")
    assert not Post.objects.exists()


def test_profile_image_asks_under_the_lock(administrator: Member) -> None:
    member = make_member()
    member.profile_image = "data:image/png;base64,AA=="

    def turn_off() -> str:
        set_switches(Switches(images=False), administrator)
        return Member.objects.values_list("profile_image", flat=True).get(pk=member.pk)

    with (
        call_before('UPDATE "member"', turn_off) as other,
        pytest.raises(SwitchedOffError),
    ):
        profile._save_profile_image(member)
    assert other.result() == ""
    member.refresh_from_db()
    assert member.profile_image == ""


def test_nobody_signs_up_after_sign_up_was_closed(administrator: Member) -> None:
    def close() -> int:
        set_switches(Switches(signup=False), administrator)
        return Member.objects.count()

    # Without the lock a member appears after sign-up was closed.
    unlocked = mock.patch.object(signup, "lock_switch")
    with unlocked, call_before('INSERT INTO "member"', close) as other:
        assert write_member(JSONClient()).status_code == 201
    assert (other.result(), Member.objects.count()) == (1, 2)

    set_switches(Switches(), administrator)
    with call_before('INSERT INTO "member"', close) as other:
        assert write_member(JSONClient()).status_code == 201
    assert other.result() == Member.objects.count() == 3
    assert_problem(write_member(JSONClient()), 403, "SIGNUP_DISABLED")
