"""Bodies that come in chunks, and those that nobody reads to their end.

Django reads only what announces its length: a chunked body would look empty, and a
change that a client believes to have sent would be lost. And gunicorn closes a
connection with much of a body unread, though the answer has announced that it stays
open: the client's next request would fail.
"""

import tempfile
import time
from collections.abc import Iterable
from typing import Any

WSGIApplication = Any
MAX_BODY_BYTES = 11 * 2**20
"""Above every limit of the views, which then refuse it themselves."""
MAX_IN_MEMORY_BYTES = 2**20
DRAIN_TIMEOUT_SECONDS = 2.0
"""How long the rest of a body is waited for; its answer waits as long."""
DRAIN_IDLE_TIMEOUT_SECONDS = 0.5
"""How long nothing may come in at all."""
DRAIN_CHUNK_BYTES = 2**10
"""What is read at once: less than one packet, so that no read waits for several."""
_CHUNK_BYTES = 2**16


class ChunkedRequestMiddleware:
    """Collects a chunked body, up to the limit, and says how long it is.

    What breaks off in the middle is given on as a body that is shorter than it
    announces, which is refused as one that ended early.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if "chunked" not in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            result: Iterable[bytes] = self.application(environ, start_response)
            return result
        with tempfile.SpooledTemporaryFile(max_size=MAX_IN_MEMORY_BYTES) as body:
            length = spool_body(environ["wsgi.input"], body)
            body.seek(0)
            whole = environ | {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
            answer = self.application(whole, start_response)
            try:
                return list(answer)
            finally:
                answer.close()


class DrainRequestBodyMiddleware:
    """Reads what a refusal has left of the body, within a limit of size and time."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answer: Iterable[bytes] = self.application(environ, start_response)
        if has_body(environ):
            drain(environ["wsgi.input"], environ.get("gunicorn.socket"))
        return answer


def has_body(environ: dict[str, Any]) -> bool:
    length = environ.get("CONTENT_LENGTH") or "0"
    return length.isdigit() and 0 < int(length) <= MAX_BODY_BYTES


def drain(source: Any, connection: Any) -> None:
    """Read on, each piece within what is left of the time.

    A body that breaks off, is too long or comes too slowly ends its connection.
    """
    before = connection.gettimeout() if connection else None
    left, end = MAX_BODY_BYTES, time.monotonic() + DRAIN_TIMEOUT_SECONDS
    try:
        while left > 0 and (seconds := end - time.monotonic()) > 0:
            if connection:
                connection.settimeout(min(seconds, DRAIN_IDLE_TIMEOUT_SECONDS))
            piece = source.read(DRAIN_CHUNK_BYTES)
            if not piece:
                return
            left -= len(piece)
    except (OSError, ValueError):
        return
    finally:
        if connection:
            connection.settimeout(before)


def spool_body(source: Any, body: Any) -> int:
    """Copy the body; its length, or one more than there is if it broke off."""
    length = 0
    try:
        while length <= MAX_BODY_BYTES and (piece := source.read(_CHUNK_BYTES)):
            body.write(piece)
            length += len(piece)
    except (OSError, ValueError):
        return length + 1
    return length
