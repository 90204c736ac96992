"""Point history."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Member

# Posts and comments together (spec 2.8).
DAILY_AWARD_LIMIT = 3


class PointHistory(models.Model):
    class Reason(models.TextChoices):
        POST = "POST"
        COMMENT = "COMMENT"

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="awards")
    points = models.IntegerField()
    reason = models.CharField(max_length=7, choices=Reason.choices)
    created_at = models.DateTimeField(default=timezone.now)
    # The day in the home time zone.
    award_day = models.DateField(null=True, editable=False)
    # Counts from 1 each day; constraints enforce the daily limit.
    award_number = models.SmallIntegerField(null=True, editable=False)

    class Meta:
        db_table = "point_history"
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "award_day", "award_number"],
                name="point_history_award_once",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    award_number__gte=1, award_number__lte=DAILY_AWARD_LIMIT
                ),
                name="point_history_daily_limit",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "-created_at", "-id"], name="point_history_list"
            )
        ]

    def __str__(self) -> str:
        return f"{self.points} points for a {self.reason.lower()}"
