"""Counters of members."""

from django.db import models


class MemberCount(models.Model):
    """Number of members: the sum of `count`.

    Triggers only insert rows, so that writers never wait for each other.
    """

    role = models.CharField(max_length=9)
    status = models.CharField(max_length=9)
    plan = models.CharField(max_length=7)
    # Negative for deleted or changed members.
    count = models.BigIntegerField()

    class Meta:
        db_table = "member_count"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.count:+d} {self.role} {self.status} {self.plan}"
