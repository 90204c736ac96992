"""The view of the OpenAPI document."""

import functools
import threading
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import AllowAny
from core.api.views import HTTP_METHODS


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


class DocumentationView(SpectacularSwaggerView):
    permission_classes = [AllowAny]
    http_method_names = HTTP_METHODS
    template_name = "api_docs.html"

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        language = translation.get_language() or settings.LANGUAGE_CODE
        response.data |= {
            "language": language,
            "title": gettext("API documentation"),
            "start_page": gettext("Start page"),
            "document": gettext("OpenAPI document"),
        }
        response.headers["Content-Language"] = language
        patch_vary_headers(response, ["Accept-Language"])
        return response


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


_document_lock = threading.Lock()
_rendered_documents: dict[str, bytes] = {}
