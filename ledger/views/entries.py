"""Entries: the list, one by one, and what waits to be confirmed."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body, read_query
from core.api.openapi import page_of
from core.api.pagination import PageQuery, page_body, read_page
from core.api.permissions import IsMember
from ledger import entries
from ledger.entry_list import (
    EntryFilter,
    count_pending,
    read_entry,
    read_page_of_entries,
)
from ledger.ownership import OwnedViewSet
from ledger.serializers.entries import EntryBody, EntryQuery, PendingCountBody, days_of
from ledger.wallets import find_wallet


class EntryViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(parameters=[EntryQuery, PageQuery], responses=page_of(EntryBody))
    def list(self, request: Request) -> Response:
        """Newest first: by date, then by id."""
        page = read_page(request)
        wanted = self._read_filter(request)
        count, rows = read_page_of_entries(self.member, wanted, page)
        return Response(page_body(request, page, count, rows))

    def _read_filter(self, request: Request) -> EntryFilter:
        query = read_query(EntryQuery, request)
        start, end = days_of(query)
        for name in ("from_", "to", "year", "month"):
            query.pop(name, None)
        if "wallet_id" in query:
            find_wallet(self.member, query["wallet_id"])
        return EntryFilter(start=start, end=end, **query)

    @extend_schema(request=EntryBody, responses={201: EntryBody})
    def create(self, request: Request) -> Response:
        body = read_body(EntryBody, request)
        entry_id = entries.record_entry(
            self.member, entries.Draft(**body), timezone.now()
        )
        body = read_entry(self.member, entry_id)
        return Response(body, status=status.HTTP_201_CREATED)

    @extend_schema(responses=EntryBody)
    def retrieve(self, request: Request, entry_id: int) -> Response:
        return Response(read_entry(self.member, entry_id))

    @extend_schema(request=EntryBody, responses=EntryBody)
    def update(self, request: Request, entry_id: int) -> Response:
        return self._change(request, entry_id, partial=False)

    @extend_schema(request=EntryBody, responses=EntryBody)
    def partial_update(self, request: Request, entry_id: int) -> Response:
        return self._change(request, entry_id, partial=True)

    def _change(self, request: Request, entry_id: int, *, partial: bool) -> Response:
        read_entry(self.member, entry_id)
        body = read_body(EntryBody, request, partial=partial)
        entries.change_entry(self.member, entry_id, body, timezone.now())
        return Response(read_entry(self.member, entry_id))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, entry_id: int) -> Response:
        entries.delete_entry(self.member, entry_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PendingViewSet(OwnedViewSet):
    """Confirming stays open to a member whose plan has lapsed."""

    permission_classes = [IsMember]

    @extend_schema(request=EntryBody, responses=EntryBody)
    def confirm(self, request: Request, entry_id: int) -> Response:
        """Confirm a pending entry, with corrections if there are any."""
        read_entry(self.member, entry_id)
        corrections = read_body(EntryBody, request, partial=True)
        entries.confirm_entry(self.member, entry_id, corrections, timezone.now())
        return Response(read_entry(self.member, entry_id))

    @extend_schema(responses=PendingCountBody)
    def count(self, request: Request) -> Response:
        """How many entries wait to be confirmed."""
        return Response({"count": count_pending(self.member)})
