"""Queues of the workers (a part of the settings).

A worker without `--queues` serves both, as workers of earlier releases are started.
"""

from typing import Any

from kombu.entity import Exchange, Queue

from config.beat_schedule import JOB_INTERVALS

# A person waits for these: codes expire, and a purchase is to count at once. The name
# is the one that workers of earlier releases serve.
PROMPT_QUEUE = "celery"
PROMPT_TASKS = frozenset(
    {"accounts.tasks.send_mail", "billing.tasks.process_store_notifications"}
)
# What may take long.
LONG_QUEUE = "long"
LONG_TASKS = {*JOB_INTERVALS, "ledger.tasks.help_run_recurring"} - PROMPT_TASKS

# Without names of their own, both would be bound to the default exchange.
CELERY_TASK_QUEUES: list[Any] = [
    Queue(name, Exchange(name, type="direct"), routing_key=name)  # type: ignore[no-untyped-call]
    for name in (PROMPT_QUEUE, LONG_QUEUE)
]
CELERY_TASK_DEFAULT_QUEUE = PROMPT_QUEUE
CELERY_TASK_ROUTES = {task: {"queue": LONG_QUEUE} for task in sorted(LONG_TASKS)}
