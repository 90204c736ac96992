"""Entries: the list, one by one, and what waits to be confirmed."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.openapi import page_serializer
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsMember
from core.api.serializers import validate_body, validate_query
from ledger import entries
from ledger.entry_list import (
    EntryFilter,
    count_pending_entries,
    get_entry_payload,
    list_entries_page,
)
from ledger.ownership import OwnedViewSet
from ledger.serializers.entries import (
    EntryQuerySerializer,
    EntrySerializer,
    PendingCountSerializer,
    resolve_date_range,
)
from ledger.wallets import get_wallet


class EntryViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(
        parameters=[EntryQuerySerializer, PageQuerySerializer],
        responses=page_serializer(EntrySerializer),
    )
    def list(self, request: Request) -> Response:
        """Newest first: by date, then by id."""
        page = get_page_request(request)
        wanted = self._read_filter(request)
        count, rows = list_entries_page(self.member, wanted, page)
        return Response(page_payload(request, page, count, rows))

    def _read_filter(self, request: Request) -> EntryFilter:
        query = validate_query(EntryQuerySerializer, request)
        start, end = resolve_date_range(query)
        for name in ("from_", "to", "year", "month"):
            query.pop(name, None)
        if "wallet_id" in query:
            get_wallet(self.member, query["wallet_id"])
        return EntryFilter(start=start, end=end, **query)

    @extend_schema(request=EntrySerializer, responses={201: EntrySerializer})
    def create(self, request: Request) -> Response:
        body = validate_body(EntrySerializer, request)
        entry_id = entries.create_entry(
            self.member, entries.EntryData(**body), timezone.now()
        )
        body = get_entry_payload(self.member, entry_id)
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(responses=EntrySerializer)
    def retrieve(self, request: Request, entry_id: int) -> Response:
        return Response(get_entry_payload(self.member, entry_id))

    @extend_schema(request=EntrySerializer, responses=EntrySerializer)
    def update(self, request: Request, entry_id: int) -> Response:
        return self._change(request, entry_id, partial=False)

    @extend_schema(request=EntrySerializer, responses=EntrySerializer)
    def partial_update(self, request: Request, entry_id: int) -> Response:
        return self._change(request, entry_id, partial=True)

    def _change(self, request: Request, entry_id: int, *, partial: bool) -> Response:
        get_entry_payload(self.member, entry_id)
        body = validate_body(EntrySerializer, request, partial=partial)
        entries.update_entry(self.member, entry_id, body, timezone.now())
        return Response(get_entry_payload(self.member, entry_id))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, entry_id: int) -> Response:
        entries.delete_entry(self.member, entry_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PendingEntryViewSet(OwnedViewSet):
    """Confirming stays open to a member whose plan has lapsed."""

    permission_classes = [IsMember]

    @extend_schema(request=EntrySerializer, responses=EntrySerializer)
    def confirm(self, request: Request, entry_id: int) -> Response:
        """Confirm a pending entry, with corrections if there are any."""
        get_entry_payload(self.member, entry_id)
        corrections = validate_body(EntrySerializer, request, partial=True)
        entries.confirm_entry(self.member, entry_id, corrections, timezone.now())
        return Response(get_entry_payload(self.member, entry_id))

    @extend_schema(responses=PendingCountSerializer)
    def count(self, request: Request) -> Response:
        """How many entries wait to be confirmed."""
        return Response({"count": count_pending_entries(self.member)})
