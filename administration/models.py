"""Daily metrics for the dashboard."""

from django.db import models


class DailyMetric(models.Model):
    """The value of a metric on a day in the home time zone."""

    class Name(models.TextChoices):
        MEMBERS = "members"
        PREMIUM = "premium"
        ACTIVE = "active"
        SIGN_UPS = "sign_ups"
        ENTRIES = "entries"
        POSTS = "posts"
        COMMENTS = "comments"
        VOTES = "votes"

    day = models.DateField()
    name = models.CharField(max_length=10, choices=Name.choices)
    value = models.BigIntegerField()

    class Meta:
        db_table = "daily_metric"
        ordering = ["day", "name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["day", "name"], name="daily_metric_once")
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.name}: {self.value}"
