"""Counters of members by role, status and plan."""

from datetime import datetime

from django.db import connection
from django.db.models import Sum

from accounts.models import Member, MemberCount

# Triggers only insert rows and never wait for it.
_COMPACT = """
    WITH gone AS (DELETE FROM member_count RETURNING role, status, plan, count)
    INSERT INTO member_count (role, status, plan, count)
    SELECT role, status, plan, sum(count) FROM gone GROUP BY 1, 2, 3
    HAVING sum(count) <> 0
"""


def count_members(now: datetime, **filters: str) -> int:
    plan = filters.get("plan")
    rows = MemberCount.objects.filter(**filters).order_by()
    count = int(rows.aggregate(sum=Sum("count"))["sum"] or 0)
    if plan is None:
        return count
    # The hourly job has yet to expire some stored plans.
    others = {name: value for name, value in filters.items() if name != "plan"}
    expired = Member.objects.with_expired_plan(now).filter(**others).count()
    return count - expired if plan == Member.Plan.PREMIUM else count + expired


def compact_member_counts() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_COMPACT)
