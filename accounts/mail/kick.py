"""The call of the job that sends mails, after the commit of a mail."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from core import redis_client

logger = logging.getLogger(__name__)

TASK = "accounts.tasks.send_mail"
# No request waits longer for the queue, and no call is worth more: the job runs each
# minute anyway.
KICK_TIMEOUT_SECONDS = 0.5
EXPIRY_SECONDS = 60


def send_soon() -> None:
    """Let a worker send what waits, when the transaction is committed.

    Without Valkey nothing happens: the next run of the job sends it.
    """
    transaction.on_commit(_call_job)


def _call_job() -> None:
    # Answered within the time limit of Valkey, or at once while its circuit is open.
    if not redis_client.is_reachable():
        return
    options = {
        "socket_timeout": KICK_TIMEOUT_SECONDS,
        "socket_connect_timeout": KICK_TIMEOUT_SECONDS,
        # Else kombu tries to connect again and again.
        "max_retries": 0,
        "connect_retries_timeout": KICK_TIMEOUT_SECONDS,
    }
    try:
        with current_app.connection_for_write(transport_options=options) as connection:
            current_app.send_task(
                TASK, connection=connection, retry=False, expires=EXPIRY_SECONDS
            )
    except (KombuError, RedisError, OSError) as error:
        logger.warning("mail job not called: %s", type(error).__name__)
