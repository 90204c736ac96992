"""The views of the OpenAPI document and its pages."""

import functools
import gzip
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.translation import gettext
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.docs_page import PageBuilder
from core.api.operations import extend_schema
from core.api.permissions import AllowAny
from core.api.views import HTTP_METHODS, APIView
from core.compression import accepts_gzip
from core.response_headers import HEADER as CONTENT_SECURITY_POLICY
from core.response_headers import PAGE_POLICY


class JsonRenderer(OpenApiJsonRenderer):
    """Rendered once for each indent (at most 8)."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Any = None,
    ) -> bytes:
        context = renderer_context or {}

        def render() -> bytes:
            return super(JsonRenderer, self).render(data, accepted_media_type, context)

        indent = self.get_indent(accepted_media_type or "", context)  # type: ignore[no-untyped-call]
        return render_once(data, f"json {indent}", render)


class YamlRenderer(OpenApiYamlRenderer):
    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Any = None,
    ) -> bytes:
        def render() -> bytes:
            content: bytes = super(YamlRenderer, self).render(data)  # type: ignore[no-untyped-call]
            return content

        return render_once(data, "yaml", render)


class PlainJsonRenderer(JsonRenderer):
    media_type = "application/json"


class PlainYamlRenderer(YamlRenderer):
    media_type = "application/yaml"


class OpenApiSchemaView(SpectacularAPIView):
    http_method_names = HTTP_METHODS

    authentication_classes = []
    permission_classes = [AllowAny]
    renderer_classes = [
        JsonRenderer,
        YamlRenderer,
        PlainJsonRenderer,
        PlainYamlRenderer,
    ]

    def _get_schema_response(self, request: Request) -> Response:
        filename = self._get_filename(request, None)  # type: ignore[no-untyped-call]
        return Response(
            build_document(),
            headers={"Content-Disposition": f'inline; filename="{filename}"'},
        )


class DocumentationView(APIView):
    """All operations on one page, the same for everybody (spec 7.7)."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponseBase:
        language = translation.get_language() or settings.LANGUAGE_CODE
        page = render_page(language)
        headers = {
            # The page changes with the version: browsers ask, and get a 304.
            "Cache-Control": "public, no-cache",
            "Content-Language": language,
            "ETag": page.etag,
            "Vary": "Accept-Language, Accept-Encoding",
        }
        content = page.content
        if accepts_gzip(request):
            content, headers["Content-Encoding"] = page.compressed, "gzip"
        response = HttpResponse(content, headers=headers)
        conditional = get_conditional_response(
            request, etag=page.etag, response=response
        )
        answer = conditional or response
        # A 304 has no type to tell a page by, and may replace the headers of the page.
        answer.headers[CONTENT_SECURITY_POLICY] = PAGE_POLICY.format(nonce="")
        return answer


class TryOutView(SpectacularSwaggerView):
    """Swagger UI, which sends requests."""

    permission_classes = [AllowAny]
    http_method_names = HTTP_METHODS
    template_name = "api_docs/try_out.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        language = translation.get_language() or settings.LANGUAGE_CODE
        response.data |= {
            "language": language,
            "title": gettext("Try out the API"),
            "start_page": gettext("Start page"),
            "documentation": gettext("API documentation"),
            "document": gettext("OpenAPI document"),
        }
        response.headers["Content-Language"] = language
        patch_vary_headers(response, ["Accept-Language"])
        return response


@dataclass(frozen=True, slots=True)
class RenderedPage:
    content: bytes
    compressed: bytes
    etag: str


def render_page(language: str) -> RenderedPage:
    """Render the page once for each language: it takes about a second."""
    document = build_document()
    with _page_lock:
        return _render_page(language, document)


def _render_page(language: str, document: Any) -> RenderedPage:
    if language not in _rendered_pages:
        with translation.override(language):
            context = {
                "language": language,
                "page": PageBuilder(document).build(),
                "schema_url": reverse("schema"),
                "try_out_url": reverse("try-out"),
            }
            content = render_to_string("api_docs/page.html", context).encode()
        etag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
        # Nothing on it is secret, so that it is compressed once.
        compressed = gzip.compress(content, mtime=0)
        _rendered_pages[language] = RenderedPage(content, compressed, etag)
    return _rendered_pages[language]


def build_document() -> Any:
    """Build the document once: it takes longer than most requests."""
    # The library loads its extensions on first use, and fails in two threads at once.
    with _document_lock:
        return _build_document()


@functools.cache
def _build_document() -> Any:
    generator: Any = OpenApiSchemaView.generator_class
    with translation.override(settings.LANGUAGE_CODE):
        return generator().get_schema(public=True)


def render_once(data: Any, name: str, render: Callable[[], bytes]) -> bytes:
    """Return the rendered document: rendering takes up to 50 milliseconds."""
    if data is not build_document():
        return render()
    if name not in _rendered_documents:
        _rendered_documents[name] = render()
    return _rendered_documents[name]


_document_lock, _page_lock = threading.Lock(), threading.Lock()
_rendered_pages: dict[str, RenderedPage] = {}
_rendered_documents: dict[str, bytes] = {}
