"""What the operator tells the members (spec 7.12)."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models.members import Member

MAX_ANNOUNCEMENT_TITLE = 100
MAX_ANNOUNCEMENT_TEXT = 2_000


def is_written(field: str) -> Q:
    """Match texts with more than spaces."""
    return Q(**{f"{field}__regex": r"\S"})


class Announcement(models.Model):
    """A text in both languages: one row for all members, also in their inboxes."""

    class Level(models.TextChoices):
        INFO = "INFO"
        WARNING = "WARNING"
        CRITICAL = "CRITICAL"

    class Audience(models.TextChoices):
        ALL = "ALL"
        FREE = "FREE"
        PREMIUM = "PREMIUM"
        STAFF = "STAFF"

    title_ko = models.CharField(max_length=MAX_ANNOUNCEMENT_TITLE)
    title_en = models.CharField(max_length=MAX_ANNOUNCEMENT_TITLE)
    text_ko = models.CharField(max_length=MAX_ANNOUNCEMENT_TEXT)
    text_en = models.CharField(max_length=MAX_ANNOUNCEMENT_TEXT)
    level = models.CharField(max_length=8, choices=Level.choices)
    audience = models.CharField(max_length=7, choices=Audience.choices)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    # Its id among the items of inboxes, which puts it into their order; NULL until it
    # has begun.
    inbox_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "announcement"
        ordering = ["-id"]
        verbose_name = _("announcement")
        verbose_name_plural = _("announcements")
        constraints = [
            models.CheckConstraint(
                condition=is_written("title_ko")
                & is_written("title_en")
                & is_written("text_ko")
                & is_written("text_en"),
                name="announcement_in_both_languages",
            ),
            models.CheckConstraint(
                condition=Q(ends_at__gt=F("starts_at")),
                name="announcement_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=Q(level__in=("INFO", "WARNING", "CRITICAL")),
                name="announcement_level",
            ),
            models.CheckConstraint(
                condition=Q(audience__in=("ALL", "FREE", "PREMIUM", "STAFF")),
                name="announcement_audience",
            ),
        ]
        indexes = [models.Index(fields=["ends_at"], name="announcement_end")]

    def __str__(self) -> str:
        return self.title_en


class AnnouncementMark(models.Model):
    """A member has read an announcement in the inbox, or deleted it there."""

    # Without a constraint on the announcement, which is deleted at once however many
    # have read it; a job deletes the marks of those that are over.
    pk = models.CompositePrimaryKey("member_id", "announcement_id")
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    announcement = models.ForeignKey(
        Announcement,
        on_delete=models.DO_NOTHING,
        db_index=False,
        db_constraint=False,
        related_name="+",
    )
    is_deleted = models.BooleanField(default=False)

    class Meta:
        db_table = "announcement_mark"
        indexes = [
            models.Index(fields=["announcement"], name="announcement_mark_purge")
        ]

    def __str__(self) -> str:
        return f"announcement {self.announcement_id} for member {self.member_id}"
