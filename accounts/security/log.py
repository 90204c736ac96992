"""The security log of each member (spec 2.17).

Unlike the lines for operators (`accounts.security.events`), its rows belong to the
transaction of the event.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from accounts.identifiers import normalize_identifier
from accounts.models import Member, SecurityLogEntry
from accounts.models.purging import purge
from accounts.security.rate_limits import CONSUME_SQL, RateLimitPolicy, make_params
from core.client import Client
from core.db.rows import fetch_one, prepared_cursor
from core.logging import current_client

Kind = SecurityLogEntry.Kind

# A stranger cannot fill a member's log.
KEPT_FAILURES = RateLimitPolicy("kept-login-failures", 20, timedelta(days=1))
# The member gets a notice of a login from a device that was not seen for so long,
# or after so many failures.
KNOWN_DEVICE_TIME = timedelta(days=90)
NOTIFIED_FAILURES = 10

# One statement takes the same time without a member.
_INSERT_FAILURE = f"""
    WITH counted AS ({CONSUME_SQL})
    INSERT INTO security_event
        (member_id, kind, at, is_by_staff, ip_address, device_name, client, detail)
    SELECT member.id, %(kind)s, %(now)s, false, %(ip_address)s, '', %(client)s, ''
    FROM counted, member WHERE member.id = %(member_id)s
"""  # noqa: S608
_COMPARE_LOGIN = """
    WITH login AS (
        SELECT at, device_name, client FROM security_event
        WHERE member_id = %(member_id)s AND kind = 'LOGIN'
    )
    SELECT
        EXISTS (SELECT FROM login) AS has_logged_in,
        EXISTS (
            SELECT FROM login WHERE at > %(known_since)s
            AND device_name = %(device_name)s AND client = %(client)s
        ) AS is_known_device,
        (
            SELECT count(*) FROM security_event
            WHERE member_id = %(member_id)s AND kind = 'LOGIN_FAILED'
            AND at > GREATEST(%(failures_since)s, (SELECT max(at) FROM login))
        ) AS failures
"""


class _LoginHistory(NamedTuple):
    has_logged_in: bool
    is_known_device: bool
    failures: int


def record_login_failure(member_id: int | None, login_id: str) -> None:
    """Write an entry outside of the transaction that fails."""
    client = current_client.get() or Client()
    subject = normalize_identifier(login_id) if member_id is None else str(member_id)
    with prepared_cursor() as cursor:
        cursor.execute(
            _INSERT_FAILURE,
            {
                **make_params({KEPT_FAILURES.key_of(subject): KEPT_FAILURES}),
                "member_id": member_id,
                "kind": Kind.LOGIN_FAILED,
                "now": timezone.now(),
                "ip_address": client.address or None,
                "client": client.name,
            },
        )


def is_unusual_login(member: Member, device_name: str, now: datetime) -> bool:
    """Return True for a new device or after many failures.

    The first login of an account is usual.
    """
    client = current_client.get() or Client()
    history = fetch_one(
        _COMPARE_LOGIN,
        {
            "member_id": member.pk,
            "known_since": now - KNOWN_DEVICE_TIME,
            "failures_since": now - KEPT_FAILURES.window,
            "device_name": device_name,
            "client": client.name,
        },
        _LoginHistory,
    )
    assert history is not None  # noqa: S101  # a statement of aggregates has a row
    is_new_device = history.has_logged_in and not history.is_known_device
    return is_new_device or history.failures >= NOTIFIED_FAILURES


def purge_security_log(before: datetime) -> int:
    return purge(SecurityLogEntry.objects.filter(at__lte=before))
