"""The second factor: an authenticator app and recovery codes (spec 2.16).

A conditional UPDATE spends each step of the app and each recovery code once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from accounts.errors import CodeInvalidError, HashingBusyError, TooManyHashesError
from accounts.login.fresh import lock_for_factor_change, mark_fresh
from accounts.login.recovery_codes import (
    find_code,
    hash_codes,
    make_codes,
    normalize_code,
    store_codes,
)
from accounts.login.totp import DIGITS, build_uri, find_step, make_seed
from accounts.mail.outbox import queue_notice
from accounts.mail.rendering import DEFAULT_NAMES
from accounts.models import LoginTicket, Member, RecoveryCode, TotpFactor
from accounts.security.events import SecurityEvent, log_refusal, log_security_event
from accounts.security.log import record_login_failure
from accounts.security.rate_limits import RateLimitPolicy, count_login_failures
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError
from core.sealing import seal, unseal

PENDING_TIME = timedelta(minutes=10)
# Guesses count over all addresses, since six digits are few. App codes and recovery
# codes count apart: an intruder with the password who guesses one kind leaves the owner
# the other.
WRONG_TOTP_CODES = RateLimitPolicy("second-factor", 20, timedelta(hours=1))
WRONG_RECOVERY_CODES = RateLimitPolicy("recovery-code", 10, timedelta(hours=1))
# Hashing is expensive.
RECOVERY_CODES_LIMIT = RateLimitPolicy("recovery-codes", 10, timedelta(hours=1))


@dataclass(frozen=True, slots=True)
class PendingTotp:
    secret: str
    uri: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class FactorStatus:
    totp: bool
    totp_since: datetime | None
    recovery_codes_left: int


@dataclass(frozen=True, slots=True)
class CodeMatch:
    member: Member
    sealed_seed: bytes = b""
    step: int = 0
    recovery_code: RecoveryCode | None = None

    def spend(self, now: datetime) -> bool:
        """Return False if the code was already spent."""
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
    since = factor.confirmed_at if factor else None
    return FactorStatus(since is not None, since, left)


def match_code(member: Member, code: str, now: datetime) -> CodeMatch | None:
    text = normalize_code(code)
    if not _is_of_app(text):
        row = find_code(member, text)
        return CodeMatch(member, recovery_code=row) if row else None
    factor = TotpFactor.objects.filter(member=member, sealed_seed__isnull=False).first()
    if factor is None:
        return None
    sealed = bytes(factor.sealed_seed or b"")
    step = _find_step(factor, sealed, text, now)
    return None if step is None else CodeMatch(member, sealed, step)


@contextmanager
def count_wrong_codes(member: Member, code: str, ip_address: str) -> Iterator[None]:
    """Count the block as a failed login and a wrong code if it raises."""
    is_of_app = _is_of_app(normalize_code(code))
    policy = WRONG_TOTP_CODES if is_of_app else WRONG_RECOVERY_CODES
    try:
        with count_login_failures(member.login_id, ip_address, member.pk):
            attempt = policy.consume(str(member.pk))
            try:
                yield
            except (TooManyHashesError, HashingBusyError):
                attempt.refund()
                raise
            attempt.refund()
    except CodeInvalidError:
        log_refusal(SecurityEvent.SECOND_FACTOR_REFUSED, member.pk)
        record_login_failure(member.pk, member.login_id)
        raise


def verify_second_factor(
    member: Member, code: str, ip_address: str, now: datetime
) -> None:
    with count_wrong_codes(member, code, ip_address):
        match = match_code(member, code, now)
        if match is None or not match.spend(now):
            raise CodeInvalidError


@retry_on_conflict
def begin_totp(member: Member, key_hash: str, now: datetime) -> PendingTotp:
    """Store a seed until its first code; a confirmed seed stays in force.

    `key_hash` is the caller's session. All changes of factors raise the errors of
    `lock_for_factor_change`.
    """
    seed, expires_at = make_seed(), now + PENDING_TIME
    with transaction.atomic():
        locked = lock_for_factor_change(member, key_hash, now)
        sealed = seal(seed.encode(), TotpFactor(member=locked).sealing_context)
        TotpFactor.objects.update_or_create(
            member=locked,
            defaults={"pending_seed": sealed, "pending_until": expires_at},
        )
    return _make_pending(locked, seed, expires_at)


def find_pending_totp(member: Member, now: datetime) -> PendingTotp | None:
    """Return the seed that waits for its first code.

    The caller has required a session that may change factors: who reads the seed has
    the factor.
    """
    waiting = TotpFactor.objects.filter(member=member, pending_until__gt=now).first()
    if waiting is None or not (waiting.pending_seed and waiting.pending_until):
        return None
    seed = unseal(bytes(waiting.pending_seed), waiting.sealing_context).decode()
    return _make_pending(member, seed, waiting.pending_until)


def _make_pending(member: Member, seed: str, expires_at: datetime) -> PendingTotp:
    service = settings.ABOUT["name"] or DEFAULT_NAMES["en"]
    return PendingTotp(seed, build_uri(seed, member.login_id, service), expires_at)


def confirm_totp(member: Member, key_hash: str, code: str, now: datetime) -> list[str]:
    pending = TotpFactor.objects.filter(member=member, pending_until__gt=now).first()
    if pending is None or pending.pending_seed is None:
        raise CodeInvalidError
    sealed = bytes(pending.pending_seed)
    step = _find_step(pending, sealed, normalize_code(code), now)
    if step is None:
        raise CodeInvalidError
    RECOVERY_CODES_LIMIT.consume(str(member.pk))
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
        locked = lock_for_factor_change(member, key_hash, now)
        confirmed = TotpFactor.objects.filter(
            member=locked, pending_seed=sealed
        ).update(
            sealed_seed=sealed,
            last_step=step,
            confirmed_at=now,
            pending_seed=None,
            pending_until=None,
        )
        if not confirmed:
            raise CodeInvalidError
        store_codes(locked, hashes)
        locked.has_second_factor = True
        locked.save_fields("has_second_factor")
        mark_fresh(key_hash, now, has_shown_factor=True)
        log_security_event(SecurityEvent.FACTOR_ADDED, locked.pk)
        queue_notice(locked, "factor_added")


@retry_on_conflict
def remove_totp(member: Member, key_hash: str, now: datetime) -> None:
    with transaction.atomic():
        locked = lock_for_factor_change(member, key_hash, now)
        if not locked.has_second_factor:
            raise NotFoundError
        end_factors(locked)


def renew_recovery_codes(member: Member, key_hash: str, now: datetime) -> list[str]:
    if not member.has_second_factor:
        raise NotFoundError
    RECOVERY_CODES_LIMIT.consume(str(member.pk))
    codes = make_codes()
    _replace_codes(member, key_hash, hash_codes(codes), now)
    return codes


@retry_on_conflict
def _replace_codes(
    member: Member, key_hash: str, hashes: list[tuple[str, str]], now: datetime
) -> None:
    with transaction.atomic():
        locked = lock_for_factor_change(member, key_hash, now)
        if not locked.has_second_factor:
            raise NotFoundError
        store_codes(locked, hashes)
        log_security_event(
            SecurityEvent.FACTOR_ADDED, locked.pk, named="recovery codes"
        )


def end_factors(member: Member, *, is_by_staff: bool = False) -> None:
    delete_factors(member)
    member.has_second_factor = False
    member.save_fields("has_second_factor")
    log_security_event(SecurityEvent.FACTOR_REMOVED, member.pk, is_by_staff=is_by_staff)
    queue_notice(member, "factor_removed", {"is_by_staff": is_by_staff})


def delete_factors(member: Member) -> None:
    TotpFactor.objects.filter(member=member).delete()
    RecoveryCode.objects.filter(member=member).delete()
    LoginTicket.objects.filter(member=member).delete()


def _is_of_app(text: str) -> bool:
    return len(text) == DIGITS and text.isascii() and text.isdigit()


def _find_step(
    factor: TotpFactor, sealed: bytes, code: str, now: datetime
) -> int | None:
    seed = unseal(sealed, factor.sealing_context).decode()
    return find_step(seed, code, now.timestamp())
