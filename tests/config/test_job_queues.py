"""Queues of jobs: what a person waits for is behind no long job."""

import pytest
from django.conf import settings

from config.beat_schedule import JOB_INTERVALS
from config.celery import app
from config.job_queues import LONG_TASKS, PROMPT_TASKS
from tests.support.stores import run_valkey, send_task


def test_every_task_has_a_queue() -> None:
    app.loader.import_default_modules()
    own = {name for name in app.tasks if not name.startswith("celery.")}
    assert own == PROMPT_TASKS | LONG_TASKS
    assert own >= JOB_INTERVALS.keys()


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("accounts.tasks.send_mail", "celery"),
        ("billing.tasks.process_store_notifications", "celery"),
        ("ledger.tasks.run_recurring", "long"),
        ("ledger.tasks.help_run_recurring", "long"),
        ("accounts.tasks.purge_sessions", "long"),
    ],
)
def test_task_is_sent_to_its_queue_alone(task: str, queue: str) -> None:
    with run_valkey() as server:
        send_task(server, task)
        lengths = {
            each.name: server.run("LLEN", f"jobs:{each.name}")
            for each in settings.CELERY_TASK_QUEUES
        }
    assert {name for name, length in lengths.items() if int(length)} == {queue}
