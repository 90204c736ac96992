"""Requests for codes that wait for the job (spec 2.9, 2.12)."""

from datetime import datetime

from django.db.models import QuerySet

from accounts.codes.code_mails import process_request
from accounts.codes.deletion import DELETION_MAIL
from accounts.codes.password_reset import RESET_MAIL
from accounts.mail.outbox import is_mail_configured
from accounts.models import CodeRequest

BATCH_SIZE = 200
CODE_MAILS = {kind.purpose: kind for kind in (RESET_MAIL, DELETION_MAIL)}


def has_waiting_requests() -> bool:
    return is_mail_configured() and _list_waiting().exists()


def process_requests(now: datetime) -> int:
    requests = list(_list_waiting().order_by("created_at", "id")[:BATCH_SIZE])
    for request in requests:
        process_request(CODE_MAILS[request.purpose], request, now)
    return len(requests)


def _list_waiting() -> QuerySet[CodeRequest]:
    return CodeRequest.objects.filter(purpose__in=CODE_MAILS, processed_at=None)
