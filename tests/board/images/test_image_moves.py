"""`move_images` and `check_images`: the database and the store, in both directions."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Member
from board import image_checks, image_moves
from board.image_checks import MIN_ORPHAN_AGE, check_images
from board.image_moves import move_images
from board.image_objects import WRITE_TIME, delete_due_objects
from board.models import Image, ObjectDeletion
from core import object_store
from tests.support.clients import JSONClient
from tests.support.object_store import CONTENT, FakeObjectStore, make_image

HOUR = timedelta(hours=1)


@pytest.fixture
def images(free_member: Member) -> list[Image]:
    """Return images in the database."""
    return [
        make_image(free_member, in_store=False, content=CONTENT + bytes([number]))
        for number in range(5)
    ]


def assert_readable(images: list[Image]) -> None:
    for image in images:
        assert JSONClient().get(f"/api/images/{image.pk}").content == image.content


def count_in_store() -> int:
    return Image.objects.filter(object_key__isnull=False, content=None).count()


@pytest.mark.parametrize("batch_size", [2, 100])
def test_images_move_to_the_store_and_back(
    image_store: FakeObjectStore,
    images: list[Image],
    batch_size: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(image_moves, "BATCH_SIZE", batch_size)
    call_command("move_images", to="s3")
    assert capsys.readouterr().out == "5 images moved, 90 bytes.\n"
    assert (count_in_store(), len(image_store.list_keys())) == (5, 5)
    assert_readable(images)
    assert not ObjectDeletion.objects.exists()
    call_command("move_images", to="s3")
    assert capsys.readouterr().out == "0 images moved, 0 bytes.\n"
    call_command("move_images", to="database")
    assert (count_in_store(), len(image_store.list_keys())) == (0, 5)
    assert delete_due_objects(timezone.now()) == 5
    assert image_store.list_keys() == []
    assert_readable(images)


def test_dry_run_moves_nothing(
    image_store: FakeObjectStore,
    images: list[Image],
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("move_images", to="s3", dry_run=True)
    assert capsys.readouterr().out == "5 images would be moved, 90 bytes.\n"
    assert (count_in_store(), image_store.list_keys()) == (0, [])


def test_move_that_broke_off_goes_on(
    image_store: FakeObjectStore,
    images: list[Image],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_object, calls = object_store.put_object, []

    def break_off(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 3:
            image_store.stop()
        put_object(*arguments)

    monkeypatch.setattr(object_store, "put_object", break_off)
    with pytest.raises(CommandError, match=r"Run this again\."):
        call_command("move_images", to="s3")
    assert count_in_store() == 2
    image_store.start()
    assert_readable(images)
    assert move_images(to_store=True).moved == 3
    assert_readable(images)
    # The object that may have been written is deleted an hour later.
    assert ObjectDeletion.objects.count() == 1
    assert delete_due_objects(timezone.now() + WRITE_TIME + HOUR) == 1
    assert len(image_store.list_keys()) == 5


def test_copy_that_differs_is_not_taken(
    image_store: FakeObjectStore,
    images: list[Image],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    damaged = images[2]
    put_object = object_store.put_object

    def damage(key: str, content: bytes, content_type: str) -> None:
        if str(damaged.pk) in key:
            content = b"?" * len(content)
        put_object(key, content, content_type)

    monkeypatch.setattr(object_store, "put_object", damage)
    with pytest.raises(CommandError, match=r"1 images are damaged\."):
        call_command("move_images", to="s3")
    assert f"image {damaged.pk} is damaged" in capsys.readouterr().err
    assert count_in_store() == 4
    assert_readable(images)


def test_damaged_images_stay_where_they_are(
    image_store: FakeObjectStore, images: list[Image]
) -> None:
    in_database = images[0]
    Image.objects.filter(pk=in_database.pk).update(content=b"damaged")
    assert move_images(to_store=True).damaged == [in_database.pk]
    in_store = Image.objects.get(pk=images[1].pk)
    image_store.put(str(in_store.object_key), b"damaged")
    lost = Image.objects.get(pk=images[2].pk)
    image_store.delete(str(lost.object_key))
    assert set(move_images(to_store=False).damaged) == {in_store.pk, lost.pk}
    assert count_in_store() == 2
    assert_readable(images[3:])


@pytest.mark.parametrize("command", ["move_images", "check_images"])
def test_commands_without_a_bucket_fail_with_a_line(command: str) -> None:
    options = {"to": "s3"} if command == "move_images" else {}
    with pytest.raises(CommandError, match=r"S3_BUCKET is not set\."):
        call_command(command, **options)


def test_check_names_images_without_their_object(
    image_store: FakeObjectStore,
    free_member: Member,
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, lost, damaged = (make_image(free_member, in_store=True) for _ in range(3))
    call_command("check_images")
    assert capsys.readouterr().out == (
        "3 images in the store; 0 objects have no image.\n"
    )
    image_store.delete(str(lost.object_key))
    image_store.put(str(damaged.object_key), b"damaged")
    with pytest.raises(CommandError, match=r"2 are missing or damaged\."):
        call_command("check_images")
    named = capsys.readouterr().err
    assert str(whole.pk) not in named
    for image in (lost, damaged):
        assert f"image {image.pk} is missing or damaged" in named


def test_objects_of_more_than_a_day_ago_without_an_image_are_orphans(
    image_store: FakeObjectStore,
    free_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(image_checks, "BATCH_SIZE", 2)
    monkeypatch.setattr(object_store, "PAGE_SIZE", 2)
    kept = [str(make_image(free_member, in_store=True).object_key) for _ in range(3)]
    for number in range(3):
        image_store.put(f"images/00000000-{number}", b"orphan")
    image_store.put("others/1", b"not ours")
    now = timezone.now()
    young = check_images(now, deletes_orphans=True)
    assert (young.images, young.orphans) == (3, 0)
    later = now + MIN_ORPHAN_AGE + HOUR
    assert check_images(later, deletes_orphans=False).orphans == 3
    assert delete_due_objects(later) == 0
    assert check_images(later, deletes_orphans=True).orphans == 3
    assert check_images(later, deletes_orphans=True).orphans == 0
    assert delete_due_objects(later) == 3
    assert sorted(image_store.list_keys()) == sorted([*kept, "others/1"])
