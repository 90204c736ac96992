"""Comparison of the images with the objects of the store, after a restore."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from board.image_objects import KEY_PREFIX, load_content
from board.models import Image, ObjectDeletion
from core import object_store
from core.object_store import ObjectMissingError, StoredObject
from core.progress import SILENT_PROGRESS, Progress

BATCH_SIZE = 500
# A younger object may belong to an image that is being written.
MIN_ORPHAN_AGE = timedelta(days=1)


@dataclass(slots=True)
class CheckResult:
    images: int = 0
    # Ids of images whose object is missing or damaged.
    damaged: list[UUID] = field(default_factory=list)
    # Objects that no image has and no deletion waits for.
    orphans: int = 0


def check_images(
    now: datetime, *, deletes_orphans: bool, progress: Progress = SILENT_PROGRESS
) -> CheckResult:
    """Read each object that an image has, and look for objects without an image."""
    result = CheckResult()
    rows = Image.objects.filter(object_key__isnull=False).order_by("pk")
    for image in rows.iterator(BATCH_SIZE):
        result.images += 1
        if not _is_whole(image):
            result.damaged.append(image.pk)
        progress.update(f"{result.images} images so far")
    for batch in _in_batches(object_store.list_objects(KEY_PREFIX)):
        old = [item.key for item in batch if now - item.modified_at >= MIN_ORPHAN_AGE]
        known = set(
            Image.objects.filter(object_key__in=old).values_list(
                "object_key", flat=True
            )
        ) | set(
            ObjectDeletion.objects.filter(key__in=old).values_list("key", flat=True)
        )
        orphans = [key for key in old if key not in known]
        result.orphans += len(orphans)
        if deletes_orphans:
            ObjectDeletion.objects.bulk_create(
                [
                    ObjectDeletion(key=key, delete_after=now, next_attempt_at=now)
                    for key in orphans
                ],
                ignore_conflicts=True,
            )
    return result


def _is_whole(image: Image) -> bool:
    try:
        load_content(image)
    except ObjectMissingError:
        # It was moved or deleted meanwhile.
        return not Image.objects.filter(
            pk=image.pk, object_key=image.object_key
        ).exists()
    return True


def _in_batches(items: Iterable[StoredObject]) -> Iterator[list[StoredObject]]:
    batch: list[StoredObject] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH_SIZE:
            yield batch
            batch = []
    if batch:
        yield batch
