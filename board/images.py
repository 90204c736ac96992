"""Pictures for posts: stored within a quota, tied to the posts that show them, purged.

Whoever ties or purges pictures locks their rows first, in the order of their ids, so
that each sees what the others have done.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import IO, Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Sum

from accounts.models import Member
from accounts.rate_limits import RateLimitPolicy, consume_attempt, refund_attempt
from board.content import extract_image_ids
from board.image_processing import EncodedImage, reencode_image
from board.locking import lock_member_for_update
from board.models import Image
from core.errors import InvalidFieldError, InvalidImageError, NotFoundError
from core.progress import SILENT_PROGRESS, Progress

MAX_IMAGES = 200
MAX_TOTAL_BYTES = 50 * 2**20
"""Of all pictures that one member keeps, as they are stored."""
UPLOAD_LIMIT = RateLimitPolicy("images", 100, timedelta(hours=1))
UPLOAD_ATTEMPT_LIMIT = RateLimitPolicy("image tries", 300, timedelta(hours=1))
"""With those that turn out to be no pictures: finding that out is work."""
UNUSED_IMAGE_RETENTION = timedelta(days=1)
PURGE_BATCH_SIZE = 100

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
_LOCK_ORPHANS = """
    SELECT id FROM board_image image
    WHERE unused_since IS NULL AND NOT EXISTS (
        SELECT FROM board_post_image shown WHERE shown.image_id = image.id
    )
    ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
"""
_LOCK_UNUSED = """
    SELECT id FROM board_image WHERE unused_since <= %(before)s
    ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED
"""
_LOCK_OWN = """
    SELECT id FROM board_image WHERE member_id = %(member)s ORDER BY id FOR UPDATE
"""
_UNLINK_EVERYWHERE = "DELETE FROM board_post_image WHERE image_id = ANY(%(ids)s)"
_DELETE = "DELETE FROM board_image WHERE id = ANY(%(ids)s)"
_DELETE_UNUSED = """
    DELETE FROM board_image image
    WHERE id = ANY(%(ids)s) AND NOT EXISTS (
        SELECT FROM board_post_image shown WHERE shown.image_id = image.id
    )
"""


def create_image(member: Member, file: IO[bytes], now: datetime) -> Image:
    """Keep an uploaded picture as it was remade here, unused as yet.

    Raises `InvalidImageError` for what is no usable picture, `RateLimited` after 100 uploads
    within an hour, and names the field `image` where the member's quota is used up.
    """
    consume_attempt(UPLOAD_ATTEMPT_LIMIT, str(member.pk))
    upload = consume_attempt(UPLOAD_LIMIT, str(member.pk))
    try:
        _require_quota(member, 0)
        picture = reencode_image(file)
        with transaction.atomic():
            lock_member_for_update(member)
            _require_quota(member, len(picture.content))
            return _insert_image(member, picture, now)
    except (InvalidImageError, InvalidFieldError):
        refund_attempt(upload)
        raise


def get_image(image_id: UUID) -> Image:
    """The picture with its content, or `NotFoundError`."""
    image = Image.objects.filter(pk=image_id).first()
    if image is None:
        raise NotFoundError
    return image


def sync_post_images(post_id: int, html: str, now: datetime) -> None:
    """Tie to a post the pictures that its sanitised content shows, and no others.

    For the transaction that writes the post; a picture of another member may be shown,
    one that is gone is not tied.
    """
    _sync_links([post_id], extract_image_ids(html), now)


def unlink_images(post_ids: Iterable[int], now: datetime) -> None:
    """Tie no pictures to these posts, which are about to go."""
    _sync_links(list(post_ids), set(), now)


def delete_member_images(member: Member) -> None:
    """Delete all pictures of a member, also where posts of others show them."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_OWN, {"member": member.pk})
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_UNLINK_EVERYWHERE, {"ids": ids})
        cursor.execute(_DELETE, {"ids": ids})


def purge_unused_images(now: datetime, progress: Progress = SILENT_PROGRESS) -> int:
    """Delete the pictures that no post has shown for a day; the number deleted.

    One that a post begins to show meanwhile is left. Pictures whose post went without
    a word about them count as unused from now on.
    """
    while _mark_orphans_unused(now):
        pass
    purged, left = 0, True
    while left:
        looked_at, deleted = _purge_batch(now)
        purged, left = purged + deleted, looked_at > 0
        progress.update(f"{purged} images so far")
    return purged


def _require_quota(member: Member, more_bytes: int) -> None:
    kept = Image.objects.filter(member=member).aggregate(
        images=Count("id"), bytes=Sum("size", default=0)
    )
    if kept["images"] >= MAX_IMAGES:
        detail = f"You keep {MAX_IMAGES} pictures already."
        raise InvalidFieldError("image", detail, "quota")
    if kept["bytes"] + more_bytes > MAX_TOTAL_BYTES:
        detail = f"Your pictures would take more than {MAX_TOTAL_BYTES >> 20} MB."
        raise InvalidFieldError("image", detail, "quota")


def _insert_image(member: Member, picture: EncodedImage, now: datetime) -> Image:
    return Image.objects.create(
        member=member,
        content=picture.content,
        content_type=picture.content_type,
        width=picture.width,
        height=picture.height,
        size=len(picture.content),
        digest=hashlib.sha256(picture.content).hexdigest(),
        created_at=now,
        unused_since=now,
    )


def _sync_links(post_ids: list[int], shown: set[UUID], now: datetime) -> None:
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"posts": post_ids, "ids": list(shown), "now": now}
        cursor.execute(_LOCK, values)
        locked = [row[0] for row in cursor.fetchall()]
        if not locked:
            return
        values["ids"] = [image_id for image_id in locked if image_id in shown]
        cursor.execute(_UNLINK_OTHERS, values)
        cursor.execute(_LINK, values)
        cursor.execute(_UPDATE_UNUSED_SINCE, values | {"ids": locked})


@transaction.atomic
def _mark_orphans_unused(now: datetime) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_ORPHANS, {"most": PURGE_BATCH_SIZE})
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_UPDATE_UNUSED_SINCE, {"ids": ids, "now": now})
        return bool(ids)


@transaction.atomic
def _purge_batch(now: datetime) -> tuple[int, int]:
    """How many were looked at and deleted.

    Whatever was tied before the rows were locked is seen by the second statement;
    whoever comes later finds them locked, then gone.
    """
    with connection.cursor() as cursor:
        values: dict[str, Any] = {
            "before": now - UNUSED_IMAGE_RETENTION,
            "most": PURGE_BATCH_SIZE,
        }
        cursor.execute(_LOCK_UNUSED, values)
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute(_DELETE_UNUSED, {"ids": ids})
        deleted = cursor.rowcount
        cursor.execute(_UPDATE_UNUSED_SINCE, {"ids": ids, "now": now})
    return len(ids), deleted
