"""Entries: the list, CRUD, and confirmation of pending entries."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.openapi import page_serializer
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsMember
from core.api.serializers import validate_body, validate_query
from core.errors import InUseError, ProviderUnavailableError
from ledger import entries, entry_list
from ledger.entry_list import EntryFilter, get_entry_payload
from ledger.errors import (
    LimitReachedError,
    LinesMismatchError,
    MovingError,
    RefundExceedsError,
)
from ledger.models import Entry
from ledger.ownership import OwnedModelViewSet
from ledger.serializers.entries import (
    EntryQuerySerializer,
    EntrySerializer,
    PendingCountSerializer,
    resolve_date_range,
)

_RAISED_BY_WRITES = [
    MovingError,
    LimitReachedError,
    ProviderUnavailableError,
    LinesMismatchError,
    RefundExceedsError,
]


class EntryViewSet(OwnedModelViewSet):
    permission_classes = [IsMember]
    schema_tag = "Entries"
    raises = {
        "create": _RAISED_BY_WRITES,
        "update": [*_RAISED_BY_WRITES, InUseError],
        "confirm_entry": [*_RAISED_BY_WRITES, InUseError],
        "destroy": [MovingError],
    }
    queryset = Entry.objects.all()
    serializer_class = EntrySerializer
    lookup_url_kwarg = "entry_id"

    @extend_schema(
        parameters=[EntryQuerySerializer, PageQuerySerializer],
        responses=page_serializer(EntrySerializer),
    )
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List entries.

        Newest first: by date, then by id.
        """
        page = get_page_request(request)
        query = validate_query(EntryQuerySerializer, request)
        start, end = resolve_date_range(query)
        for name in ("from_", "to", "year", "month"):
            query.pop(name, None)
        filters = EntryFilter(start=start, end=end, **query)
        count, results = entry_list.list_entries_page(self.member, filters, page)
        return Response(page_payload(request, page, count, results))

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(get_entry_payload(self.member, self.object_id))

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Create an entry.

        In the home currency with `amount`. In a foreign one with `currency` and
        `originalAmount`, which is converted at `exchangeRate` or the rate of the date.
        """
        data = entries.EntryData(**validate_body(EntrySerializer, request))
        entry_id = entries.create_entry(self.member, data, timezone.now())
        payload = get_entry_payload(self.member, entry_id)
        return Response(payload, status.HTTP_201_CREATED)

    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        # 404 for another member's entry before 400 for the body.
        get_entry_payload(self.member, self.object_id)
        is_partial = kwargs.get("partial", False)
        changes = validate_body(EntrySerializer, request, partial=is_partial)
        entries.update_entry(self.member, self.object_id, changes, timezone.now())
        return Response(get_entry_payload(self.member, self.object_id))

    def perform_destroy(self, object_id: int) -> None:
        entries.delete_entry(self.member, object_id)

    # Free members may confirm, too: their plan may have expired since.
    @extend_schema(request=EntrySerializer(partial=True), responses=EntrySerializer)
    @action(detail=True, methods=["post"], url_path="confirm")
    def confirm_entry(self, request: Request, entry_id: int) -> Response:
        """Confirm a pending entry.

        Fields of the body correct the entry; all are optional.
        """
        get_entry_payload(self.member, entry_id)
        corrections = validate_body(EntrySerializer, request, partial=True)
        entries.confirm_entry(self.member, entry_id, corrections, timezone.now())
        return Response(get_entry_payload(self.member, entry_id))

    @extend_schema(responses=PendingCountSerializer)
    @action(detail=False, url_path="pending/count")
    def count_pending_entries(self, request: Request) -> Response:
        """Count pending entries.

        Those that wait for confirmation, of all dates.
        """
        return Response({"count": entry_list.count_pending_entries(self.member)})
