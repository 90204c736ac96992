"""The schedule of the jobs (a part of the settings)."""

from datetime import UTC, datetime, timedelta
from typing import Any

JOB_INTERVALS = {
    "accounts.tasks.delete_closed_accounts": timedelta(minutes=1),
    "accounts.tasks.purge_sessions": timedelta(days=1),
    "accounts.tasks.send_mail": timedelta(minutes=1),
    "administration.tasks.snapshot_daily_metrics": timedelta(days=1),
    "billing.tasks.expire_plans": timedelta(hours=1),
    "billing.tasks.process_store_notifications": timedelta(minutes=1),
    "board.tasks.purge_images": timedelta(days=1),
    "ledger.tasks.move_entries": timedelta(minutes=1),
    "ledger.tasks.run_recurring": timedelta(hours=1),
}
# Intervals instead of crontab rows: django-celery-beat 2.9 loads crontab rows only near
# their hour and may miss one.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    task.rpartition(".")[2]: {
        "task": task,
        "schedule": interval,
        # A job that has never run is due from then on. Without it the interval would
        # begin again at each start of Beat, and one that restarts daily would never
        # run a daily job.
        "start_time": datetime(2026, 1, 1, tzinfo=UTC),
        # Keeps missed runs from piling up in the queue.
        "options": {"expire_seconds": int(interval.total_seconds()) // 2},
    }
    for task, interval in JOB_INTERVALS.items()
}
