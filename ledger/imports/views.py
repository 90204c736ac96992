"""Imports of files of other apps, banks and cards."""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.openapi import page_serializer
from core.api.operations import CreatedItem, extend_schema
from core.api.pagination import PageQuerySerializer, get_page_request, page_payload
from core.api.parsers import MAX_MULTIPART_BYTES, LimitedMultiPartParser
from core.api.permissions import IsMember
from core.api.serializers import validate_body, validate_query
from core.api.token_scopes import LEDGER
from core.api.unknown_names import REPEATED
from core.errors import (
    DuplicateError,
    InvalidFieldError,
    LimitReachedError,
    ProviderUnavailableError,
    RateLimitedError,
)
from ledger.base.ownership import OwnedViewSet
from ledger.errors import (
    BackupsBusyError,
    ChangedSinceError,
    FilePasswordError,
    ImportUnreadableError,
    ReferenceGoneError,
)
from ledger.imports.choices import Choices
from ledger.imports.committing import commit_import
from ledger.imports.mapping import change_mapping, raise_on_unknown_source
from ledger.imports.reading import read_file
from ledger.imports.refusals import refuse_unreadable
from ledger.imports.row_choices import MAX_ROWS_OF_CHANGE, choose_rows, list_rows
from ledger.imports.serializers import (
    SAMPLE_ROWS,
    CommittedImportSerializer,
    ImportChangeRequestSerializer,
    ImportFileRequestSerializer,
    ImportRowChangeSerializer,
    ImportRowSerializer,
    ImportRowsQuerySerializer,
    ImportSerializer,
    ImportSummarySerializer,
    describe_import,
    describe_row,
    describe_summary,
    read_changes,
    read_row,
    validate_changes,
    validate_row_changes,
)
from ledger.imports.storing import (
    change_import,
    create_import,
    delete_import,
    get_import,
    get_open_import,
    list_imports,
)
from ledger.models import Import, ImportRow, OperationKind


class ImportViewSet(OwnedViewSet):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Imports"
    lookup_url_kwarg = "import_id"
    lookup_value_converter = "int"
    # They write nothing to the ledger, and read a file for seconds.
    keyless_actions = frozenset({"create", "partial_update"})
    operations = {"commit_import": OperationKind.IMPORT}
    body_limits = {
        "create": MAX_MULTIPART_BYTES,
        "update": 2**20,
        "change_import_rows": 2**20,
    }
    raises = {
        "create": [
            ImportUnreadableError,
            FilePasswordError,
            LimitReachedError,
            BackupsBusyError,
        ],
        "partial_update": [DuplicateError, ChangedSinceError, ImportUnreadableError],
        "change_import_rows": [DuplicateError],
        "commit_import": [
            DuplicateError,
            ImportUnreadableError,
            LimitReachedError,
            ProviderUnavailableError,
            RateLimitedError,
            ReferenceGoneError,
        ],
    }

    def get_parsers(self) -> list[Any]:
        # The action is found later.
        actions: dict[str, str] = getattr(self, "action_map", None) or {}
        method = getattr(self.request, "method", None)
        if actions.get(str(method).lower()) == "create":
            return [LimitedMultiPartParser()]
        return super().get_parsers()

    @extend_schema(responses=ImportSummarySerializer(many=True))
    def list(self, request: Request) -> Response:
        """List imports.

        Those of the last seven days, newest first.
        """
        rows = list_imports(self.member, timezone.now())
        return Response([describe_summary(row) for row in rows])

    @extend_schema(
        request={"multipart/form-data": ImportFileRequestSerializer},
        responses={201: ImportSerializer},
        creates=CreatedItem("import-detail"),
    )
    def create(self, request: Request) -> Response:
        """Read a file.

        Nothing is written to the ledger: the answer says what each row would become.
        Two imports may be open at once.

        400 `IMPORT_UNREADABLE` for a file that cannot be read, 400 `PASSWORD_NEEDED`
        for an encrypted one without its password, 503 if too many files are being
        read.
        """
        if len(request.FILES.getlist("file")) > 1:
            detail = gettext("The parameter must not be repeated.")
            raise InvalidFieldError("file", detail, REPEATED)
        values = validate_body(ImportFileRequestSerializer, request)
        raise_on_unknown_source(values.get("source"))
        choices = Choices(
            source=values.get("source"), wallet_id=values.get("wallet_id")
        )
        now = timezone.now()
        with refuse_unreadable():
            tables = read_file(values["file"].read(), values.get("password"))
            today = timezone.localdate(now)
            row = create_import(self.member, tables, choices, now, today)
        return Response(self._describe(row), status=status.HTTP_201_CREATED)

    @extend_schema(responses=ImportSerializer)
    def retrieve(self, request: Request, import_id: int) -> Response:
        """Get an import."""
        return Response(
            self._describe(get_import(self.member, import_id, timezone.now()))
        )

    @extend_schema(request=ImportChangeRequestSerializer, responses=ImportSerializer)
    def partial_update(self, request: Request, import_id: int) -> Response:
        """Correct an import.

        The file is read again by other columns, wallets or categories. Choices of rows
        stay.
        """
        now = timezone.now()
        row = get_open_import(self.member, import_id, now)
        values = validate_changes(request)
        raise_on_unknown_source(values.get("source"))
        changes = read_changes(values) | change_mapping(row, values)
        today = timezone.localdate(now)
        with refuse_unreadable():
            row = change_import(self.member, import_id, changes, now, today)
        return Response(self._describe(row))

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, import_id: int) -> Response:
        """Delete an import.

        Entries that it has made stay, and so does what tells their rows apart.
        """
        delete_import(self.member, import_id, timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        parameters=[ImportRowsQuerySerializer, PageQuerySerializer],
        responses=page_serializer(ImportRowSerializer),
    )
    @action(detail=True, methods=["get"], url_path="rows")
    def list_import_rows(self, request: Request, import_id: int) -> Response:
        """List rows of an import.

        In the order of the file.
        """
        wanted = validate_query(ImportRowsQuerySerializer, request).get("status")
        page, now = get_page_request(request), timezone.now()
        count, rows = list_rows(self.member, import_id, wanted, page, now)
        described = [describe_row(row) for row in rows]
        return Response(page_payload(request, page, count, described))

    @extend_schema(
        request=ImportRowChangeSerializer(  # type: ignore[call-arg]
            many=True, min_length=1, max_length=MAX_ROWS_OF_CHANGE
        ),
        responses=ImportRowSerializer(many=True),
    )
    @list_import_rows.mapping.patch
    def change_import_rows(self, request: Request, import_id: int) -> Response:
        """Choose what becomes of rows.

        All or none of them change. A row of status DUPLICATE can be imported only if
        its entry was deleted. SKIP of a TRANSFER leaves out both of its rows; IMPORT of
        a PAIRED one makes two entries.
        """
        now = timezone.now()
        get_open_import(self.member, import_id, now)
        sent = [read_row(each) for each in validate_row_changes(request)]
        rows = choose_rows(self.member, import_id, sent, now)
        return Response([describe_row(row) for row in rows])

    @extend_schema(request=None, responses=CommittedImportSerializer)
    @action(detail=True, methods=["post"], url_path="commit")
    def commit_import(self, request: Request, import_id: int) -> Response:
        """Commit an import.

        Writes all rows to the ledger, or none, as one operation. Rows are compared
        with the ledger again: what it has got meanwhile is not written twice.

        409 `DUPLICATE` for a committed import, 429 beyond 200,000 entries in a day.
        """
        row = commit_import(self.member, import_id, timezone.now())
        return Response((row.result or {}) | {"operationId": self.operation_id})

    def _describe(self, row: Import) -> dict[str, Any]:
        rows = ImportRow.objects.owned_by(self.member).filter(import_id=row.id)
        return describe_import(row, list(rows.order_by("row")[:SAMPLE_ROWS]))
