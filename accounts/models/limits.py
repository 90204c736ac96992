"""Attempts that count towards a rate limit."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class RateLimit(models.Model):
    key = models.CharField(max_length=200, primary_key=True)
    attempts = ArrayField(models.DateTimeField())
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "rate_limit"
        ordering = ["key"]

    def __str__(self) -> str:
        return self.key
