"""The schedule of the jobs (a part of the settings)."""

from datetime import UTC, datetime, timedelta
from typing import Any

JOB_INTERVALS = {
    "accounts.tasks.purge_sessions": timedelta(days=1),
    "accounts.tasks.lift_suspensions": timedelta(hours=1),
    "accounts.tasks.send_mail": timedelta(minutes=1),
    "administration.tasks.snapshot_daily_metrics": timedelta(days=1),
    "billing.tasks.expire_plans": timedelta(hours=1),
    "billing.tasks.process_store_notifications": timedelta(minutes=1),
    "board.tasks.end_moderation": timedelta(hours=1),
    "board.tasks.purge_images": timedelta(days=1),
    "board.tasks.delete_image_objects": timedelta(minutes=1),
    "administration.tasks.purge_imports": timedelta(days=1),
    "administration.tasks.purge_request_keys": timedelta(days=1),
    "administration.tasks.purge_operations": timedelta(days=1),
    "administration.tasks.purge_tombstones": timedelta(days=1),
    "administration.tasks.purge_unsure_texts": timedelta(days=1),
    "ledger.tasks.run_recurring": timedelta(hours=1),
}
# Crontab rows may be missed: django-celery-beat 2.9 loads them only near their hour.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    task.rpartition(".")[2]: {
        "task": task,
        "schedule": interval,
        # Otherwise each start of Beat would begin the interval of a job that has never
        # run, and a Beat that restarts daily would never run a daily job.
        "start_time": datetime(2026, 1, 1, tzinfo=UTC),
        # Missed runs must not pile up in the queue.
        "options": {"expire_seconds": int(interval.total_seconds()) // 2},
    }
    for task, interval in JOB_INTERVALS.items()
}
