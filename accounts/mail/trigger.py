"""Trigger of the mail job, on commit of a mail."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from core import redis_client

logger = logging.getLogger(__name__)

TASK = "accounts.tasks.send_mail"
# The job runs each minute anyway.
QUEUE_TIMEOUT_SECONDS = 0.5
EXPIRY_SECONDS = 60


def send_on_commit() -> None:
    """Start the mail job on commit, if Valkey is reachable."""
    transaction.on_commit(_call_job)


def _call_job() -> None:
    if not redis_client.is_reachable():
        return
    options = {
        "socket_timeout": QUEUE_TIMEOUT_SECONDS,
        "socket_connect_timeout": QUEUE_TIMEOUT_SECONDS,
        # Without it kombu reconnects forever.
        "max_retries": 0,
        "connect_retries_timeout": QUEUE_TIMEOUT_SECONDS,
    }
    try:
        with current_app.connection_for_write(transport_options=options) as connection:
            current_app.send_task(
                TASK, connection=connection, retry=False, expires=EXPIRY_SECONDS
            )
    except (KombuError, RedisError, OSError) as error:
        logger.warning("mail job not called: %s", type(error).__name__)
