"""Delivery of waiting mails; concurrent runs share them (spec 2.10)."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.mail.outbox import is_mail_configured, mail_context
from accounts.mail.transport import MailSender, PermanentMailError, TemporaryMailError
from accounts.models import Mail
from accounts.models.purging import purge
from core.db.transactions import retry_on_conflict
from core.sealing import UnsealingError, unseal

logger = logging.getLogger(__name__)

# A run begins no mail after this time and ends within the minute.
RUN_SECONDS = 25.0
# A killed worker's mail is due again after it; sending takes less.
LEASE = timedelta(minutes=2)
# Waits between attempts double, up to 64 minutes.
INITIAL_BACKOFF = timedelta(minutes=1)
MAX_BACKOFF_EXPONENT = 6
# Ended mails keep no content.
RETENTION = timedelta(days=7)

State = Mail.State


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    sent: int = 0
    failed: int = 0


def has_due_mails(now: datetime) -> bool:
    return is_mail_configured() and _list_due(now).exists()


def send_due_mails() -> DeliveryResult:
    """Send due mails until the server fails or `RUN_SECONDS` have passed.

    Over `MAIL_CONNECTIONS` connections at once, each in a thread of its own.
    """
    _give_up_expired(timezone.now())
    count: int = settings.MAIL_CONNECTIONS
    run = _Run(time.monotonic() + RUN_SECONDS, has_threads=count > 1)
    if not run.has_threads:
        run.send_mails()
    else:
        with ThreadPoolExecutor(count, thread_name_prefix="mail") as pool:
            for future in [pool.submit(run.send_in_thread) for _ in range(count)]:
                future.result()
    return DeliveryResult(run.sent, run.failed)


class _Run:
    """A run of the job; its threads stop at the first failure of the server."""

    def __init__(self, ends_at: float, *, has_threads: bool) -> None:
        self.ends_at, self.has_threads = ends_at, has_threads
        self.sent = self.failed = 0
        self._is_stopped = threading.Event()
        self._lock = threading.Lock()

    def send_in_thread(self) -> None:
        try:
            self.send_mails()
        finally:
            connection.close()

    def send_mails(self) -> None:
        with MailSender() as sender:
            while time.monotonic() < self.ends_at and not self._is_stopped.is_set():
                mail = _claim_mail(timezone.now())
                if mail is None:
                    break
                self._send(sender, mail)

    def _send(self, sender: MailSender, mail: Mail) -> None:
        if self.has_threads:
            # The pool has fewer connections than there may be threads.
            connection.close()
        try:
            sender.send(_make_message(mail))
        except TemporaryMailError as error:
            if error.is_of_server:
                self._is_stopped.set()
            _postpone(mail, str(error))
            self._count(failed=1)
        # A header is invalid, or no key opens the content.
        except (PermanentMailError, UnsealingError, ValueError) as error:
            reason = str(error) if isinstance(error, PermanentMailError) else ""
            _end(mail, State.GIVEN_UP, reason or type(error).__name__)
        else:
            _end(mail, State.SENT)
            self._count(sent=1)

    def _count(self, *, sent: int = 0, failed: int = 0) -> None:
        with self._lock:
            self.sent += sent
            self.failed += failed


def purge_mails(now: datetime) -> int:
    return purge(Mail.objects.filter(ended_at__lte=now - RETENTION))


def _list_due(now: datetime) -> QuerySet[Mail]:
    return Mail.objects.filter(state=State.WAITING, next_attempt_at__lte=now)


@retry_on_conflict
def _claim_mail(now: datetime) -> Mail | None:
    with transaction.atomic():
        due = _list_due(now).select_for_update(skip_locked=True, of=("self",))
        mail = due.order_by("next_attempt_at", "id").first()
        if mail is not None:
            mail.attempts += 1
            mail.next_attempt_at = now + LEASE
            mail.save(update_fields=["attempts", "next_attempt_at"])
    return mail


def _make_message(mail: Mail) -> EmailMultiAlternatives:
    content = orjson.loads(unseal(mail.content or b"", mail_context(mail.message_id)))
    message = EmailMultiAlternatives(
        content["subject"],
        content["text"],
        settings.MAIL_FROM,
        [content["to"]],
        headers={
            "Message-ID": mail.message_id,
            # Prevents holiday replies.
            "Auto-Submitted": "auto-generated",
        },
    )
    message.attach_alternative(content["html"], "text/html")
    return message


def _give_up_expired(now: datetime) -> None:
    expired = Mail.objects.filter(state=State.WAITING, expires_at__lte=now)
    # Skip mails that another worker is sending.
    for mail in expired.filter(next_attempt_at__lte=now):
        _end(mail, State.GIVEN_UP, mail.error or "expired")


def _postpone(mail: Mail, reason: str) -> None:
    exponent = min(mail.attempts - 1, MAX_BACKOFF_EXPONENT)
    next_attempt_at = timezone.now() + INITIAL_BACKOFF * 2**exponent
    if next_attempt_at >= mail.expires_at:
        _end(mail, State.GIVEN_UP, reason)
        return
    _update_claimed(mail, next_attempt_at=next_attempt_at, error=reason)
    _log(mail, "postponed", reason)


def _end(mail: Mail, state: State, reason: str = "") -> None:
    _update_claimed(
        mail, state=state, content=None, ended_at=timezone.now(), error=reason
    )
    _log(mail, state.value, reason)


def _update_claimed(mail: Mail, **values: object) -> None:
    """Update the row unless another run has claimed it."""
    rows = Mail.objects.filter(pk=mail.pk, attempts=mail.attempts, state=State.WAITING)
    rows.update(**values)


def _log(mail: Mail, outcome: str, reason: str) -> None:
    fields = {"mail": mail.pk, "template": mail.template, "outcome": outcome}
    if reason:
        fields |= {"reason": reason, "attempts": mail.attempts}
    level = logging.WARNING if reason else logging.INFO
    logger.log(level, "mail", extra={"fields": fields})
