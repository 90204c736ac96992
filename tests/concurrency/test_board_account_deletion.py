"""Account deletion during votes, comments and posts: counters stay right."""

import io
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import BoundedSemaphore
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.models import Member
from accounts.security.rate_limits import RateLimitPolicy
from board import images
from board.images import MAX_IMAGES, purge_unused_images
from board.models import Comment, CommentVote, Image, Post, PostImage, PostVote
from tests.support.board import find_counter_drift
from tests.support.clients import JSONClient
from tests.support.factories import (
    count_rows_of,
    make_comment,
    make_entry,
    make_member,
    make_post,
)
from tests.support.images import draw
from tests.support.races import run_concurrently, sorted_statuses
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

BOARD = "/api/board"
ROUNDS = scaled(2, 10)
PICTURE = draw(size=(4, 4))


@dataclass(frozen=True)
class Scene:
    """Create two members with posts, comments below both posts, and images."""

    leaving: Member
    staying: Member
    posts: tuple[Post, Post]
    comments: tuple[Comment, ...]
    images: tuple[Image, Image]

    @property
    def content(self) -> str:
        return "".join(f'<img src="/api/images/{i.pk}">' for i in self.images)


Action = Callable[[JSONClient, Scene], Any]


def make_image(member: Member, **fields: Any) -> Image:
    return Image.objects.create(
        member=member,
        content=b"x",
        width=1,
        height=1,
        size=1,
        content_hash="d",
        **fields,
    )


def set_scene() -> Scene:
    leaving, staying = make_member(), make_member()
    make_entry(leaving)
    posts = make_post(staying), make_post(leaving)
    comments = tuple(
        make_comment(member, post=post)
        for post in posts
        for member in (leaving, staying)
    )
    PostVote.objects.create(post=posts[0], member=leaving, value=1)
    PostVote.objects.create(post=posts[1], member=staying, value=-1)
    CommentVote.objects.create(comment=comments[1], member=leaving, value=-1)
    images = make_image(leaving), make_image(staying)
    return Scene(leaving, staying, posts, comments, images)


def vote(client: JSONClient, scene: Scene) -> list[Any]:
    return [
        client.send("POST", f"{BOARD}/{path}/vote", {"value": value})
        for value in ("up", "down")
        for path in (
            *(f"posts/{post.pk}" for post in scene.posts),
            *(f"comments/{comment.pk}" for comment in scene.comments),
        )
    ]


def comment(client: JSONClient, scene: Scene) -> list[Any]:
    return [
        client.send("POST", f"{BOARD}/posts/{post.pk}/comments", {"content": "Rice"})
        for post in (*scene.posts, *reversed(scene.posts))
    ]


def write(client: JSONClient, scene: Scene) -> list[Any]:
    body = {"title": "Rice", "category": "tips", "content": scene.content}
    return [client.send("POST", f"{BOARD}/posts", body) for _ in range(3)]


def edit(client: JSONClient, scene: Scene) -> list[Any]:
    return [
        client.send("PATCH", f"{BOARD}/posts/{post.pk}", {"content": content})
        for post in scene.posts
        for content in (scene.content, "<p>text</p>")
    ]


def delete(client: JSONClient, scene: Scene) -> list[Any]:
    paths = [f"comments/{c.pk}" for c in scene.comments]
    paths += [f"posts/{post.pk}" for post in scene.posts]
    return [client.send("DELETE", f"{BOARD}/{path}") for path in paths]


def upload(client: JSONClient, scene: Scene) -> list[Any]:
    file = SimpleUploadedFile("a.png", PICTURE)
    return [client.post(f"{BOARD}/images", {"image": file})]


def leave(client: JSONClient, scene: Scene) -> list[Any]:
    return [client.send("DELETE", "/api/auth/me")]


def race(*parts: tuple[Action, str]) -> list[Any]:
    """Run the actions, each by the member named, during an account deletion."""
    scene = set_scene()
    calls = []
    for action, who in (*parts, (leave, "leaving")):
        client = JSONClient(getattr(scene, who))
        assert client.send("GET", "/api/auth/session").status_code == 200
        calls.append(partial(action, client, scene))
    responses = [
        response for several in run_concurrently(calls) for response in several
    ]
    statuses = [response.status_code for response in responses]
    assert max(statuses) < 500, [r.content for r in responses if r.status_code >= 500]
    assert statuses[-1] == 204
    content = (Post, Comment, PostVote, CommentVote, Image)
    assert not any(
        each.objects.filter(member=scene.leaving).exists() for each in content
    )
    assert not any(count_rows_of(scene.leaving).values())
    assert find_counter_drift() == []
    return responses


@pytest.mark.parametrize("who", ["leaving", "staying"])
@pytest.mark.parametrize("action", [vote, comment, write, edit, delete, upload])
def test_nothing_breaks_and_counters_equal_the_rows(action: Action, who: str) -> None:
    for _ in range(ROUNDS):
        assert len(race((action, who), (action, who))) > 1


def test_everything_at_once() -> None:
    for _ in range(ROUNDS):
        for actions in ((vote, comment, edit), (write, delete)):
            answers = race(*itertools.product(actions, ("leaving", "staying")))
            assert len(answers) > 2 * len(actions)


def test_two_who_voted_and_commented_on_each_other_leave_at_once() -> None:
    for _ in range(ROUNDS):
        scene = set_scene()
        calls = [
            partial(leave, JSONClient(member), scene)
            for member in (scene.leaving, scene.staying)
        ]
        assert sorted_statuses([r for (r,) in run_concurrently(calls)]) == [204, 204]
        assert not Post.objects.exists()
        assert not Comment.objects.exists()
        assert not PostVote.objects.exists()


def test_picture_that_a_post_begins_to_show_is_not_purged() -> None:
    member = make_member()
    client = JSONClient(member)
    now = timezone.now()
    for _ in range(2 * ROUNDS):
        image = make_image(member, unused_since=now - timedelta(days=2))
        content = f'<img src="/api/images/{image.pk}">'
        body = {"title": "Rice", "category": "tips", "content": content}
        response, _ = run_concurrently(
            [
                partial(client.send, "POST", f"{BOARD}/posts", body),
                partial(purge_unused_images, now),
            ]
        )
        assert response.status_code == 201
        tied = PostImage.objects.filter(image_id=image.pk).exists()
        assert tied == Image.objects.filter(pk=image.pk).exists()
        assert find_counter_drift() == []


def test_posts_that_show_the_same_pictures_do_not_wait_crosswise() -> None:
    clients = [JSONClient(make_member()) for _ in range(4)]
    images = [make_image(make_member()) for _ in range(6)]

    def toggle(client: JSONClient, turn: int) -> list[int]:
        order = images if turn % 2 else images[::-1]
        content = "".join(f'<img src="/api/images/{i.pk}">' for i in order)
        body = {"title": "Rice", "category": "tips", "content": content}
        statuses = []
        for _ in range(3):
            post = client.send("POST", f"{BOARD}/posts", body)
            path = f"{BOARD}/posts/{post.data['id']}"
            gone = client.send("DELETE", path)
            statuses += [post.status_code, gone.status_code]
        return statuses

    for _ in range(ROUNDS):
        answers = run_concurrently(
            [partial(toggle, c, i) for i, c in enumerate(clients)]
        )
        assert answers == [[201, 204] * 3] * 4
        assert find_counter_drift() == []
    assert not Image.objects.filter(unused_since=None).exists()


def test_quota_is_exact_for_uploads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.images._callers", BoundedSemaphore(8))
    member = make_member()
    for _ in range(MAX_IMAGES - 3):
        make_image(member)
    clients = [JSONClient(member) for _ in range(8)]
    scene: Any = None
    answers = run_concurrently([partial(upload, client, scene) for client in clients])
    assert sorted_statuses([r for (r,) in answers]) == [201] * 3 + [400] * 5
    assert Image.objects.count() == MAX_IMAGES


def test_uploads_an_hour_are_exact_for_uploads_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fewer = RateLimitPolicy("images", 20, timedelta(hours=1))
    monkeypatch.setattr(images, "UPLOAD_LIMIT", fewer)
    clients = [JSONClient(make_member())] * 3

    def send_many(client: JSONClient) -> list[int]:
        return [
            client.post(f"{BOARD}/images", {"image": io.BytesIO(PICTURE)}).status_code
            for _ in range(8)
        ]

    answers = run_concurrently([partial(send_many, client) for client in clients])
    statuses = sorted(status for several in answers for status in several)
    assert statuses == [201] * 20 + [429] * 4
    assert Image.objects.count() == 20
