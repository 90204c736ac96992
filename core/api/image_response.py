"""Responses with stored images."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse

from core.images import ALLOWED_KINDS

ONE_YEAR_SECONDS = 365 * 24 * 60 * 60
CACHE_IMMUTABLE = f"public, max-age={ONE_YEAR_SECONDS}, immutable"
CACHE_ONE_MINUTE = "public, max-age=60"
FILE_EXTENSIONS = {"image/jpeg": "jpg"}
# Uploaded bytes must not run as a script or page.
CONTENT_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}

IMAGE_RESPONSE_SCHEMA = {
    (200, f"image/{kind}"): OpenApiResponse(OpenApiTypes.BINARY, "The image.")
    for kind in ALLOWED_KINDS
} | {304: OpenApiResponse(description="Not modified.")}


def build_image_response(
    request: HttpRequest,
    read: Callable[[], bytes],
    *,
    size: int,
    content_type: str,
    name: str,
    etag: str,
    cache: str,
) -> HttpResponseBase:
    """Return the image, read only if it is sent, or 304 if the client has it."""
    extension = FILE_EXTENSIONS.get(content_type) or content_type.removeprefix("image/")
    headers = CONTENT_SECURITY_HEADERS | {
        "Cache-Control": cache,
        "Content-Disposition": f'inline; filename="{name}.{extension}"',
        "Content-Length": str(size),
        "ETag": f'"{etag}"',
    }
    response = HttpResponse(content_type=content_type, headers=headers)
    answer = get_conditional_response(request, etag=headers["ETag"], response=response)
    if answer is not None and answer is not response:
        return answer
    if request.method != "HEAD":
        response.content = read()
    return response
