"""Times at which the entries of a demo were written."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection

from accounts.models import Member

# Between eight in the morning and eight in the evening of the entry's own day, and of
# today so long ago as may be.
_SET_WRITTEN_TIMES = """
    UPDATE account_entry SET created_at = least(
        (date + time '08:00' + id %% 720 * interval '1 minute')
            AT TIME ZONE %(time_zone)s,
        greatest(%(now)s, date::timestamp AT TIME ZONE %(time_zone)s)
    ) WHERE member_id = %(member_id)s
"""


def set_written_times(member: Member, now: datetime) -> None:
    params: dict[str, Any] = {
        "member_id": member.pk,
        "now": now,
        "time_zone": settings.TIME_ZONE,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SET_WRITTEN_TIMES, params)
