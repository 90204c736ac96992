"""Images whose bytes are objects of the store.

PostgreSQL decides which images there are. `ObjectDeletion` lists each object from
before its write until an image has it, and again once no image has it any more.
"""

import hashlib
import logging
import secrets
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.utils import timezone

from board.models import Image, ObjectDeletion
from core import object_store
from core.db.transactions import retry_on_conflict
from core.object_store import ObjectMissingError, ObjectStoreUnavailableError
from core.progress import SILENT_PROGRESS, Progress

logger = logging.getLogger(__name__)

KEY_PREFIX = "images/"
# Longer than a write, and the transaction after it, can take.
WRITE_TIME = timedelta(hours=1)
DELETION_BATCH_SIZE = 100

# Failed deletions wait for 1 minute, then 2, 4 and so on to an hour.
_CLAIM = """
    UPDATE board_object_deletion
    SET attempts = least(attempts + 1, 1000),
        next_attempt_at = %(now)s
            + least(interval '1 minute' * 2 ^ least(attempts, 6), interval '1 hour')
    WHERE key IN (
        SELECT key FROM board_object_deletion
        WHERE delete_after <= %(now)s AND next_attempt_at <= %(now)s
        ORDER BY next_attempt_at, key LIMIT %(batch)s FOR UPDATE SKIP LOCKED
    )
    RETURNING key
"""


def write_object(
    image_id: UUID, content: bytes, content_type: str, content_hash: str
) -> str:
    """Write the bytes of an image, outside of a transaction; return the new key.

    The object is deleted after `WRITE_TIME` unless `keep_object` is called.
    """
    key = f"{KEY_PREFIX}{image_id}/{content_hash[:16]}-{secrets.token_hex(8)}"
    end = timezone.now() + WRITE_TIME
    ObjectDeletion.objects.create(key=key, delete_after=end, next_attempt_at=end)
    object_store.put_object(key, content, content_type)
    return key


def keep_object(key: str) -> None:
    """Keep a written object; call it in the transaction that gives it to the image.

    Raises `ObjectStoreUnavailableError` if the object may have been deleted.
    """
    kept, _ = ObjectDeletion.objects.filter(key=key, attempts=0).delete()
    if not kept:
        raise ObjectStoreUnavailableError


def read_content(image: Image) -> bytes:
    """Return the bytes of an image, wherever they lie.

    Raises `Image.DoesNotExist` for an image that was deleted meanwhile, and
    `ObjectStoreUnavailableError`.
    """
    try:
        return load_content(image)
    except ObjectMissingError:
        # It was moved or deleted meanwhile.
        image = Image.objects.get(pk=image.pk)
    try:
        return load_content(image)
    except ObjectMissingError:
        logger.error("image %s: its object is missing or damaged", image.pk)
        raise ObjectStoreUnavailableError from None


def load_content(image: Image) -> bytes:
    """Raise `ObjectMissingError` for an object that is missing or damaged."""
    if image.object_key is None:
        return bytes(image.content or b"")
    content = object_store.get_object(image.object_key, max_bytes=image.size)
    if hashlib.sha256(content).hexdigest() != image.content_hash:
        raise ObjectMissingError
    return content


def has_due_objects(now: datetime) -> bool:
    due = ObjectDeletion.objects.filter(delete_after__lte=now, next_attempt_at__lte=now)
    return due.exists()


def delete_due_objects(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Delete the objects that no image has; return their number.

    Raises `ObjectStoreUnavailableError` after all others if some were not deleted,
    which are tried again.
    """
    deleted = failed = 0
    while keys := _claim_batch(now):
        done = []
        for key in keys:
            try:
                object_store.delete_object(key)
            except ObjectStoreUnavailableError:
                failed += 1
            else:
                done.append(key)
        ObjectDeletion.objects.filter(key__in=done).delete()
        deleted += len(done)
        if not done:
            # The store is away, or refuses all; the rest stays due.
            break
        progress.update(f"{deleted} objects so far")
    if failed:
        raise ObjectStoreUnavailableError
    return deleted


@retry_on_conflict
def _claim_batch(now: datetime) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"now": now, "batch": DELETION_BATCH_SIZE})
        return [key for (key,) in cursor.fetchall()]
