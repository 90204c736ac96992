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

from core.errors import ProviderUnavailable

CONNECT_SECONDS = 2.0
READ_SECONDS = 5.0
MAX_BYTES = 2**20
SLOW_SECONDS = 0.5
"""A failure that took longer is not worth waiting for again at once."""
QUICK_FAILURES = 5
"""So many quick ones within the pause of a key begin it as well."""
_CHUNK = 2**16
_NO_ANSWER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an outside service said: its status and at most `MAX_BYTES` of body."""

    status: int
    body: bytes


class Pauses:
    """What kept a caller waiting in vain is left alone for `seconds`, in this process.

    A quick refusal costs nothing and may be over with the next call; several in a row
    are not, and go on costing the source.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: dict[Hashable, float] = {}
        self._failures: dict[Hashable, list[float]] = {}

    def admits(self, key: Hashable) -> bool:
        return time.monotonic() >= self._ends.get(key, 0.0)

    def note_failure(self, key: Hashable, began: float) -> None:
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
        if now - began < SLOW_SECONDS and len(recent) + 1 < QUICK_FAILURES:
            return
        running = {k: end for k, end in self._ends.copy().items() if end > now}
        self._ends = running | {key: now + self._seconds}

    def end_all(self) -> None:
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
    seconds: float = READ_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """GET one address without following redirects.

    Raises `ProviderUnavailable` for anything that is no answer: no connection, no
    end within `seconds`, a body over the limit, a redirect, a 429 or a 5xx. The
    error that is raised names no address, since addresses can carry secrets.
    """
    return _send("GET", url, seconds, params=params, headers=headers)


def post_json(
    url: str,
    body: Any,
    *,
    seconds: float = READ_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """POST `body` as JSON, on the terms of `get`."""
    return _send("POST", url, seconds, json=body, headers=headers)


def post_form(
    url: str,
    body: bytes,
    *,
    seconds: float = READ_SECONDS,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """POST a body that is written already, on the terms of `get`."""
    return _send("POST", url, seconds, data=body, headers=headers)


def _send(method: str, url: str, seconds: float, **parts: Any) -> Answer:
    deadline = time.monotonic() + seconds
    try:
        with requests.request(
            method,
            url,
            timeout=(min(CONNECT_SECONDS, seconds), seconds),
            allow_redirects=False,
            stream=True,
            **parts,
        ) as response:
            body = _read_bounded(response, deadline)
    except (requests.RequestException, HTTPError, OSError):
        raise ProviderUnavailable from None
    status = response.status_code
    if 300 <= status < 400 or status >= 500 or status in _NO_ANSWER:
        raise ProviderUnavailable
    return Answer(status, body)


def _read_bounded(response: requests.Response, deadline: float) -> bytes:
    body = b""
    for piece in _read_pieces(response):
        body += piece
        if len(body) > MAX_BYTES or time.monotonic() > deadline:
            raise ProviderUnavailable
    return body


def _read_pieces(response: requests.Response) -> Iterator[bytes]:
    """The body as it comes in: waiting for whole chunks could outlast a deadline."""
    while piece := response.raw.read1(_CHUNK, decode_content=True):
        yield piece
