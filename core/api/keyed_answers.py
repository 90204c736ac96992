"""Answers of requests that had an `Idempotency-Key`, in a table of their app.

An answer is written in the transaction of its effect, under a lock by which all
requests of one owner follow each other.
"""

import hmac
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple

import orjson
from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from rest_framework.response import Response
from rest_framework.status import HTTP_200_OK

from core.api.renderers import dump_json
from core.api.request_keys import REPLAYED, KeyReusedError
from core.db.rows import fetch_one, prepared_cursor
from core.sealing import UnsealingError, decrypt_bytes, encrypt_bytes

KEY_LIFETIME = timedelta(days=7)
MAX_KEY_LENGTH = 128
# Of one owner; the oldest go first.
MAX_KEYS = 10_000
# A larger answer comes once: under the key only its status is known.
MAX_BODY_BYTES = 256 * 1024
_SEALED = b"\x01"
# The oldest key that may stay is the last of the kept ones. One that is too old may be
# used again; Citus asks here for functions that are IMMUTABLE.
_STORE = """
    WITH stored AS (
        INSERT INTO {table} AS known
            ({columns}, key, fingerprint, status, body{headers})
        VALUES ({values}, %(key)s, %(fingerprint)s, %(status)s, %(body)s{sent_headers})
        ON CONFLICT ({columns}, key) DO UPDATE
        SET fingerprint = excluded.fingerprint, status = excluded.status,
            body = excluded.body, created_at = excluded.created_at{new_headers}
        WHERE excluded.created_at - known.created_at >= %(lifetime)s::interval
        RETURNING key
    ), pushed_out AS (
        DELETE FROM {table} WHERE {is_owned} AND created_at < (
            SELECT created_at FROM {table} WHERE {is_owned}
            ORDER BY created_at DESC OFFSET %(kept)s - 1 LIMIT 1
        )
    )
    SELECT key FROM stored
"""
_FIND = """
    SELECT fingerprint, status, body, {header_texts} AS headers FROM {table}
    WHERE {is_owned} AND key = %(key)s
        AND created_at > now() - %(lifetime)s::interval
"""


class KeyedRequest(NamedTuple):
    # Whose row it is, by column.
    owner: dict[str, int]
    key: str
    # SHA-256 of the request, from `hash_request`.
    digest: bytes


class KnownAnswer(NamedTuple):
    fingerprint: bytes
    status: int
    body: bytes | None
    headers: list[str | None]


class AlreadyAnsweredError(Exception):
    """The request has been answered since it was looked up."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


class KeyedAnswer(models.Model):
    """A table of answers; a subclass has owner and `key` as its primary key."""

    owner_columns: ClassVar[tuple[str, ...]]
    # Headers of answers that their table keeps, by column.
    header_columns: ClassVar[Mapping[str, str]] = {}

    key = models.CharField(max_length=MAX_KEY_LENGTH)
    # HMAC of the request's SHA-256, with the secret key of the service.
    fingerprint = models.BinaryField()
    status = models.SmallIntegerField()
    # JSON, encrypted as account numbers are; null for no content.
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.key}: {self.status}"

    @classmethod
    def find(cls, request: KeyedRequest) -> Response | None:
        """Raise `KeyReusedError` if the key was used for another request."""
        known = fetch_one(cls._format(_FIND), _params(request), KnownAnswer)
        if known is None:
            return None
        if known.fingerprint not in list_fingerprints(request):
            raise KeyReusedError
        body = known.body and unseal_body(known.body, request)
        data = None if body is None else orjson.Fragment(body)
        kept = zip(cls.header_columns.values(), known.headers, strict=True)
        headers = {name: text for name, text in kept if text is not None}
        return Response(data, known.status, headers=headers | {REPLAYED: "true"})

    @classmethod
    def store(
        cls,
        request: KeyedRequest,
        data: Any,
        status: int = HTTP_200_OK,
        headers: Mapping[str, Any] | None = None,
    ) -> None:
        """Store an answer; of `headers` those that the table has a column for."""
        body = None if data is None else dump_json(data)
        if body is not None:
            is_large = len(body) > MAX_BODY_BYTES
            body = None if is_large else seal_body(body, request)
        params = _params(request) | {
            "fingerprint": list_fingerprints(request)[0],
            "status": status,
            "body": body,
            "kept": MAX_KEYS - 1,
        }
        for column, name in cls.header_columns.items():
            params[column] = (headers or {}).get(name)
        with prepared_cursor() as cursor:
            cursor.execute(cls._format(_STORE), params)
            if cursor.fetchone() is None:
                # The lock has failed: the effect is undone.
                raise RuntimeError(f"a second effect under the key {request.key}")

    @classmethod
    def _format(cls, statement: str) -> str:
        columns, headers = cls.owner_columns, cls.header_columns
        return statement.format(
            headers="".join(f", {each}" for each in headers),
            sent_headers="".join(f", %({each})s" for each in headers),
            new_headers="".join(f", {each} = excluded.{each}" for each in headers),
            header_texts=f"ARRAY[{', '.join(f'{each}::text' for each in headers)}]"
            "::text[]",
            table=cls._meta.db_table,
            columns=", ".join(columns),
            values=", ".join(f"%({each})s" for each in columns),
            is_owned=" AND ".join(f"{each} = %({each})s" for each in columns),
        )


def _params(request: KeyedRequest) -> dict[str, Any]:
    return {**request.owner, "key": request.key, "lifetime": KEY_LIFETIME}


def list_fingerprints(request: KeyedRequest) -> list[bytes]:
    """Return the HMAC of the request with each secret key of the service.

    A reader of the table cannot guess requests: the secret key is not there.
    """
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [hmac.digest(key.encode(), request.digest, "sha256") for key in keys]


def seal_body(body: bytes, request: KeyedRequest) -> bytes:
    """Encrypt an answer, which may have account numbers, as these are (spec 3.3)."""
    keys = settings.ACCOUNT_NUMBER_KEYS
    if not keys:
        return body
    return _SEALED + encrypt_bytes(body, keys[0], _name_context(request))


def unseal_body(stored: bytes, request: KeyedRequest) -> bytes | None:
    """Return None if the key is gone."""
    if not stored.startswith(_SEALED):
        return stored
    keys, context = settings.ACCOUNT_NUMBER_KEYS, _name_context(request)
    try:
        return decrypt_bytes(stored.removeprefix(_SEALED), keys, context)
    except UnsealingError:
        return None


def _name_context(request: KeyedRequest) -> str:
    owner = ":".join(str(each) for each in request.owner.values())
    return f"answer:{owner}:{request.key}"
