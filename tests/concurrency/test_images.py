"""Images that are deleted at the moment in which a post begins to show them."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Member
from board.images import delete_images, purge_unused_images
from board.models import Image, Post, PostImage
from board.posts import delete_post
from core.db.transactions import retry_on_conflict
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.races import call_before, run_concurrently
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

POSTS = "/api/board/posts"
ROUNDS = scaled(5, 15)
CREATED, CHANGED = 201, 200


def make_image(member: Member, **fields: Any) -> Image:
    """Return an image that no post shows, old enough to be purged."""
    now = timezone.now()
    defaults = {"content": b"x", "content_type": "image/png", "width": 1, "height": 1}
    defaults |= {"size": 1, "content_hash": "d", "created_at": now}
    defaults |= {"unused_since": now - timedelta(days=2)}
    return Image.objects.create(member=member, **defaults | fields)


def show(image: Image) -> str:
    return f'<p>Rice <img src="/api/images/{image.pk}"></p>'


@retry_on_conflict
@transaction.atomic
def delete_as_moderator(image: Image) -> None:
    delete_images([image.pk])


def delete_earlier_post(image: Image) -> None:
    """Delete the author's only post that shows the image so far."""
    post = Post.objects.get(title="earlier")
    delete_post(post.member, post.pk, timezone.now())


def purge(image: Image) -> None:
    purge_unused_images(timezone.now())


DELETIONS = [delete_as_moderator, delete_earlier_post, purge]


def prepare(deletion: Any) -> tuple[JSONClient, Image]:
    """Return the author's client and an image, shown by a post where that is deleted."""
    member = make_member()
    image, client = make_image(member), JSONClient(member)
    if deletion is delete_earlier_post:
        make_post(member, title="earlier", content=show(image))
        PostImage.objects.create(post=Post.objects.get(title="earlier"), image=image)
        Image.objects.update(unused_since=None)
    return client, image


def list_writes(client: JSONClient, image: Image) -> list[Callable[[], Any]]:
    """Return a new post that shows the image, and a change of one to show it."""
    post = make_post(Member.objects.get(pk=image.member_id), title="changed")
    body = {"title": "Rice", "category": "tips", "content": show(image)}
    path = f"{POSTS}/{post.pk}"
    return [
        partial(client.send, "POST", POSTS, body),
        partial(client.send, "PATCH", path, {"content": show(image)}),
    ]


def assert_consistent(image: Image, responses: list[Any]) -> bool:
    """Check that posts exist, and link the image if it does; return if it does."""
    assert {response.status_code for response in responses} <= {CREATED, CHANGED}
    shown = [r.data["id"] for r in responses if str(image.pk) in r.data["content"]]
    assert len(shown) == len(responses)
    links = set(PostImage.objects.values_list("post_id", flat=True))
    stored = Image.objects.filter(pk=image.pk).first()
    status = Client().get(f"/api/images/{image.pk}").status_code
    if stored is None:
        assert (links, status) == (set(), 404)
        return False
    # An image that is kept is in use, so that no later purge takes it from the posts.
    assert links == set(shown)
    assert (stored.unused_since, status) == (None, 200)
    assert purge_unused_images(timezone.now() + timedelta(days=9)) == 0
    return True


@pytest.mark.parametrize("deletion", DELETIONS)
def test_image_that_is_deleted_while_posts_begin_to_show_it_is_whole_or_gone(
    deletion: Callable[[Image], None],
) -> None:
    for _ in range(ROUNDS):
        client, image = prepare(deletion)
        writes = list_writes(client, image)
        *responses, _ = run_concurrently([*writes, partial(deletion, image)])
        assert_consistent(image, responses)
        Post.objects.all().delete()
        Image.objects.all().delete()


@pytest.mark.parametrize("deletion", DELETIONS)
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    ("statement", "is_kept"),
    [
        ("OR id IN (", False),
        ("INSERT INTO board_post_image", True),
    ],
)
def test_deletion_in_the_middle_of_the_write(
    deletion: Callable[[Image], None], is_new: bool, statement: str, is_kept: bool
) -> None:
    # Before the image is locked it is deleted; after that the deletion waits.
    client, image = prepare(deletion)
    create, change = list_writes(client, image)
    with call_before(statement, partial(deletion, image)) as deleted:
        response = create() if is_new else change()
    deleted.result()
    if deletion is delete_as_moderator:
        # A moderator deletes what posts show, too.
        is_kept = False
    assert assert_consistent(image, [response]) == is_kept
