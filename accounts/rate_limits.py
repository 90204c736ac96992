"""Rate limits with sliding windows, counted in PostgreSQL.

They are exact and work without Valkey. The times of recent attempts under one key are
an array in one row; a single statement checks and appends under the row's lock.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from accounts.errors import InvalidIdTokenError
from accounts.identifiers import normalize_identifier
from accounts.models import RateLimit
from core.errors import RateLimitedError

# Rows that one statement of the purge deletes.
PURGE_BATCH = 5_000

# The upsert waits for concurrent attempts under the key. Its WHERE skips the update,
# and so returns no row, once the window is full.
CONSUME_SQL = """
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
    ) < %(max_attempts)s
    RETURNING attempts[array_upper(attempts, 1)]
"""
_SECONDS_LEFT = """
    SELECT extract(epoch FROM min(at) + %(window)s - clock_timestamp())
    FROM rate_limit, unnest(attempts) AS at
    WHERE key = %(key)s AND at > clock_timestamp() - %(window)s
"""
_REFUND = """
    UPDATE rate_limit SET attempts = array_remove(attempts, %(at)s)
    WHERE key = %(key)s
"""

MAX_KEY_LENGTH = 200


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """At most `max_attempts` within any `window` under one key."""

    name: str
    max_attempts: int
    window: timedelta

    def key_of(self, subject: str) -> str:
        """Return the key under which the attempts of a subject are counted."""
        return f"{self.name}:{subject}"[:MAX_KEY_LENGTH]


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """One counted attempt, for `refund_attempt`."""

    key: str
    at: datetime


SIGNUP_PER_IP = RateLimitPolicy("sign-up", 5, timedelta(hours=1))
# Keyed by IP address and login id, so that an attacker elsewhere cannot lock out the
# owner of an account.
LOGIN_PER_ACCOUNT_AND_IP = RateLimitPolicy(
    "login-per-account-and-ip", 10, timedelta(minutes=15)
)
LOGIN_PER_IP = RateLimitPolicy("login-per-ip", 100, timedelta(minutes=15))


def consume_attempt(policy: RateLimitPolicy, subject: str) -> CountedAttempt:
    """Count one attempt, or raise `RateLimitedError` with the seconds to wait."""
    key = policy.key_of(subject)
    params: dict[str, Any] = {
        "key": key,
        "window": policy.window,
        "max_attempts": policy.max_attempts,
    }
    with connection.cursor() as cursor:
        cursor.execute(CONSUME_SQL, params)
        row = cursor.fetchone()
        if row is not None:
            (attempted_at,) = row
            return CountedAttempt(key, attempted_at)
        cursor.execute(_SECONDS_LEFT, params)
        (seconds_left,) = cursor.fetchone()
    # NULL if the attempts have left the window between the two statements.
    raise RateLimitedError(math.ceil(seconds_left or 1))


def refund_attempt(attempt: CountedAttempt) -> None:
    """Remove a counted attempt; a second call has no effect."""
    with connection.cursor() as cursor:
        cursor.execute(_REFUND, {"key": attempt.key, "at": attempt.at})


@contextmanager
def count_login_failures(login_id: str, ip_key: str) -> Iterator[None]:
    """Count the block as a failed login if it raises.

    `ip_key` is the `rate_limit_key` of the client. Raises `RateLimitedError` before
    the block runs if there were too many failures.
    """
    # Count before the password is checked and refund on success: concurrent guesses
    # cannot all pass this way.
    by_ip = consume_attempt(LOGIN_PER_IP, ip_key)
    by_account = consume_attempt(
        LOGIN_PER_ACCOUNT_AND_IP, f"{ip_key}:{normalize_identifier(login_id)}"
    )
    yield
    refund_attempt(by_account)
    refund_attempt(by_ip)


@contextmanager
def count_identity_failures(ip_key: str) -> Iterator[None]:
    """Count the block as a failed login if it raises `InvalidIdTokenError`.

    As `count_login_failures`, but a failure of the provider does not count.
    """
    attempt = consume_attempt(LOGIN_PER_IP, ip_key)
    is_refused = False
    try:
        yield
    except InvalidIdTokenError:
        is_refused = True
        raise
    finally:
        if not is_refused:
            refund_attempt(attempt)


def purge_rate_limits(now: datetime) -> int:
    """Delete the rows whose windows have passed, in batches; return their number."""
    purged = 0
    while True:
        expired = RateLimit.objects.filter(expires_at__lte=now).order_by()
        keys = list(expired.values_list("key", flat=True)[:PURGE_BATCH])
        if not keys:
            return purged
        # Again only those that have passed: an attempt may have begun a new window.
        purged += expired.filter(key__in=keys).delete()[0]
