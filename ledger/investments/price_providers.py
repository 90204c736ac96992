"""Where prices come from: Naver for Korean codes, Yahoo for tickers."""

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
from core.errors import ProviderUnavailableError
from ledger.currencies import CURRENCY_CODES

logger = logging.getLogger(__name__)

NAVER_HOST = "https://polling.finance.naver.com"
YAHOO_HOST = "https://query1.finance.yahoo.com"
TOTAL_TIMEOUT_SECONDS = 1.7
"""What all prices together may take; the rest of two seconds is for exchange rates."""
MAX_WORKERS = 8
CODES_PER_CALL = 50
MAX_PRICE = Decimal(10) ** 12
RESET_TIMEOUT_SECONDS = 10.0
"""How long a source that was waited for in vain is not asked by this process."""

# What gets into an address, and nothing else does: no slashes, dots only inside.
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

circuit_breaker = http_client.make_circuit_breaker(RESET_TIMEOUT_SECONDS)


@dataclass(frozen=True, slots=True)
class PriceQuote:
    """What one share cost, in its currency, at the source's own time."""

    price: Decimal
    currency: str
    at: datetime


PriceQuotes = dict[str, PriceQuote]


class PriceProvider(Protocol):
    """What the setting PRICE_PROVIDER names: a class that is made without arguments."""

    def quote(self, codes: Sequence[str]) -> PriceQuotes:
        """The prices that can be had within about two seconds; others are left out."""
        ...


class CompositePriceProvider:
    """The real sources, asked at once for all codes, within `TOTAL_TIMEOUT_SECONDS` together."""

    def quote(self, codes: Sequence[str]) -> PriceQuotes:
        deadline = time.monotonic() + TOTAL_TIMEOUT_SECONDS
        korean = [code for code in codes if _KOREAN_CODE_RE.fullmatch(code)]
        others = [code for code in codes if code not in set(korean)]
        tickers = [code for code in others if _TICKER_RE.fullmatch(code)]
        calls = [
            ProviderCall(fetch_naver, group)
            for group in _chunks(korean, CODES_PER_CALL)
        ]
        calls += [ProviderCall(fetch_yahoo, [code]) for code in tickers]
        found = run_calls(calls, deadline)
        if len(korean) > 1:
            # Naver may answer several codes with none: then one by one.
            missing = [code for code in korean if code not in found]
            found |= run_calls(
                [ProviderCall(fetch_naver, [code]) for code in missing], deadline
            )
        return found


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """A source and what it is asked for."""

    fetch: Callable[[list[str], float], PriceQuotes]
    codes: list[str]


def run_calls(calls: Sequence[ProviderCall], deadline: float) -> PriceQuotes:
    """What the calls found before the deadline; what comes later is not waited for."""
    if not calls:
        return {}
    pool = ThreadPoolExecutor(MAX_WORKERS, thread_name_prefix="prices")
    futures = [pool.submit(_run_call, call, deadline) for call in calls]
    done, _ = wait(futures, timeout=max(0.0, deadline - time.monotonic()))
    pool.shutdown(wait=False, cancel_futures=True)
    return {code: quote for each in done for code, quote in each.result().items()}


def _chunks(codes: list[str], size: int) -> list[list[str]]:
    return [codes[start : start + size] for start in range(0, len(codes), size)]


def _run_call(call: ProviderCall, deadline: float) -> PriceQuotes:
    """One call; a failure is no price, and the source is left alone for a while."""
    source, seconds = call.fetch.__name__, deadline - time.monotonic()
    if seconds <= 0 or not circuit_breaker.allows_request(source):
        return {}
    started_at = time.monotonic()
    try:
        quotes = call.fetch(call.codes, seconds)
    except ProviderUnavailableError:
        logger.warning("prices: %s does not answer", source)
        if seconds > TOTAL_TIMEOUT_SECONDS / 2:
            circuit_breaker.record_failure(source, started_at=started_at)
    except _INVALID_RESPONSE_ERRORS:
        logger.warning("prices: %s answers what is no price", source)
    else:
        circuit_breaker.record_success(source)
        return quotes
    return {}


def fetch_naver(codes: list[str], seconds: float) -> PriceQuotes:
    """`GET /api/realtime/domestic/stock/005930,000660`: prices like "71,000"."""
    host = settings.PRICE_BASE_URL or NAVER_HOST
    url = f"{host}/api/realtime/domestic/stock/{','.join(codes)}"
    body = _parse_json_object(
        http_client.get(url, {}, seconds=seconds, headers=_NAVER_HEADERS)
    )
    quotes = {}
    for row in body["datas"]:
        if row["itemCode"] in codes:
            price = _validate_price(Decimal(str(row["closePrice"]).replace(",", "")))
            quotes[row["itemCode"]] = PriceQuote(price, "KRW", _parse_traded_at(row))
    return quotes


def fetch_yahoo(codes: list[str], seconds: float) -> PriceQuotes:
    """`GET /v8/finance/chart/AAPL?range=1d&interval=1d`: one ticker a call."""
    host, (code,) = settings.PRICE_BASE_URL or YAHOO_HOST, codes
    url, params = f"{host}/v8/finance/chart/{code}", {"range": "1d", "interval": "1d"}
    body = _parse_json_object(
        http_client.get(url, params, seconds=seconds, headers=_HEADERS)
    )
    if not body["chart"]["result"]:
        return {}
    meta = body["chart"]["result"][0]["meta"]
    if meta.get("symbol", code) != code or meta["currency"] not in CURRENCY_CODES:
        raise ValueError("another ticker, or no currency")
    at = datetime.fromtimestamp(int(meta["regularMarketTime"]), UTC)
    price = meta["regularMarketPrice"]
    if isinstance(price, bool) or not isinstance(price, int | Decimal):
        raise TypeError("no number")
    return {
        code: PriceQuote(
            _validate_price(Decimal(price)), meta["currency"], _clamp_to_now(at)
        )
    }


def _parse_json_object(answer: http_client.ProviderResponse) -> dict[str, Any]:
    """The JSON object, its fractions exact; a page of HTML is a failure."""
    if answer.status != 200:
        return {"datas": [], "chart": {"result": None}}
    try:
        body = json.loads(answer.body, parse_float=Decimal)
    except (ValueError, RecursionError):
        raise ProviderUnavailableError from None
    if not isinstance(body, dict):
        raise ProviderUnavailableError
    return body


def _validate_price(price: Decimal) -> Decimal:
    if not price.is_finite() or not 0 < price < MAX_PRICE:
        raise ValueError("no price")
    return price


def _parse_traded_at(row: dict[str, Any]) -> datetime:
    text = row.get("localTradedAt")
    at = datetime.fromisoformat(text) if text else timezone.now()
    return _clamp_to_now(at if at.tzinfo else timezone.make_aware(at))


def _clamp_to_now(at: datetime) -> datetime:
    """A source's clock may be ahead of ours."""
    return min(at, timezone.now())
