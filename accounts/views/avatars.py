"""Profile images by address, so that lists need not carry them."""

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.avatars import load_avatar
from core.api.image_response import (
    FOR_A_MINUTE,
    FOR_GOOD,
    PICTURE,
    AsItIs,
    answer_picture,
)
from core.api.permissions import AllowAny

VERSION = OpenApiParameter(
    "v", str, description="The version; with the present one it is cached for good."
)


class AvatarView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    content_negotiation_class = AsItIs

    @extend_schema(parameters=[VERSION], responses=PICTURE)
    def get(self, request: Request, member_id: int) -> HttpResponseBase:
        """The profile image of a member; public, cached by its version."""
        avatar = load_avatar(member_id)
        is_present = request.query_params.get("v") == avatar.version
        return answer_picture(
            request,
            avatar.content,
            content_type=avatar.content_type,
            name=f"avatar-{member_id}",
            etag=avatar.version,
            cache=FOR_GOOD if is_present else FOR_A_MINUTE,
        )
