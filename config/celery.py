"""The job queue: the worker's application and what Beat runs when.

Intervals, not crontab rows: django-celery-beat 2.9 loads crontab rows only near
their hour and may miss one. `expire_seconds` keeps missed runs from piling up. A job
with a `start_time` that has never run is due when Beat starts; without one, its
interval would begin anew at each start, and a Beat that restarts daily would never run
it.
"""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown

from config import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

env.validate_settings_or_exit()
app = Celery("household-ledger")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
SCHEDULE_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
app.conf.beat_schedule = {
    "purge_sessions": {
        "task": "accounts.tasks.purge_sessions",
        "schedule": DAY,
        "start_time": SCHEDULE_EPOCH,
        "options": {"expire_seconds": int(DAY.total_seconds()) // 2},
    },
    "expire_plans": {
        "task": "billing.tasks.expire_plans",
        "schedule": HOUR,
        "start_time": SCHEDULE_EPOCH,
        "options": {"expire_seconds": int(HOUR.total_seconds()) // 2},
    },
    "process_store_notifications": {
        "task": "billing.tasks.process_store_notifications",
        "schedule": MINUTE,
        "start_time": SCHEDULE_EPOCH,
        "options": {"expire_seconds": int(MINUTE.total_seconds()) // 2},
    },
    "run_recurring": {
        "task": "ledger.tasks.run_recurring",
        "schedule": HOUR,
        "start_time": SCHEDULE_EPOCH,
        "options": {"expire_seconds": int(HOUR.total_seconds()) // 2},
    },
    "snapshot_daily_metrics": {
        "task": "administration.tasks.snapshot_daily_metrics",
        "schedule": DAY,
        "start_time": SCHEDULE_EPOCH,
        "options": {"expire_seconds": int(DAY.total_seconds()) // 2},
    },
    "purge_images": {
        "task": "board.tasks.purge_images",
        "schedule": DAY,
        "start_time": SCHEDULE_EPOCH,
        "options": {"expire_seconds": int(DAY.total_seconds()) // 2},
    },
}


@worker_process_init.connect  # type: ignore[untyped-decorator]
@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def drop_inherited_connections(**_: Any) -> None:
    """A forked worker must not share its parent's pool, nor leave one behind."""
    from django.db import connections

    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]
