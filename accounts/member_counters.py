"""Counters of members by role, status and plan, so that no page counts the table."""

from datetime import datetime

from django.db import connection
from django.db.models import Sum

from accounts.models import Member, MemberCount
from accounts.models.members import CLOSED

# Triggers only insert rows: neither they nor this statement wait for each other.
_COMPACT = """
    WITH gone AS (DELETE FROM member_count RETURNING role, status, plan, count)
    INSERT INTO member_count (role, status, plan, count)
    SELECT role, status, plan, sum(count) FROM gone GROUP BY 1, 2, 3
    HAVING sum(count) <> 0
"""


def count_members(now: datetime, **filters: str) -> int:
    """Return the number of members with this `role`, `status` and `plan`, as given.

    The plan is the effective one at `now`.
    """
    plan = filters.get("plan")
    rows = MemberCount.objects.exclude(status=CLOSED).filter(**filters).order_by()
    count = int(rows.aggregate(sum=Sum("count"))["sum"] or 0)
    if plan is None:
        return count
    # The counters follow the stored plan. Correct them by the few members whose plan
    # has expired but still waits for the hourly job.
    others = {name: value for name, value in filters.items() if name != "plan"}
    expired = Member.objects.with_expired_plan(now).filter(**others).count()
    return count - expired if plan == Member.Plan.PREMIUM else count + expired


def compact_member_counts() -> None:
    """Replace the rows of each role, status and plan by one with their sum."""
    with connection.cursor() as cursor:
        cursor.execute(_COMPACT)
