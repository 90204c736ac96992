"""Notices of logins that have reached their limit of failures (spec 2.3).

A job finds them: a refused login takes the same time with and without an account.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from accounts.mail.outbox import is_mail_configured, queue_notice
from accounts.models import Member, RateLimit
from accounts.security.rate_limits import LOGIN_PER_ACCOUNT, RateLimitPolicy
from core.db.transactions import retry_on_conflict
from core.errors import RateLimitedError

NOTICES = RateLimitPolicy("limited-login-notice", 1, timedelta(days=1))


def has_untold_logins(now: datetime) -> bool:
    return is_mail_configured() and bool(_list_untold(now))


def notify_of_limited_logins(now: datetime) -> int:
    """Tell members whose login is limited, once a day; return their number."""
    return sum(_notify(member) for member in _list_untold(now))


def _list_untold(now: datetime) -> Sequence[Member]:
    prefix = LOGIN_PER_ACCOUNT.key_of("")
    full = RateLimit.objects.filter(
        key__startswith=prefix,
        attempts__len=LOGIN_PER_ACCOUNT.max_attempts,
        attempts__0__gt=now - LOGIN_PER_ACCOUNT.window,
    )
    login_ids = [key.removeprefix(prefix) for key in full.values_list("key", flat=True)]
    members = Member.objects.filter(
        login_id_normalized__in=login_ids, status=Member.Status.ACTIVE
    )
    by_key = {NOTICES.key_of(str(member.pk)): member for member in members}
    told = RateLimit.objects.filter(key__in=by_key, expires_at__gt=now)
    told_keys = set(told.values_list("key", flat=True))
    return [member for key, member in by_key.items() if key not in told_keys]


@retry_on_conflict
def _notify(member: Member) -> bool:
    try:
        with transaction.atomic():
            NOTICES.consume(str(member.pk))
            queue_notice(member, "login_limited")
    except RateLimitedError:
        # Another run was faster.
        return False
    return True
