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
from core.errors import ProviderUnavailable
from core.http_client import load_provider
from ledger.investments.price_providers import PriceProvider, Quotes
from ledger.models import Stock, StockQuote
from ledger.rates import look_up_rate

logger = logging.getLogger(__name__)

SECONDS = 2.0
"""What a refresh may take, exchange rates included."""
RATE_SECONDS = 0.2
"""What rates, which are mostly stored, may take however long the prices took."""
RETRY_SECONDS = 10
"""How long a code that had no price is not asked for again."""
CLAIM_SECONDS = 10
"""When somebody else may ask, should the one who claimed a code be gone."""
ASK_AGAIN_SECONDS = 0.05
MOST_CODES = 500
"""Codes asked for at once; the others have their turn at the next opening."""
_EXACT = Context(prec=60)

_DUE = """
    SELECT s.code FROM invest_stock s LEFT JOIN stock_quote q ON q.code = s.code
    WHERE s.member_id = %s AND (
        q.due_at IS NULL OR q.due_at <= %s OR (q.claimed AND q.home_price IS NULL)
    )
    ORDER BY q.due_at NULLS FIRST, s.code LIMIT %s
"""
_CLAIM = """
    INSERT INTO stock_quote AS kept (code, due_at, claimed, failed)
    SELECT code, %(until)s, true, false FROM unnest(%(codes)s::text[]) code
    ORDER BY code
    ON CONFLICT (code) DO UPDATE SET due_at = excluded.due_at, claimed = true
    WHERE kept.due_at <= %(now)s
    RETURNING code
"""
_STORE = """
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
_GIVE_UP = """
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
    stale: bool


def refresh_prices(member: Member) -> None:
    """Look up what is older than PRICE_MAX_AGE_SECONDS, all stocks together.

    Whoever comes first asks for a code; others go on with the price of before, and
    wait only where there is none yet. A failure changes nothing but the time of the
    next attempt. Never raises for a source, never in a transaction.
    """
    deadline = time.monotonic() + SECONDS
    due = _read_codes(_DUE, [member.pk, timezone.now(), MOST_CODES])
    claimed = _claim(due) if due else []
    if claimed:
        _look_up(claimed, deadline)
    if others := set(due) - set(claimed):
        _wait_for_others(others, deadline)


def read_prices(stocks: Iterable[Stock]) -> dict[int, Price]:
    """The prices of stocks by their id: quoted, else typed in."""
    stocks = list(stocks)
    rows = StockQuote.objects.in_bulk([stock.code for stock in stocks])
    fresh_since = find_fresh_since()
    return {
        stock.pk: _price_of(stock, rows.get(stock.code), fresh_since)
        for stock in stocks
    }


def find_fresh_since() -> datetime:
    """When a price that is not stale was fetched at the earliest."""
    return timezone.now() - timedelta(seconds=settings.PRICE_MAX_AGE_SECONDS + SECONDS)


def convert_price(price: Decimal, rate: Decimal) -> int:
    """Whole home-currency units, rounded half up."""
    product = _EXACT.multiply(price, rate)
    return int(product.quantize(Decimal(1), ROUND_HALF_UP, _EXACT))


def _price_of(stock: Stock, quote: StockQuote | None, fresh_since: datetime) -> Price:
    if quote is None or quote.home_price is None:
        return Price(stock.current_price, stock.price_at, stale=True)
    fetched_at = quote.fetched_at or quote.due_at
    stale = quote.failed or fetched_at < fresh_since
    return Price(quote.home_price, quote.at, stale)


def _claim(codes: list[str]) -> list[str]:
    """Those of the codes that this caller is to look up, and nobody else meanwhile."""
    now = timezone.now()
    until = now + timedelta(seconds=CLAIM_SECONDS)
    return _read_codes(_CLAIM, {"codes": codes, "now": now, "until": until})


def _look_up(codes: list[str], deadline: float) -> None:
    """Ask for claimed codes and end the claims, whatever comes of it."""
    known: dict[str, int] = {}
    quotes: Quotes = {}
    try:
        provider: PriceProvider = load_provider("PRICE_PROVIDER")
        quotes = provider.quote(codes)
        known = _convert(quotes, deadline)
    except ProviderUnavailable:
        logger.warning("prices: the provider does not answer")
    finally:
        known = {code: known[code] for code in codes if code in known}
        _store(quotes, known)
        _give_up([code for code in codes if code not in known])


def _convert(quotes: Quotes, deadline: float) -> dict[str, int]:
    """The prices in home currency; left out where there is no exchange rate."""
    rates = _read_rates({quote.currency for quote in quotes.values()}, deadline)
    found = {}
    for code, quote in quotes.items():
        rate = rates.get(quote.currency)
        amount = None if rate is None else convert_price(quote.price, rate)
        if amount is not None and amount <= MAX_AMOUNT:
            found[code] = amount
    return found


def _read_rates(currencies: set[str], deadline: float) -> dict[str, Decimal]:
    """Home-currency units for one unit today, as far as they can be had in time."""
    rates = {settings.HOME_CURRENCY: Decimal(1)}
    foreign = currencies - set(rates)
    if not foreign:
        return rates
    pool = ThreadPoolExecutor(len(foreign), thread_name_prefix="rates")
    futures = {pool.submit(_read_rate, currency): currency for currency in foreign}
    done, _ = wait(futures, timeout=max(RATE_SECONDS, deadline - time.monotonic()))
    pool.shutdown(wait=False, cancel_futures=True)
    answers = {futures[future]: future.result() for future in done}
    return rates | {code: rate for code, rate in answers.items() if rate is not None}


def _read_rate(currency: str) -> Decimal | None:
    """In a thread of its own, whose connection ends with it."""
    try:
        today = timezone.localdate()
        return look_up_rate(currency, settings.HOME_CURRENCY, today).rate
    except ProviderUnavailable:
        return None
    finally:
        connections.close_all()


def _store(quotes: Quotes, amounts: dict[str, int]) -> None:
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
        cursor.execute(_STORE, values)


def _give_up(codes: list[str]) -> None:
    """No price for these: a short pause, so that a dead source costs little."""
    if not codes:
        return
    pause = min(RETRY_SECONDS, max(SECONDS, settings.PRICE_MAX_AGE_SECONDS))
    due = timezone.now() + timedelta(seconds=pause)
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_UP, {"codes": codes, "due": due})


def _wait_for_others(codes: set[str], deadline: float) -> None:
    """Until nobody is looking up the first price of any of these codes."""
    rows = StockQuote.objects.filter(
        code__in=codes, claimed=True, home_price=None, due_at__gt=timezone.now()
    )
    while time.monotonic() < deadline and rows.exists():
        time.sleep(ASK_AGAIN_SECONDS)


def _read_codes(sql: str, values: Any) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [code for (code,) in cursor.fetchall()]
