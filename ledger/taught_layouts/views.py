"""Taught layouts."""

from django.utils import timezone
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import IsPremium
from core.api.serializers import to_camel_case, validate_body
from core.api.token_scopes import LEDGER
from ledger.base.ownership import OwnedViewSet
from ledger.taught_layouts import learning, storing, teaching
from ledger.taught_layouts.serializers import (
    TaughtLayoutSerializer,
    TaughtTextSerializer,
)


class TaughtLayoutViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Card notifications"
    # The text, each character escaped.
    body_limits = {"create": 2**15}
    lookup_url_kwarg = "layout_id"
    lookup_value_converter = "int"

    @extend_schema(responses=TaughtLayoutSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the layouts of texts that the member has taught.

        Newest first.
        """
        return Response(
            [
                learning.layout_payload(layout)
                for layout in storing.list_layouts(self.member)
            ]
        )

    @extend_schema(
        request=TaughtTextSerializer, responses={201: TaughtLayoutSerializer}
    )
    def create(self, request: Request) -> Response:
        """Teach what a text is.

        Texts of its layout and sender are then read by the marked parts, before all
        else, or refused. What was taught of it before is replaced.
        """
        body = validate_body(TaughtTextSerializer, request)
        slots = {
            to_camel_case(name): (part["start"], part["end"])
            for name, part in body["slots"].items()
        }
        layout = teaching.teach_layout(
            self.member,
            body["text"],
            body["sender"] or "",
            body["kind"],
            slots,
            timezone.now(),
            body["wallet"],
        )
        return Response(learning.layout_payload(layout), status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, layout_id: int) -> Response:
        """Forget a layout.

        Texts are then read without it.
        """
        storing.delete_layout(self.member, layout_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
