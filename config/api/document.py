"""The OpenAPI document itself."""

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView


class DocumentView(SpectacularAPIView):
    """The OpenAPI document, as JSON unless YAML is asked for."""

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]
