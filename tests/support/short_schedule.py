"""The service's job queue with a schedule of seconds, for tests that watch Beat.

Beside the hourly expiry runs a job that takes its time, so that two runs meet. For
`celery --app` alone: to import it is to change the schedule of the process.
"""

import time
from datetime import timedelta
from typing import Any

import django
from celery import shared_task

from config.celery import app

django.setup()

from django_celery_beat import schedulers  # noqa: E402

from core.jobs.runner import run_job  # noqa: E402

INTERVAL_SECONDS = 1
LINGER_SECONDS = 0.8

schedulers.SCHEDULE_SYNC_MAX_INTERVAL = 1


@shared_task  # type: ignore[untyped-decorator]
def linger() -> None:
    def job(now: Any) -> int:
        time.sleep(LINGER_SECONDS)
        return 1

    run_job("linger", job)


app.conf.beat_max_loop_interval = 0.25
app.conf.broker_transport_options |= {"visibility_timeout": 5}
expiry = app.conf.beat_schedule["expire_plans"]
app.conf.beat_schedule = {
    name: expiry
    | {
        "task": task,
        "schedule": timedelta(seconds=INTERVAL_SECONDS),
        "options": {"expire_seconds": 4 * INTERVAL_SECONDS},
    }
    for name, task in {"expire_plans": expiry["task"], "linger": linger.name}.items()
}
