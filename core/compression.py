"""Compression of responses by gzip (decision 0109)."""

import gzip
import re
import secrets

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers

from core.middleware import Middleware

# Smaller responses fit into one packet.
MIN_BYTES = 1_024
# Smaller than level 1 in the same time; level 4 takes half as long again.
LEVEL = 3
COMPRESSED_TYPES = re.compile(
    r"application/(json|problem\+json|vnd\.oai\.openapi|yaml)|text/"
)
UNCOMPRESSED_PATHS = re.compile(r"(/api)?/auth/")
# Random padding against BREACH, as in Django.
MAX_RANDOM_BYTES = 100
_ACCEPTS_GZIP_RE = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)


class CompressionMiddleware(Middleware):
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
        if not accepts_gzip(request):
            return response
        compressed = compress(response.content)  # type: ignore[attr-defined]
        response.content = compressed  # type: ignore[attr-defined]
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(compressed))
        # A strong tag would promise equal bytes.
        etag = response.headers.get("ETag", "")
        if etag.startswith('"'):
            response.headers["ETag"] = f"W/{etag}"
        return response


def accepts_gzip(request: HttpRequest) -> bool:
    return bool(_ACCEPTS_GZIP_RE.search(request.META.get("HTTP_ACCEPT_ENCODING", "")))


def compress(content: bytes) -> bytes:
    compressed = gzip.compress(content, LEVEL, mtime=0)
    # Set the flag of a name after the ten bytes of the header (RFC 1952).
    name = b"a" * secrets.randbelow(MAX_RANDOM_BYTES) + b"\0"
    return b"".join((compressed[:3], b"\x08", compressed[4:10], name, compressed[10:]))
