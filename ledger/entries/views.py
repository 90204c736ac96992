"""Entries, refunds and merges."""

from datetime import date
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.openapi import page_serializer
from core.api.operations import CreatedItem, extend_schema
from core.api.pagination import (
    DayKey,
    PageQuerySerializer,
    get_page_request,
    keyset_page_payload,
    page_payload,
)
from core.api.permissions import IsMember
from core.api.preconditions import format_etag
from core.api.serializers import list_payload, validate_body, validate_query
from core.api.token_scopes import LEDGER
from core.errors import (
    InUseError,
    InvalidFieldError,
    LimitReachedError,
    ProviderUnavailableError,
)
from ledger.base.ownership import OwnedModelViewSet
from ledger.entries import listing as entry_list
from ledger.entries import merges
from ledger.entries import writing as entries
from ledger.entries.filter_serializers import EntryQuerySerializer, make_filter
from ledger.entries.listing import extend_payload, get_entry_row
from ledger.entries.merges import Fee
from ledger.entries.serializers import (
    DeletionQuerySerializer,
    DismissRequestSerializer,
    EntryPatchSerializer,
    EntrySerializer,
    MergeRequestSerializer,
    PendingCountSerializer,
    RefundRequestSerializer,
    TransferCandidateQuerySerializer,
    TransferCandidateSerializer,
    UnmergedEntrySerializer,
    UnmergeRequestSerializer,
)
from ledger.entries.transfer_candidates import (
    CANDIDATE_PERIOD,
    MAX_CANDIDATE_DAYS,
    dismiss_transfer,
    list_transfer_candidates,
    restore_candidate,
)
from ledger.entry_shape import MAX_SHAPE_BYTES, EntryShape
from ledger.errors import DeletedError, LinesMismatchError, RefundExceedsError
from ledger.models import Entry, OperationKind

_RAISED_BY_WRITES = [
    LimitReachedError,
    ProviderUnavailableError,
    LinesMismatchError,
    RefundExceedsError,
]


class SingleEntryViewSet(OwnedModelViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Entries"
    body_limits = {
        "create": MAX_SHAPE_BYTES,
        "update": MAX_SHAPE_BYTES,
        "confirm_entry": MAX_SHAPE_BYTES,
    }
    raises = {
        "create": [*_RAISED_BY_WRITES, DeletedError],
        "update": [*_RAISED_BY_WRITES, InUseError],
        "confirm_entry": [*_RAISED_BY_WRITES, InUseError],
        "refund_entry": [LimitReachedError, RefundExceedsError],
        "unmerge_entry": [InUseError, LimitReachedError],
        "dismiss_transfer_candidate": [LimitReachedError],
    }
    queryset = Entry.objects.all()
    serializer_class = EntrySerializer
    lookup_url_kwarg = "entry_id"
    versioned_actions = OwnedModelViewSet.versioned_actions | {
        *("confirm_entry", "refund_entry", "merge_entry")
    }
    guarded_actions = OwnedModelViewSet.guarded_actions | {
        *("confirm_entry", "refund_entry", "merge_entry", "unmerge_entry")
    }

    operations = OwnedModelViewSet.operations | {
        "merge_entry": OperationKind.MERGE,
        "unmerge_entry": OperationKind.UNMERGE,
    }

    def respond(
        self,
        entry_id: int,
        status_code: int = status.HTTP_200_OK,
        *,
        parts_reset: bool = False,
    ) -> Response:
        row = get_entry_row(self.member, entry_id)
        more = {"partsReset": True} if parts_reset else None
        entry = extend_payload(row.entry, more)
        etag = format_etag(row.version)
        return Response(entry, status_code, headers={"ETag": etag})

    @extend_schema(
        parameters=[EntryQuerySerializer, PageQuerySerializer],
        responses=page_serializer(EntrySerializer),
    )
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List entries.

        Newest first: by date, then by id. By number, pages begin within the first
        20,000 entries; `next` of the last one goes on by key, with `after`, where every
        page costs the same.
        """
        page = get_page_request(request)
        query = validate_query(EntryQuerySerializer, request)
        after, filters = query.get("after"), make_filter(query)
        if after is None:
            page.raise_if_too_deep()
            count, results, key = entry_list.list_entries_page(
                self.member, filters, page
            )
            return Response(page_payload(request, page, count, results, key))
        count, results, key = entry_list.list_entries_after(
            self.member, filters, DayKey.parse(after), page.size
        )
        next_key = None if key is None else str(key)
        return Response(keyset_page_payload(request, "after", next_key, count, results))

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self.respond(self.object_id)

    @extend_schema(
        request=EntrySerializer, responses={201: EntrySerializer, 200: EntrySerializer}
    )
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Create an entry.

        In the home currency with `amount`. In a foreign one with `currency` and
        `originalAmount`, which is converted at `exchangeRate` or the rate of the date.
        With a known `clientId` it is 200 with the entry as it is.
        """
        values = {"excluded": None} | validate_body(EntrySerializer, request)
        client_id = values.pop("client_id", None)
        shape, now = EntryShape(**values), timezone.now()
        if client_id is None:
            entry_id = entries.create_entry(self.member, shape, now)
            return self.respond(entry_id, status.HTTP_201_CREATED)
        sent = entries.create_entry_once(self.member, shape, now, client_id)
        return self.respond(
            sent.id, status.HTTP_201_CREATED if sent.is_new else status.HTTP_200_OK
        )

    def update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        self.raise_if_missing()
        changes = validate_body(EntrySerializer, request)
        parts_reset = entries.update_entry(
            self.member, self.object_id, changes, timezone.now()
        )
        return self.respond(self.object_id, parts_reset=parts_reset)

    @extend_schema(request=EntryPatchSerializer(partial=True))
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        self.raise_if_missing()
        changes = validate_body(EntryPatchSerializer, request, partial=True)
        parts_reset = entries.update_entry(
            self.member, self.object_id, changes, timezone.now(), is_partial=True
        )
        return self.respond(self.object_id, parts_reset=parts_reset)

    @extend_schema(parameters=[DeletionQuerySerializer], responses={204: None})
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Delete an entry.

        With `reason` NO_PAYMENT, further texts of the layout of a pending entry are
        refused; the undo of the deletion forgets the refusal, too.
        """
        query = validate_query(DeletionQuerySerializer, request)
        refused_at = timezone.now() if query.get("reason") else None
        entries.delete_entry(self.member, self.object_id, refused_at=refused_at)
        return Response(status=status.HTTP_204_NO_CONTENT)

    # Free members may confirm, too: their plan may have expired since.
    @extend_schema(
        request=EntryPatchSerializer(partial=True), responses=EntrySerializer
    )
    @action(detail=True, methods=["post"], url_path="confirm")
    def confirm_entry(self, request: Request, entry_id: int) -> Response:
        """Confirm a pending entry.

        Fields of the body correct the entry; all are optional.
        """
        self.raise_if_missing()
        corrections = validate_body(EntryPatchSerializer, request, partial=True)
        parts_reset = entries.update_entry(
            self.member, entry_id, corrections, timezone.now(), confirm=True
        )
        return self.respond(entry_id, parts_reset=parts_reset)

    @extend_schema(
        request=RefundRequestSerializer,
        responses={201: EntrySerializer},
        creates=CreatedItem("entry-detail"),
    )
    @action(detail=True, methods=["post"], url_path="refund")
    def refund_entry(self, request: Request, entry_id: int) -> Response:
        """Refund an expense.

        The refund has its category, or a part of each of its lines. A pending expense
        is confirmed first.
        """
        self.raise_if_missing()
        values = validate_body(RefundRequestSerializer, request)
        refund_id = entries.refund_entry(self.member, entry_id, values, timezone.now())
        return self.respond(refund_id, status.HTTP_201_CREATED)

    @extend_schema(request=MergeRequestSerializer, responses=EntrySerializer)
    @action(detail=True, methods=["post"], url_path="merge")
    def merge_entry(self, request: Request, entry_id: int) -> Response:
        """Merge an expense and an income.

        Of two wallets, at most 31 days apart, with equal amounts or a fee: they become
        one transfer with the id of the expense, and the tags and memos of both.
        """
        self.raise_if_missing()
        values = validate_body(MergeRequestSerializer, request)
        pair = (self.member, entry_id, values["with_"].pk, timezone.now())
        day, fee = values.get("date"), values.get("fee")
        if fee is None:
            merged_id = merges.merge_entries(*pair, day=day)
        else:
            merged_id = merges.merge_with_fee(*pair, Fee(**fee), day=day)
        return self.respond(merged_id)

    @extend_schema(
        request=UnmergeRequestSerializer, responses=UnmergedEntrySerializer(many=True)
    )
    @action(detail=True, methods=["post"], url_path="unmerge")
    def unmerge_entry(self, request: Request, entry_id: int) -> Response:
        """Take a merged transfer apart.

        Returns the expense and the income that it was; the first has `givenUp`.
        """
        self.raise_if_missing()
        now, member = timezone.now(), self.member
        if validate_body(UnmergeRequestSerializer, request)["dry_run"]:
            return Response(merges.preview_unmerge(member, entry_id, now))
        unmerged = merges.unmerge_entry(member, entry_id, now)
        return Response(merges.list_unmerged(member, unmerged))

    @extend_schema(
        parameters=[TransferCandidateQuerySerializer],
        responses=TransferCandidateSerializer(many=True),
    )
    @action(detail=False, url_path="transfer-candidates")
    def list_transfer_candidates(self, request: Request) -> Response:
        """List what looks like transfers.

        An expense and an income of two wallets, the income 1 day before to 4 days after
        the expense; equal amounts first, nearest first, each entry in one pair. With a
        `fee` of at most 5 % of the income only where each is the other's only one.
        """
        query = validate_query(TransferCandidateQuerySerializer, request)
        end = query.get("to") or timezone.localdate()
        start = query.get("from_") or (
            max(end, date.min + CANDIDATE_PERIOD) - CANDIDATE_PERIOD
        )
        if (end - start).days > MAX_CANDIDATE_DAYS:
            detail = gettext("The range is limited to {limit} days.")
            raise InvalidFieldError(
                "to", detail.format(limit=MAX_CANDIDATE_DAYS), "max_value"
            )
        found = list_transfer_candidates(self.member, start, end)
        return Response(list_payload(TransferCandidateSerializer, found))

    @extend_schema(request=DismissRequestSerializer, responses={204: None})
    @action(detail=False, methods=["post"], url_path="transfer-candidates/dismiss")
    def dismiss_transfer_candidate(self, request: Request) -> Response:
        """Dismiss a transfer candidate.

        The two are offered no more until amount, date or wallet of one changes.
        """
        values = validate_body(DismissRequestSerializer, request)
        write = dismiss_transfer if values["dismissed"] else restore_candidate
        write(self.member, values["out_id"], values["in_id"])
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses=PendingCountSerializer)
    @action(detail=False, url_path="pending/count")
    def count_pending_entries(self, request: Request) -> Response:
        """Count pending entries.

        Those that wait for confirmation, of all dates.
        """
        return Response({"count": entry_list.count_pending_entries(self.member)})
