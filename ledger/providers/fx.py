"""Where exchange rates come from: Frankfurter, then open.er-api for today's."""

import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Protocol

from django.conf import settings
from django.utils import timezone

from core import http_client
from core.errors import ProviderUnavailableError

logger = logging.getLogger(__name__)

FRANKFURTER_HOST = "https://api.frankfurter.dev"
OPEN_ER_API_HOST = "https://open.er-api.com"
TOTAL_TIMEOUT_SECONDS = 6.0
FIRST_SOURCE_TIMEOUT_SECONDS = 4.0
"""What the first source may take of it, so that the second one has its turn."""
RESET_TIMEOUT_SECONDS = 10.0
"""How long a source that failed slowly is not asked by this process."""
RATE_QUANTUM = Decimal("0.00000001")
MAX_RATE = Decimal(10) ** 12
_EXACT = Context(prec=60)
_INVALID_RESPONSE_ERRORS = (
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    OSError,
)
_NO_RATE_STATUSES = {400, 404, 422}

circuit_breaker = http_client.make_circuit_breaker(RESET_TIMEOUT_SECONDS)


class RateNotAvailableError(ProviderUnavailableError):
    """The source answers, and has no rate of this pair and day."""


@dataclass(frozen=True, slots=True)
class RateQuote:
    """What one unit of a currency cost in another, on the source's own date."""

    rate: Decimal
    rate_date: date
    source: str


class RateProvider(Protocol):
    """What the setting FX_PROVIDER names: a class that is made without arguments."""

    def fetch_rate(self, base: str, quote: str, day: date) -> RateQuote:
        """The rate of `day`, or the last one before it.

        Raises `RateNotAvailableError`, or `ProviderUnavailableError` when the source fails.
        """
        ...


class FallbackRateProvider:
    """The real sources, one after the other, within `TOTAL_TIMEOUT_SECONDS` together."""

    def fetch_rate(self, base: str, quote: str, day: date) -> RateQuote:
        deadline = time.monotonic() + TOTAL_TIMEOUT_SECONDS
        try:
            return fetch_frankfurter(base, quote, day, FIRST_SOURCE_TIMEOUT_SECONDS)
        except ProviderUnavailableError:
            if day < timezone.localdate():
                raise
        return fetch_open_er_api(base, quote, day, deadline - time.monotonic())


def fetch_frankfurter(base: str, quote: str, day: date, seconds: float) -> RateQuote:
    """`GET /v2/rate/USD/KRW?date=…`; a weekend's answer carries Friday's date."""
    source, url = "frankfurter", f"{settings.FX_BASE_URL}/v2/rate/{base}/{quote}"
    body = _get_json(source, url, {"date": day.isoformat()}, seconds)
    with _convert_parse_errors(source):
        rate_date = date.fromisoformat(body["date"])
        if (body["base"], body["quote"]) != (base, quote) or rate_date > day:
            raise ValueError("another pair or day")
        return RateQuote(parse_rate(body["rate"]), rate_date, source)


def fetch_open_er_api(base: str, quote: str, day: date, seconds: float) -> RateQuote:
    """`GET /v6/latest/USD`: all rates of today for one currency.

    On a host of its own, unless FX_BASE_URL puts another in the place of both.
    """
    source, host = "open.er-api", settings.FX_BASE_URL
    host = OPEN_ER_API_HOST if host == FRANKFURTER_HOST else host
    body = _get_json(source, f"{host}/v6/latest/{base}", {}, seconds)
    with _convert_parse_errors(source):
        if body["result"] != "success" or body["base_code"] != base:
            raise ValueError("another currency, or no success")
        if quote not in body["rates"]:
            raise RateNotAvailableError
        updated_at = datetime.fromtimestamp(body["time_last_update_unix"], UTC)
        rate_date = min(updated_at.date(), day)
        return RateQuote(parse_rate(body["rates"][quote]), rate_date, source)


def parse_rate(value: Any) -> Decimal:
    """A JSON number, to 8 decimals; none that is NaN, not positive or rounds to 0."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TypeError("no exact number")
    rate = Decimal(value).quantize(RATE_QUANTUM, ROUND_HALF_UP, _EXACT)
    if not 0 < rate < MAX_RATE:
        raise ValueError("no rate")
    return rate


def _get_json(
    source: str, url: str, params: Mapping[str, str], seconds: float
) -> dict[str, Any]:
    """The JSON object that the source answers, its fractions exact."""
    if not circuit_breaker.allows_request(source) or seconds <= 0:
        raise ProviderUnavailableError
    started_at = time.monotonic()
    try:
        answer = http_client.get(url, params, seconds=seconds)
    except ProviderUnavailableError:
        circuit_breaker.record_failure(source, started_at=started_at)
        logger.warning("exchange rates: %s does not answer", source)
        raise
    circuit_breaker.record_success(source)
    if answer.status in _NO_RATE_STATUSES:
        raise RateNotAvailableError
    with _convert_parse_errors(source):
        if answer.status != 200:
            raise ValueError("no success")
        body = json.loads(answer.body, parse_float=Decimal)
        if not isinstance(body, dict):
            raise TypeError("no object")
        return body


@contextmanager
def _convert_parse_errors(source: str) -> Iterator[None]:
    """What an answer holds is believed only where it is what was agreed."""
    try:
        yield
    except (*_INVALID_RESPONSE_ERRORS, RecursionError):
        logger.warning("exchange rates: %s answers what cannot be read", source)
        raise ProviderUnavailableError from None
