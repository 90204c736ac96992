"""The session user on Starlette: the same look-up, the same JSON."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from psycopg_pool import AsyncConnectionPool
from redis.asyncio import Redis
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.peers.sessions import (
    CACHE_TTL_SECONDS,
    SESSION_SQL,
    SessionMember,
    build_cache_entry,
    hash_bearer_token,
    read_cache_entry,
)

valkey = Redis.from_url(os.environ["REDIS_URL"])
pool = AsyncConnectionPool(
    os.environ["DATABASE_URL"], min_size=1, max_size=4, open=False
)


async def get_session_user(request: Request) -> Response:
    member = await find_member(request.headers.get("authorization", ""))
    if member is None or member.status != "ACTIVE":
        return Response(status_code=401)
    body = {
        "id": member.id,
        "loginId": member.login_id,
        "displayName": member.display_name,
        "role": member.role,
        "plan": member.plan,
        "planExpiresAt": member.plan_expires_at,
    }
    return Response(orjson.dumps(body), media_type="application/json")


async def find_member(authorization: str) -> SessionMember | None:
    """Return the member of the session, from the cache or else from its row."""
    key_hash = hash_bearer_token(authorization)
    key = f"session:{key_hash}"
    stored: Any = await valkey.get(key)
    if member := read_cache_entry(key_hash, stored):
        return member
    async with pool.connection() as connection:
        cursor = await connection.execute(SESSION_SQL, [key_hash])
        row = await cursor.fetchone()
    if row is None:
        return None
    entry = build_cache_entry(key_hash, row)
    await valkey.set(key, entry, ex=CACHE_TTL_SECONDS)
    return read_cache_entry(key_hash, entry)


@asynccontextmanager
async def open_pool(_: Starlette) -> AsyncIterator[None]:
    async with pool:
        yield


application = Starlette(
    routes=[Route("/session", get_session_user)], lifespan=open_pool
)
