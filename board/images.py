"""Images of posts: stored within a quota, linked to posts, purged.

Every writer of links first locks the images in the order of their ids, so that
concurrent writers see each other's links and cannot deadlock.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import IO, Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.utils.translation import gettext

from accounts.models import Member
from accounts.security.rate_limits import RateLimitPolicy
from accounts.switches.switches import Switch, lock_switch
from board.content import extract_image_ids
from board.image_objects import keep_object, read_content, write_object
from board.locking import lock_writer
from board.models import HiddenReason, Image, PostImage
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, InvalidImageError, NotFoundError
from core.images import encode_image
from core.object_store import ObjectStoreUnavailableError
from core.progress import SILENT_PROGRESS, Progress

# Limits of a member (spec 10.1).
MAX_IMAGES = 200
MAX_TOTAL_BYTES = 50 * 2**20
UPLOAD_LIMIT = RateLimitPolicy("images", 100, timedelta(hours=1))
# Decoding is expensive, even for rejected files.
UPLOAD_ATTEMPT_LIMIT = RateLimitPolicy("image-attempts", 300, timedelta(hours=1))
UNUSED_IMAGE_RETENTION = timedelta(days=1)
PURGE_BATCH_SIZE = 100

# Images that the posts show now or will show.
_LOCK = """
    SELECT id FROM board_image
    WHERE id = ANY(%(ids)s) OR id IN (
        SELECT image_id FROM board_post_image WHERE post_id = ANY(%(posts)s)
    )
    ORDER BY id FOR NO KEY UPDATE
"""
_UNLINK_OTHERS = """
    DELETE FROM board_post_image
    WHERE post_id = ANY(%(posts)s) AND image_id <> ALL(%(ids)s)
"""
_LINK = """
    INSERT INTO board_post_image (post_id, image_id)
    SELECT post, image
    FROM unnest(%(posts)s::bigint[]) AS post, unnest(%(ids)s::uuid[]) AS image
    ON CONFLICT DO NOTHING
"""
_UPDATE_UNUSED_SINCE = """
    UPDATE board_image image
    SET unused_since = CASE WHEN use.is_used THEN NULL ELSE %(now)s END
    FROM (
        SELECT id, EXISTS (
            SELECT FROM board_post_image shown WHERE shown.image_id = board_image.id
        ) AS is_used
        FROM board_image WHERE id = ANY(%(ids)s)
    ) use
    WHERE image.id = use.id AND use.is_used = (image.unused_since IS NOT NULL)
"""
# Posts may be deleted without this module, by a cascade or by hand.
_LOCK_ORPHANS = """
    SELECT id FROM board_image image
    WHERE unused_since IS NULL AND NOT EXISTS (
        SELECT FROM board_post_image shown WHERE shown.image_id = image.id
    )
    ORDER BY id LIMIT %(batch)s FOR UPDATE SKIP LOCKED
"""
_LOCK_UNUSED = """
    SELECT id FROM board_image WHERE unused_since <= %(before)s
    ORDER BY id LIMIT %(batch)s FOR UPDATE SKIP LOCKED
"""
_UNLINK_EVERYWHERE = "DELETE FROM board_post_image WHERE image_id = ANY(%(ids)s)"
_DELETE = "DELETE FROM board_image WHERE id = ANY(%(ids)s)"
_LOCK_CHOSEN = """
    SELECT id FROM board_image WHERE id = ANY(%(ids)s) ORDER BY id FOR UPDATE
"""
_DELETE_UNUSED = """
    DELETE FROM board_image image
    WHERE id = ANY(%(ids)s) AND NOT EXISTS (
        SELECT FROM board_post_image shown WHERE shown.image_id = image.id
    ) AND (%(uploader)s::bigint IS NULL OR member_id = %(uploader)s)
"""


def create_image(member: Member, file: IO[bytes], now: datetime) -> Image:
    """Re-encode an image and store it, not yet used by a post.

    Raises `InvalidImageError`, `RateLimitedError`, `ObjectStoreUnavailableError`, and
    `InvalidFieldError` for a full quota.
    """
    UPLOAD_ATTEMPT_LIMIT.consume(str(member.pk))
    upload = UPLOAD_LIMIT.consume(str(member.pk))
    try:
        # Decoding is expensive. Under the lock the size is known.
        _require_quota(member, 0)
        encoded = encode_image(file, "post")
        image = Image(
            member=member,
            content_type=encoded.content_type,
            width=encoded.width,
            height=encoded.height,
            size=len(encoded.content),
            content_hash=hashlib.sha256(encoded.content).hexdigest(),
            created_at=now,
            unused_since=now,
        )
        if settings.IMAGE_STORE == "S3":
            # It takes long, and must not keep locks.
            image.object_key = write_object(
                image.pk, encoded.content, image.content_type, image.content_hash
            )
        else:
            image.content = encoded.content
        return _store_image(member, image, now)
    except (InvalidImageError, InvalidFieldError, ObjectStoreUnavailableError):
        # A rejected file counts as an attempt only, as does one that is not stored.
        upload.refund()
        raise


@retry_on_conflict
def _store_image(member: Member, image: Image, now: datetime) -> Image:
    with transaction.atomic():
        lock_writer(member, now)
        lock_switch(Switch.IMAGES)
        _require_quota(member, image.size)
        image.save(force_insert=True)
        if image.object_key is not None:
            keep_object(image.object_key)
    return image


def get_image(image_id: UUID) -> Image:
    """Raise `NotFoundError` too if only posts show it that staff took away."""
    shown = PostImage.objects.filter(image=OuterRef("pk"))
    taken = Q(post__remove_after__isnull=False) | Q(
        post__hidden_reason=HiddenReason.BLIND
    )
    rows = Image.objects.filter(Exists(shown.exclude(taken)) | ~Exists(shown))
    image = rows.filter(pk=image_id).first()
    if image is None:
        raise NotFoundError
    return image


def read_image(image: Image) -> bytes:
    """Return the bytes; raise `NotFoundError`, `ObjectStoreUnavailableError`."""
    try:
        return read_content(image)
    except Image.DoesNotExist:
        raise NotFoundError from None


def sync_post_images(post_id: int, html: str, now: datetime) -> None:
    """Link a post to the existing images that its sanitized content shows.

    Call it in the transaction that writes the post. Images of others may be shown.
    """
    _sync_links([post_id], extract_image_ids(html), now)


def unlink_images(post_ids: Iterable[int], now: datetime) -> None:
    _sync_links(list(post_ids), set(), now)


def delete_post_images(
    post_ids: Iterable[int], now: datetime, *, uploader: Member | None = None
) -> None:
    """Unlink all images from posts that are being deleted; delete unused images.

    With `uploader` the images of others only become unused.
    """
    params: dict[str, Any] = {
        "ids": _sync_links(list(post_ids), set(), now),
        "uploader": uploader.pk if uploader else None,
    }
    if params["ids"]:
        with connection.cursor() as cursor:
            cursor.execute(_DELETE_UNUSED, params)


def delete_images(image_ids: Iterable[UUID]) -> list[UUID]:
    """Delete images that posts may show; return the ids that existed."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_CHOSEN, {"ids": list(image_ids)})
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_UNLINK_EVERYWHERE, {"ids": ids})
        cursor.execute(_DELETE, {"ids": ids})
    return ids


def purge_unused_images(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Delete the images that no post has shown for a day; return their number."""
    while _mark_orphans_unused(now):
        pass
    purged = 0
    while True:
        found, deleted = _purge_batch(now)
        purged += deleted
        progress.update(f"{purged} images so far")
        if not found:
            return purged


def _require_quota(member: Member, extra_bytes: int) -> None:
    used = Image.objects.filter(member=member).aggregate(
        images=Count("id"), bytes=Sum("size", default=0)
    )
    if used["images"] >= MAX_IMAGES:
        detail = gettext("You already have {limit} images.").format(limit=MAX_IMAGES)
        raise InvalidFieldError("image", detail, "quota")
    if used["bytes"] + extra_bytes > MAX_TOTAL_BYTES:
        detail = gettext("Your images would take more than {limit} MB.")
        detail = detail.format(limit=MAX_TOTAL_BYTES >> 20)
        raise InvalidFieldError("image", detail, "quota")


def _sync_links(post_ids: list[int], shown: set[UUID], now: datetime) -> list[UUID]:
    """Link the posts to the shown images, and to no others.

    Returns the ids of images that the posts show now or showed before, locked.
    """
    with connection.cursor() as cursor:
        params: dict[str, Any] = {"posts": post_ids, "ids": list(shown), "now": now}
        cursor.execute(_LOCK, params)
        locked = [row[0] for row in cursor.fetchall()]
        if not locked:
            return []
        params["ids"] = [image_id for image_id in locked if image_id in shown]
        cursor.execute(_UNLINK_OTHERS, params)
        cursor.execute(_LINK, params)
        cursor.execute(_UPDATE_UNUSED_SINCE, params | {"ids": locked})
    return locked


@retry_on_conflict
@transaction.atomic
def _mark_orphans_unused(now: datetime) -> bool:
    """Mark a batch of orphans as unused; return False without one."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_ORPHANS, {"batch": PURGE_BATCH_SIZE})
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_UPDATE_UNUSED_SINCE, {"ids": ids, "now": now})
        return bool(ids)


@retry_on_conflict
@transaction.atomic
def _purge_batch(now: datetime) -> tuple[int, int]:
    """Delete a batch; return the numbers found and deleted."""
    with connection.cursor() as cursor:
        params: dict[str, Any] = {
            "before": now - UNUSED_IMAGE_RETENTION,
            "batch": PURGE_BATCH_SIZE,
        }
        cursor.execute(_LOCK_UNUSED, params)
        ids = [row[0] for row in cursor.fetchall()]
        # A second statement has a newer snapshot, which has all links from before the
        # lock. Later writers wait, and find the images deleted.
        cursor.execute(_DELETE_UNUSED, {"ids": ids, "uploader": None})
        deleted = cursor.rowcount
        # The remaining images are used after all.
        cursor.execute(_UPDATE_UNUSED_SINCE, {"ids": ids, "now": now})
    return len(ids), deleted
