"""Calls to outside services: fixed addresses, time limits, bounded bodies."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import requests

from config.errors import ProviderUnavailable

CONNECT_SECONDS = 2.0
READ_SECONDS = 5.0
MAX_BYTES = 2**20
_CHUNK = 2**16


@dataclass(frozen=True, slots=True)
class Answer:
    """What an outside service said: its status and at most `MAX_BYTES` of body."""

    status: int
    body: bytes


def get(
    url: str, params: Mapping[str, str], *, seconds: float = READ_SECONDS
) -> Answer:
    """GET one address without following redirects.

    Raises `ProviderUnavailable` for anything that is no answer: no connection, no
    end within `seconds`, a body over the limit, a redirect, a 429 or a 5xx. The
    error that is raised names no address, since addresses can carry secrets.
    """
    deadline = time.monotonic() + seconds
    try:
        with requests.get(
            url,
            params=params,
            timeout=(CONNECT_SECONDS, seconds),
            allow_redirects=False,
            stream=True,
        ) as response:
            body = _read_bounded(response, deadline)
    except (requests.RequestException, OSError):
        raise ProviderUnavailable from None
    if response.is_redirect or response.status_code in {408, 429} | set(
        range(500, 600)
    ):
        raise ProviderUnavailable
    return Answer(response.status_code, body)


def _read_bounded(response: requests.Response, deadline: float) -> bytes:
    body = b""
    for chunk in response.iter_content(_CHUNK):
        body += chunk
        if len(body) > MAX_BYTES or time.monotonic() > deadline:
            raise ProviderUnavailable
    return body
