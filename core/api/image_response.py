"""Responses with stored images: cacheable, and safe to open in a browser."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request

from core.images import ALLOWED_KINDS

ONE_YEAR_SECONDS = 365 * 24 * 60 * 60
# For URLs whose content never changes.
CACHE_IMMUTABLE = f"public, max-age={ONE_YEAR_SECONDS}, immutable"
CACHE_ONE_MINUTE = "public, max-age=60"
FILE_EXTENSIONS = {"image/jpeg": "jpg"}
# Uploaded bytes must not run as a script or page when their URL is opened.
CONTENT_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}

IMAGE_RESPONSE_SCHEMA = {
    (200, f"image/{kind}"): OpenApiResponse(OpenApiTypes.BINARY, "The image.")
    for kind in ALLOWED_KINDS
} | {304: OpenApiResponse(description="Not modified.")}


class IgnoreClientContentNegotiation(BaseContentNegotiation):
    """Ignore the Accept header: an image has one media type."""

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
    """Return the image, or 304 if the client has it; HEAD has the headers of GET.

    `name` is the file name without extension, `etag` identifies the content.
    """
    extension = FILE_EXTENSIONS.get(content_type) or content_type.removeprefix("image/")
    headers = CONTENT_SECURITY_HEADERS | {
        "Cache-Control": cache,
        "Content-Disposition": f'inline; filename="{name}.{extension}"',
        "Content-Length": str(len(content)),
        "ETag": f'"{etag}"',
    }
    body = b"" if request.method == "HEAD" else content
    response = HttpResponse(body, content_type=content_type, headers=headers)
    conditional = get_conditional_response(
        request, etag=headers["ETag"], response=response
    )
    return conditional or response
