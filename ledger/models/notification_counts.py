"""Daily counts of card notifications."""

from django.db import models


class NotificationCount(models.Model):
    """A part of the number of notifications of a day, recognized or not.

    A day has several rows, so that concurrent increments rarely lock the same one.
    """

    day = models.DateField()
    recognized = models.BooleanField()
    part = models.SmallIntegerField()
    notifications = models.BigIntegerField()

    class Meta:
        db_table = "notification_tally"
        ordering = ["day", "recognized", "part"]
        constraints = [
            models.UniqueConstraint(
                fields=["day", "recognized", "part"], name="notification_tally_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.notifications}"
