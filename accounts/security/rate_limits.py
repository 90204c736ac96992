"""Rate limits with sliding windows, counted in PostgreSQL."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.errors import HashingBusyError, InvalidIdTokenError, TooManyHashesError
from accounts.identifiers import normalize_identifier
from accounts.models import RateLimit, purging
from accounts.security.events import SecurityEvent, log_refusal
from core.client_ip import UNKNOWN_ADDRESS, rate_limit_key
from core.errors import RateLimitedError

# The upsert waits for concurrent attempts, and returns no row for a full window. Every
# statement locks rows in the order of their keys.
CONSUME_SQL = """
    WITH policy AS (
        SELECT * FROM unnest(
            %(keys)s::text[], %(windows)s::interval[], %(max_attempts)s::int[]
        ) AS policy (key, duration, max_attempts)
    )
    INSERT INTO rate_limit AS kept (key, attempts, expires_at)
    SELECT key, ARRAY[clock_timestamp()], clock_timestamp() + duration
    FROM policy ORDER BY key
    ON CONFLICT (key) DO UPDATE SET
        attempts = ARRAY(
            SELECT at FROM policy, unnest(kept.attempts) AS at
            WHERE policy.key = kept.key AND at > clock_timestamp() - duration
            ORDER BY at
        ) || clock_timestamp(),
        expires_at = clock_timestamp() + (
            SELECT duration FROM policy WHERE policy.key = kept.key
        )
    WHERE (
        SELECT count(at) < policy.max_attempts
        FROM policy LEFT JOIN unnest(kept.attempts) AS at
            ON at > clock_timestamp() - duration
        WHERE policy.key = kept.key GROUP BY policy.max_attempts
    )
    RETURNING key, attempts[array_upper(attempts, 1)]
"""
_SECONDS_LEFT = """
    SELECT extract(epoch FROM min(at) + duration - clock_timestamp())
    FROM unnest(%(keys)s::text[], %(windows)s::interval[]) AS policy (key, duration)
        JOIN rate_limit USING (key), unnest(attempts) AS at
    WHERE at > clock_timestamp() - duration
    GROUP BY key, duration ORDER BY 1 DESC LIMIT 1
"""
_REFUND = """
    WITH locked AS (
        SELECT key FROM rate_limit WHERE key = ANY(%(keys)s::text[])
        ORDER BY key FOR UPDATE
    )
    UPDATE rate_limit AS kept SET attempts = array_remove(kept.attempts, counted.at)
    FROM locked
        JOIN unnest(%(keys)s::text[], %(times)s::timestamptz[]) AS counted (key, at)
            USING (key)
    WHERE kept.key = locked.key
"""
# Skips rows that logins count in, which lock several.
_PURGE = """
    WITH passed AS MATERIALIZED (
        SELECT key FROM rate_limit WHERE expires_at <= %(now)s
        LIMIT %(batch_size)s FOR UPDATE SKIP LOCKED
    )
    DELETE FROM rate_limit USING passed WHERE rate_limit.key = passed.key
"""
# True if the member has logged in from one of the networks, or set a password by mail.
_IS_KNOWN_ADDRESS = """
    SELECT EXISTS (
        SELECT FROM security_event
        WHERE member_id = %(member_id)s AND kind IN ('LOGIN', 'PASSWORD_RESET')
        AND at > %(since)s AND ip_address <<= ANY(%(networks)s::inet[])
    )
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
        params = make_params({key: self})
        attempt = consume_each(params)
        if key not in attempt.times:
            raise RateLimitedError(get_seconds_left(params))
        return attempt

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
    """The times at which an attempt was counted, by key."""

    times: Mapping[str, datetime]

    def refund(self) -> None:
        """Remove the attempt; a second call has no effect."""
        if not self.times:
            return
        with connection.cursor() as cursor:
            cursor.execute(
                _REFUND,
                {"keys": list(self.times), "times": list(self.times.values())},
            )


def consume_each(params: Mapping[str, Any]) -> CountedAttempt:
    """Count one attempt under each key whose window is not full, in one statement.

    `make_params` makes the parameters.
    """
    with connection.cursor() as cursor:
        cursor.execute(CONSUME_SQL, params)
        return CountedAttempt(dict(cursor.fetchall()))


def get_seconds_left(params: Mapping[str, Any]) -> int:
    """Return the time until none of the windows is full."""
    with connection.cursor() as cursor:
        cursor.execute(_SECONDS_LEFT, params)
        row = cursor.fetchone()
    # No row if the windows have just passed.
    return math.ceil(row[0]) if row else 1


def make_params(policies: Mapping[str, RateLimitPolicy]) -> dict[str, Any]:
    return {
        "keys": list(policies),
        "windows": [policy.window for policy in policies.values()],
        "max_attempts": [policy.max_attempts for policy in policies.values()],
    }


SIGNUP_PER_IP = RateLimitPolicy("sign-up", 5, timedelta(hours=1))
LOGIN_PER_ACCOUNT_AND_IP = RateLimitPolicy(
    "login-per-account-and-ip", 10, timedelta(minutes=15)
)
LOGIN_PER_IP = RateLimitPolicy("login-per-ip", 50, timedelta(minutes=15))
# When it is full, addresses from which the member has logged in go on: strangers cannot
# lock the owner out there.
LOGIN_PER_ACCOUNT = RateLimitPolicy("login-per-account", 50, timedelta(hours=1))
KNOWN_ADDRESS_TIME = timedelta(days=90)


@contextmanager
def count_login_failures(
    login_id: str, ip_address: str, member_id: int | None
) -> Iterator[None]:
    """Count the block as a failed login if it raises.

    Raises `RateLimitedError` before the block after too many failures, and logs it. A
    password that was not compared, because too many are, is no failure.
    """
    attempt = CountedAttempt({})
    try:
        # Concurrent guesses are counted before the check.
        attempt = _consume_login_limits(login_id, ip_address, member_id)
        yield
    except (TooManyHashesError, HashingBusyError):
        attempt.refund()
        raise
    except RateLimitedError:
        log_refusal(SecurityEvent.LOGIN_THROTTLED, member_id)
        raise
    attempt.refund()


def _consume_login_limits(
    login_id: str, ip_address: str, member_id: int | None
) -> CountedAttempt:
    ip_key, login_key = rate_limit_key(ip_address), normalize_identifier(login_id)
    per_account = LOGIN_PER_ACCOUNT.key_of(login_key)
    policies = {
        LOGIN_PER_IP.key_of(ip_key): LOGIN_PER_IP,
        LOGIN_PER_ACCOUNT_AND_IP.key_of(
            f"{ip_key}:{login_key}"
        ): LOGIN_PER_ACCOUNT_AND_IP,
        per_account: LOGIN_PER_ACCOUNT,
    }
    attempt = consume_each(make_params(policies))
    full = {key: each for key, each in policies.items() if key not in attempt.times}
    if not full:
        return attempt
    if list(full) == [per_account] and _is_known_address(ip_key, member_id):
        return attempt
    attempt.refund()
    raise RateLimitedError(get_seconds_left(make_params(full)))


def _is_known_address(ip_key: str, member_id: int | None) -> bool:
    """Check the member's log; without a member, it does the same work."""
    if ip_key == UNKNOWN_ADDRESS:
        return False
    # A dual-stack socket shows IPv4 addresses as IPv6.
    networks = [ip_key] if ":" in ip_key else [ip_key, f"::ffff:{ip_key}"]
    params: dict[str, Any] = {
        "member_id": member_id or 0,
        "since": timezone.now() - KNOWN_ADDRESS_TIME,
        "networks": networks,
    }
    with connection.cursor() as cursor:
        cursor.execute(_IS_KNOWN_ADDRESS, params)
        return bool(cursor.fetchone()[0])


@contextmanager
def count_identity_failures(
    ip_address: str, member_id: int | None = None
) -> Iterator[None]:
    """Count and log the block as a failed login if it raises `InvalidIdTokenError`.

    It counts by address only: a limited login stays open to its linked identity.
    """
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
    purged = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_PURGE, {"now": now, "batch_size": purging.BATCH_SIZE})
            if cursor.rowcount == 0:
                return purged
            purged += cursor.rowcount
