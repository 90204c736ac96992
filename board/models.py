"""Posts, comments, votes and images.

Statement triggers (`board/sql`) keep the counters, whatever writes.
"""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from django.db.models.lookups import GreaterThanOrEqual
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from board import content
from core.api.keyed_answers import KeyedAnswer

TITLE_LENGTH = 200
CONTENT_LENGTH = content.MAX_CONTENT_LENGTH
COMMENT_LENGTH = 5_000
TAG_LENGTH = 100
# Up votes within the first day (spec 5.2).
HOT_UP_VOTES = 50


class PostCategory(models.TextChoices):
    COMMUNITY = "community"
    SAVING = "saving"
    TIPS = "tips"


class VotableContent(models.Model):
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    up_count = models.IntegerField(default=0, editable=False)
    down_count = models.IntegerField(default=0, editable=False)
    # Indexes name this flag, not the counter: most votes change no indexed column, and
    # PostgreSQL updates no index.
    is_popular = models.GeneratedField(
        expression=GreaterThanOrEqual(F("up_count"), HOT_UP_VOTES),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    # Hidden by staff, even from the author.
    is_hidden = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Post(VotableContent):
    """A post; `content` is sanitized HTML."""

    category = models.CharField(max_length=9, choices=PostCategory.choices)
    title = models.CharField(max_length=TITLE_LENGTH)
    content = models.TextField()
    # Normalized text of title and content.
    search_text = models.TextField(editable=False)
    tags = ArrayField(models.CharField(max_length=TAG_LENGTH), default=list, blank=True)
    is_notice = models.BooleanField(default=False)
    comment_count = models.IntegerField(default=0, editable=False)

    class Meta:
        db_table = "board_post"
        verbose_name = _("post")
        verbose_name_plural = _("posts")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(category__in=PostCategory.values),
                name="board_post_category_known",
            ),
            models.CheckConstraint(
                condition=Q(up_count__gte=0, down_count__gte=0, comment_count__gte=0),
                name="board_post_counts_not_negative",
            ),
        ]
        indexes = [
            models.Index(
                fields=["-id"],
                condition=Q(is_notice=False, is_hidden=False),
                name="board_post_regular",
            ),
            models.Index(
                fields=["category", "-id"],
                condition=Q(is_notice=False, is_hidden=False),
                name="board_post_by_category",
            ),
            models.Index(
                fields=["-id"],
                condition=Q(is_notice=True, is_hidden=False),
                name="board_post_notices",
            ),
            models.Index(
                fields=["created_at"],
                condition=Q(is_popular=True, is_hidden=False),
                name="board_post_hot",
            ),
            models.Index(
                fields=["member", "-id"],
                include=["is_hidden"],
                name="board_post_by_member",
            ),
            GinIndex(fields=["tags"], name="board_post_tags"),
            GinIndex(
                OpClass("search_text", name="gin_trgm_ops"),
                name="board_post_search_text",
            ),
        ]

    def __str__(self) -> str:
        return f"post {self.pk}"


class Comment(VotableContent):
    post = models.ForeignKey(
        Post, on_delete=models.CASCADE, db_index=False, related_name="comments"
    )
    content = models.CharField(max_length=COMMENT_LENGTH)

    class Meta:
        db_table = "board_comment"
        verbose_name = _("comment")
        verbose_name_plural = _("comments")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(up_count__gte=0, down_count__gte=0),
                name="board_comment_counts_not_negative",
            )
        ]
        indexes = [
            models.Index(
                fields=["post", "id"],
                include=["is_hidden"],
                name="board_comment_by_post",
            ),
            models.Index(fields=["member", "-id"], name="board_comment_by_member"),
            models.Index(
                fields=["post", "created_at"],
                condition=Q(is_popular=True, is_hidden=False),
                name="board_comment_hot",
            ),
        ]

    def __str__(self) -> str:
        return f"comment {self.pk}"


class Vote(models.Model):
    """A vote; 1 is up, -1 is down."""

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    value = models.SmallIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class PostVote(Vote):
    post = models.ForeignKey(
        Post, on_delete=models.CASCADE, db_index=False, related_name="votes"
    )

    class Meta:
        db_table = "board_post_vote"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["post", "member"],
                include=["value"],
                name="board_post_vote_once",
            ),
            models.CheckConstraint(
                condition=Q(value__in=(1, -1)), name="board_post_vote_up_or_down"
            ),
        ]
        indexes = [
            models.Index(fields=["member", "post"], name="board_post_vote_by_member")
        ]

    def __str__(self) -> str:
        return f"{self.value:+d} for post {self.post_id}"


class CommentVote(Vote):
    comment = models.ForeignKey(
        Comment, on_delete=models.CASCADE, db_index=False, related_name="votes"
    )

    class Meta:
        db_table = "board_comment_vote"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["comment", "member"],
                include=["value"],
                name="board_comment_vote_once",
            ),
            models.CheckConstraint(
                condition=Q(value__in=(1, -1)), name="board_comment_vote_up_or_down"
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "comment"], name="board_comment_vote_by_member"
            )
        ]

    def __str__(self) -> str:
        return f"{self.value:+d} for comment {self.comment_id}"


class PostCount(models.Model):
    """Number of visible posts of a category, with notices."""

    category = models.CharField(
        max_length=9, choices=PostCategory.choices, primary_key=True
    )
    posts = models.IntegerField()

    class Meta:
        db_table = "board_post_count"
        ordering = ["category"]

    def __str__(self) -> str:
        return f"{self.category}: {self.posts}"


class Image(models.Model):
    """A re-encoded image with a random id, served without a login."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    content = models.BinaryField()
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

    def __str__(self) -> str:
        return f"image {self.pk}"


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


class PostKey(KeyedAnswer):
    """The answer to a new post or comment that had an `Idempotency-Key` (spec 3.23)."""

    owner_columns = ("member_id",)

    pk = models.CompositePrimaryKey("member_id", "key")
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )

    class Meta:
        db_table = "board_post_key"
        ordering = ["created_at"]
        indexes = [
            # The oldest ones go first.
            models.Index(fields=["member", "created_at"], name="board_post_key_by_age")
        ]
