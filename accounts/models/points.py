"""The history of point awards."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Member

DAILY_AWARD_LIMIT = 3
"""Awards on one day, posts and comments together (spec 2.8)."""


class PointHistory(models.Model):
    """One award (spec 2.8)."""

    class Reason(models.TextChoices):
        POST = "POST"
        COMMENT = "COMMENT"

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="awards")
    points = models.IntegerField()
    reason = models.CharField(max_length=7, choices=Reason.choices)
    created_at = models.DateTimeField(default=timezone.now)
    award_day = models.DateField(null=True, editable=False)
    """The day of an award in the home time zone."""
    slot = models.SmallIntegerField(null=True, editable=False)
    """Which of its day's awards this is, from 1; each can be given only once."""

    class Meta:
        db_table = "point_history"
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "award_day", "slot"], name="point_history_slot_once"
            ),
            models.CheckConstraint(
                condition=models.Q(slot__gte=1, slot__lte=DAILY_AWARD_LIMIT),
                name="point_history_slots_of_a_day",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "-created_at", "-id"], name="point_history_list"
            )
        ]

    def __str__(self) -> str:
        return f"{self.points} points for a {self.reason.lower()}"
