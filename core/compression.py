"""Compression of responses by gzip (decision 0109)."""

import gzip
import re
import secrets

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

from core.middleware import GetResponse

# Below it, headers weigh as much, and one packet holds the response anyway.
MIN_BYTES = 1_024
# As fast as level 1 and smaller; from 4 on it takes half as long again.
LEVEL = 3
# Images and workbooks are compressed already.
COMPRESSED_TYPES = re.compile(
    r"application/(json|problem\+json|vnd\.oai\.openapi|yaml)|text/"
)
# Their responses hold tokens.
UNCOMPRESSED_PATHS = re.compile(r"(/api)?/auth/")
# Of random length, so that the size tells less of what is inside (BREACH). As Django's.
MAX_RANDOM_BYTES = 100
_ACCEPTS_GZIP_RE = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)


class CompressionMiddleware:
    """Compresses texts above 1 KiB for clients that accept gzip.

    Files that are streamed, and responses to `/api/auth`, are left as they are.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if (
            response.streaming
            or len(response.content) < MIN_BYTES  # type: ignore[attr-defined]
            or response.has_header("Content-Encoding")
            or not COMPRESSED_TYPES.match(response.headers.get("Content-Type", ""))
            or UNCOMPRESSED_PATHS.match(request.path_info)
        ):
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        if not _ACCEPTS_GZIP_RE.search(request.META.get("HTTP_ACCEPT_ENCODING", "")):
            return response
        compressed = compress(response.content)  # type: ignore[attr-defined]
        response.content = compressed  # type: ignore[attr-defined]
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(compressed))
        # The bytes differ from those of the strong tag; `If-None-Match` matches both.
        etag = response.headers.get("ETag", "")
        if etag.startswith('"'):
            response.headers["ETag"] = f"W/{etag}"
        return response


def compress(content: bytes) -> bytes:
    """Return the content in gzip's format, with a file name of random length."""
    compressed = gzip.compress(content, LEVEL, mtime=0)
    # The flag of a name, which stands behind the ten bytes of the header (RFC 1952).
    name = b"a" * secrets.randbelow(MAX_RANDOM_BYTES) + b"\0"
    return b"".join((compressed[:3], b"\x08", compressed[4:10], name, compressed[10:]))
