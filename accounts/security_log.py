"""The security log of each member: what happened to how their account is accessed.

Spec 2.16. Unlike the lines for operators (`accounts.security_events`), its rows are
written in the transaction of the deed and go with the account.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from accounts.client_names import get_client_name
from accounts.identifiers import normalize_identifier
from accounts.models import Member, SecurityLogEntry
from accounts.models.sessions import MAX_NAME_LENGTH
from accounts.rate_limits import CONSUME_SQL, RateLimitPolicy
from core.client_ip import get_client_ip
from core.db.rows import fetch_one, prepared_cursor
from core.logging import client_request

Kind = SecurityLogEntry.Kind

PURGE_BATCH = 5_000
# More of a day are not kept, so that a stranger cannot fill the log.
KEPT_FAILURES = RateLimitPolicy("kept-login-failures", 20, timedelta(days=1))
# A login from a device that was not seen for so long is reported to the member; so is
# one after this number of failures.
KNOWN_DEVICE_TIME = timedelta(days=90)
NOTIFIED_FAILURES = 10

_COLUMNS = "member_id, kind, at, is_by_staff, ip_address, device_name, client, detail"
_INSERT = f"""
    INSERT INTO security_event ({_COLUMNS})
    VALUES (
        %(member_id)s, %(kind)s, %(now)s, %(is_by_staff)s, %(ip_address)s,
        COALESCE(
            %(device_name)s::text,
            (SELECT name FROM auth_session WHERE key_hash = %(key_hash)s),
            ''
        ),
        %(client)s, %(detail)s
    )
"""  # noqa: S608
# One statement, whether there is such a member or not: its time is the same.
_INSERT_FAILURE = f"""
    WITH counted AS ({CONSUME_SQL})
    INSERT INTO security_event ({_COLUMNS})
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


def record_event(
    member_id: int,
    kind: str,
    *,
    detail: str = "",
    device_name: str | None = None,
    is_by_staff: bool = False,
) -> None:
    """Write an entry; call it in the transaction of the deed.

    The device is that of the session of the request unless `device_name` is given.
    Where staff act, the entry says nothing about them.
    """
    request = None if is_by_staff else client_request.get()
    if is_by_staff:
        device_name = ""
    with prepared_cursor() as cursor:
        cursor.execute(
            _INSERT,
            {
                "member_id": member_id,
                "kind": kind,
                "now": timezone.now(),
                "is_by_staff": is_by_staff,
                "ip_address": (request and get_client_ip(request)) or None,
                "device_name": device_name,
                "key_hash": getattr(request, "session_key_hash", None),
                "client": "" if is_by_staff else _get_client(),
                "detail": detail[:MAX_NAME_LENGTH],
            },
        )


def record_login_failure(member_id: int | None, login_id: str) -> None:
    """Write an entry of a failed login, at most 20 a day of one member.

    The same work without such a member. Call it outside of a transaction, which the
    failure would roll back.
    """
    request = client_request.get()
    subject = normalize_identifier(login_id) if member_id is None else str(member_id)
    with prepared_cursor() as cursor:
        cursor.execute(
            _INSERT_FAILURE,
            {
                "key": KEPT_FAILURES.key_of(subject),
                "window": KEPT_FAILURES.window,
                "max_attempts": KEPT_FAILURES.max_attempts,
                "member_id": member_id,
                "kind": Kind.LOGIN_FAILED,
                "now": timezone.now(),
                "ip_address": (request and get_client_ip(request)) or None,
                "client": _get_client(),
            },
        )


def is_unusual_login(member: Member, device_name: str, now: datetime) -> bool:
    """Return True if the member should hear of a login that happens now.

    It is from a device that was not seen for 90 days, or follows 10 failures. The first
    login of an account is none.
    """
    history = fetch_one(
        _COMPARE_LOGIN,
        {
            "member_id": member.pk,
            "known_since": now - KNOWN_DEVICE_TIME,
            "failures_since": now - KEPT_FAILURES.window,
            "device_name": device_name,
            "client": _get_client(),
        },
        _LoginHistory,
    )
    assert history is not None  # noqa: S101  # a statement of aggregates has a row
    is_new_device = history.has_logged_in and not history.is_known_device
    return is_new_device or history.failures >= NOTIFIED_FAILURES


def purge_security_log(before: datetime) -> int:
    """Delete older entries in batches; return their number."""
    purged = 0
    while True:
        old = SecurityLogEntry.objects.filter(at__lte=before).order_by()
        ids = list(old.values_list("pk", flat=True)[:PURGE_BATCH])
        if not ids:
            return purged
        purged += SecurityLogEntry.objects.filter(pk__in=ids).delete()[0]


def _get_client() -> str:
    """Return the name of the client of the request, "" outside of one."""
    request = client_request.get()
    return get_client_name(request.META.get("HTTP_USER_AGENT", "")) if request else ""
