"""Current stock prices, fetched once for all members and stored with their time."""

import logging
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from django.conf import settings
from django.db import connection, connections
from django.utils import timezone

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.db.rows import fetch_all
from core.errors import ProviderUnavailableError
from core.http_client import load_provider
from ledger.currencies.codes import apply_rate
from ledger.currencies.rates import get_rate
from ledger.investments.price_providers import PriceProvider, PriceQuotes
from ledger.models import Stock, StockQuote

logger = logging.getLogger(__name__)

REFRESH_TIMEOUT_SECONDS = 2.0
# Exchange rates are mostly stored: they get this time even if the prices took longer.
MIN_RATE_TIMEOUT_SECONDS = 0.2
# A code without a price is not requested again for this long.
RETRY_INTERVAL_SECONDS = 10
# Another process may then fetch a code whose claim was never completed.
CLAIM_TTL_SECONDS = 10
POLL_INTERVAL_SECONDS = 0.05
# The next refresh takes the remaining codes.
MAX_CODES = 500

# Prices are joined with a member's stocks only after they are materialized: a
# distributed database would send all prices to the member's worker.
_DUE_CODES = """
    SELECT code FROM unnest(%s::text[]) code LEFT JOIN stock_quote q USING (code)
    WHERE q.next_refresh_at IS NULL OR q.next_refresh_at <= %s
        OR (q.is_claimed AND q.home_price IS NULL)
    ORDER BY q.next_refresh_at NULLS FIRST, code LIMIT %s
"""
_CLAIM_CODES = """
    INSERT INTO stock_quote AS stored (code, next_refresh_at, is_claimed, has_failed)
    SELECT code, %(until)s, true, false FROM unnest(%(codes)s::text[]) code
    ORDER BY code
    ON CONFLICT (code)
    DO UPDATE SET next_refresh_at = excluded.next_refresh_at, is_claimed = true
    WHERE stored.next_refresh_at <= %(now)s
    RETURNING code
"""
_QUOTES = """
    SELECT code, home_price, quoted_at,
        has_failed OR coalesce(fetched_at, next_refresh_at) < %s AS is_stale
    FROM stock_quote WHERE code = ANY (%s) AND home_price IS NOT NULL
"""
# Locks the rows in the order of their codes: no deadlocks.
_STORE_PRICES = """
    WITH found AS (
        SELECT * FROM unnest(%(codes)s::text[], %(prices)s::numeric[],
            %(currencies)s::text[], %(amounts)s::bigint[], %(times)s::timestamptz[])
            AS t (code, price, currency, home_price, quoted_at)
    ), locked AS (
        SELECT stored.code FROM stock_quote stored JOIN found USING (code)
        ORDER BY code FOR UPDATE OF stored
    )
    UPDATE stock_quote stored
    SET price = found.price, currency = found.currency, quoted_at = found.quoted_at,
        home_price = found.home_price, fetched_at = %(now)s, next_refresh_at = %(due)s,
        is_claimed = false, has_failed = false
    FROM found JOIN locked USING (code) WHERE stored.code = found.code
"""
_MARK_FAILED = """
    WITH locked AS (
        SELECT code FROM stock_quote WHERE code = ANY(%(codes)s)
        ORDER BY code FOR UPDATE
    )
    UPDATE stock_quote stored
    SET next_refresh_at = %(due)s, is_claimed = false, has_failed = true
    FROM locked WHERE stored.code = locked.code
"""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one share in whole home-currency units."""

    amount: int | None
    at: datetime | None
    is_stale: bool


class QuoteRow(NamedTuple):
    code: str
    home_price: int
    quoted_at: datetime | None
    is_stale: bool


class PricedStock(Protocol):
    @property
    def code(self) -> str: ...
    @property
    def current_price(self) -> int | None: ...
    @property
    def price_at(self) -> datetime | None: ...


def refresh_prices(member: Member) -> None:
    """Fetch the member's prices that are older than PRICE_MAX_AGE_SECONDS.

    The first of several requests claims a code; the others keep the previous price, or
    wait for a first one. Do not call inside a transaction.
    """
    deadline = time.monotonic() + REFRESH_TIMEOUT_SECONDS
    now = timezone.now()
    codes = list(Stock.objects.owned_by(member).values_list("code", flat=True))
    if not codes:
        return
    due = _fetch_codes(_DUE_CODES, [codes, now, MAX_CODES])
    if not due:
        return
    until = now + timedelta(seconds=CLAIM_TTL_SECONDS)
    params = {"codes": due, "now": now, "until": until}
    claimed = _fetch_codes(_CLAIM_CODES, params)
    if claimed:
        _fetch_and_store(claimed, deadline)
    others = set(due) - set(claimed)
    waiting = StockQuote.objects.filter(
        code__in=others,
        is_claimed=True,
        home_price=None,
        next_refresh_at__gt=timezone.now(),
    )
    while others and time.monotonic() < deadline and waiting.exists():
        time.sleep(POLL_INTERVAL_SECONDS)


def get_prices_by_code(stocks: Iterable[PricedStock]) -> dict[str, Price]:
    """Return the quoted prices, else the typed-in ones."""
    stocks = list(stocks)
    if not stocks:
        return {}
    codes = [stock.code for stock in stocks]
    prices = {
        stock.code: Price(stock.current_price, stock.price_at, is_stale=True)
        for stock in stocks
    }
    max_age_seconds = settings.PRICE_MAX_AGE_SECONDS + REFRESH_TIMEOUT_SECONDS
    cutoff = timezone.now() - timedelta(seconds=max_age_seconds)
    for quote in fetch_all(_QUOTES, [cutoff, codes], QuoteRow):
        prices[quote.code] = Price(quote.home_price, quote.quoted_at, quote.is_stale)
    return prices


def _fetch_and_store(codes: list[str], deadline: float) -> None:
    amounts: dict[str, int] = {}
    quotes: PriceQuotes = {}
    try:
        provider: PriceProvider = load_provider("PRICE_PROVIDER")
        quotes = provider.quote(codes)
        rates = _get_home_rates({quote.currency for quote in quotes.values()}, deadline)
        # A code without an exchange rate has no amount.
        amounts = {
            code: amount
            for code, quote in quotes.items()
            if (rate := rates.get(quote.currency)) is not None
            and (amount := apply_rate(quote.price, rate)) <= MAX_AMOUNT
        }
    except ProviderUnavailableError:
        logger.warning("prices: the provider is unavailable")
    finally:
        # A provider may send prices of codes that were not requested.
        amounts = {code: amounts[code] for code in codes if code in amounts}
        if amounts:
            now = timezone.now()
            stored = [quotes[code] for code in amounts]
            params: dict[str, Any] = {
                "codes": list(amounts),
                "prices": [quote.price for quote in stored],
                "currencies": [quote.currency for quote in stored],
                "amounts": list(amounts.values()),
                "times": [quote.at for quote in stored],
                "now": now,
                "due": now + timedelta(seconds=settings.PRICE_MAX_AGE_SECONDS),
            }
            with connection.cursor() as cursor:
                cursor.execute(_STORE_PRICES, params)
        if failed := [code for code in codes if code not in amounts]:
            interval = min(
                RETRY_INTERVAL_SECONDS,
                max(REFRESH_TIMEOUT_SECONDS, settings.PRICE_MAX_AGE_SECONDS),
            )
            due = timezone.now() + timedelta(seconds=interval)
            with connection.cursor() as cursor:
                cursor.execute(_MARK_FAILED, {"codes": failed, "due": due})


def _get_home_rates(currencies: set[str], deadline: float) -> dict[str, Decimal]:
    rates = {settings.HOME_CURRENCY: Decimal(1)}
    foreign = currencies - set(rates)
    if not foreign:
        return rates
    pool = ThreadPoolExecutor(len(foreign), thread_name_prefix="rates")
    futures = {pool.submit(_get_home_rate, currency): currency for currency in foreign}
    done, _ = wait(
        futures, timeout=max(MIN_RATE_TIMEOUT_SECONDS, deadline - time.monotonic())
    )
    # A lookup that takes too long goes on in its thread and stores its rate.
    pool.shutdown(wait=False, cancel_futures=True)
    found = {futures[future]: future.result() for future in done}
    return rates | {code: rate for code, rate in found.items() if rate is not None}


def _get_home_rate(currency: str) -> Decimal | None:
    """Return today's rate or None, in a thread of its own."""
    try:
        today = timezone.localdate()
        return get_rate(currency, settings.HOME_CURRENCY, today).rate
    except ProviderUnavailableError:
        return None
    finally:
        # Django closes connections at the end of requests, not of threads.
        connections.close_all()


def _fetch_codes(sql: str, params: Any) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [code for (code,) in cursor.fetchall()]
