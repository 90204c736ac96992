"""WSGI middleware for chunked request bodies and for bodies that no view has read.

Django reads only bodies with a Content-Length: a chunked one would look empty, and the
change that it asks for would be lost. And gunicorn closes a keep-alive connection of
which too much of the body is unread, so that the client's next request would fail.
"""

import tempfile
import time
from collections.abc import Iterable
from typing import Any

WSGIApplication = Any
# Above the limits of all views, so that a view rejects what is too large for it.
MAX_BODY_BYTES = 11 * 2**20
# Larger chunked bodies are kept in a temporary file.
MAX_IN_MEMORY_BYTES = 2**20
# The response is held back for so long at most.
DRAIN_TIMEOUT_SECONDS = 2.0
DRAIN_IDLE_TIMEOUT_SECONDS = 0.5
# Less than a packet, so that a read never waits for a second one.
DRAIN_CHUNK_BYTES = 2**10
_CHUNK_BYTES = 2**16


class ChunkedRequestMiddleware:
    """Reads a chunked body, up to the limit, and sets its Content-Length."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if "chunked" not in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
            result: Iterable[bytes] = self.application(environ, start_response)
            return result
        with tempfile.SpooledTemporaryFile(max_size=MAX_IN_MEMORY_BYTES) as body:
            source, length = environ["wsgi.input"], 0
            try:
                while length <= MAX_BODY_BYTES and (chunk := source.read(_CHUNK_BYTES)):
                    body.write(chunk)
                    length += len(chunk)
            except (OSError, ValueError):
                # The body was cut off. Announce one byte more than was copied: a view
                # then fails to read it as any body that ended early, instead of taking
                # a part for the whole.
                length += 1
            body.seek(0)
            environ = environ | {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
            response = self.application(environ, start_response)
            try:
                return list(response)
            finally:
                response.close()


class DrainRequestBodyMiddleware:
    """Reads what the view has left of the body before the response is sent."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        response: Iterable[bytes] = self.application(environ, start_response)
        length = environ.get("CONTENT_LENGTH") or "0"
        # A longer body is not worth reading: gunicorn closes the connection.
        if length.isdigit() and 0 < int(length) <= MAX_BODY_BYTES:
            drain(environ["wsgi.input"], environ.get("gunicorn.socket"))
        return response


def drain(source: Any, socket: Any) -> None:
    """Read what is left of the body.

    gunicorn closes the connection of a body that was cut off or is too long or slow.
    """
    previous_timeout = socket.gettimeout() if socket else None
    bytes_left = MAX_BODY_BYTES
    deadline = time.monotonic() + DRAIN_TIMEOUT_SECONDS
    try:
        while bytes_left > 0 and (seconds_left := deadline - time.monotonic()) > 0:
            if socket:
                socket.settimeout(min(seconds_left, DRAIN_IDLE_TIMEOUT_SECONDS))
            chunk = source.read(DRAIN_CHUNK_BYTES)
            if not chunk:
                return
            bytes_left -= len(chunk)
    except (OSError, ValueError):
        return
    finally:
        if socket:
            socket.settimeout(previous_timeout)
