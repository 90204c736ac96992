"""Counters of members, maintained by triggers."""

from django.db import models


class MemberCount(models.Model):
    """Number of members by role, status and plan: the sum of `count` over the rows.

    Triggers on `member` only insert rows, so that writers never wait for each other.
    `accounts.member_counters.compact_member_counts` sums them up daily.
    """

    role = models.CharField(max_length=6)
    status = models.CharField(max_length=9)
    plan = models.CharField(max_length=7)
    # Negative in rows for members who were deleted or changed.
    count = models.BigIntegerField()

    class Meta:
        db_table = "member_count"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.count:+d} {self.role} {self.status} {self.plan}"
