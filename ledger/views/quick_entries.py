"""Quick entries."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.ordering import ReorderRequestSerializer, reorder
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from ledger import quick_entries
from ledger.models import QuickEntry
from ledger.ownership import OwnedViewSet
from ledger.serializers.quick_entries import QuickEntrySerializer, quick_entry_payload


class QuickEntryViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(responses=QuickEntrySerializer(many=True))
    def list(self, request: Request) -> Response:
        rows = quick_entries.list_quick_entries(self.member)
        return Response([quick_entry_payload(quick) for quick in rows])

    @extend_schema(request=QuickEntrySerializer, responses={201: QuickEntrySerializer})
    def create(self, request: Request) -> Response:
        """A new template goes last."""
        body = validate_body(QuickEntrySerializer, request)
        quick = quick_entries.create_quick_entry(self.member, body)
        return Response(quick_entry_payload(quick), status=status.HTTP_201_CREATED)

    @extend_schema(responses=QuickEntrySerializer)
    def retrieve(self, request: Request, quick_entry_id: int) -> Response:
        quick = quick_entries.get_quick_entry(self.member, quick_entry_id)
        return Response(quick_entry_payload(quick))

    @extend_schema(request=QuickEntrySerializer, responses=QuickEntrySerializer)
    def update(self, request: Request, quick_entry_id: int) -> Response:
        return self._change(request, quick_entry_id, partial=False)

    @extend_schema(request=QuickEntrySerializer, responses=QuickEntrySerializer)
    def partial_update(self, request: Request, quick_entry_id: int) -> Response:
        return self._change(request, quick_entry_id, partial=True)

    def _change(
        self, request: Request, quick_entry_id: int, *, partial: bool
    ) -> Response:
        quick_entries.get_quick_entry(self.member, quick_entry_id)
        body = validate_body(QuickEntrySerializer, request, partial=partial)
        quick = quick_entries.update_quick_entry(self.member, quick_entry_id, body)
        return Response(quick_entry_payload(quick))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, quick_entry_id: int) -> Response:
        quick_entries.delete_quick_entry(self.member, quick_entry_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        request=ReorderRequestSerializer, responses=QuickEntrySerializer(many=True)
    )
    def reorder(self, request: Request) -> Response:
        ids = validate_body(ReorderRequestSerializer, request)["ids"]
        with transaction.atomic():
            rows = QuickEntry.objects.owned_by(self.member)
            reorder(rows.select_for_update(no_key=True), ids)
        return self.list(request)
