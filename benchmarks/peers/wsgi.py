"""The newest entries as a bare WSGI application: psycopg and orjson.

It does what the answer takes and no more: no routes, no validation, one page.
"""

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import orjson
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
from redis import Redis

from benchmarks.peers.sessions import (
    CACHE_TTL_SECONDS,
    SESSION_SQL,
    SessionMember,
    build_cache_entry,
    hash_bearer_token,
    read_cache_entry,
)

# As many as the web server has for it.
THREADS = 4
_COUNT_SQL = """
    SELECT income_count + expense_count + pending_income_count + pending_expense_count
        AS count
    FROM account_ledger WHERE member_id = %s
"""
_PAGE_SQL = """
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

valkey = Redis.from_url(os.environ["REDIS_URL"])
pool = ConnectionPool(
    os.environ["DATABASE_URL"],
    min_size=THREADS,
    max_size=THREADS,
    kwargs={"autocommit": True, "prepare_threshold": 0},
    open=True,
)


def application(
    environ: dict[str, Any], start_response: Callable[..., object]
) -> list[bytes]:
    member = find_member(environ.get("HTTP_AUTHORIZATION", ""))
    if member is None or member.status != "ACTIVE":
        start_response("401 Unauthorized", [])
        return [b""]
    size = int(parse_qs(environ["QUERY_STRING"])["size"][0])
    with pool.connection() as connection:
        cursor = connection.cursor(binary=True, row_factory=dict_row)
        cursor.execute(_COUNT_SQL, [member.id])
        body = cursor.fetchone() or {"count": 0}
        cursor.execute(_PAGE_SQL, {"member": member.id, "size": size})
        entries = cursor.fetchall()
    for entry in entries:
        if entry["walletId"] is not None:
            entry["wallet"] = {"id": entry["walletId"], "name": entry["wallet"]}
    body |= {"next": None, "previous": None, "results": entries}
    text = orjson.dumps(body, default=float)  # amounts with decimals
    start_response(
        "200 OK",
        [("Content-Type", "application/json"), ("Content-Length", str(len(text)))],
    )
    return [text]


def find_member(authorization: str) -> SessionMember | None:
    """Return the member of the session, from the cache or else from its row."""
    key_hash = hash_bearer_token(authorization)
    key = f"session:{key_hash}"
    entry: Any = valkey.get(key)
    if member := read_cache_entry(key_hash, entry):
        return member
    with pool.connection() as connection:
        row = connection.execute(SESSION_SQL, [key_hash]).fetchone()
    if row is None:
        return None
    entry = build_cache_entry(key_hash, row)
    valkey.set(key, entry, ex=CACHE_TTL_SECONDS)
    return read_cache_entry(key_hash, entry)
