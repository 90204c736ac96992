"""The HTTP client for outside services: time limits, bounded bodies, no redirects.

Each call names its service, which has a circuit breaker and a bulkhead: one that hangs
holds a few threads of the process, for a while, and not all of them again and again.
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
# A failure that took this long opens the circuit of its key by itself.
SLOW_FAILURE_SECONDS = 0.5
# Faster failures cost a caller little and may be over with the next call.
FAST_FAILURE_THRESHOLD = 5
# After a slow failure, this process does not call the service for this long.
RESET_TIMEOUT_SECONDS = 10.0
# A call that was given less time may fail although the service is well.
MIN_TELLING_SECONDS = 0.75
# Threads of a process that may be in calls to one service: fewer than the web server
# has (`core.rsgi.DEFAULT_THREADS`).
MAX_CALLS = 2
# A service that is well answers within this time, so that calls at once all succeed.
SLOT_WAIT_SECONDS = 0.5
_CHUNK_BYTES = 2**16
_UNAVAILABLE_STATUSES = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """A response; its body has at most `MAX_RESPONSE_BYTES`."""

    status: int
    body: bytes


def make_circuit_breaker(reset_timeout_seconds: float) -> CircuitBreaker:
    """Return a circuit breaker for outside services, with a circuit for each key."""
    return CircuitBreaker(
        failure_threshold=FAST_FAILURE_THRESHOLD,
        slow_failure_seconds=SLOW_FAILURE_SECONDS,
        reset_timeout_seconds=reset_timeout_seconds,
    )


class OutsideService:
    """An outside service, by its name for logs; its state belongs to the process.

    `max_calls` is for callers that do not hold threads of the web server.
    """

    def __init__(self, name: str, *, max_calls: int = MAX_CALLS) -> None:
        self.name = name
        self.bulkhead = Bulkhead(max_calls)


# By the names of services.
circuit_breaker = make_circuit_breaker(RESET_TIMEOUT_SECONDS)


def load_provider(setting: str) -> Any:
    """Return an instance of the class whose dotted path is the value of a setting."""
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
    """Send a GET request and return the response.

    Raises `ProviderUnavailableError` if there is no connection, no complete response
    within `seconds`, a body above the limit, a redirect, or a status of 408, 429, 5xx,
    and while the circuit of the service is open. Raises `ProviderBusyError` if other
    threads have taken all slots of the service.
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
    """Send `body` as JSON by POST; raises the errors of `get`."""
    return _call(service, "POST", url, seconds, json=body, headers=headers)


def post_form(
    url: str,
    body: bytes,
    *,
    service: OutsideService,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """Send an encoded form by POST; raises the errors of `get`."""
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
            # The timeout of requests is one for each read, not for all. `read1` returns
            # what has come in: a read of whole chunks could miss the deadline.
            while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
                body += chunk
                if len(body) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
                    raise ProviderUnavailableError
    except (requests.RequestException, HTTPError, OSError):
        # Without the cause, whose text contains the URL: it may hold a secret.
        raise ProviderUnavailableError from None
    status = response.status_code
    if 300 <= status < 400 or status >= 500 or status in _UNAVAILABLE_STATUSES:
        raise ProviderUnavailableError
    return ProviderResponse(status, body)
