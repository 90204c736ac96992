"""The installation as applications see it."""

import hashlib

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request

from administration.meta import describe_installation
from administration.meta_serializers import MetaSerializer
from core.api.image_response import CACHE_ONE_MINUTE
from core.api.operations import extend_schema
from core.api.permissions import AllowAny
from core.api.renderers import dump_json
from core.api.serializers import to_payload
from core.api.views import APIView


class MetaView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    schema_tag = "Installation"

    @extend_schema(
        responses={
            200: MetaSerializer,
            304: OpenApiResponse(description="Not modified."),
        }
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Describe the installation.

        Public: its version, what is set up, and its limits, so that one application
        can serve many installations. Clients may cache it for a minute and then ask
        with `If-None-Match`.
        """
        content = dump_json(to_payload(MetaSerializer, describe_installation()))
        # Weak, with Vary, since responses may be compressed. A 304 has the headers of
        # the 200 (RFC 9110, 15.4.5).
        etag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
        headers = {
            "Cache-Control": CACHE_ONE_MINUTE,
            "ETag": etag,
            "Vary": "Accept-Encoding",
        }
        response = HttpResponse(
            content, content_type="application/json", headers=headers
        )
        conditional = get_conditional_response(request, etag=etag, response=response)
        return conditional or response
