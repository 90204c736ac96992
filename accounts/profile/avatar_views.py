"""Public profile images."""

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.profile.avatars import get_avatar
from core.api.image_response import (
    CACHE_IMMUTABLE,
    CACHE_ONE_MINUTE,
    IMAGE_RESPONSE_SCHEMA,
    build_image_response,
)
from core.api.operations import extend_schema
from core.api.permissions import AllowAny
from core.api.views import APIView

VERSION_PARAMETER = OpenApiParameter(
    "v", str, description="Version; a response to the current one never expires."
)


class AvatarView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    schema_tag = "Profile"

    @extend_schema(parameters=[VERSION_PARAMETER], responses=IMAGE_RESPONSE_SCHEMA)
    def get(self, request: Request, member_id: int) -> HttpResponseBase:
        """Get the profile image of a member.

        Public. Clients may cache it for a year under the URL with its current version,
        else for a minute.
        """
        avatar = get_avatar(member_id)
        is_current_version = request.query_params.get("v") == avatar.version
        return build_image_response(
            request,
            lambda: avatar.content,
            size=len(avatar.content),
            content_type=avatar.content_type,
            name=f"avatar-{member_id}",
            etag=avatar.version,
            cache=CACHE_IMMUTABLE if is_current_version else CACHE_ONE_MINUTE,
        )
