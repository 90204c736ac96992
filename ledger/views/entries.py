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
from core.api.serializers import list_payload, validate_body, validate_query
from core.api.token_scopes import LEDGER
from core.errors import InUseError, LimitReachedError, ProviderUnavailableError
from ledger import entries, entry_list, merges
from ledger.entry_data import EntryData
from ledger.entry_list import EntryFilter, get_entry_payload
from ledger.errors import LinesMismatchError, MovingError, RefundExceedsError
from ledger.models import Entry
from ledger.ownership import OwnedModelViewSet
from ledger.serializers.entries import (
    EntryQuerySerializer,
    EntrySerializer,
    MergeRequestSerializer,
    PendingCountSerializer,
    RefundRequestSerializer,
    TransferCandidateQuerySerializer,
    TransferCandidateSerializer,
    resolve_date_range,
)
from ledger.transfer_candidates import CANDIDATE_PERIOD, list_transfer_candidates

_RAISED_BY_WRITES = [
    MovingError,
    LimitReachedError,
    ProviderUnavailableError,
    LinesMismatchError,
    RefundExceedsError,
]


class EntryViewSet(OwnedModelViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Entries"
    raises = {
        "create": _RAISED_BY_WRITES,
        "update": [*_RAISED_BY_WRITES, InUseError],
        "confirm_entry": [*_RAISED_BY_WRITES, InUseError],
        "destroy": [MovingError],
        "refund_entry": [MovingError, LimitReachedError, RefundExceedsError],
        "merge_entry": [MovingError],
        "unmerge_entry": [MovingError, InUseError],
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
        data = EntryData(**validate_body(EntrySerializer, request))
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

    @extend_schema(request=RefundRequestSerializer, responses={201: EntrySerializer})
    @action(detail=True, methods=["post"], url_path="refund")
    def refund_entry(self, request: Request, entry_id: int) -> Response:
        """Refund an expense.

        The refund has its category, or a part of each of its lines. A pending expense
        is confirmed first.
        """
        get_entry_payload(self.member, entry_id)
        values = validate_body(RefundRequestSerializer, request)
        refund_id = entries.refund_entry(self.member, entry_id, values, timezone.now())
        payload = get_entry_payload(self.member, refund_id)
        return Response(payload, status.HTTP_201_CREATED)

    @extend_schema(request=MergeRequestSerializer, responses=EntrySerializer)
    @action(detail=True, methods=["post"], url_path="merge")
    def merge_entry(self, request: Request, entry_id: int) -> Response:
        """Merge an expense and an income.

        Of two wallets and equal amounts: they become one transfer with the id of the
        expense, and the tags and memos of both.
        """
        get_entry_payload(self.member, entry_id)
        other = validate_body(MergeRequestSerializer, request)["with_"].pk
        merged_id = merges.merge_entries(self.member, entry_id, other, timezone.now())
        return Response(get_entry_payload(self.member, merged_id))

    @extend_schema(request=None, responses=EntrySerializer(many=True))
    @action(detail=True, methods=["post"], url_path="unmerge")
    def unmerge_entry(self, request: Request, entry_id: int) -> Response:
        """Take a merged transfer apart.

        Returns the expense and the income that it was.
        """
        ids = merges.unmerge_entry(self.member, entry_id, timezone.now())
        return Response([get_entry_payload(self.member, each) for each in ids])

    @extend_schema(
        parameters=[TransferCandidateQuerySerializer],
        responses=TransferCandidateSerializer(many=True),
    )
    @action(detail=False, url_path="transfer-candidates")
    def list_transfer_candidates(self, request: Request) -> Response:
        """List what looks like transfers.

        An expense and an income of two wallets, equal in amount, the income 0 to 4 days
        after the expense; nearest first, each entry in one pair.
        """
        query = validate_query(TransferCandidateQuerySerializer, request)
        end = query.get("to") or timezone.localdate()
        start = query.get("from_") or end - CANDIDATE_PERIOD
        found = list_transfer_candidates(self.member, start, end)
        return Response(list_payload(TransferCandidateSerializer, found))

    @extend_schema(responses=PendingCountSerializer)
    @action(detail=False, url_path="pending/count")
    def count_pending_entries(self, request: Request) -> Response:
        """Count pending entries.

        Those that wait for confirmation, of all dates.
        """
        return Response({"count": entry_list.count_pending_entries(self.member)})
