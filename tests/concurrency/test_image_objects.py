"""Images in the object store that are moved, deleted and read at one moment."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import pytest
from django.test import Client
from django.utils import timezone

from accounts.account_deletion import delete_account
from board import image_objects
from board.image_moves import move_images
from board.image_objects import WRITE_TIME, delete_due_objects
from board.images import delete_images, purge_unused_images
from board.models import Image, ObjectDeletion
from core import object_store
from tests.support.board import upload
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.images import draw
from tests.support.object_store import CONTENT, FakeObjectStore, make_image
from tests.support.races import call_before, run_concurrently
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(4, 12)


def assert_consistent(store: FakeObjectStore) -> None:
    """Check that each image has its bytes and, after the job, the store no others."""
    for image in Image.objects.all():
        assert Client().get(f"/api/images/{image.pk}").content == CONTENT
    delete_due_objects(timezone.now() + 2 * WRITE_TIME)
    keys = Image.objects.values_list("object_key", flat=True)
    assert set(store.list_keys()) == set(keys) - {None}
    assert not ObjectDeletion.objects.exists()
    for image in Image.objects.all():
        assert Client().get(f"/api/images/{image.pk}").content == CONTENT


def delete_as_moderator(image: Image) -> None:
    delete_images([image.pk])


def delete_with_account(image: Image) -> None:
    delete_account(image.member)


def purge(image: Image) -> None:
    purge_unused_images(timezone.now())


@pytest.mark.parametrize("deletion", [delete_as_moderator, delete_with_account, purge])
@pytest.mark.parametrize("to_store", [True, False])
def test_image_that_is_moved_and_deleted_at_once_is_gone(
    image_store: FakeObjectStore, to_store: bool, deletion: Callable[[Image], None]
) -> None:
    for _ in range(ROUNDS):
        image = make_image(make_member(), in_store=not to_store)
        move = partial(move_images, to_store=to_store)
        run_concurrently([move, partial(deletion, image)])
        assert not Image.objects.exists()
        assert_consistent(image_store)


@pytest.mark.parametrize("to_store", [True, False])
def test_image_that_is_deleted_before_the_move_ends_stays_deleted(
    image_store: FakeObjectStore, to_store: bool
) -> None:
    image = make_image(make_member(), in_store=not to_store)
    with call_before('UPDATE "board_image"', partial(delete_as_moderator, image)):
        assert move_images(to_store=to_store).moved == 0
    assert not Image.objects.exists()
    assert_consistent(image_store)


@pytest.mark.parametrize("directions", [(True, True), (False, False), (True, False)])
def test_two_moves_at_once_lose_nothing(
    image_store: FakeObjectStore, directions: tuple[bool, bool]
) -> None:
    for number in range(ROUNDS):
        Image.objects.all().delete()
        member = make_member()
        for _ in range(3):
            make_image(member, in_store=not directions[number % 2])
        run_concurrently([partial(move_images, to_store=each) for each in directions])
        assert Image.objects.count() == 3
        assert_consistent(image_store)


def test_second_of_two_moves_drops_its_copy(image_store: FakeObjectStore) -> None:
    make_image(make_member(), in_store=False)
    other = partial(move_images, to_store=True)
    with call_before('UPDATE "board_image"', other) as first:
        assert move_images(to_store=True).moved == 0
    assert first.result().moved == 1
    assert ObjectDeletion.objects.count() == 1
    assert_consistent(image_store)


def test_read_follows_an_image_that_is_moved_meanwhile(
    image_store: FakeObjectStore,
) -> None:
    image = make_image(make_member(), in_store=True)
    get_object: Callable[..., bytes] = object_store.get_object

    def move_before(*arguments: Any, **options: Any) -> bytes:
        patch.stop()
        move_images(to_store=False)
        delete_due_objects(timezone.now())
        return get_object(*arguments, **options)

    patch = mock.patch.object(object_store, "get_object", move_before)
    patch.start()
    answer = Client().get(f"/api/images/{image.pk}")
    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert image_store.list_keys() == []


def test_read_of_an_image_that_is_deleted_meanwhile_is_404(
    image_store: FakeObjectStore,
) -> None:
    image = make_image(make_member(), in_store=True)
    get_object: Callable[..., bytes] = object_store.get_object

    def delete_before(*arguments: Any, **options: Any) -> bytes:
        delete_images([image.pk])
        delete_due_objects(timezone.now())
        return get_object(*arguments, **options)

    with mock.patch.object(object_store, "get_object", delete_before):
        assert Client().get(f"/api/images/{image.pk}").status_code == 404


def delete_late_objects() -> None:
    delete_due_objects(timezone.now() + 2 * WRITE_TIME)


def test_upload_whose_object_was_deleted_meanwhile_fails(
    image_store: FakeObjectStore,
) -> None:
    # The upload would have to take longer than an hour.
    with call_before('INSERT INTO "board_image"', delete_late_objects):
        response = upload(JSONClient(make_member()), draw())
    assert response.status_code == 503
    assert not Image.objects.exists()
    assert_consistent(image_store)


def test_upload_that_does_not_look_loses_its_object(
    image_store: FakeObjectStore,
) -> None:
    with (
        mock.patch("board.images.keep_object"),
        call_before('INSERT INTO "board_image"', delete_late_objects),
    ):
        response = upload(JSONClient(make_member()), draw())
    assert response.status_code == 201
    assert image_store.list_keys() == []


def test_upload_beside_the_deletion_of_the_account_leaves_no_object(
    image_store: FakeObjectStore,
) -> None:
    for _ in range(ROUNDS):
        member = make_member()
        client = JSONClient(member)
        response, _ = run_concurrently(
            [partial(upload, client, draw()), partial(delete_account, member)]
        )
        assert response.status_code in {201, 401, 404, 503}, response.content
        assert not Image.objects.exists()
        assert_consistent(image_store)


def test_two_jobs_delete_each_object_once(image_store: FakeObjectStore) -> None:
    member = make_member()
    images = [make_image(member, in_store=True) for _ in range(20)]
    delete_images([image.pk for image in images])
    with mock.patch.object(image_objects, "DELETION_BATCH_SIZE", 3):
        job = partial(delete_due_objects, timezone.now())
        assert sum(run_concurrently([job, job])) == len(images)
    assert_consistent(image_store)
