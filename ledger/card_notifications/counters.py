"""Count the notifications of each day, in several rows to avoid one hot row."""

import random
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

PARTS = 16
"""Over how many rows the notifications of a day are spread."""
_COUNT_NOTIFICATION = """
    INSERT INTO notification_tally AS kept (day, recognised, part, notifications)
    VALUES (%s, %s, %s, 1)
    ON CONFLICT (day, recognised, part)
    DO UPDATE SET notifications = kept.notifications + 1
"""


def count_notification(now: datetime, *, recognised: bool) -> None:
    """Count one notification that was sent in, for its day in the home time zone.

    Which part counts it is of no meaning, so chance may choose.
    """
    part = random.randrange(PARTS)  # noqa: S311
    values: list[Any] = [timezone.localdate(now), recognised, part]
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_NOTIFICATION, values)
