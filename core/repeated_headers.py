"""Headers that a request has twice: the web server joins their values."""

from collections.abc import MutableMapping
from typing import Any

# Names as in the WSGI environment. Two values of one of these are a mistake, but may
# look like one value once they are joined.
SINGLE_HEADERS = frozenset({"HTTP_IDEMPOTENCY_KEY", "HTTP_IF_MATCH"})
_ENVIRON_KEY = "core.repeated_headers"


def note_repeated(environ: MutableMapping[str, Any], key: str) -> None:
    if key in SINGLE_HEADERS:
        environ.setdefault(_ENVIRON_KEY, set()).add(key)


def is_repeated(environ: Any, key: str) -> bool:
    return key in environ.get(_ENVIRON_KEY, ())
