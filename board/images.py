"""Images of posts: stored within a quota, linked to the posts that show them, purged.

Every writer of links locks the rows of the images first, in the order of their ids, so
that concurrent writers see each other's links and cannot deadlock.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import IO, Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Sum
from django.utils.translation import gettext

from accounts.models import Member
from accounts.rate_limits import RateLimitPolicy, consume_attempt, refund_attempt
from board.content import extract_image_ids
from board.locking import lock_member_for_update
from board.models import Image
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, InvalidImageError, NotFoundError
from core.images import EncodedImage, encode_image
from core.progress import SILENT_PROGRESS, Progress

# Of one member, as stored (spec 10.1).
MAX_IMAGES = 200
MAX_TOTAL_BYTES = 50 * 2**20
UPLOAD_LIMIT = RateLimitPolicy("images", 100, timedelta(hours=1))
# Counts rejected files too: to decode them is work.
UPLOAD_ATTEMPT_LIMIT = RateLimitPolicy("image-attempts", 300, timedelta(hours=1))
UNUSED_IMAGE_RETENTION = timedelta(days=1)
PURGE_BATCH_SIZE = 100

# The images that the posts shall show, and those that they show now.
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
# Only rows whose state changes: an image that stays unused keeps its time.
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
# Images that count as used although their posts were deleted past this module, as by a
# cascade or by hand.
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
_LOCK_OWN = """
    SELECT id FROM board_image WHERE member_id = %(member)s ORDER BY id FOR UPDATE
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
    )
"""
_DELETE_UNUSED_OF_UPLOADER = f"{_DELETE_UNUSED} AND member_id = %(uploader)s"


def create_image(member: Member, file: IO[bytes], now: datetime) -> Image:
    """Re-encode an uploaded image and store it, not yet used by a post.

    Raises `InvalidImageError`, `RateLimitedError` after 100 uploads within an hour, and
    `InvalidFieldError` if the member's quota is used up.
    """
    consume_attempt(UPLOAD_ATTEMPT_LIMIT, str(member.pk))
    upload = consume_attempt(UPLOAD_LIMIT, str(member.pk))
    try:
        # Before the file is decoded, which is expensive, and again below the lock, when
        # the size is known and no concurrent upload can use the quota.
        _require_quota(member, 0)
        return _store_image(member, encode_image(file, "post"), now)
    except (InvalidImageError, InvalidFieldError):
        # A rejected file does not count as an upload, only as an attempt.
        refund_attempt(upload)
        raise


@retry_on_conflict
def _store_image(member: Member, encoded: EncodedImage, now: datetime) -> Image:
    with transaction.atomic():
        lock_member_for_update(member)
        _require_quota(member, len(encoded.content))
        return Image.objects.create(
            member=member,
            content=encoded.content,
            content_type=encoded.content_type,
            width=encoded.width,
            height=encoded.height,
            size=len(encoded.content),
            content_hash=hashlib.sha256(encoded.content).hexdigest(),
            created_at=now,
            unused_since=now,
        )


def get_image(image_id: UUID) -> Image:
    """Return an image with its content; raise `NotFoundError`."""
    image = Image.objects.filter(pk=image_id).first()
    if image is None:
        raise NotFoundError
    return image


def sync_post_images(post_id: int, html: str, now: datetime) -> None:
    """Link a post to exactly the images that its sanitized content shows.

    Call in the transaction that writes the post. Images of other members may be shown;
    deleted ones are not linked.
    """
    _sync_links([post_id], extract_image_ids(html), now)


def unlink_images(post_ids: Iterable[int], now: datetime) -> None:
    """Unlink all images from posts that are being deleted."""
    _sync_links(list(post_ids), set(), now)


def delete_post_images(
    post_ids: Iterable[int], now: datetime, *, uploader: Member | None = None
) -> None:
    """Unlink all images from posts that are being deleted, and delete the images too.

    Those that other posts show stay. With `uploader` only this member's images are
    deleted; those of others become unused.
    """
    unlinked = _sync_links(list(post_ids), set(), now)
    if not unlinked:
        return
    with connection.cursor() as cursor:
        if uploader is None:
            cursor.execute(_DELETE_UNUSED, {"ids": unlinked})
        else:
            params: dict[str, Any] = {"ids": unlinked, "uploader": uploader.pk}
            cursor.execute(_DELETE_UNUSED_OF_UPLOADER, params)


def delete_images(image_ids: Iterable[UUID]) -> list[UUID]:
    """Delete images, also those that posts show; return the ids of those that existed.

    The posts keep an empty place.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_CHOSEN, {"ids": list(image_ids)})
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_UNLINK_EVERYWHERE, {"ids": ids})
        cursor.execute(_DELETE, {"ids": ids})
    return ids


def delete_member_images(member: Member) -> None:
    """Delete all images of a member, also those that posts of others show."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_OWN, {"member": member.pk})
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_UNLINK_EVERYWHERE, {"ids": ids})
        cursor.execute(_DELETE, {"ids": ids})


def purge_unused_images(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Delete the images that no post has shown for a day; return their number.

    Orphans, whose posts were deleted without unlinking, count as unused from now on.
    """
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
    """Raise `InvalidFieldError` if one more image would exceed the member's quota."""
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
    """Link the posts to the shown images that exist, and to no others.

    Return the ids of the images, locked, that the posts show now or showed before.
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
    """Mark one batch of orphans as unused; return False if there are none left."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_ORPHANS, {"batch": PURGE_BATCH_SIZE})
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_UPDATE_UNUSED_SINCE, {"ids": ids, "now": now})
        return bool(ids)


@retry_on_conflict
@transaction.atomic
def _purge_batch(now: datetime) -> tuple[int, int]:
    """Delete one batch of unused images; return the numbers found and deleted."""
    with connection.cursor() as cursor:
        params: dict[str, Any] = {
            "before": now - UNUSED_IMAGE_RETENTION,
            "batch": PURGE_BATCH_SIZE,
        }
        cursor.execute(_LOCK_UNUSED, params)
        ids = [row[0] for row in cursor.fetchall()]
        # A second statement has a newer snapshot: it sees links that were committed
        # before the rows were locked. Later writers wait, and find the images deleted.
        cursor.execute(_DELETE_UNUSED, {"ids": ids})
        deleted = cursor.rowcount
        # The others are used after all.
        cursor.execute(_UPDATE_UNUSED_SINCE, {"ids": ids, "now": now})
    return len(ids), deleted
