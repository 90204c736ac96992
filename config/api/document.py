"""The OpenAPI document itself."""

from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView

from config.api.permissions import AllowAny


class DocumentView(SpectacularAPIView):
    """The OpenAPI document, as JSON unless YAML is asked for."""

    authentication_classes = []
    permission_classes = [AllowAny]
    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]
