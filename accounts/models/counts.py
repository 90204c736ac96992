"""Counts of members that triggers maintain."""

from django.db import models


class MemberCount(models.Model):
    """How many members there are of a kind: the sum of `members` over its rows.

    Triggers on the table of members add rows and never change one, so that nobody
    waits for anybody; `accounts.member_counters.compact_member_counts` adds them up daily.
    """

    role = models.CharField(max_length=6)
    status = models.CharField(max_length=9)
    plan = models.CharField(max_length=7)
    members = models.BigIntegerField()
    """Negative where members went or changed."""

    class Meta:
        db_table = "member_tally"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.members:+d} {self.role} {self.status} {self.plan}"
