"""Counts of card notifications a day."""

from django.db import models


class NotificationCount(models.Model):
    """How many notifications came on a day, by whether they were recognised.

    Each is counted in one of several rows, so that two at once seldom meet.
    """

    day = models.DateField()
    recognised = models.BooleanField()
    part = models.SmallIntegerField()
    notifications = models.BigIntegerField()

    class Meta:
        db_table = "notification_tally"
        ordering = ["day", "recognised", "part"]
        constraints = [
            models.UniqueConstraint(
                fields=["day", "recognised", "part"], name="notification_tally_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.notifications}"
