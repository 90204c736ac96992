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

from core.errors import ProviderUnavailable
from core.http_client import Pauses, load_provider
from ledger.models import FxRate
from ledger.providers.fx import RATE_STEP, Quote, RateProvider

CARRIED_DAYS = 7
"""A rate serves for so many days after its own: weekends, holidays, failures."""
PAUSE_SECONDS = 60.0
"""How long a pair and day that was waited for in vain is not asked for again."""
WAIT_SECONDS = 7.0
"""How long to wait for another caller's look-up; the sources take less."""
ASK_AGAIN_SECONDS = 0.05
MOST_RATES = 5
"""How many different rates one write may turn out to need."""
_EXACT = Context(prec=60)

Result = TypeVar("Result")
pauses = Pauses(PAUSE_SECONDS)


@dataclass(frozen=True, slots=True)
class Rate:
    """What one unit cost in the other currency, on the day the rate is of."""

    rate: Decimal
    rate_date: date


@dataclass(frozen=True, slots=True)
class Wanted:
    """The rate of a pair of currencies on a day."""

    base: str
    quote: str
    day: date

    @property
    def earliest(self) -> date:
        """The first day whose rate may still serve."""
        return self.day - min(timedelta(CARRIED_DAYS), self.day - date.min)


class RateNeeded(Exception):
    """Raised inside a write that cannot go on without a rate; ends its transaction."""

    def __init__(self, currency: str, day: date) -> None:
        self.currency, self.day = currency, day


@dataclass(slots=True)
class KnownRates:
    """The rates that a write may use; None is one that could not be had."""

    found: dict[tuple[str, date], Decimal | None] = field(default_factory=dict)

    def read(self, currency: str, day: date) -> Decimal | None:
        """Home-currency units for one unit of `currency`, or `RateNeeded`."""
        try:
            return self.found[currency, day]
        except KeyError:
            raise RateNeeded(currency, day) from None

    def add(self, currency: str, day: date) -> None:
        try:
            rate = look_up_rate(currency, settings.HOME_CURRENCY, day)
        except ProviderUnavailable:
            self.found[currency, day] = None
        else:
            self.found[currency, day] = rate.rate


def write_with_rates(write: Callable[[KnownRates], Result]) -> Result:
    """Run a write that may lack rates, and again with those it asked for.

    What is lacking shows only under the locks of the write, and is looked up when
    its transaction has ended: no lock is held while a source is asked.
    """
    rates = KnownRates()
    for _ in range(MOST_RATES):
        try:
            return write(rates)
        except RateNeeded as need:
            rates.add(need.currency, need.day)
    return write(rates)


def look_up_rate(
    base: str, quote: str, day: date, *, however_old: bool = False
) -> Rate:
    """What one unit of `base` costs in `quote` on `day`; a future day is today.

    Stored rates first, then the sources, then, where these fail, the last rate that
    is known of the days before: for a booking of at most `CARRIED_DAYS`, to be shown
    with its date `however_old`. Raises `ProviderUnavailable` where there is none:
    a rate is never made up. Not for use inside a transaction: the sources may take
    seconds.
    """
    day = min(day, timezone.localdate())
    if base == quote:
        return Rate(Decimal(1), day)
    wanted = Wanted(base, quote, day)
    earliest = date.min if however_old else wanted.earliest
    rate = (
        _read_stored(wanted)
        or _fetch_once(wanted)
        or _read_last_known(wanted, earliest)
    )
    if rate is None:
        raise ProviderUnavailable("No source has this exchange rate at the moment.")
    return rate


def _read_stored(wanted: Wanted) -> Rate | None:
    rows = FxRate.objects.filter(
        base=wanted.base, quote=wanted.quote, day=wanted.day
    ).values_list("rate", "rate_date")
    row = rows.first()
    return Rate(*row) if row else None


def _fetch_once(wanted: Wanted) -> Rate | None:
    """Ask the sources, or wait for the one who is asking them; None is a failure."""
    if not pauses.admits(wanted):
        return None
    began = time.monotonic()
    with _lead(wanted) as leads:
        rate = _read_stored(wanted)
        if rate is None and leads and pauses.admits(wanted):
            rate = _fetch(wanted)
    if rate is None:
        pauses.note_failure(wanted, began)
    return rate


def _fetch(wanted: Wanted) -> Rate | None:
    provider: RateProvider = load_provider("FX_PROVIDER")
    try:
        found = provider.look_up(wanted.base, wanted.quote, wanted.day)
    except ProviderUnavailable:
        return None
    if not wanted.earliest <= found.rate_date <= wanted.day:
        return None
    _store(wanted, found)
    return _read_stored(wanted)


def _store(wanted: Wanted, found: Quote) -> None:
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


def _read_last_known(wanted: Wanted, earliest: date) -> Rate | None:
    """The newest rate since `earliest`, of the pair or else turned around."""
    days = (earliest, wanted.day)
    rate = _read_newest(wanted.base, wanted.quote, days)
    if rate is None and (turned := _read_newest(wanted.quote, wanted.base, days)):
        inverse = _EXACT.divide(Decimal(1), turned.rate)
        inverse = inverse.quantize(RATE_STEP, ROUND_HALF_UP, _EXACT)
        return Rate(inverse, turned.rate_date) if inverse else None
    return rate


def _read_newest(base: str, quote: str, days: tuple[date, date]) -> Rate | None:
    rows = FxRate.objects.filter(base=base, quote=quote, rate_date__range=days)
    row = rows.order_by("-rate_date", "-day").values_list("rate", "rate_date").first()
    return Rate(*row) if row else None


@contextmanager
def _lead(wanted: Wanted) -> Iterator[bool]:
    """Whether the caller is to ask; False after waiting for another who did.

    An advisory lock of the session, so that it spans processes and no transaction.
    Those who waited do not ask: what one could not get, the next would not either.
    """
    key = _lock_key(wanted)
    if _call("pg_try_advisory_lock", key):
        try:
            yield True
        finally:
            _call("pg_advisory_unlock", key)
        return
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if _call("pg_try_advisory_lock_shared", key):
            _call("pg_advisory_unlock_shared", key)
            break
        time.sleep(ASK_AGAIN_SECONDS)
    yield False


def _lock_key(wanted: Wanted) -> int:
    text = f"fx_rate {wanted.base}/{wanted.quote} {wanted.day}"
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def _call(function: str, key: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [key])
        return bool(cursor.fetchone()[0])
