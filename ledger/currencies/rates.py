"""Exchange rates: one provider call per pair and day, stored for all members."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple, TypeVar

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from core.bulkhead import Bulkhead
from core.db.rows import fetch_one
from core.errors import ProviderBusyError, ProviderUnavailableError
from core.http_client import load_provider, make_circuit_breaker
from core.leases.holding import lease, wait_until_released
from ledger.currencies.codes import compute_rate
from ledger.currencies.provider import RateProvider
from ledger.models import FxRate

# Rates of earlier days serve on weekends, on holidays and during outages.
MAX_RATE_AGE_DAYS = 7
RESET_TIMEOUT_SECONDS = 60.0
# Longer than a lookup takes.
LEADER_WAIT_TIMEOUT_SECONDS = 7.0
# Threads of a process that wait so long; the others wait briefly.
MAX_LEADER_WAITS = 2
SHORT_LEADER_WAIT_TIMEOUT_SECONDS = 1.0
# Of one write; the look-up that is under way may end later.
MAX_LOOKUP_SECONDS = 10.0
_STORED_RATE = """
    SELECT rate, rate_date FROM fx_rate WHERE base = %s AND quote = %s AND day = %s
"""

Result = TypeVar("Result")
circuit_breaker = make_circuit_breaker(RESET_TIMEOUT_SECONDS)
leader_waits = Bulkhead(MAX_LEADER_WAITS)


class Rate(NamedTuple):
    """Units of the quote currency for one unit of the base, on `rate_date`."""

    rate: Decimal
    rate_date: date

    @property
    def inverse(self) -> "Rate | None":
        """Return the rate of the opposite direction, None if it rounds to 0."""
        rate = compute_rate(1, self.rate)
        return Rate(rate, self.rate_date) if rate else None


@dataclass(frozen=True, slots=True)
class RateKey:
    base: str
    quote: str
    day: date

    @property
    def oldest_allowed(self) -> date:
        return self.day - min(timedelta(MAX_RATE_AGE_DAYS), self.day - date.min)

    @property
    def lease_name(self) -> str:
        return f"rate {self.base}/{self.quote} {self.day}"


class MissingRatesError(Exception):
    """Roll back a write that needs unknown rates, of currencies and days."""

    def __init__(self, pairs: Iterable[tuple[str, date]]) -> None:
        self.pairs = tuple(pairs)


@dataclass(slots=True)
class RateCache:
    """Rates to the home currency for one write; None if no provider has it."""

    rates: dict[tuple[str, date], Decimal | None] = field(default_factory=dict)
    # True after the last look-up: what is unknown now is unavailable.
    is_complete: bool = False

    def get(self, currency: str, day: date) -> Decimal | None:
        self.require([(currency, day)])
        return self.rates[currency, day]

    def require(self, pairs: Iterable[tuple[str, date]]) -> None:
        """Read the rates of currencies and days; all unknown ones are looked up."""
        missing = []
        for currency, day in pairs:
            if (currency, day) in self.rates:
                continue
            rate_day = min(day, timezone.localdate())
            key = RateKey(currency, settings.HOME_CURRENCY, rate_day)
            stored = _get_stored_rate(key)
            if stored is None and not self.is_complete:
                missing.append((currency, day))
            else:
                self.rates[currency, day] = stored and stored.rate
        if missing:
            raise MissingRatesError(missing)


def retry_with_rates(
    write: Callable[[RateCache], Result], *, can_wait: bool = True
) -> Result:
    """Run `write` again after looking up the rates that it misses.

    Only the write, under its locks, shows which rates it needs. During too many lookups
    raise `ProviderBusyError` if the client `can_wait`, else take the rate as
    unavailable. So are rates that are unknown after `MAX_LOOKUP_SECONDS`.
    """
    cache, end = RateCache(), time.monotonic() + MAX_LOOKUP_SECONDS
    # Each attempt misses other rates than those before.
    while time.monotonic() < end:
        try:
            return write(cache)
        except MissingRatesError as missing:
            # The rollback released all locks.
            for currency, day in missing.pairs:
                if time.monotonic() < end:
                    cache.rates[currency, day] = _look_up_for_write(
                        currency, day, can_wait=can_wait
                    )
    cache.is_complete = True
    return write(cache)


def _look_up_for_write(currency: str, day: date, *, can_wait: bool) -> Decimal | None:
    try:
        return get_rate(currency, settings.HOME_CURRENCY, day).rate
    except ProviderUnavailableError as error:
        if can_wait and isinstance(error, ProviderBusyError):
            raise
        return None


def get_rate(base: str, quote: str, day: date, *, allow_stale: bool = False) -> Rate:
    """Return the rate of a day, today's for a day in the future.

    Falls back to the last known rate, at most `MAX_RATE_AGE_DAYS` old, or of any age
    with `allow_stale`. Raises `ProviderUnavailableError`, or `ProviderBusyError` during
    too many lookups. Do not call inside a transaction: the provider may take seconds.
    """
    day = min(day, timezone.localdate())
    if base == quote:
        return Rate(Decimal(1), day)
    key = RateKey(base, quote, day)
    rate = _get_stored_rate(key)
    if rate is None and circuit_breaker.allows_request(key):
        try:
            rate = _look_up(key)
        except ProviderBusyError:
            # A write would store another day's rate permanently.
            rate = _get_last_known_rate(key, date.min) if allow_stale else None
            if rate is None:
                raise
    oldest = date.min if allow_stale else key.oldest_allowed
    rate = rate or _get_last_known_rate(key, oldest)
    if rate is None:
        raise ProviderUnavailableError(
            gettext("The exchange rate is currently unavailable.")
        )
    return rate


def _look_up(key: RateKey) -> Rate | None:
    started_at = time.monotonic()
    # One caller of all processes fetches; the others wait and do not try again.
    with lease(key.lease_name) as held, leader_waits.slot() as has_slot:
        if held is None:
            wait_until_released(
                key.lease_name,
                timeout_seconds=LEADER_WAIT_TIMEOUT_SECONDS
                if has_slot
                else SHORT_LEADER_WAIT_TIMEOUT_SECONDS,
            )
        rate = _get_stored_rate(key)
        if rate is None and held and circuit_breaker.allows_request(key):
            provider: RateProvider = load_provider("FX_PROVIDER")
            if _fetch_and_store(provider, key):
                rate = _get_stored_rate(key)
    if rate is None:
        # A short wait does not show that the provider fails.
        if held is None and not has_slot:
            raise ProviderBusyError
        circuit_breaker.record_failure(key, started_at=started_at)
    return rate


def _get_stored_rate(key: RateKey) -> Rate | None:
    return fetch_one(_STORED_RATE, [key.base, key.quote, key.day], Rate)


def _fetch_and_store(provider: RateProvider, key: RateKey) -> bool:
    try:
        found = provider.fetch_rate(key.base, key.quote, key.day)
    except ProviderBusyError:
        raise
    except ProviderUnavailableError:
        return False
    if not key.oldest_allowed <= found.rate_date <= key.day:
        return False
    row = FxRate(
        base=key.base,
        quote=key.quote,
        day=key.day,
        rate=found.rate,
        rate_date=found.rate_date,
        source=found.source,
    )
    # `durable` refuses a call inside a transaction.
    with transaction.atomic(durable=True):
        FxRate.objects.bulk_create([row], ignore_conflicts=True)
    return True


def _get_last_known_rate(key: RateKey, oldest: date) -> Rate | None:
    """Return the newest rate since `oldest`, of the pair or its inverse."""
    days = (oldest, key.day)
    for base, quote in ((key.base, key.quote), (key.quote, key.base)):
        rows = FxRate.objects.filter(base=base, quote=quote, rate_date__range=days)
        rows = rows.order_by("-rate_date", "-day")
        row = rows.values_list("rate", "rate_date").first()
        if row is not None:
            rate = Rate(*row)
            return rate if base == key.base else rate.inverse
    return None
