"""Limits on attempts, counted in PostgreSQL: exact, whatever else is down.

A limit is a sliding window: the times of the recent attempts stand in one row,
and one statement checks and adds under the row's lock.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from accounts.models import RateLimit
from core.errors import RateLimitedError

_CONSUME = """
    INSERT INTO rate_limit AS kept (key, attempts, expires_at)
    VALUES (%(key)s, ARRAY[clock_timestamp()], clock_timestamp() + %(window)s)
    ON CONFLICT (key) DO UPDATE SET
        attempts = ARRAY(
            SELECT at FROM unnest(kept.attempts) AS at
            WHERE at > clock_timestamp() - %(window)s ORDER BY at
        ) || clock_timestamp(),
        expires_at = clock_timestamp() + %(window)s
    WHERE (
        SELECT count(*) FROM unnest(kept.attempts) AS at
        WHERE at > clock_timestamp() - %(window)s
    ) < %(attempts)s
    RETURNING attempts[array_upper(attempts, 1)]
"""
_SECONDS_LEFT = """
    SELECT extract(epoch FROM min(at) + %(window)s - clock_timestamp())
    FROM rate_limit, unnest(attempts) AS at
    WHERE key = %(key)s AND at > clock_timestamp() - %(window)s
"""
_REFUND = """
    UPDATE rate_limit SET attempts = array_remove(attempts, %(taken)s)
    WHERE key = %(key)s
"""


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """At most `attempts` within any `window` under one key."""

    name: str
    attempts: int
    window: timedelta


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """One counted attempt; it can be given back if it turns out harmless."""

    key: str
    at: datetime


SIGNUP_PER_IP = RateLimitPolicy("sign-up", 5, timedelta(hours=1))
LOGIN_PER_ACCOUNT_AND_IP = RateLimitPolicy("login", 10, timedelta(minutes=15))
"""Failures for one login id from one address: strangers elsewhere lock nobody out."""
LOGIN_PER_IP = RateLimitPolicy("logins", 100, timedelta(minutes=15))


def consume_attempt(limit: RateLimitPolicy, subject: str) -> CountedAttempt:
    """Count one attempt, or raise `RateLimitedError` with the seconds to wait."""
    key = f"{limit.name}:{subject}"[:200]
    values: dict[str, Any] = {
        "key": key,
        "window": limit.window,
        "attempts": limit.attempts,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CONSUME, values)
        row = cursor.fetchone()
        if row is not None:
            return CountedAttempt(key, row[0])
        cursor.execute(_SECONDS_LEFT, values)
        left = cursor.fetchone()[0]
    raise RateLimitedError(math.ceil(left or 1))


def refund_attempt(attempt: CountedAttempt) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_REFUND, {"key": attempt.key, "taken": attempt.at})


@contextmanager
def count_login_failures(login_id: str, address: str) -> Iterator[None]:
    """Count the block as a failed login unless it ends without a refusal.

    The attempt is counted before the password is looked at, so that attempts at
    the same moment cannot all pass.
    """
    by_address = consume_attempt(LOGIN_PER_IP, address)
    by_account = consume_attempt(
        LOGIN_PER_ACCOUNT_AND_IP, f"{address}:{login_id.lower()}"
    )
    yield
    refund_attempt(by_account)
    refund_attempt(by_address)


def purge_rate_limits(now: datetime) -> int:
    """Delete the rows whose windows have passed; the number deleted."""
    return RateLimit.objects.filter(expires_at__lte=now).delete()[0]
