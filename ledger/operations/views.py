"""Operations, and their undo."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import ReauthenticationRequiredError
from accounts.login.fresh import require_fresh_authentication_with_factor
from accounts.sessions.authentication import session_credentials
from core.api.openapi import page_serializer
from core.api.operations import extend_schema
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.permissions import IsMember
from core.api.serializers import validate_body
from core.api.token_scopes import LEDGER, ScopeRequiredError
from core.errors import LimitReachedError
from ledger.base.ownership import OwnedViewSet
from ledger.errors import ChangedSinceError, NotUndoableError, ReferenceGoneError
from ledger.models import OperationKind
from ledger.operations.listing import (
    describe_operation,
    get_operation,
    list_operations,
    list_rows,
)
from ledger.operations.serializers import (
    RecordedOperationDetailSerializer,
    RecordedOperationSerializer,
    UndoRequestSerializer,
    UndoResultSerializer,
    describe_undo,
)
from ledger.operations.undo import undo_operation


class OperationViewSet(OwnedViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Operations"
    lookup_url_kwarg = "operation_id"
    lookup_value_converter = "int"
    operations = {"undo_operation": OperationKind.UNDO}
    raises = {
        "undo_operation": [
            NotUndoableError,
            ReferenceGoneError,
            ChangedSinceError,
            LimitReachedError,
            ReauthenticationRequiredError,
        ]
    }

    @extend_schema(
        parameters=[PageQuerySerializer],
        responses=page_serializer(RecordedOperationSerializer),
    )
    def list(self, request: Request) -> Response:
        """List operations.

        Deletions, merges, batches, bulk changes and restores of the last 30 days,
        newest first.
        """
        page = get_page_request(request)
        count, found = list_operations(self.member, page)
        rows = [describe_operation(operation) for operation in found]
        return Response(page_payload(request, page, count, rows))

    @extend_schema(
        parameters=[PageQuerySerializer], responses=RecordedOperationDetailSerializer
    )
    def retrieve(self, request: Request, operation_id: int) -> Response:
        """Get an operation.

        With a page of the rows that it created, changed or deleted. A restore has
        none.
        """
        operation = get_operation(self.member, operation_id)
        page = get_page_request(request)
        count, found = list_rows(self.member, operation_id, page)
        rows = page_payload(request, page, count, [row._asdict() for row in found])
        return Response(describe_operation(operation) | {"rows": rows})

    @extend_schema(request=UndoRequestSerializer, responses=UndoResultSerializer)
    @action(detail=True, methods=["post"], url_path="undo")
    def undo_operation(self, request: Request, operation_id: int) -> Response:
        """Undo an operation.

        Its rows are again what they were before it, with their ids. A row that was
        changed since stays as it is. The undo is an operation itself.

        409 `REFERENCE_GONE` if a wallet was deleted since and `walletId` names no
        other one; `CHANGED_SINCE` with `counts` if something was written after a
        restore, unless `force`; `NOT_UNDOABLE` if it was undone or is too old or too
        large. Undo of a restore asks for a fresh session as the restore does, and takes
        no personal token.
        """
        if get_operation(self.member, operation_id).is_whole:
            self._require_what_a_restore_does(request)
        values = validate_body(UndoRequestSerializer, request)
        result = undo_operation(self.member, operation_id, **values)
        done = None if values["dry_run"] else self.operation_id
        return Response(describe_undo(result, done))

    def _require_what_a_restore_does(self, request: Request) -> None:
        """Raise `ScopeRequiredError` for a token, or ask for a fresh session."""
        if session_credentials(request).session.scopes is not None:
            raise ScopeRequiredError
        require_fresh_authentication_with_factor(request)
