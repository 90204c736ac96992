"""Current prices: looked up for all members together, kept with their time."""

import logging
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from django.conf import settings
from django.db import connection, connections
from django.utils import timezone

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.errors import ProviderUnavailableError
from core.http_client import load_provider
from ledger.investments.price_providers import PriceProvider, PriceQuotes
from ledger.models import Stock, StockQuote
from ledger.rates import get_rate

logger = logging.getLogger(__name__)

REFRESH_TIMEOUT_SECONDS = 2.0
"""What a refresh may take, exchange rates included."""
MIN_RATE_TIMEOUT_SECONDS = 0.2
"""What rates, which are mostly stored, may take however long the prices took."""
RETRY_INTERVAL_SECONDS = 10
"""How long a code that had no price is not asked for again."""
CLAIM_TTL_SECONDS = 10
"""When somebody else may ask, should the one who claimed a code be gone."""
POLL_INTERVAL_SECONDS = 0.05
MAX_CODES = 500
"""Codes asked for at once; the others have their turn at the next opening."""
_EXACT = Context(prec=60)

_DUE_CODES = """
    SELECT s.code FROM invest_stock s LEFT JOIN stock_quote q ON q.code = s.code
    WHERE s.member_id = %s AND (
        q.due_at IS NULL OR q.due_at <= %s OR (q.claimed AND q.home_price IS NULL)
    )
    ORDER BY q.due_at NULLS FIRST, s.code LIMIT %s
"""
_CLAIM_CODES = """
    INSERT INTO stock_quote AS kept (code, due_at, claimed, failed)
    SELECT code, %(until)s, true, false FROM unnest(%(codes)s::text[]) code
    ORDER BY code
    ON CONFLICT (code) DO UPDATE SET due_at = excluded.due_at, claimed = true
    WHERE kept.due_at <= %(now)s
    RETURNING code
"""
_STORE_PRICES = """
    WITH found AS (
        SELECT * FROM unnest(%(codes)s::text[], %(prices)s::numeric[],
            %(currencies)s::text[], %(amounts)s::bigint[], %(times)s::timestamptz[])
            AS t (code, price, currency, home_price, at)
    ), locked AS (
        SELECT kept.code FROM stock_quote kept JOIN found USING (code)
        ORDER BY code FOR UPDATE OF kept
    )
    UPDATE stock_quote kept
    SET price = found.price, currency = found.currency, at = found.at,
        home_price = found.home_price, fetched_at = %(now)s, due_at = %(due)s,
        claimed = false, failed = false
    FROM found JOIN locked USING (code) WHERE kept.code = found.code
"""
_MARK_FAILED = """
    WITH locked AS (
        SELECT code FROM stock_quote WHERE code = ANY(%(codes)s)
        ORDER BY code FOR UPDATE
    )
    UPDATE stock_quote kept SET due_at = %(due)s, claimed = false, failed = true
    FROM locked WHERE kept.code = locked.code
"""


@dataclass(frozen=True, slots=True)
class Price:
    """Of one share in whole home-currency units; `stale` where it is not recent."""

    amount: int | None
    at: datetime | None
    is_stale: bool


def refresh_prices(member: Member) -> None:
    """Look up what is older than PRICE_MAX_AGE_SECONDS, all stocks together.

    Whoever comes first asks for a code; others go on with the price of before, and
    wait only where there is none yet. A failure changes nothing but the time of the
    next attempt. Never raises for a source, never in a transaction.
    """
    deadline = time.monotonic() + REFRESH_TIMEOUT_SECONDS
    due = _fetch_codes(_DUE_CODES, [member.pk, timezone.now(), MAX_CODES])
    claimed = _claim_codes(due) if due else []
    if claimed:
        _fetch_and_store(claimed, deadline)
    if others := set(due) - set(claimed):
        _wait_for_concurrent_fetch(others, deadline)


def get_prices_by_stock(stocks: Iterable[Stock]) -> dict[int, Price]:
    """The prices of stocks by their id: quoted, else typed in."""
    stocks = list(stocks)
    rows = StockQuote.objects.in_bulk([stock.code for stock in stocks])
    fresh_since = get_freshness_cutoff()
    return {
        stock.pk: _to_price(stock, rows.get(stock.code), fresh_since)
        for stock in stocks
    }


def get_freshness_cutoff() -> datetime:
    """When a price that is not stale was fetched at the earliest."""
    return timezone.now() - timedelta(
        seconds=settings.PRICE_MAX_AGE_SECONDS + REFRESH_TIMEOUT_SECONDS
    )


def convert_price(price: Decimal, rate: Decimal) -> int:
    """Whole home-currency units, rounded half up."""
    product = _EXACT.multiply(price, rate)
    return int(product.quantize(Decimal(1), ROUND_HALF_UP, _EXACT))


def _to_price(stock: Stock, quote: StockQuote | None, fresh_since: datetime) -> Price:
    if quote is None or quote.home_price is None:
        return Price(stock.current_price, stock.price_at, is_stale=True)
    fetched_at = quote.fetched_at or quote.due_at
    stale = quote.failed or fetched_at < fresh_since
    return Price(quote.home_price, quote.at, stale)


def _claim_codes(codes: list[str]) -> list[str]:
    """Those of the codes that this caller is to look up, and nobody else meanwhile."""
    now = timezone.now()
    until = now + timedelta(seconds=CLAIM_TTL_SECONDS)
    return _fetch_codes(_CLAIM_CODES, {"codes": codes, "now": now, "until": until})


def _fetch_and_store(codes: list[str], deadline: float) -> None:
    """Ask for claimed codes and end the claims, whatever comes of it."""
    known: dict[str, int] = {}
    quotes: PriceQuotes = {}
    try:
        provider: PriceProvider = load_provider("PRICE_PROVIDER")
        quotes = provider.quote(codes)
        known = _convert_quotes(quotes, deadline)
    except ProviderUnavailableError:
        logger.warning("prices: the provider does not answer")
    finally:
        known = {code: known[code] for code in codes if code in known}
        _store_prices(quotes, known)
        _mark_failed([code for code in codes if code not in known])


def _convert_quotes(quotes: PriceQuotes, deadline: float) -> dict[str, int]:
    """The prices in home currency; left out where there is no exchange rate."""
    rates = _get_home_rates({quote.currency for quote in quotes.values()}, deadline)
    found = {}
    for code, quote in quotes.items():
        rate = rates.get(quote.currency)
        amount = None if rate is None else convert_price(quote.price, rate)
        if amount is not None and amount <= MAX_AMOUNT:
            found[code] = amount
    return found


def _get_home_rates(currencies: set[str], deadline: float) -> dict[str, Decimal]:
    """Home-currency units for one unit today, as far as they can be had in time."""
    rates = {settings.HOME_CURRENCY: Decimal(1)}
    foreign = currencies - set(rates)
    if not foreign:
        return rates
    pool = ThreadPoolExecutor(len(foreign), thread_name_prefix="rates")
    futures = {pool.submit(_get_home_rate, currency): currency for currency in foreign}
    done, _ = wait(
        futures, timeout=max(MIN_RATE_TIMEOUT_SECONDS, deadline - time.monotonic())
    )
    pool.shutdown(wait=False, cancel_futures=True)
    answers = {futures[future]: future.result() for future in done}
    return rates | {code: rate for code, rate in answers.items() if rate is not None}


def _get_home_rate(currency: str) -> Decimal | None:
    """In a thread of its own, whose connection ends with it."""
    try:
        today = timezone.localdate()
        return get_rate(currency, settings.HOME_CURRENCY, today).rate
    except ProviderUnavailableError:
        return None
    finally:
        connections.close_all()


def _store_prices(quotes: PriceQuotes, amounts: dict[str, int]) -> None:
    if not amounts:
        return
    now = timezone.now()
    found = [quotes[code] for code in amounts]
    values: dict[str, Any] = {
        "codes": list(amounts),
        "prices": [quote.price for quote in found],
        "currencies": [quote.currency for quote in found],
        "amounts": list(amounts.values()),
        "times": [quote.at for quote in found],
        "now": now,
        "due": now + timedelta(seconds=settings.PRICE_MAX_AGE_SECONDS),
    }
    with connection.cursor() as cursor:
        cursor.execute(_STORE_PRICES, values)


def _mark_failed(codes: list[str]) -> None:
    """No price for these: a short pause, so that a dead source costs little."""
    if not codes:
        return
    pause = min(
        RETRY_INTERVAL_SECONDS,
        max(REFRESH_TIMEOUT_SECONDS, settings.PRICE_MAX_AGE_SECONDS),
    )
    due = timezone.now() + timedelta(seconds=pause)
    with connection.cursor() as cursor:
        cursor.execute(_MARK_FAILED, {"codes": codes, "due": due})


def _wait_for_concurrent_fetch(codes: set[str], deadline: float) -> None:
    """Until nobody is looking up the first price of any of these codes."""
    rows = StockQuote.objects.filter(
        code__in=codes, claimed=True, home_price=None, due_at__gt=timezone.now()
    )
    while time.monotonic() < deadline and rows.exists():
        time.sleep(POLL_INTERVAL_SECONDS)


def _fetch_codes(sql: str, values: Any) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [code for (code,) in cursor.fetchall()]
