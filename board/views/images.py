"""Images: upload and public download."""

from functools import partial
from uuid import UUID

from django.conf import settings
from django.http import HttpResponseBase
from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import ConsentRequiredError, SwitchedOffError
from accounts.legal.consents import require_consents
from accounts.sessions.authentication import current_member
from accounts.switches.switches import Switch, require_switch
from board import images
from board.content import IMAGE_PATH_PREFIX
from board.errors import BoardSuspendedError
from board.serializers.images import (
    ImageUploadRequestSerializer,
    UploadedImageSerializer,
)
from board.standing import require_voice
from core.api.image_response import (
    CACHE_IMMUTABLE,
    IMAGE_RESPONSE_SCHEMA,
    build_image_response,
)
from core.api.operations import CreatedItem, extend_schema
from core.api.parsers import MAX_MULTIPART_BYTES, LimitedMultiPartParser
from core.api.permissions import AllowAny, IsMember
from core.api.serializers import validate_body
from core.api.token_scopes import BOARD
from core.api.views import APIView
from core.errors import InvalidImageError, RateLimitedError
from core.languages import choose_language_of
from core.object_store import ObjectStoreUnavailableError


class ImageUploadView(APIView):
    permission_classes = [IsMember]
    token_scopes = BOARD
    schema_tag = "Board"
    body_limits = {"post": MAX_MULTIPART_BYTES}
    raises = {
        "post": [
            ConsentRequiredError,
            BoardSuspendedError,
            SwitchedOffError,
            InvalidImageError,
            RateLimitedError,
            ObjectStoreUnavailableError,
        ]
    }
    parser_classes = [LimitedMultiPartParser]

    @extend_schema(
        operation_id="uploadImage",
        request=ImageUploadRequestSerializer,
        responses={201: UploadedImageSerializer},
        creates=CreatedItem("image"),
    )
    def post(self, request: Request) -> Response:
        """Upload an image for a post.

        The image is re-encoded without metadata; an animated GIF or WebP keeps its
        frames (at most 100), a very large image is scaled down. A member may upload
        100 images an hour and keep 200 images of 50 MB in total. An image that no post
        has shown for a day is deleted; with the last post that shows it, at once.
        """
        member, now = current_member(request), timezone.now()
        require_consents(member, choose_language_of(request), now)
        require_voice(member, now)
        require_switch(Switch.IMAGES)
        file = validate_body(ImageUploadRequestSerializer, request)["image"]
        image = images.create_image(member, file, now)
        url = f"{settings.PUBLIC_URL.rstrip('/')}{IMAGE_PATH_PREFIX}{image.pk}"
        return Response(
            {"id": image.pk, "url": url, "width": image.width, "height": image.height},
            status=status.HTTP_201_CREATED,
        )


class ImageView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    schema_tag = "Board"
    raises = {"get": [ObjectStoreUnavailableError]}

    @extend_schema(responses=IMAGE_RESPONSE_SCHEMA)
    def get(self, request: Request, image_id: UUID) -> HttpResponseBase:
        """Get an image.

        Public. Clients may cache it for a year.
        """
        image = images.get_image(image_id)
        return build_image_response(
            request,
            partial(images.read_image, image),
            size=image.size,
            content_type=image.content_type,
            name=str(image.pk),
            etag=image.content_hash,
            cache=CACHE_IMMUTABLE,
        )
