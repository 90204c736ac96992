"""Images whose bytes lie in an S3-compatible store (spec 5.6)."""

import logging
import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.account_deletion import delete_account
from accounts.models import Member
from accounts.security.rate_limits import RateLimitPolicy
from board import image_objects, images
from board.image_objects import WRITE_TIME, delete_due_objects, has_due_objects
from board.images import MAX_IMAGES, delete_images, purge_unused_images
from board.models import Image, ObjectDeletion
from board.posts import delete_post
from core import http_client, object_store
from core.object_store import ObjectStoreUnavailableError
from devstack.stores.data_dir import LOOPBACK
from tests.support.board import refusal_of, store, upload
from tests.support.clients import JSONClient
from tests.support.factories import make_post
from tests.support.images import draw
from tests.support.object_store import (
    CONTENT,
    FakeObjectStore,
    address_store,
    make_image,
)

MINUTE = timedelta(minutes=1)
UNAVAILABLE = (503, "IMAGE_STORE_UNAVAILABLE")
MISSING = "its object is missing or damaged"


def read(path: str, **headers: str) -> Any:
    return JSONClient().send("GET", path, **headers)


def test_image_in_the_store_is_served_as_one_in_the_database(
    client: JSONClient, image_store: FakeObjectStore, settings: Any
) -> None:
    content = draw("jpeg")
    in_store = store(client, content)
    settings.IMAGE_STORE = "DATABASE"
    in_database = store(client, content)
    image = Image.objects.get(object_key__isnull=False)
    assert image.content is None
    assert image_store.list_keys() == [image.object_key]
    assert not ObjectDeletion.objects.exists()
    answers = [JSONClient().get(path) for path in (in_store, in_database)]
    assert answers[0].content == answers[1].content
    for name in ("ETag", "Content-Length", "Content-Type", "Cache-Control"):
        assert answers[0].headers[name] == answers[1].headers[name]


def test_keys_of_objects_cannot_be_guessed_and_are_never_used_twice(
    client: JSONClient, image_store: FakeObjectStore
) -> None:
    for _ in range(2):
        store(client, draw())
    first, second = Image.objects.all()
    for image in (first, second):
        assert str(image.pk) in str(image.object_key)
    assert str(first.object_key)[-16:] != str(second.object_key)[-16:]


def test_store_is_not_asked_for_what_the_client_has(
    client: JSONClient, image_store: FakeObjectStore
) -> None:
    path = store(client, draw())
    etag = JSONClient().get(path).headers["ETag"]
    image_store.stop()
    assert JSONClient().head(path).status_code == 200
    assert JSONClient().get(path, HTTP_IF_NONE_MATCH=etag).status_code == 304
    assert refusal_of(read(path)) == UNAVAILABLE


def test_store_that_is_down_is_503_and_leaves_the_rest_alone(
    client: JSONClient, image_store: FakeObjectStore, settings: Any
) -> None:
    settings.IMAGE_STORE = "DATABASE"
    in_database = store(client, draw())
    settings.IMAGE_STORE = "S3"
    in_store = store(client, draw())
    image_store.stop()
    answers = [upload(client, draw()), read(in_store)]
    for answer in answers:
        assert refusal_of(answer) == UNAVAILABLE
        assert int(answer.headers["Retry-After"]) > 0
    assert Image.objects.count() == 2
    assert JSONClient().get(in_database).status_code == 200
    assert client.send("GET", "/api/board/posts").status_code == 200
    image_store.start()
    assert JSONClient().get(in_store).status_code == 200


def test_upload_that_is_not_stored_counts_as_an_attempt_only(
    client: JSONClient, image_store: FakeObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = RateLimitPolicy("images", 1, timedelta(hours=1))
    monkeypatch.setattr(images, "UPLOAD_LIMIT", limit)
    image_store.stop()
    assert refusal_of(upload(client, draw())) == UNAVAILABLE
    image_store.start()
    assert upload(client, draw()).status_code == 201
    assert refusal_of(upload(client, draw())) == (429, "RATE_LIMITED")


def test_store_that_hangs_is_503_in_time_and_is_then_left_alone(
    client: JSONClient,
    image_store: FakeObjectStore,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(object_store, "READ_TIMEOUT_SECONDS", 0.6)
    path = store(client, draw())
    with socket.create_server((LOOPBACK, 0)) as hanging:
        settings.OBJECT_STORE = address_store(hanging.getsockname()[1])
        assert refusal_of(read(path)) == UNAVAILABLE
        hanging.accept()[0].close()
        hanging.settimeout(0.1)
        assert refusal_of(read(path)) == UNAVAILABLE
        with pytest.raises(TimeoutError):
            hanging.accept()


def test_image_in_a_store_that_is_not_set_up_is_503(
    client: JSONClient, image_store: FakeObjectStore, settings: Any
) -> None:
    path = store(client, draw())
    settings.OBJECT_STORE = None
    assert refusal_of(read(path)) == UNAVAILABLE


@pytest.mark.parametrize("damaged", [None, b"other", CONTENT + b"!", CONTENT[:-1]])
def test_object_that_is_missing_or_damaged_is_503_and_logged(
    image_store: FakeObjectStore,
    free_member: Member,
    damaged: bytes | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    image = make_image(free_member, in_store=True)
    image_store.delete(str(image.object_key))
    if damaged is not None:
        image_store.put(str(image.object_key), damaged)
    with caplog.at_level(logging.WARNING):
        answer = read(f"/api/images/{image.pk}")
    assert refusal_of(answer) == UNAVAILABLE
    assert caplog.records
    if damaged is None:
        assert f"image {image.pk}: {MISSING}" in caplog.text


def test_one_bad_object_closes_the_store_for_no_other(
    image_store: FakeObjectStore, free_member: Member
) -> None:
    bad, good = (make_image(free_member, in_store=True) for _ in range(2))
    image_store.put(str(bad.object_key), CONTENT * 2)
    for _ in range(10):
        assert refusal_of(read(f"/api/images/{bad.pk}")) == UNAVAILABLE
    assert JSONClient().get(f"/api/images/{good.pk}").status_code == 200


def test_probe_finds_a_store_that_is_back(
    image_store: FakeObjectStore,
    free_member: Member,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    breaker = http_client.circuit_breaker
    image, up = make_image(free_member, in_store=True), settings.OBJECT_STORE
    image_store.stop()
    while breaker.is_closed(object_store.SERVICE):
        assert refusal_of(read(f"/api/images/{image.pk}")) == UNAVAILABLE
    settings.OBJECT_STORE = up
    assert not object_store.is_reachable()
    # Its time to try again has come, and no image is asked for.
    monkeypatch.setattr(breaker, "allows_request", lambda key: True)
    assert object_store.is_reachable()
    assert breaker.is_closed(object_store.SERVICE)


def test_run_ends_where_the_store_refuses_all_deletions(
    image_store: FakeObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_objects, "DELETION_BATCH_SIZE", 2)
    now = timezone.now()
    for number in range(6):
        ObjectDeletion.objects.create(
            key=f"{number}", delete_after=now, next_attempt_at=now
        )
    image_store.stop()
    with pytest.raises(ObjectStoreUnavailableError):
        delete_due_objects(now)
    assert ObjectDeletion.objects.filter(attempts=0).count() == 4


def test_object_of_a_refused_upload_is_deleted_an_hour_later(
    client: JSONClient,
    free_member: Member,
    image_store: FakeObjectStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The last free place is taken while the object is written.
    put_object = object_store.put_object

    def fill_quota(*arguments: Any) -> None:
        put_object(*arguments)
        fields = {"width": 1, "height": 1, "size": 1, "content": b"x"}
        Image.objects.bulk_create(
            Image(member=free_member, **fields) for _ in range(MAX_IMAGES)
        )

    monkeypatch.setattr(object_store, "put_object", fill_quota)
    assert upload(client, draw()).status_code == 400
    now = timezone.now()
    assert len(image_store.list_keys()) == 1
    assert delete_due_objects(now + WRITE_TIME - MINUTE) == 0
    assert len(image_store.list_keys()) == 1
    assert delete_due_objects(now + WRITE_TIME + MINUTE) == 1
    assert image_store.list_keys() == []
    assert not ObjectDeletion.objects.exists()


def show_in_post(image: Image) -> int:
    content = f'<p>Rice <img src="/api/images/{image.pk}"></p>'
    post = make_post(image.member, content=content)
    image.shown_in.create(post=post)
    Image.objects.filter(pk=image.pk).update(unused_since=None)
    return post.pk


def delete_with_post(image: Image) -> None:
    delete_post(image.member, show_in_post(image), timezone.now())


def delete_as_moderator(image: Image) -> None:
    delete_images([image.pk])


def delete_with_account(image: Image) -> None:
    delete_account(image.member)


def purge(image: Image) -> None:
    purge_unused_images(timezone.now())


def delete_by_hand(image: Image) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM board_image WHERE id = %s", [image.pk])


DELETIONS = [
    *(delete_with_post, delete_as_moderator, delete_with_account, purge),
    delete_by_hand,
]


@pytest.mark.parametrize("deletion", DELETIONS)
def test_object_is_deleted_after_its_image_however_that_is_deleted(
    image_store: FakeObjectStore,
    free_member: Member,
    other_member: Member,
    deletion: Callable[[Image], None],
) -> None:
    image = make_image(free_member, in_store=True)
    kept = make_image(other_member, in_store=True, unused_since=timezone.now())
    deletion(image)
    assert not Image.objects.filter(pk=image.pk).exists()
    assert str(image.object_key) in image_store.list_keys()
    assert read(f"/api/images/{image.pk}").status_code == 404
    assert delete_due_objects(timezone.now()) == 1
    assert image_store.list_keys() == [kept.object_key]


def test_deletion_that_is_rolled_back_keeps_the_object(
    image_store: FakeObjectStore, free_member: Member
) -> None:
    image = make_image(free_member, in_store=True)
    with transaction.atomic():
        delete_images([image.pk])
        transaction.set_rollback(True)
    assert not has_due_objects(timezone.now())
    assert delete_due_objects(timezone.now()) == 0
    assert JSONClient().get(f"/api/images/{image.pk}").content == CONTENT


def test_failed_deletion_is_repeated_less_and_less_often(
    image_store: FakeObjectStore, free_member: Member
) -> None:
    delete_images([make_image(free_member, in_store=True).pk])
    now = timezone.now() + MINUTE
    image_store.stop()
    for wait in (1, 2, 4, 8, 16, 32, 60, 60):
        assert has_due_objects(now)
        with pytest.raises(ObjectStoreUnavailableError):
            delete_due_objects(now)
        assert not has_due_objects(now + (wait - 0.1) * MINUTE)
        now += wait * MINUTE
    image_store.start()
    assert delete_due_objects(now) == 1
    assert image_store.list_keys() == []


def test_deletion_that_was_done_and_not_recorded_is_no_error(
    image_store: FakeObjectStore, free_member: Member
) -> None:
    image = make_image(free_member, in_store=True)
    delete_images([image.pk])
    image_store.delete(str(image.object_key))
    assert delete_due_objects(timezone.now()) == 1


@pytest.mark.parametrize("fields", [{"content": None}, {"object_key": "images/a"}])
def test_bytes_lie_in_exactly_one_place(
    free_member: Member, fields: dict[str, Any]
) -> None:
    image = make_image(free_member, in_store=False)
    with pytest.raises(Exception, match="board_image_lies_in_one_place"):
        Image.objects.filter(pk=image.pk).update(**fields)
