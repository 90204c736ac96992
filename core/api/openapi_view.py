"""The OpenAPI document itself."""

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView

from core.api.permissions import AllowAny


class PlainJsonRenderer(OpenApiJsonRenderer):
    """For clients that know no other name of JSON."""

    media_type = "application/json"


class PlainYamlRenderer(OpenApiYamlRenderer):
    """For clients that know no other name of YAML."""

    media_type = "application/yaml"


class OpenApiSchemaView(SpectacularAPIView):
    """The OpenAPI document, as JSON unless YAML is asked for."""

    authentication_classes = []
    permission_classes = [AllowAny]
    renderer_classes = [
        OpenApiJsonRenderer,
        OpenApiYamlRenderer,
        PlainJsonRenderer,
        PlainYamlRenderer,
    ]
