"""Requests under an `Idempotency-Key`: effect and answer are one transaction."""

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
from rest_framework.response import Response
from rest_framework.status import HTTP_200_OK, is_success

from accounts.models import Member
from core.api.renderers import dump_json
from core.api.request_keys import REPLAYED, KeyReusedError
from core.db.rows import fetch_one, prepared_cursor
from ledger.base.ledger_write import LockedLedger, ledger_write, open_to_writes

# Of one caller in a ledger.
MAX_KEYS = 10_000
# A larger answer comes once: under the key only its status is known.
MAX_BODY_BYTES = 256 * 1024


class AlreadyAnsweredError(Exception):
    """The request has been answered since it was looked up."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


# The oldest key that may stay is the last of the kept ones.
_STORE = """
    WITH stored AS (
        INSERT INTO account_request_key
            (member_id, caller_id, key, fingerprint, status, body)
        VALUES (%(member)s, %(caller_id)s, %(key)s, %(fingerprint)s, %(status)s,
            %(body)s)
    )
    DELETE FROM account_request_key
    WHERE member_id = %(member)s AND caller_id = %(caller_id)s AND created_at < (
        SELECT created_at FROM account_request_key
        WHERE member_id = %(member)s AND caller_id = %(caller_id)s
        ORDER BY created_at DESC OFFSET %(kept)s - 1 LIMIT 1
    )
"""
_FIND = """
    SELECT fingerprint, status, body FROM account_request_key
    WHERE member_id = %s AND caller_id = %s AND key = %s
"""


class KnownAnswer(NamedTuple):
    fingerprint: bytes
    status: int
    body: bytes | None


class KeyedRequest(NamedTuple):
    caller_id: int
    key: str
    # What was asked for, as `hash_request` has it.
    fingerprint: bytes


@ledger_write
def answer_once(
    ledger: LockedLedger, request: KeyedRequest, handle: Callable[[], Response]
) -> Response:
    """Return what `handle` answers, or answered before under the key.

    Its writes are part of this transaction. Raises `KeyReusedError` if the key was used
    for another request. An error of `handle` leaves the key free.
    """
    known = find_answer(ledger.member, request)
    if known is not None:
        return known
    with open_to_writes(ledger):
        response = handle()
    if is_success(response.status_code):
        store_answer(ledger, request, response.data, response.status_code)
    return response


def find_answer(member: Member, request: KeyedRequest) -> Response | None:
    """Raise `KeyReusedError` if the key was used for another request."""
    known = fetch_one(_FIND, [member.pk, request.caller_id, request.key], KnownAnswer)
    if known is None:
        return None
    if known.fingerprint != request.fingerprint:
        raise KeyReusedError
    body = None if known.body is None else orjson.Fragment(known.body)
    return Response(body, known.status, headers={REPLAYED: "true"})


def raise_if_answered(member: Member, request: KeyedRequest) -> None:
    if known := find_answer(member, request):
        raise AlreadyAnsweredError(known)


def store_answer(
    ledger: LockedLedger,
    request: KeyedRequest,
    data: Any,
    status: int = HTTP_200_OK,
) -> None:
    body = None if data is None else dump_json(data)
    if body is not None and len(body) > MAX_BODY_BYTES:
        body = None
    params = {
        **request._asdict(),
        "member": ledger.member.pk,
        "status": status,
        "body": body,
        "kept": MAX_KEYS - 1,
    }
    with prepared_cursor() as cursor:
        cursor.execute(_STORE, params)
