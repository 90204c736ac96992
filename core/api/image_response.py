"""How stored pictures are answered: as pictures only, from caches where they can be."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request

from core.image_decoder import ALLOWED_FORMATS

ONE_YEAR_SECONDS = 365 * 24 * 60 * 60
CACHE_IMMUTABLE = f"public, max-age={ONE_YEAR_SECONDS}, immutable"
"""What is under this address never changes."""
CACHE_ONE_MINUTE = "public, max-age=60"
FILE_EXTENSIONS = {"image/jpeg": "jpg"}
CONTENT_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Whatever the bytes are, a browser that opens the address runs none of them."""

IMAGE_RESPONSE_SCHEMA = {
    (200, f"image/{kind}"): OpenApiResponse(OpenApiTypes.BINARY, "The picture.")
    for kind in ALLOWED_FORMATS
} | {304: OpenApiResponse(description="The caller has this picture already.")}


class IgnoreClientContentNegotiation(BaseContentNegotiation):
    """A picture is answered as what it is, whatever kinds a browser asks for."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> Any:
        return renderers[0], renderers[0].media_type


def build_image_response(
    request: HttpRequest,
    content: bytes,
    *,
    content_type: str,
    name: str,
    etag: str,
    cache: str,
) -> HttpResponseBase:
    """The picture, or 304 where the caller has it; HEAD gets what GET would.

    `name` is the file's, without its suffix; `etag` tells contents apart.
    """
    suffix = FILE_EXTENSIONS.get(content_type) or content_type.removeprefix("image/")
    headers = CONTENT_SECURITY_HEADERS | {
        "Cache-Control": cache,
        "Content-Disposition": f'inline; filename="{name}.{suffix}"',
        "Content-Length": str(len(content)),
        "ETag": f'"{etag}"',
    }
    body = b"" if request.method == "HEAD" else content
    response = HttpResponse(body, content_type=content_type, headers=headers)
    answer = get_conditional_response(request, etag=headers["ETag"], response=response)
    return answer or response
