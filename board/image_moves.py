"""Moves of images between the database and the object store."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from board.image_objects import keep_object, load_content, write_object
from board.models import Image
from core import object_store
from core.db.transactions import retry_on_conflict
from core.object_store import ObjectMissingError
from core.progress import SILENT_PROGRESS, Progress

BATCH_SIZE = 100


@dataclass(slots=True)
class MoveResult:
    """Damaged images stay where they are."""

    moved: int = 0
    moved_bytes: int = 0
    damaged: list[UUID] = field(default_factory=list)


def move_images(
    *, to_store: bool, is_dry_run: bool = False, progress: Progress = SILENT_PROGRESS
) -> MoveResult:
    """Move all images, one by one; they are read and deleted meanwhile.

    Raises `ObjectStoreUnavailableError`; the next call goes on with the rest.
    """
    move: Callable[[UUID], bool] = _move_to_store if to_store else _move_to_database
    result = MoveResult()
    for image_id, size in _list_images(in_store=not to_store):
        try:
            is_moved = is_dry_run or move(image_id)
        except ObjectMissingError:
            result.damaged.append(image_id)
            continue
        if is_moved:
            result.moved += 1
            result.moved_bytes += size
        progress.update(f"{result.moved} images so far")
    return result


def _list_images(*, in_store: bool) -> Iterator[tuple[UUID, int]]:
    rows = Image.objects.filter(object_key__isnull=not in_store).order_by("id")
    last_id: UUID | None = None
    while True:
        rest = rows if last_id is None else rows.filter(pk__gt=last_id)
        batch = list(rest.values_list("pk", "size")[:BATCH_SIZE])
        if not batch:
            return
        yield from batch
        last_id = batch[-1][0]


def _move_to_store(image_id: UUID) -> bool:
    """Return False for an image that was moved or deleted meanwhile."""
    image = Image.objects.filter(pk=image_id, object_key=None).first()
    if image is None:
        return False
    content = load_content(image)
    if hashlib.sha256(content).hexdigest() != image.content_hash:
        raise ObjectMissingError
    key = write_object(image_id, content, image.content_type, image.content_hash)
    if object_store.get_object(key, max_bytes=len(content)) != content:
        raise ObjectMissingError
    return _give_object(image_id, key)


@retry_on_conflict
@transaction.atomic
def _give_object(image_id: UUID, key: str) -> bool:
    rows = Image.objects.filter(pk=image_id, object_key=None)
    if not rows.update(content=None, object_key=key):
        return False
    keep_object(key)
    return True


def _move_to_database(image_id: UUID) -> bool:
    image = Image.objects.filter(pk=image_id, object_key__isnull=False).first()
    if image is None:
        return False
    try:
        content = load_content(image)
    except ObjectMissingError:
        # Another move or a deletion was faster.
        if not Image.objects.filter(pk=image_id, object_key=image.object_key).exists():
            return False
        raise
    return _give_content(image, content)


@retry_on_conflict
@transaction.atomic
def _give_content(image: Image, content: bytes) -> bool:
    # A trigger has the object deleted.
    rows = Image.objects.filter(pk=image.pk, object_key=image.object_key)
    return bool(rows.update(content=content, object_key=None))
