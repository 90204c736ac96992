"""Taught layouts."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import IsPremium
from core.api.token_scopes import LEDGER
from ledger.base.ownership import OwnedViewSet
from ledger.taught_layouts import learning
from ledger.taught_layouts.serializers import TaughtLayoutSerializer


class TaughtLayoutViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Card notifications"
    lookup_url_kwarg = "layout_id"
    lookup_value_converter = "int"

    @extend_schema(responses=TaughtLayoutSerializer(many=True))
    def list(self, request: Request) -> Response:
        """List the layouts of texts that corrections of entries taught.

        Newest first.
        """
        return Response(
            [
                {
                    "id": layout.pk,
                    "sender": layout.sender,
                    "sample": learning.mask_sample(layout),
                    "slots": learning.layout_slots(layout),
                    "uses": layout.uses,
                    "createdAt": layout.created_at,
                }
                for layout in learning.list_layouts(self.member)
            ]
        )

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, layout_id: int) -> Response:
        """Forget a layout.

        Texts are then read without it.
        """
        learning.delete_layout(self.member, layout_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
