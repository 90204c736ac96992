"""The HTTP client for outside services: time limits, bounded bodies, no redirects."""

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

from core.circuit_breaker import CircuitBreaker
from core.errors import ProviderUnavailableError

CONNECT_TIMEOUT_SECONDS = 2.0
READ_TIMEOUT_SECONDS = 5.0
MAX_RESPONSE_BYTES = 2**20
# A failure that took this long opens the circuit of its key by itself.
SLOW_FAILURE_SECONDS = 0.5
# Faster failures cost a caller little and may be over with the next call.
FAST_FAILURE_THRESHOLD = 5
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
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """Send a GET request and return the response.

    Raises `ProviderUnavailableError` if there is no connection, no complete response
    within `seconds`, a body above the limit, a redirect, or a status of 408, 429, 5xx.
    """
    return _send("GET", url, seconds, params=params, headers=headers)


def post_json(
    url: str,
    body: Any,
    *,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """Send `body` as JSON by POST; raises the errors of `get`."""
    return _send("POST", url, seconds, json=body, headers=headers)


def post_form(
    url: str,
    body: bytes,
    *,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """Send an encoded form by POST; raises the errors of `get`."""
    return _send("POST", url, seconds, data=body, headers=headers)


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
