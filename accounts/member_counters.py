"""Counts that are kept, so that no page counts a million rows."""

from datetime import datetime

from django.db import connection
from django.db.models import Sum

from accounts.models import Member, MemberCount

_COMPACT = """
    WITH gone AS (DELETE FROM member_tally RETURNING role, status, plan, members)
    INSERT INTO member_tally (role, status, plan, members)
    SELECT role, status, plan, sum(members) FROM gone GROUP BY 1, 2, 3
    HAVING sum(members) <> 0
"""


def count_members(now: datetime, **kind: str) -> int:
    """How many members are of this `role`, `status` and `plan`, as far as given.

    The plan is the one that counts now: the few that have expired and wait for the
    hourly job are counted as FREE.
    """
    plan = kind.get("plan")
    kept = MemberCount.objects.filter(**kind).order_by()
    count = int(kept.aggregate(sum=Sum("members"))["sum"] or 0)
    if plan is None:
        return count
    others = {name: value for name, value in kind.items() if name != "plan"}
    expired = Member.objects.with_expired_plan(now).filter(**others).count()
    return count - expired if plan == Member.Plan.PREMIUM else count + expired


def compact_member_counts() -> None:
    """Add the rows of each kind of member up to one."""
    with connection.cursor() as cursor:
        cursor.execute(_COMPACT)
