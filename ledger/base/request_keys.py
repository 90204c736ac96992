"""Requests under an `Idempotency-Key`: effect and answer are one transaction."""

from collections.abc import Callable

from rest_framework.response import Response
from rest_framework.status import is_success

from core.api.keyed_answers import AlreadyAnsweredError, KeyedRequest
from ledger.base.ledger_write import LockedLedger, ledger_write, open_to_writes
from ledger.models import RequestKey


# The writes of `handle` are recorded, and this one is not.
@ledger_write(is_recorded=False)
def answer_once(
    ledger: LockedLedger, request: KeyedRequest, handle: Callable[[], Response]
) -> Response:
    """Return what `handle` answers, or answered before under the key.

    Its writes are part of this transaction. Raises `KeyReusedError` if the key was used
    for another request. An error of `handle` leaves the key free.
    """
    known = RequestKey.find(request)
    if known is not None:
        return known
    with open_to_writes(ledger):
        response = handle()
    if is_success(response.status_code):
        RequestKey.store(request, response.data, response.status_code, response.headers)
    return response


def raise_if_answered(request: KeyedRequest) -> None:
    if known := RequestKey.find(request):
        raise AlreadyAnsweredError(known)
