"""The view of the OpenAPI document."""

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView

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
