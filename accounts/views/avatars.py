"""Profile images by address, so that lists need not carry them."""

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.avatars import get_avatar
from core.api.image_response import (
    CACHE_IMMUTABLE,
    CACHE_ONE_MINUTE,
    IMAGE_RESPONSE_SCHEMA,
    IgnoreClientContentNegotiation,
    build_image_response,
)
from core.api.permissions import AllowAny

VERSION_PARAMETER = OpenApiParameter(
    "v", str, description="The version; with the present one it is cached for good."
)


class AvatarView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    content_negotiation_class = IgnoreClientContentNegotiation

    @extend_schema(parameters=[VERSION_PARAMETER], responses=IMAGE_RESPONSE_SCHEMA)
    def get(self, request: Request, member_id: int) -> HttpResponseBase:
        """The profile image of a member; public, cached by its version."""
        avatar = get_avatar(member_id)
        is_present = request.query_params.get("v") == avatar.version
        return build_image_response(
            request,
            avatar.content,
            content_type=avatar.content_type,
            name=f"avatar-{member_id}",
            etag=avatar.version,
            cache=CACHE_IMMUTABLE if is_present else CACHE_ONE_MINUTE,
        )
