"""Entries, with the writes of several at once."""

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.token_scopes import LEDGER
from core.errors import LimitReachedError, ProviderUnavailableError
from ledger.bulk.batch import raise_invalid_operations, run_batch
from ledger.bulk.changes import Change, change_entries
from ledger.bulk.serializers import (
    BatchRequestSerializer,
    BatchSerializer,
    BulkChangeRequestSerializer,
    BulkChangeSerializer,
    describe_change,
    describe_outcome,
    read_operation,
)
from ledger.entries.filter_serializers import make_filter
from ledger.entries.views import SingleEntryViewSet
from ledger.models import OperationKind


class EntryViewSet(SingleEntryViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    raises = {
        "run_entry_batch": [ProviderUnavailableError],
        "change_entries": [LimitReachedError],
    }
    operations = SingleEntryViewSet.operations | {
        "run_entry_batch": OperationKind.BATCH,
        "change_entries": OperationKind.BULK_CHANGE,
    }
    body_limits = {
        # 2 kB for each entry. Who has larger ones sends fewer.
        "run_entry_batch": 2**20,
        # 10,000 ids.
        "change_entries": 2**19,
    }

    @extend_schema(request=BatchRequestSerializer, responses=BatchSerializer)
    @action(detail=False, methods=["post"], url_path="batch")
    def run_entry_batch(self, request: Request) -> Response:
        """Run a batch of writes.

        Creates, updates, deletes and confirms up to 500 entries in one transaction.
        """
        values = validate_body(BatchRequestSerializer, request)
        operations = [read_operation(sent, request) for sent in values["operations"]]
        is_atomic = values["atomic"]
        if is_atomic:
            raise_invalid_operations(operations)
        outcomes = run_batch(
            self.member, operations, timezone.now(), is_atomic=is_atomic
        )
        results = [describe_outcome(*each) for each in enumerate(outcomes)]
        return Response({"results": results, "operationId": self.operation_id})

    @extend_schema(request=BulkChangeRequestSerializer, responses=BulkChangeSerializer)
    def change_entries(self, request: Request) -> Response:
        """Change several entries.

        Gives all entries of `ids` or `filter` the same values, as a PATCH of each
        would. What an entry cannot have leaves that entry as it is.
        """
        values = validate_body(BulkChangeRequestSerializer, request)
        sent = values.get("filter")
        chosen = values["ids"] if sent is None else make_filter(sent)
        change = Change(
            values=values.get("set") or {},
            add_tags=values.get("add_tags") or (),
            remove_tags=values.get("remove_tags") or (),
        )
        result = change_entries(
            self.member, chosen, change, timezone.now(), dry_run=values["dry_run"]
        )
        answer = describe_change(result) | {"operationId": self.operation_id}
        return Response(answer)
