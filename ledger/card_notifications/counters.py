"""Count the notifications of each day, in several rows to avoid one hot row."""

import random
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

NOTIFICATION_SHARDS = 16
"""Over how many rows the notifications of a day are spread."""
_INCREMENT_NOTIFICATION_COUNT = """
    INSERT INTO notification_tally AS kept (day, recognised, part, notifications)
    VALUES (%s, %s, %s, 1)
    ON CONFLICT (day, recognised, part)
    DO UPDATE SET notifications = kept.notifications + 1
"""


def increment_notification_count(now: datetime, *, recognised: bool) -> None:
    """Count one notification that was sent in, for its day in the home time zone.

    Which part counts it is of no meaning, so chance may choose.
    """
    part = random.randrange(NOTIFICATION_SHARDS)  # noqa: S311
    values: list[Any] = [timezone.localdate(now), recognised, part]
    with connection.cursor() as cursor:
        cursor.execute(_INCREMENT_NOTIFICATION_COUNT, values)
