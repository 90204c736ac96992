"""Count the card notifications of each day."""

import random
from datetime import datetime

from django.utils import timezone

from core.db.rows import prepared_cursor

# A day's count is spread over so many rows, to avoid one hot row.
NOTIFICATION_SHARDS = 16

_INCREMENT_COUNT = """
    INSERT INTO notification_count AS stored (day, is_recognized, shard, count)
    VALUES (%s, %s, %s, 1)
    ON CONFLICT (day, is_recognized, shard)
    DO UPDATE SET count = stored.count + 1
"""


def increment_notification_count(now: datetime, *, recognized: bool) -> None:
    """Count one notification for its day in the home time zone."""
    shard = random.randrange(NOTIFICATION_SHARDS)  # noqa: S311  # not a secret
    with prepared_cursor() as cursor:
        cursor.execute(_INCREMENT_COUNT, [timezone.localdate(now), recognized, shard])
