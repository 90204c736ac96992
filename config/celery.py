"""The Celery application."""

import os
import time
from typing import Any

from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    celeryd_init,
    worker_process_init,
    worker_process_shutdown,
)

from config import env

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

env.validate_settings_or_exit()
app = Celery("household-ledger")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@before_task_publish.connect  # type: ignore[untyped-decorator]
def add_time(headers: dict[str, Any], **_: Any) -> None:
    """Add the time in seconds, which the age of the oldest message is read from."""
    headers["sent_at"] = time.time()


@worker_process_init.connect  # type: ignore[untyped-decorator]
@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def drop_inherited_connections(**_: Any) -> None:
    """Close the connection pools that the process shares with its parent."""
    from django.db import connections

    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]


@celeryd_init.connect  # type: ignore[untyped-decorator]
@beat_init.connect  # type: ignore[untyped-decorator]
def check_database(**_: Any) -> None:
    from core.db.limits import check_database_limits_or_exit

    check_database_limits_or_exit()
