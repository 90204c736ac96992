"""The second factor of a member: an authenticator app and recovery codes (spec 2.16).

PostgreSQL decides that each step of the app and each recovery code counts once.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from accounts.errors import CodeInvalidError
from accounts.fresh_authentication import lock_freshly_authenticated
from accounts.mail.outbox import queue_notice
from accounts.mail.rendering import DEFAULT_NAMES
from accounts.models import LoginTicket, Member, RecoveryCode, TotpFactor
from accounts.rate_limits import (
    RateLimitPolicy,
    consume_attempt,
    count_login_failures,
    refund_attempt,
)
from accounts.recovery_codes import (
    find_code,
    hash_codes,
    make_codes,
    normalize_code,
    store_codes,
)
from accounts.security_events import SecurityEvent, log_refusal, log_security_event
from accounts.security_log import record_login_failure
from accounts.totp import DIGITS, build_uri, find_step, make_seed
from core.client_ip import rate_limit_key
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError, RateLimitedError
from core.sealing import ResealingResult, UnsealingError, seal, seal_again, unseal

logger = logging.getLogger(__name__)

PENDING_TIME = timedelta(minutes=10)
# Of one member, from whatever addresses: six digits are few. Only who has passed the
# first factor gets here, so strangers cannot use them up.
WRONG_CODES = RateLimitPolicy("second-factor", 20, timedelta(hours=1))
# To hash them is work.
RECOVERY_CODES_LIMIT = RateLimitPolicy("recovery-codes", 10, timedelta(hours=1))


@dataclass(frozen=True, slots=True)
class PendingTotp:
    """The data for an authenticator app, until its first code confirms it."""

    secret: str
    uri: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class FactorStatus:
    """Since when the member has an app, and the number of unspent recovery codes."""

    totp_since: datetime | None
    recovery_codes_left: int


@dataclass(frozen=True, slots=True)
class CodeMatch:
    """A right code that is not spent yet: a step of a seed, or a recovery code."""

    member: Member
    sealed_seed: bytes = b""
    step: int = 0
    recovery_code: RecoveryCode | None = None

    def spend(self, now: datetime) -> bool:
        """Spend the code in the caller's transaction; False if it was spent before."""
        if self.recovery_code is not None:
            rows = RecoveryCode.objects.filter(
                pk=self.recovery_code.pk, spent_at__isnull=True
            )
            return bool(rows.update(spent_at=now))
        factors = TotpFactor.objects.filter(
            member=self.member, sealed_seed=self.sealed_seed, last_step__lt=self.step
        )
        return bool(factors.update(last_step=self.step))


def get_factor_status(member: Member) -> FactorStatus:
    factor = TotpFactor.objects.filter(member=member).first()
    left = RecoveryCode.objects.filter(member=member, spent_at=None).count()
    return FactorStatus(factor.confirmed_at if factor else None, left)


def match_code(member: Member, code: str, now: datetime) -> CodeMatch | None:
    """Return what the code of the member matches, None if it is wrong."""
    text = normalize_code(code)
    if not (len(text) == DIGITS and text.isascii() and text.isdigit()):
        row = find_code(member, text)
        return CodeMatch(member, recovery_code=row) if row else None
    factor = TotpFactor.objects.filter(member=member, sealed_seed__isnull=False).first()
    if factor is None:
        return None
    sealed = bytes(factor.sealed_seed or b"")
    step = find_step(_unseal_seed(member, sealed), text, now.timestamp())
    return None if step is None else CodeMatch(member, sealed, step)


@contextmanager
def count_wrong_codes(member: Member, ip_address: str) -> Iterator[None]:
    """Count the block as a failed login and a wrong code if it raises.

    Raises `RateLimitedError` before the block runs if there were too many.
    """
    try:
        with count_login_failures(member.login_id, rate_limit_key(ip_address)):
            attempt = consume_attempt(WRONG_CODES, str(member.pk))
            yield
            refund_attempt(attempt)
    except CodeInvalidError:
        log_refusal(SecurityEvent.SECOND_FACTOR_REFUSED, member.pk)
        record_login_failure(member.pk, member.login_id)
        raise
    except RateLimitedError:
        log_refusal(SecurityEvent.LOGIN_THROTTLED, member.pk)
        raise


def verify_second_factor(
    member: Member, code: str, ip_address: str, now: datetime
) -> None:
    """Spend a code of the member; raise `CodeInvalidError` if it is wrong or spent."""
    with count_wrong_codes(member, ip_address):
        match = match_code(member, code, now)
        if match is None or not match.spend(now):
            raise CodeInvalidError


@retry_on_conflict
def begin_totp(member: Member, key_hash: str, now: datetime) -> PendingTotp:
    """Store a new seed until its first code; one that is confirmed stays in force.

    `key_hash` is that of the caller's session, as in all changes of factors, which
    raise as `lock_freshly_authenticated` does.
    """
    seed, expires_at = make_seed(), now + PENDING_TIME
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, key_hash, now)
        TotpFactor.objects.update_or_create(
            member=locked,
            defaults={
                "pending_seed": _seal_seed(locked, seed),
                "pending_until": expires_at,
            },
        )
    # What apps show beside the code.
    service = settings.ABOUT["name"] or DEFAULT_NAMES["en"]
    return PendingTotp(seed, build_uri(seed, locked.login_id, service), expires_at)


def confirm_totp(member: Member, key_hash: str, code: str, now: datetime) -> list[str]:
    """Put the new seed in force, which `code` is from; return new recovery codes.

    Raises `CodeInvalidError` for a wrong code, and without a seed that waits.
    """
    pending = TotpFactor.objects.filter(member=member, pending_until__gt=now).first()
    if pending is None or pending.pending_seed is None:
        raise CodeInvalidError
    sealed = bytes(pending.pending_seed)
    text = normalize_code(code)
    step = find_step(_unseal_seed(member, sealed), text, now.timestamp())
    if step is None:
        raise CodeInvalidError
    consume_attempt(RECOVERY_CODES_LIMIT, str(member.pk))
    codes = make_codes()
    _put_in_force(member, key_hash, sealed, step, hash_codes(codes), now)
    return codes


@retry_on_conflict
def _put_in_force(
    member: Member,
    key_hash: str,
    sealed: bytes,
    step: int,
    hashes: list[tuple[str, str]],
    now: datetime,
) -> None:
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, key_hash, now)
        confirmed = TotpFactor.objects.filter(
            member=locked, pending_seed=sealed
        ).update(
            sealed_seed=sealed,
            last_step=step,
            confirmed_at=now,
            pending_seed=None,
            pending_until=None,
        )
        # Another request has confirmed or replaced it.
        if not confirmed:
            raise CodeInvalidError
        store_codes(locked, hashes)
        locked.has_second_factor = True
        locked.save_fields("has_second_factor")
        log_security_event(SecurityEvent.FACTOR_ADDED, locked.pk)
        queue_notice(locked, "factor_added")


@retry_on_conflict
def remove_totp(member: Member, key_hash: str, now: datetime) -> None:
    """End the member's second factor; raise `NotFoundError` if there is none."""
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, key_hash, now)
        if not locked.has_second_factor:
            raise NotFoundError
        end_factors(locked)


def renew_recovery_codes(member: Member, key_hash: str, now: datetime) -> list[str]:
    """Replace the recovery codes and return the new ones.

    Raises `NotFoundError` without a second factor.
    """
    if not member.has_second_factor:
        raise NotFoundError
    consume_attempt(RECOVERY_CODES_LIMIT, str(member.pk))
    codes = make_codes()
    _replace_codes(member, key_hash, hash_codes(codes), now)
    return codes


@retry_on_conflict
def _replace_codes(
    member: Member, key_hash: str, hashes: list[tuple[str, str]], now: datetime
) -> None:
    with transaction.atomic():
        locked = lock_freshly_authenticated(member, key_hash, now)
        if not locked.has_second_factor:
            raise NotFoundError
        store_codes(locked, hashes)
        log_security_event(
            SecurityEvent.FACTOR_ADDED, locked.pk, named="recovery codes"
        )


def end_factors(member: Member, *, is_by_staff: bool = False) -> None:
    """End all second factors of the member, whom the caller has locked."""
    delete_factors(member)
    member.has_second_factor = False
    member.save_fields("has_second_factor")
    log_security_event(SecurityEvent.FACTOR_REMOVED, member.pk, is_by_staff=is_by_staff)
    queue_notice(member, "factor_removed", {"is_by_staff": is_by_staff})


def delete_factors(member: Member) -> None:
    """Delete the rows of the member's factors and of logins that wait for them."""
    TotpFactor.objects.filter(member=member).delete()
    RecoveryCode.objects.filter(member=member).delete()
    LoginTicket.objects.filter(member=member).delete()


def reseal_seeds() -> ResealingResult:
    """Seal the seeds that an older key has sealed with the current one.

    One that is replaced at the same moment is left alone.
    """
    resealed = unreadable = 0
    for factor in TotpFactor.objects.filter(sealed_seed__isnull=False).iterator():
        old = bytes(factor.sealed_seed or b"")
        try:
            new = seal_again(old, _seed_context(Member(pk=factor.pk)))
        except UnsealingError:
            logger.error("seed of member %s cannot be decrypted", factor.pk)
            unreadable += 1
            continue
        if new is not None:
            rows = TotpFactor.objects.filter(pk=factor.pk, sealed_seed=old)
            resealed += rows.update(sealed_seed=new)
    return ResealingResult(resealed, unreadable)


def _seal_seed(member: Member, seed: str) -> bytes:
    return seal(seed.encode(), _seed_context(member))


def _unseal_seed(member: Member, sealed: bytes) -> str:
    return unseal(sealed, _seed_context(member)).decode()


def _seed_context(member: Member) -> str:
    return f"totp {member.pk}"
