"""The peer: two responses of the service without a framework and validation.

It looks up the service's sessions as the service does: in Valkey, signed, and otherwise
in the table.
"""

import hashlib
import hmac
import os
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

import orjson
import redis
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

CACHE_TTL_SECONDS, MAC_BYTES = 60, 16
# Granian has as many threads.
THREADS = 4
SESSION_SQL = """
    SELECT s.expires_at, m.id, m.login_id AS "loginId", m.role, m.plan,
        m.display_name AS "displayName", m.plan_expires_at AS "planExpiresAt",
        '[]'::json AS "consentsDue"
    FROM auth_session s JOIN member m ON m.id = s.member_id
    WHERE s.key_hash = %s AND s.expires_at > now() AND m.status = 'ACTIVE'
"""
COUNT_SQL = """
    SELECT income_count + expense_count + transfer_count + pending_income_count
        + pending_expense_count + pending_transfer_count AS count
    FROM account_ledger WHERE member_id = %s
"""
PAGE_SQL = """
    SELECT e.id, e.date, e.type, e.amount, c.name AS category,
        e.wallet_id AS "walletId", w.name AS wallet, e.memo,
        ARRAY(
            SELECT t.name FROM account_entry_tag l
            JOIN account_tag t ON t.member_id = l.member_id AND t.id = l.tag_id
            WHERE l.member_id = e.member_id AND l.entry_id = e.id ORDER BY l.position
        ) AS tags,
        e.currency, e.original_amount AS "originalAmount",
        e.exchange_rate AS "exchangeRate",
        e.installment_months AS "installmentMonths", e.pending,
        e.created_at AS "createdAt", e.updated_at AS "updatedAt"
    FROM (
        SELECT * FROM account_entry WHERE member_id = %(member)s
        ORDER BY date DESC, id DESC LIMIT %(size)s
    ) e
    LEFT JOIN account_category c ON c.member_id = %(member)s AND c.id = e.category_id
    LEFT JOIN account w ON w.member_id = %(member)s AND w.id = e.wallet_id
    ORDER BY e.date DESC, e.id DESC
"""
_KEYED_HASH = hashlib.blake2b(
    key=os.environ["SECRET_KEY"].encode()[:64], digest_size=MAC_BYTES
)
_valkey = redis.Redis.from_url(os.environ["REDIS_URL"])
_pool = ConnectionPool(
    os.environ["DATABASE_URL"],
    min_size=THREADS,
    max_size=THREADS,
    kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
    open=False,
)


def pack(key_hash: str, row: dict[str, Any]) -> bytes:
    """Sign a row of `SESSION_SQL`."""
    text = orjson.dumps({"readAt": time.time(), **row})
    return sign(key_hash, text) + text


def unpack(key_hash: str, entry: Any) -> dict[str, Any] | None:
    """Return the session user of a fresh, signed entry."""
    if not entry or not hmac.compare_digest(
        entry[:MAC_BYTES], sign(key_hash, entry[MAC_BYTES:])
    ):
        return None
    values: dict[str, Any] = orjson.loads(entry[MAC_BYTES:])
    read_at, now = values.pop("readAt"), time.time()
    expires_at = datetime.fromisoformat(values.pop("expires_at"))
    is_fresh = now - read_at < CACHE_TTL_SECONDS and expires_at.timestamp() > now
    return values if is_fresh else None


def sign(key_hash: str, text: bytes) -> bytes:
    mac = _KEYED_HASH.copy()
    mac.update(key_hash.encode())
    mac.update(text)
    return mac.digest()


def find_user(authorization: str) -> dict[str, Any] | None:
    key = authorization.removeprefix("Bearer ").strip()
    key_hash = hashlib.sha256(key.encode()).hexdigest()
    if user := unpack(key_hash, _valkey.get(f"peer-session:{key_hash}")):
        return user
    with _pool.connection() as connection:
        row: Any = connection.execute(SESSION_SQL, [key_hash]).fetchone()
    if row is None:
        return None
    entry = pack(key_hash, row)
    _valkey.set(f"peer-session:{key_hash}", entry, ex=CACHE_TTL_SECONDS)
    return unpack(key_hash, entry)


def list_entries(member: int, size: int) -> dict[str, Any]:
    with _pool.connection() as connection:
        cursor = connection.cursor(binary=True)
        body: Any = cursor.execute(COUNT_SQL, [member]).fetchone()
        cursor.execute(PAGE_SQL, {"member": member, "size": size})
        entries: list[Any] = cursor.fetchall()
    for entry in entries:
        if entry["walletId"] is not None:
            entry["wallet"] = {"id": entry["walletId"], "name": entry["wallet"]}
    return {**body, "results": entries}


def application(
    environ: dict[str, Any], start_response: Callable[..., object]
) -> list[bytes]:
    if _pool.closed:
        _pool.open()
    body = find_user(environ.get("HTTP_AUTHORIZATION", ""))
    if body is None:
        start_response("401 Unauthorized", [])
        return [b""]
    if environ["PATH_INFO"] == "/entries":
        query = parse_qs(environ["QUERY_STRING"])
        body = list_entries(body["id"], int(query["size"][0]))
    # Amounts with decimals are numbers.
    text = orjson.dumps(body, default=float)
    headers = [("Content-Type", "application/json"), ("Content-Length", f"{len(text)}")]
    start_response("200 OK", headers)
    return [text]
