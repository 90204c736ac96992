"""Rate limits with sliding windows, counted in PostgreSQL."""

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
from accounts.models.purging import purge
from accounts.security.events import SecurityEvent, log_refusal
from core.client_ip import rate_limit_key
from core.errors import RateLimitedError

# The upsert waits for concurrent attempts, and returns no row for a full window.
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
        return f"{self.name}:{subject}"[:MAX_KEY_LENGTH]

    def consume(self, subject: str) -> "CountedAttempt":
        """Count an attempt, or raise `RateLimitedError` with the seconds to wait."""
        key = self.key_of(subject)
        params: dict[str, Any] = {
            "key": key,
            "window": self.window,
            "max_attempts": self.max_attempts,
        }
        with connection.cursor() as cursor:
            cursor.execute(CONSUME_SQL, params)
            row = cursor.fetchone()
            if row is not None:
                (attempted_at,) = row
                return CountedAttempt(key, attempted_at)
            cursor.execute(_SECONDS_LEFT, params)
            (seconds_left,) = cursor.fetchone()
        # NULL if the window has just passed.
        raise RateLimitedError(math.ceil(seconds_left or 1))

    def take_all(self, subject: str) -> int:
        """Remove the attempts under the key; return their number."""
        rows = RateLimit.objects.filter(key=self.key_of(subject))
        counted = rows.select_for_update().first()
        if counted is None:
            return 0
        rows.delete()
        return len(counted.attempts)


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    key: str
    at: datetime

    def refund(self) -> None:
        """Remove the attempt; a second call has no effect."""
        with connection.cursor() as cursor:
            cursor.execute(_REFUND, {"key": self.key, "at": self.at})


SIGNUP_PER_IP = RateLimitPolicy("sign-up", 5, timedelta(hours=1))
# An attacker elsewhere cannot lock out the owner.
LOGIN_PER_ACCOUNT_AND_IP = RateLimitPolicy(
    "login-per-account-and-ip", 10, timedelta(minutes=15)
)
LOGIN_PER_IP = RateLimitPolicy("login-per-ip", 100, timedelta(minutes=15))


@contextmanager
def count_login_failures(
    login_id: str, ip_address: str, member_id: int | None
) -> Iterator[None]:
    """Count the block as a failed login if it raises.

    Raises `RateLimitedError` before the block after too many failures, and logs it.
    """
    ip_key = rate_limit_key(ip_address)
    try:
        # Concurrent guesses are counted before the check.
        by_ip = LOGIN_PER_IP.consume(ip_key)
        by_account = LOGIN_PER_ACCOUNT_AND_IP.consume(
            f"{ip_key}:{normalize_identifier(login_id)}"
        )
        yield
    except RateLimitedError:
        log_refusal(SecurityEvent.LOGIN_THROTTLED, member_id)
        raise
    by_account.refund()
    by_ip.refund()


@contextmanager
def count_identity_failures(
    ip_address: str, member_id: int | None = None
) -> Iterator[None]:
    """Count and log the block as a failed login if it raises `InvalidIdTokenError`."""
    attempt = None
    try:
        attempt = LOGIN_PER_IP.consume(rate_limit_key(ip_address))
        yield
    except InvalidIdTokenError:
        # A refused token is not refunded.
        attempt = None
        log_refusal(SecurityEvent.ID_TOKEN_REFUSED, member_id)
        raise
    except RateLimitedError:
        log_refusal(SecurityEvent.LOGIN_THROTTLED, member_id)
        raise
    finally:
        if attempt is not None:
            attempt.refund()


def purge_rate_limits(now: datetime) -> int:
    return purge(RateLimit.objects.filter(expires_at__lte=now))
