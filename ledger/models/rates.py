"""Stored exchange rates."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class FxRate(models.Model):
    """Units of `quote` for one unit of `base` on a day, shared by all members.

    `rate_date` is the source's own date, which is earlier on weekends.
    """

    base = models.CharField(max_length=3)
    quote = models.CharField(max_length=3)
    day = models.DateField()
    rate = models.DecimalField(max_digits=20, decimal_places=8)
    rate_date = models.DateField()
    source = models.CharField(max_length=50)
    fetched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "fx_rate"
        ordering = ["base", "quote", "-day"]
        constraints = [
            models.UniqueConstraint(
                fields=["base", "quote", "day"],
                include=["rate", "rate_date"],
                name="fx_rate_once_a_day",
            ),
            models.CheckConstraint(condition=Q(rate__gt=0), name="fx_rate_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.base}/{self.quote} {self.day}: {self.rate}"
