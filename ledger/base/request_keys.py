"""Requests under an `Idempotency-Key`: effect and answer are one transaction."""

import hmac
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db import IntegrityError
from rest_framework.response import Response
from rest_framework.status import HTTP_200_OK, is_success

from accounts.models import Member
from core.api.renderers import dump_json
from core.api.request_keys import REPLAYED, KeyReusedError
from core.db.rows import fetch_one, prepared_cursor
from core.sealing import UnsealingError, decrypt_bytes, encrypt_bytes
from ledger.base.ledger_write import LockedLedger, ledger_write, open_to_writes

KEY_LIFETIME = timedelta(days=7)
# Of one caller in a ledger.
MAX_KEYS = 10_000
# A larger answer comes once: under the key only its status is known.
MAX_BODY_BYTES = 256 * 1024


class AlreadyAnsweredError(Exception):
    """The request has been answered since it was looked up."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


# The oldest key that may stay is the last of the kept ones. One that is too old may be
# used again.
_STORE = """
    WITH stored AS (
        INSERT INTO account_request_key AS known
            (member_id, caller_id, key, fingerprint, status, body)
        VALUES (%(member)s, %(caller)s, %(key)s, %(fingerprint)s, %(status)s, %(body)s)
        ON CONFLICT (member_id, caller_id, key) DO UPDATE
        SET fingerprint = excluded.fingerprint, status = excluded.status,
            body = excluded.body, created_at = excluded.created_at
        WHERE known.created_at <= now() - %(lifetime)s::interval
        RETURNING key
    ), pushed_out AS (
        DELETE FROM account_request_key
        WHERE member_id = %(member)s AND caller_id = %(caller)s AND created_at < (
            SELECT created_at FROM account_request_key
            WHERE member_id = %(member)s AND caller_id = %(caller)s
            ORDER BY created_at DESC OFFSET %(kept)s - 1 LIMIT 1
        )
    )
    SELECT key FROM stored
"""
_FIND = """
    SELECT fingerprint, status, body FROM account_request_key
    WHERE member_id = %(member)s AND caller_id = %(caller)s AND key = %(key)s
        AND created_at > now() - %(lifetime)s::interval
"""
_SEALED = b"\x01"


class KnownAnswer(NamedTuple):
    fingerprint: bytes
    status: int
    body: bytes | None


class KeyedRequest(NamedTuple):
    caller_id: int
    key: str
    # What was asked for, as `hash_request` has it.
    digest: bytes


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
    known = fetch_one(_FIND, _params(member, request), KnownAnswer)
    if known is None:
        return None
    if known.fingerprint not in list_fingerprints(request):
        raise KeyReusedError
    body = known.body and unseal_body(known.body, member, request)
    data = None if body is None else orjson.Fragment(body)
    return Response(data, known.status, headers={REPLAYED: "true"})


def _params(member: Member, request: KeyedRequest) -> dict[str, Any]:
    return {
        "member": member.pk,
        "caller": request.caller_id,
        "key": request.key,
        "lifetime": KEY_LIFETIME,
    }


def list_fingerprints(request: KeyedRequest) -> list[bytes]:
    """Return what stands for the request, by each of the service's keys.

    Nobody who reads the table can try out what the request was.
    """
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [hmac.digest(key.encode(), request.digest, "sha256") for key in keys]


def seal_body(body: bytes, member: Member, request: KeyedRequest) -> bytes:
    """Encrypt an answer, which may have account numbers, as these are (spec 3.3)."""
    keys = settings.ACCOUNT_NUMBER_KEYS
    if not keys:
        return body
    return _SEALED + encrypt_bytes(body, keys[0], _name_context(member, request))


def unseal_body(stored: bytes, member: Member, request: KeyedRequest) -> bytes | None:
    """Return None if the key is gone."""
    if not stored.startswith(_SEALED):
        return stored
    keys, context = settings.ACCOUNT_NUMBER_KEYS, _name_context(member, request)
    try:
        return decrypt_bytes(stored.removeprefix(_SEALED), keys, context)
    except UnsealingError:
        return None


def _name_context(member: Member, request: KeyedRequest) -> str:
    return f"answer:{member.pk}:{request.caller_id}:{request.key}"


def raise_if_reused(member: Member, request: KeyedRequest) -> None:
    find_answer(member, request)


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
    if body is not None:
        body = seal_body(body, ledger.member, request)
    params = _params(ledger.member, request) | {
        "fingerprint": list_fingerprints(request)[0],
        "status": status,
        "body": body,
        "kept": MAX_KEYS - 1,
    }
    with prepared_cursor() as cursor:
        cursor.execute(_STORE, params)
        if cursor.fetchone() is None:
            # The lock of the ledger has failed: the effect is undone.
            raise IntegrityError(f"a second effect under the key {request.key}")
