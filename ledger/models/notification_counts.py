"""Daily counts of notifications."""

from django.db import models


class NotificationCount(models.Model):
    """A part of the number of notifications of a day, recognized or not.

    Concurrent increments rarely lock the same of several rows.
    """

    day = models.DateField()
    is_recognized = models.BooleanField()
    shard = models.SmallIntegerField()
    count = models.BigIntegerField()

    class Meta:
        db_table = "notification_count"
        ordering = ["day", "is_recognized", "shard"]
        constraints = [
            models.UniqueConstraint(
                fields=["day", "is_recognized", "shard"], name="notification_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.count}"
