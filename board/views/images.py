"""Pictures for posts: upload, and the public address of each."""

from uuid import UUID

from django.conf import settings
from django.http import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import member_of
from board import images
from board.content import IMAGES
from board.serializers.images import ImageAddressBody, ImageBody
from core.api.fields import read_body
from core.api.image_response import FOR_GOOD, PICTURE, AsItIs, answer_picture
from core.api.parsers import UploadParser
from core.api.permissions import AllowAny, IsMember


class ImagesView(APIView):
    permission_classes = [IsMember]
    parser_classes = [UploadParser]

    @extend_schema(request=ImageBody, responses={201: ImageAddressBody})
    def post(self, request: Request) -> Response:
        """Store a picture for a post; it is kept while a post shows it.

        It is written anew without metadata, a moving GIF or WebP with all its frames
        (at most 100), a very large one smaller. A member may upload 100 an hour and
        keep 200 pictures of together 50 MB. What no post shows for a day is deleted.
        """
        file = read_body(ImageBody, request)["image"]
        image = images.store_image(member_of(request), file, timezone.now())
        url = f"{settings.PUBLIC_URL.rstrip('/')}{IMAGES}{image.pk}"
        return Response({"url": url}, status=status.HTTP_201_CREATED)


class ImageView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]
    content_negotiation_class = AsItIs

    @extend_schema(responses=PICTURE)
    def get(self, request: Request, image_id: UUID) -> HttpResponseBase:
        """A picture of a post, for use as an image source; cached for a year."""
        image = images.find_image(image_id)
        return answer_picture(
            request,
            bytes(image.content),
            content_type=image.content_type,
            name=str(image.pk),
            etag=image.digest,
            cache=FOR_GOOD,
        )
