"""Calls to outside services: fixed addresses, time limits, bounded bodies."""

import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import requests
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from urllib3.exceptions import HTTPError

from core.errors import ProviderUnavailableError

CONNECT_TIMEOUT_SECONDS = 2.0
READ_TIMEOUT_SECONDS = 5.0
MAX_RESPONSE_BYTES = 2**20
SLOW_FAILURE_SECONDS = 0.5
"""A failure that took longer is not worth waiting for again at once."""
FAST_FAILURE_THRESHOLD = 5
"""So many quick ones within the pause of a key begin it as well."""
_CHUNK_BYTES = 2**16
_UNAVAILABLE_STATUSES = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """What an outside service said: its status and at most `MAX_RESPONSE_BYTES` of body."""

    status: int
    body: bytes


class KeyedCircuitBreaker:
    """What kept a caller waiting in vain is left alone for `seconds`, in this process.

    A quick refusal costs nothing and may be over with the next call; several in a row
    are not, and go on costing the source.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: dict[Hashable, float] = {}
        self._failures: dict[Hashable, list[float]] = {}

    def can_attempt(self, key: Hashable) -> bool:
        return time.monotonic() >= self._ends.get(key, 0.0)

    def record_failure(self, key: Hashable, began: float) -> None:
        """Leave `key` alone if the failure took long, `began` being monotonic.

        Pauses that are over are forgotten, and so are failures of before.
        """
        now = time.monotonic()
        recent = [at for at in self._failures.get(key, ()) if now - at < self._seconds]
        kept = {
            k: ats
            for k, ats in self._failures.copy().items()
            if ats[-1] > began - self._seconds
        }
        self._failures = kept | {key: [*recent, now]}
        if (
            now - began < SLOW_FAILURE_SECONDS
            and len(recent) + 1 < FAST_FAILURE_THRESHOLD
        ):
            return
        running = {k: end for k, end in self._ends.copy().items() if end > now}
        self._ends = running | {key: now + self._seconds}

    def reset(self) -> None:
        self._ends, self._failures = {}, {}


def load_provider(setting: str) -> Any:
    """A new one of the class that the setting names by its dotted path."""
    path = getattr(settings, setting)
    try:
        found = import_string(path)
    except ImportError:
        raise ImproperlyConfigured(f"{setting}: there is no {path}.") from None
    if not isinstance(found, type):
        raise ImproperlyConfigured(f"{setting}: {path} is no class.")
    return found()


def get(
    url: str,
    params: Mapping[str, str],
    *,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """GET one address without following redirects.

    Raises `ProviderUnavailableError` for anything that is no answer: no connection, no
    end within `seconds`, a body over the limit, a redirect, a 429 or a 5xx. The
    error that is raised names no address, since addresses can carry secrets.
    """
    return _send("GET", url, seconds, params=params, headers=headers)


def post_json(
    url: str,
    body: Any,
    *,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """POST `body` as JSON, on the terms of `get`."""
    return _send("POST", url, seconds, json=body, headers=headers)


def post_form(
    url: str,
    body: bytes,
    *,
    seconds: float = READ_TIMEOUT_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> ProviderResponse:
    """POST a body that is written already, on the terms of `get`."""
    return _send("POST", url, seconds, data=body, headers=headers)


def _send(method: str, url: str, seconds: float, **parts: Any) -> ProviderResponse:
    deadline = time.monotonic() + seconds
    try:
        with requests.request(
            method,
            url,
            timeout=(min(CONNECT_TIMEOUT_SECONDS, seconds), seconds),
            allow_redirects=False,
            stream=True,
            **parts,
        ) as response:
            body = _read_limited(response, deadline)
    except (requests.RequestException, HTTPError, OSError):
        raise ProviderUnavailableError from None
    status = response.status_code
    if 300 <= status < 400 or status >= 500 or status in _UNAVAILABLE_STATUSES:
        raise ProviderUnavailableError
    return ProviderResponse(status, body)


def _read_limited(response: requests.Response, deadline: float) -> bytes:
    body = b""
    for piece in _iter_chunks(response):
        body += piece
        if len(body) > MAX_RESPONSE_BYTES or time.monotonic() > deadline:
            raise ProviderUnavailableError
    return body


def _iter_chunks(response: requests.Response) -> Iterator[bytes]:
    """The body as it comes in: waiting for whole chunks could outlast a deadline."""
    while piece := response.raw.read1(_CHUNK_BYTES, decode_content=True):
        yield piece
