"""Posts, comments and votes.

Statement triggers (`board/sql`) keep the counters, whatever writes.
"""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from board import content
from core.db.indexes import index_by_writing_time

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


class HiddenReason(models.TextChoices):
    """Why a post or comment is hidden (spec 5.11)."""

    # The author deleted a comment that has replies.
    AUTHOR = "AUTHOR"
    STAFF = "STAFF"
    # Enough members have reported it.
    REPORTS = "REPORTS"
    # A newcomer's post with a link or picture waits for staff.
    HELD = "HELD"
    # Somebody's rights are said to be hurt.
    BLIND = "BLIND"


def list_hiding_constraints(table: str) -> list[models.CheckConstraint]:
    return [
        models.CheckConstraint(
            condition=Q(is_hidden=False, hidden_reason=None)
            | Q(
                is_hidden=True,
                # Unknown is not false: a check would pass.
                hidden_reason__isnull=False,
                hidden_reason__in=HiddenReason.values,
            ),
            name=f"{table}_hidden_for_reason",
        ),
        models.CheckConstraint(
            condition=Q(remove_after=None) | Q(is_hidden=True),
            name=f"{table}_removed_is_hidden",
        ),
    ]


class VotableContent(models.Model):
    up_count = models.IntegerField(default=0, editable=False)
    down_count = models.IntegerField(default=0, editable=False)
    # Indexes name this flag, not the counter: most votes change no indexed column, and
    # PostgreSQL updates no index.
    is_popular = models.GeneratedField(
        expression=GreaterThanOrEqual(F("up_count"), HOT_UP_VOTES),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    # Indexes, counts and triggers read this flag; `hidden_reason` says why it is set.
    is_hidden = models.BooleanField(default=False)
    hidden_reason = models.CharField(
        max_length=7, choices=HiddenReason.choices, null=True, blank=True
    )
    # Staff have deleted it: then a job removes the row.
    remove_after = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Post(VotableContent):
    """A post; `content` is sanitized HTML."""

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
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
            *list_hiding_constraints("board_post"),
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
            models.Index(
                fields=["remove_after"],
                condition=Q(remove_after__isnull=False),
                name="board_post_removal",
            ),
            # For staff: the list of what is hidden, and the figures of a day.
            models.Index(
                fields=["-id"],
                condition=Q(is_hidden=True),
                name="board_post_hidden",
            ),
            index_by_writing_time("board_post_written"),
        ]

    def __str__(self) -> str:
        return f"post {self.pk}"


class Comment(VotableContent):
    """A comment, or a reply to one: replies are one level deep."""

    # Null where text and author are gone, but replies stay.
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, null=True, related_name="+"
    )
    # The comment at the top of the thread; null for itself.
    parent = models.ForeignKey(
        "self", on_delete=models.CASCADE, db_index=False, null=True, related_name="+"
    )
    # The comment that is answered; it may be gone.
    reply_to = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        db_index=False,
        db_constraint=False,
        null=True,
        related_name="+",
    )
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
            ),
            models.CheckConstraint(
                condition=Q(member__isnull=False) | Q(is_hidden=True, content=""),
                name="board_comment_without_author_is_empty",
            ),
            *list_hiding_constraints("board_comment"),
        ]
        indexes = [
            # Threads by the id of their first comment, each with its replies.
            models.Index(
                F("post"),
                Coalesce("parent", "id"),
                F("id"),
                include=["is_hidden"],
                name="board_comment_threads",
            ),
            models.Index(
                fields=["parent"],
                condition=Q(parent__isnull=False),
                name="board_comment_replies",
            ),
            models.Index(
                fields=["post"],
                condition=Q(is_hidden=True, parent=None),
                name="board_comment_hidden_roots",
            ),
            models.Index(
                fields=["remove_after"],
                condition=Q(remove_after__isnull=False),
                name="board_comment_removal",
            ),
            models.Index(fields=["member", "-id"], name="board_comment_by_member"),
            models.Index(
                fields=["post", "created_at"],
                condition=Q(is_popular=True, is_hidden=False),
                name="board_comment_hot",
            ),
            # For staff, as those of posts.
            models.Index(
                fields=["-id"],
                condition=Q(is_hidden=True),
                name="board_comment_hidden",
            ),
            index_by_writing_time("board_comment_written"),
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
            models.Index(fields=["member", "post"], name="board_post_vote_by_member"),
            index_by_writing_time("board_post_vote_written"),
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
            ),
            index_by_writing_time("board_comment_vote_written"),
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
