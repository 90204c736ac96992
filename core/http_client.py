"""The HTTP client for outside services.

A circuit breaker and a bulkhead keep a hanging service from holding all threads.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import requests
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from urllib3.exceptions import HTTPError

from core.bulkhead import Bulkhead
from core.circuit_breaker import CircuitBreaker
from core.errors import ProviderBusyError, ProviderUnavailableError

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 2.0
READ_TIMEOUT_SECONDS = 5.0
MAX_RESPONSE_BYTES = 2**20
SLOW_FAILURE_SECONDS = 0.5
FAST_FAILURE_THRESHOLD = 5
RESET_TIMEOUT_SECONDS = 10.0
# A call with less time may fail although the service is healthy.
MIN_TELLING_SECONDS = 0.75
# Fewer than `core.bulkhead.DEFAULT_THREADS`.
MAX_CALLS = 2
SLOT_WAIT_SECONDS = 0.5
_CHUNK_BYTES = 2**16
_UNAVAILABLE_STATUSES = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    status: int
    body: bytes


def make_circuit_breaker(reset_timeout_seconds: float) -> CircuitBreaker:
    return CircuitBreaker(
        failure_threshold=FAST_FAILURE_THRESHOLD,
        slow_failure_seconds=SLOW_FAILURE_SECONDS,
        reset_timeout_seconds=reset_timeout_seconds,
    )


class OutsideService:
    """Callers that hold no web threads may have more slots."""

    def __init__(self, name: str, *, max_calls: int = MAX_CALLS) -> None:
        self.name = name
        self.bulkhead = Bulkhead(max_calls)


circuit_breaker = make_circuit_breaker(RESET_TIMEOUT_SECONDS)


def load_provider(setting: str) -> Any:
    path = getattr(settings, setting)
    try:
        provider_class = import_string(path)
    except ImportError:
        raise ImproperlyConfigured(f"{setting}: {path} does not exist.") from None
    if not isinstance(provider_class, type):
        raise ImproperlyConfigured(f"{setting}: {path} is not a class.")
    return provider_class()


def get(
    url: str,
    params: Mapping[str, str],
    *,
    service: OutsideService,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """Send a GET request.

    Raise `ProviderUnavailableError` without a complete response within `seconds`, for a
    body above the limit, a redirect, 408, 429 or 5xx, and while the circuit is open;
    `ProviderBusyError` if no slot gets free.
    """
    return _call(service, "GET", url, seconds, params=params, headers=headers)


def post_json(
    url: str,
    body: Any,
    *,
    service: OutsideService,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    return _call(service, "POST", url, seconds, json=body, headers=headers)


def post_form(
    url: str,
    body: bytes,
    *,
    service: OutsideService,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    return _call(service, "POST", url, seconds, data=body, headers=headers)


def _call(
    service: OutsideService, method: str, url: str, seconds: float, **options: Any
) -> ProviderResponse:
    if not circuit_breaker.allows_request(service.name):
        raise ProviderUnavailableError
    with service.bulkhead.slot(wait_seconds=SLOT_WAIT_SECONDS) as has_slot:
        if not has_slot:
            raise ProviderBusyError
        started_at = time.monotonic()
        try:
            response = _send(method, url, seconds, **options)
        except ProviderUnavailableError:
            if seconds >= MIN_TELLING_SECONDS:
                circuit_breaker.record_failure(service.name, started_at=started_at)
            logger.warning("%s is unavailable", service.name)
            raise
        if circuit_breaker.record_success(service.name):
            logger.info("%s is available again", service.name)
        return response


def _send(method: str, url: str, seconds: float, **options: Any) -> ProviderResponse:
    deadline = time.monotonic() + seconds
    try:
        with requests.request(
            method,
            url,
            timeout=(min(CONNECT_TIMEOUT_SECONDS, seconds), seconds),
            allow_redirects=False,
            stream=True,
            **options,
        ) as response:
            body = b""
            # The timeout of requests limits each read only. `read1` returns the bytes
            # at hand: whole chunks could miss the deadline.
            while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
                body += chunk
                if len(body) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
                    raise ProviderUnavailableError
    except (requests.RequestException, HTTPError, OSError):
        # The text of the cause contains the URL, which may hold a secret.
        raise ProviderUnavailableError from None
    status = response.status_code
    if 300 <= status < 400 or status >= 500 or status in _UNAVAILABLE_STATUSES:
        raise ProviderUnavailableError
    return ProviderResponse(status, body)
