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
IN_MEMORY_BYTES = 2**20
DRAIN_SECONDS = 5.0
"""How long the rest of a body is waited for."""
_PIECE = 2**16


class ChunkedBodies:
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
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as body:
            length = collect(environ["wsgi.input"], body)
            body.seek(0)
            whole = environ | {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
            answer = self.application(whole, start_response)
            try:
                return list(answer)
            finally:
                answer.close()


class WholeBodies:
    """Reads what a refusal has left of the body, within a limit of size and time."""

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        answer: Iterable[bytes] = self.application(environ, start_response)
        drain(environ["wsgi.input"])
        return answer


def drain(source: Any) -> None:
    """Read on; a body that breaks off, or is too long, ends its connection."""
    left, end = MAX_BODY_BYTES, time.monotonic() + DRAIN_SECONDS
    try:
        while left > 0 and time.monotonic() < end and (piece := source.read(_PIECE)):
            left -= len(piece)
    except (OSError, ValueError):
        return


def collect(source: Any, body: Any) -> int:
    """Copy the body; its length, or one more than there is if it broke off."""
    length = 0
    try:
        while length <= MAX_BODY_BYTES and (piece := source.read(_PIECE)):
            body.write(piece)
            length += len(piece)
    except (OSError, ValueError):
        return length + 1
    return length
