"""The history of point awards."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Member


class PointHistory(models.Model):
    """One award (service.md, Point history)."""

    class Reason(models.TextChoices):
        POST = "POST"
        COMMENT = "COMMENT"

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="awards")
    points = models.IntegerField()
    reason = models.CharField(max_length=7, choices=Reason.choices)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "point_history"
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(
                fields=["member", "-created_at", "-id"], name="point_history_list"
            )
        ]

    def __str__(self) -> str:
        return f"{self.points} points for a {self.reason.lower()}"
