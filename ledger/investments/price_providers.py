"""Stock price providers: Naver for Korean codes, Yahoo for tickers."""

import json
import logging
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Protocol

from django.conf import settings
from django.utils import timezone

from core import http_client
from core.bulkhead import Bulkhead
from core.errors import ProviderBusyError, ProviderUnavailableError
from ledger.currencies.codes import CURRENCY_CODES

logger = logging.getLogger(__name__)

NAVER_HOST = "https://polling.finance.naver.com"
YAHOO_HOST = "https://query1.finance.yahoo.com"
# The time of all prices together; the rest of two seconds is for exchange rates.
TOTAL_TIMEOUT_SECONDS = 1.7
MAX_WORKERS = 8
CODES_PER_CALL = 50
MAX_PRICE = Decimal(10) ** 12
# Requests of a process that may look up prices at once.
MAX_LOOKUPS = 2

# Only codes of these forms become part of a URL: no slashes, dots only inside.
_KOREAN_CODE_RE = re.compile(r"[0-9][0-9A-Z]{5}")
_TICKER_RE = re.compile(r"[A-Z0-9]+(?:[.\-][A-Z0-9]+)*")
_HEADERS = {"User-Agent": "Mozilla/5.0", "Accept": "application/json"}
_NAVER_HEADERS = _HEADERS | {"Referer": "https://finance.naver.com/"}
_INVALID_RESPONSE_ERRORS = (
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    OSError,
)

naver = http_client.OutsideService("naver", max_calls=MAX_LOOKUPS * MAX_WORKERS)
yahoo = http_client.OutsideService("yahoo", max_calls=MAX_LOOKUPS * MAX_WORKERS)
lookups = Bulkhead(MAX_LOOKUPS)


@dataclass(frozen=True, slots=True)
class PriceQuote:
    price: Decimal
    currency: str
    at: datetime


PriceQuotes = dict[str, PriceQuote]


class PriceProvider(Protocol):
    """The class named by PRICE_PROVIDER, constructed without arguments."""

    def quote(self, codes: Sequence[str]) -> PriceQuotes:
        """Return the prices that are available within about two seconds."""
        ...


class CompositePriceProvider:
    """Naver and Yahoo in parallel, within `TOTAL_TIMEOUT_SECONDS`."""

    def quote(self, codes: Sequence[str]) -> PriceQuotes:
        """Raise `ProviderBusyError` if others hold all slots."""
        deadline = time.monotonic() + TOTAL_TIMEOUT_SECONDS
        with lookups.slot() as has_slot:
            if not has_slot:
                raise ProviderBusyError
            return self._quote(codes, deadline)

    def _quote(self, codes: Sequence[str], deadline: float) -> PriceQuotes:
        korean = [code for code in codes if _KOREAN_CODE_RE.fullmatch(code)]
        others = [code for code in codes if code not in set(korean)]
        tickers = [code for code in others if _TICKER_RE.fullmatch(code)]
        calls = [
            ProviderCall(fetch_naver, korean[start : start + CODES_PER_CALL])
            for start in range(0, len(korean), CODES_PER_CALL)
        ]
        calls += [ProviderCall(fetch_yahoo, [code]) for code in tickers]
        found = run_calls(calls, deadline)
        if len(korean) > 1:
            # Naver may respond to several codes with none at all: retry one by one.
            missing = [code for code in korean if code not in found]
            found |= run_calls(
                [ProviderCall(fetch_naver, [code]) for code in missing], deadline
            )
        return found


@dataclass(frozen=True, slots=True)
class ProviderCall:
    fetch: Callable[[list[str], float], PriceQuotes]
    codes: list[str]


def run_calls(calls: Sequence[ProviderCall], deadline: float) -> PriceQuotes:
    """Return the quotes found before the deadline."""
    if not calls:
        return {}
    pool = ThreadPoolExecutor(MAX_WORKERS, thread_name_prefix="prices")
    futures = [pool.submit(_run_call, call, deadline) for call in calls]
    done, _ = wait(futures, timeout=max(0.0, deadline - time.monotonic()))
    pool.shutdown(wait=False, cancel_futures=True)
    return {code: quote for each in done for code, quote in each.result().items()}


def _run_call(call: ProviderCall, deadline: float) -> PriceQuotes:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        return {}
    try:
        return call.fetch(call.codes, seconds)
    except ProviderUnavailableError:
        return {}
    except _INVALID_RESPONSE_ERRORS:
        logger.warning("prices: %s sent an invalid response", call.fetch.__name__)
        return {}


def fetch_naver(codes: list[str], seconds: float) -> PriceQuotes:
    """Request `GET /api/realtime/domestic/stock/005930,000660` (prices as "71,000")."""
    host = settings.PRICE_BASE_URL or NAVER_HOST
    url = f"{host}/api/realtime/domestic/stock/{','.join(codes)}"
    body = _parse_json_object(
        http_client.get(url, {}, service=naver, seconds=seconds, headers=_NAVER_HEADERS)
    )
    quotes = {}
    for row in body["datas"]:
        if row["itemCode"] in codes:
            price = _validate_price(Decimal(str(row["closePrice"]).replace(",", "")))
            text = row.get("localTradedAt")
            at = datetime.fromisoformat(text) if text else timezone.now()
            at = at if at.tzinfo else timezone.make_aware(at)
            quotes[row["itemCode"]] = PriceQuote(price, "KRW", _clamp_to_now(at))
    return quotes


def fetch_yahoo(codes: list[str], seconds: float) -> PriceQuotes:
    """Request `GET /v8/finance/chart/AAPL?range=1d&interval=1d`, one ticker a call."""
    host, (code,) = settings.PRICE_BASE_URL or YAHOO_HOST, codes
    url, params = f"{host}/v8/finance/chart/{code}", {"range": "1d", "interval": "1d"}
    body = _parse_json_object(
        http_client.get(url, params, service=yahoo, seconds=seconds, headers=_HEADERS)
    )
    if not body["chart"]["result"]:
        return {}
    meta = body["chart"]["result"][0]["meta"]
    if meta.get("symbol", code) != code or meta["currency"] not in CURRENCY_CODES:
        raise ValueError("unexpected ticker, or unknown currency")
    at = datetime.fromtimestamp(int(meta["regularMarketTime"]), UTC)
    price = meta["regularMarketPrice"]
    if isinstance(price, bool) or not isinstance(price, int | Decimal):
        raise TypeError("not a number")
    return {
        code: PriceQuote(
            _validate_price(Decimal(price)), meta["currency"], _clamp_to_now(at)
        )
    }


def _parse_json_object(response: http_client.ProviderResponse) -> dict[str, Any]:
    """Return the JSON object with exact fractions, empty unless the status is 200.

    Raises `ProviderUnavailableError` for HTML.
    """
    if response.status != 200:
        return {"datas": [], "chart": {"result": None}}
    try:
        body = json.loads(response.body, parse_float=Decimal)
    except (ValueError, RecursionError):
        raise ProviderUnavailableError from None
    if not isinstance(body, dict):
        raise ProviderUnavailableError
    return body


def _validate_price(price: Decimal) -> Decimal:
    if not price.is_finite() or not 0 < price < MAX_PRICE:
        raise ValueError("price out of range")
    return price


def _clamp_to_now(at: datetime) -> datetime:
    # The source's clock may be ahead.
    return min(at, timezone.now())
