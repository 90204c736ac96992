"""Images of posts, and the objects that hold the bytes of some."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from board.models.content import Post


class Image(models.Model):
    """A re-encoded image with a random id, served without a login."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    # The bytes, or the key of the object that holds them.
    content = models.BinaryField(null=True)
    object_key = models.CharField(max_length=120, null=True, editable=False)
    content_type = models.CharField(max_length=10)
    width = models.IntegerField()
    height = models.IntegerField()
    size = models.IntegerField()
    # SHA-256 in hex, for ETags.
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Null while a post shows the image.
    unused_since = models.DateTimeField(null=True, default=timezone.now)

    class Meta:
        db_table = "board_image"
        verbose_name = _("image")
        verbose_name_plural = _("images")
        ordering = ["-created_at", "id"]
        indexes = [
            models.Index(
                fields=["member", "-created_at"], name="board_image_by_member"
            ),
            models.Index(fields=["-created_at", "id"], name="board_image_newest"),
            models.Index(
                fields=["unused_since"],
                condition=Q(unused_since__isnull=False),
                name="board_image_unused",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(content__isnull=False, object_key=None)
                | Q(content=None, object_key__isnull=False),
                name="board_image_lies_in_one_place",
            ),
            models.UniqueConstraint(
                fields=["object_key"],
                condition=Q(object_key__isnull=False),
                name="board_image_by_object",
            ),
        ]

    def __str__(self) -> str:
        return f"image {self.pk}"


class ObjectDeletion(models.Model):
    """An object that no image has: yet, because it is written first, or any more.

    A trigger adds the objects of deleted and moved images. No key is used twice.
    """

    key = models.CharField(primary_key=True, max_length=120)
    # An object that is being written is given time for that.
    delete_after = models.DateTimeField()
    next_attempt_at = models.DateTimeField()
    # After an attempt the object may be gone: no image may get it.
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "board_object_deletion"
        ordering = ["delete_after", "key"]
        indexes = [
            models.Index(fields=["delete_after"], name="board_object_deletion_due"),
            models.Index(
                fields=["next_attempt_at", "key"], name="board_object_deletion_next"
            ),
        ]

    def __str__(self) -> str:
        return self.key


class PostImage(models.Model):
    pk = models.CompositePrimaryKey("post_id", "image_id")
    post = models.ForeignKey(
        Post, on_delete=models.CASCADE, db_index=False, related_name="shown_images"
    )
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="shown_in")

    class Meta:
        db_table = "board_post_image"
        ordering = ["post_id", "image_id"]

    def __str__(self) -> str:
        return f"image {self.image_id} in post {self.post_id}"
