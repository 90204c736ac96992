"""The view of the OpenAPI document."""

import functools
from typing import Any

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.permissions import AllowAny


class PlainJsonRenderer(OpenApiJsonRenderer):
    """JSON under its general media type."""

    media_type = "application/json"


class PlainYamlRenderer(OpenApiYamlRenderer):
    """YAML under its general media type."""

    media_type = "application/yaml"


class OpenApiSchemaView(SpectacularAPIView):
    """The OpenAPI document, as JSON unless YAML is requested."""

    authentication_classes = []
    permission_classes = [AllowAny]
    renderer_classes = [
        OpenApiJsonRenderer,
        OpenApiYamlRenderer,
        PlainJsonRenderer,
        PlainYamlRenderer,
    ]

    def _get_schema_response(self, request: Request) -> Response:
        filename = self._get_filename(request, None)  # type: ignore[no-untyped-call]
        return Response(
            build_document(),
            headers={"Content-Disposition": f'inline; filename="{filename}"'},
        )


@functools.cache
def build_document() -> Any:
    """Build the document once for a process: it takes longer than most requests."""
    generator: Any = OpenApiSchemaView.generator_class
    return generator().get_schema(public=True)
