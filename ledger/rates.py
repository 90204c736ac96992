"""Exchange rates: one outside call for each pair and day, kept for all members."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from core.errors import ProviderUnavailableError
from core.http_client import load_provider, make_circuit_breaker
from ledger.models import FxRate
from ledger.providers.fx import RATE_QUANTUM, RateProvider, RateQuote

MAX_RATE_AGE_DAYS = 7
"""A rate serves for so many days after its own: weekends, holidays, failures."""
RESET_TIMEOUT_SECONDS = 60.0
"""How long a pair and day that was waited for in vain is not asked for again."""
LEADER_WAIT_TIMEOUT_SECONDS = 7.0
"""How long to wait for another caller's look-up; the sources take less."""
POLL_INTERVAL_SECONDS = 0.05
MAX_RATES_PER_WRITE = 5
"""How many different rates one write may turn out to need."""
_EXACT = Context(prec=60)

Result = TypeVar("Result")
circuit_breaker = make_circuit_breaker(RESET_TIMEOUT_SECONDS)


@dataclass(frozen=True, slots=True)
class Rate:
    """What one unit cost in the other currency, on the day the rate is of."""

    rate: Decimal
    rate_date: date


@dataclass(frozen=True, slots=True)
class RateKey:
    """The rate of a pair of currencies on a day."""

    base: str
    quote: str
    day: date

    @property
    def oldest_allowed(self) -> date:
        """The first day whose rate may still serve."""
        return self.day - min(timedelta(MAX_RATE_AGE_DAYS), self.day - date.min)


class MissingRateError(Exception):
    """Raised inside a write that cannot go on without a rate; ends its transaction."""

    def __init__(self, currency: str, day: date) -> None:
        self.currency, self.day = currency, day


@dataclass(slots=True)
class RateCache:
    """The rates that a write may use; None is one that could not be had."""

    rates: dict[tuple[str, date], Decimal | None] = field(default_factory=dict)

    def get(self, currency: str, day: date) -> Decimal | None:
        """Home-currency units for one unit of `currency`, or `MissingRateError`."""
        try:
            return self.rates[currency, day]
        except KeyError:
            raise MissingRateError(currency, day) from None

    def fetch(self, currency: str, day: date) -> None:
        try:
            rate = get_rate(currency, settings.HOME_CURRENCY, day)
        except ProviderUnavailableError:
            self.rates[currency, day] = None
        else:
            self.rates[currency, day] = rate.rate


def retry_with_rates(write: Callable[[RateCache], Result]) -> Result:
    """Run a write that may lack rates, and again with those it asked for.

    What is lacking shows only under the locks of the write, and is looked up when
    its transaction has ended: no lock is held while a source is asked.
    """
    rates = RateCache()
    for _ in range(MAX_RATES_PER_WRITE):
        try:
            return write(rates)
        except MissingRateError as need:
            rates.fetch(need.currency, need.day)
    return write(rates)


def get_rate(base: str, quote: str, day: date, *, however_old: bool = False) -> Rate:
    """What one unit of `base` costs in `quote` on `day`; a future day is today.

    Stored rates first, then the sources, then, where these fail, the last rate that
    is known of the days before: for a booking of at most `MAX_RATE_AGE_DAYS`, to be shown
    with its date `however_old`. Raises `ProviderUnavailableError` where there is none:
    a rate is never made up. Not for use inside a transaction: the sources may take
    seconds.
    """
    day = min(day, timezone.localdate())
    if base == quote:
        return Rate(Decimal(1), day)
    wanted = RateKey(base, quote, day)
    earliest = date.min if however_old else wanted.oldest_allowed
    rate = (
        _get_stored(wanted)
        or _fetch_single_flight(wanted)
        or _get_last_known(wanted, earliest)
    )
    if rate is None:
        raise ProviderUnavailableError(
            "No source has this exchange rate at the moment."
        )
    return rate


def _get_stored(wanted: RateKey) -> Rate | None:
    rows = FxRate.objects.filter(
        base=wanted.base, quote=wanted.quote, day=wanted.day
    ).values_list("rate", "rate_date")
    row = rows.first()
    return Rate(*row) if row else None


def _fetch_single_flight(wanted: RateKey) -> Rate | None:
    """Ask the sources, or wait for the one who is asking them; None is a failure."""
    if not circuit_breaker.allows_request(wanted):
        return None
    started_at = time.monotonic()
    with _acquire_leadership(wanted) as leads:
        rate = _get_stored(wanted)
        if rate is None and leads and circuit_breaker.allows_request(wanted):
            rate = _fetch_from_provider(wanted)
    if rate is None:
        circuit_breaker.record_failure(wanted, started_at=started_at)
    return rate


def _fetch_from_provider(wanted: RateKey) -> Rate | None:
    provider: RateProvider = load_provider("FX_PROVIDER")
    try:
        found = provider.fetch_rate(wanted.base, wanted.quote, wanted.day)
    except ProviderUnavailableError:
        return None
    if not wanted.oldest_allowed <= found.rate_date <= wanted.day:
        return None
    _store_rate(wanted, found)
    return _get_stored(wanted)


def _store_rate(wanted: RateKey, found: RateQuote) -> None:
    """Durable: this module refuses to work inside somebody's transaction."""
    row = FxRate(
        base=wanted.base,
        quote=wanted.quote,
        day=wanted.day,
        rate=found.rate,
        rate_date=found.rate_date,
        source=found.source,
    )
    with transaction.atomic(durable=True):
        FxRate.objects.bulk_create([row], ignore_conflicts=True)


def _get_last_known(wanted: RateKey, earliest: date) -> Rate | None:
    """The newest rate since `earliest`, of the pair or else turned around."""
    days = (earliest, wanted.day)
    rate = _get_newest(wanted.base, wanted.quote, days)
    if rate is None and (turned := _get_newest(wanted.quote, wanted.base, days)):
        inverse = _EXACT.divide(Decimal(1), turned.rate)
        inverse = inverse.quantize(RATE_QUANTUM, ROUND_HALF_UP, _EXACT)
        return Rate(inverse, turned.rate_date) if inverse else None
    return rate


def _get_newest(base: str, quote: str, days: tuple[date, date]) -> Rate | None:
    rows = FxRate.objects.filter(base=base, quote=quote, rate_date__range=days)
    row = rows.order_by("-rate_date", "-day").values_list("rate", "rate_date").first()
    return Rate(*row) if row else None


@contextmanager
def _acquire_leadership(wanted: RateKey) -> Iterator[bool]:
    """Whether the caller is to ask; False after waiting for another who did.

    An advisory lock of the session, so that it spans processes and no transaction.
    Those who waited do not ask: what one could not get, the next would not either.
    """
    key = _advisory_lock_key(wanted)
    if _call_lock_function("pg_try_advisory_lock", key):
        try:
            yield True
        finally:
            _call_lock_function("pg_advisory_unlock", key)
        return
    deadline = time.monotonic() + LEADER_WAIT_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if _call_lock_function("pg_try_advisory_lock_shared", key):
            _call_lock_function("pg_advisory_unlock_shared", key)
            break
        time.sleep(POLL_INTERVAL_SECONDS)
    yield False


def _advisory_lock_key(wanted: RateKey) -> int:
    text = f"fx_rate {wanted.base}/{wanted.quote} {wanted.day}"
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def _call_lock_function(function: str, key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [key])
        return bool(cursor.fetchone()[0])
