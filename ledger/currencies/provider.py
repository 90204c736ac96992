"""Exchange rates from Frankfurter, with open.er-api as a fallback for today."""

import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Protocol

from django.conf import settings
from django.utils import timezone

from core import http_client
from core.errors import ProviderBusyError, ProviderUnavailableError
from ledger.currencies.codes import EXACT, MAX_RATE, RATE_QUANTUM

logger = logging.getLogger(__name__)

FRANKFURTER_HOST = "https://api.frankfurter.dev"
OPEN_ER_API_HOST = "https://open.er-api.com"
TOTAL_TIMEOUT_SECONDS = 6.0
# Leaves time for the fallback.
FRANKFURTER_TIMEOUT_SECONDS = 4.0
_INVALID_RESPONSE_ERRORS = (
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    OSError,
)
_NO_RATE_STATUSES = {400, 404, 422}

frankfurter = http_client.OutsideService("frankfurter")
open_er_api = http_client.OutsideService("open.er-api")


class RateNotAvailableError(ProviderUnavailableError):
    """The source has no rate for the pair and day."""


@dataclass(frozen=True, slots=True)
class RateQuote:
    """Units of one currency for one unit of another, on the source's date."""

    rate: Decimal
    rate_date: date
    source: str


class RateProvider(Protocol):
    """The class named by FX_PROVIDER, constructed without arguments."""

    def fetch_rate(self, base: str, quote: str, day: date) -> RateQuote:
        """Return the rate of `day`, or the last rate before it.

        Raises `RateNotAvailableError` or `ProviderUnavailableError`.
        """
        ...


class FallbackRateProvider:
    def fetch_rate(self, base: str, quote: str, day: date) -> RateQuote:
        deadline = time.monotonic() + TOTAL_TIMEOUT_SECONDS
        try:
            return fetch_frankfurter(base, quote, day, FRANKFURTER_TIMEOUT_SECONDS)
        except ProviderBusyError:
            # The fallback would hold as many threads again.
            raise
        except ProviderUnavailableError:
            if day < timezone.localdate():
                raise
        return fetch_open_er_api(base, quote, day, deadline - time.monotonic())


def fetch_frankfurter(base: str, quote: str, day: date, seconds: float) -> RateQuote:
    """Request `GET /v2/rate/USD/KRW?date=…`; a weekend has Friday's date."""
    source, url = frankfurter.name, f"{settings.FX_BASE_URL}/v2/rate/{base}/{quote}"
    body = _get_json(frankfurter, url, {"date": day.isoformat()}, seconds)
    with _convert_parse_errors(source):
        rate_date = date.fromisoformat(body["date"])
        if (body["base"], body["quote"]) != (base, quote) or rate_date > day:
            raise ValueError("unexpected pair or date")
        return RateQuote(parse_rate(body["rate"]), rate_date, source)


def fetch_open_er_api(base: str, quote: str, day: date, seconds: float) -> RateQuote:
    """Request `GET /v6/latest/USD`: today's rates of one currency.

    A changed FX_BASE_URL replaces both hosts.
    """
    source, host = open_er_api.name, settings.FX_BASE_URL
    host = OPEN_ER_API_HOST if host == FRANKFURTER_HOST else host
    body = _get_json(open_er_api, f"{host}/v6/latest/{base}", {}, seconds)
    with _convert_parse_errors(source):
        if body["result"] != "success" or body["base_code"] != base:
            raise ValueError("unexpected currency, or no success")
        if quote not in body["rates"]:
            raise RateNotAvailableError
        updated_at = datetime.fromtimestamp(body["time_last_update_unix"], UTC)
        rate_date = min(updated_at.date(), day)
        return RateQuote(parse_rate(body["rates"][quote]), rate_date, source)


def parse_rate(value: Any) -> Decimal:
    """Return a JSON number as a rate with 8 decimals.

    Raises `ValueError` for a number out of range, `TypeError` for other types.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TypeError("not an exact number")
    rate = Decimal(value).quantize(RATE_QUANTUM, ROUND_HALF_UP, EXACT)
    if not 0 < rate < MAX_RATE:
        raise ValueError("rate out of range")
    return rate


def _get_json(
    service: http_client.OutsideService,
    url: str,
    params: Mapping[str, str],
    seconds: float,
) -> dict[str, Any]:
    if seconds <= 0:
        raise ProviderUnavailableError
    response = http_client.get(url, params, service=service, seconds=seconds)
    if response.status in _NO_RATE_STATUSES:
        raise RateNotAvailableError
    with _convert_parse_errors(service.name):
        if response.status != 200:
            raise ValueError("no success")
        body = json.loads(response.body, parse_float=Decimal)
        if not isinstance(body, dict):
            raise TypeError("not an object")
        return body


@contextmanager
def _convert_parse_errors(source: str) -> Iterator[None]:
    try:
        yield
    except (*_INVALID_RESPONSE_ERRORS, RecursionError):
        logger.warning("exchange rates: %s sent an invalid response", source)
        raise ProviderUnavailableError from None
