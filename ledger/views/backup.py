"""Backup and restore of the caller's ledger."""

import tempfile
from collections.abc import Mapping
from typing import IO, Any

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import ReauthenticationRequiredError
from accounts.fresh_authentication import require_fresh_authentication_with_factor
from core.api.parsers import MAX_UPLOAD_BYTES, LimitedMultiPartParser, read_limited
from core.api.permissions import IsPremium
from core.api.renderers import JSONRenderer
from core.api.serializers import validate_body, validate_query
from ledger.backup.concurrency_limits import export_slot
from ledger.backup.export import backup_filename, write_backup
from ledger.backup.restore import restore_backup
from ledger.errors import (
    BackupsBusyError,
    EmptyBackupError,
    InvalidBackupError,
    RestoreInProgressError,
)
from ledger.ownership import OwnedView
from ledger.serializers.backup import (
    RestoreFileRequestSerializer,
    RestoreQuerySerializer,
    RestoreRequestSerializer,
    RestoreResultSerializer,
)

SCHEMA_TAG = "Backup"
XLSX_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# A larger workbook is written to a temporary file.
MAX_IN_MEMORY_BYTES = 2**20


class WorkbookRenderer(BaseRenderer):
    """The media type for content negotiation; `write_backup` writes the file."""

    media_type = XLSX_CONTENT_TYPE
    format = "xlsx"
    charset = None
    render_style = "binary"


class RawJSONParser(BaseParser):
    """Pass on a JSON body as bytes, which are parsed in a separate process."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_limited(stream, MAX_UPLOAD_BYTES)


class BackupView(OwnedView):
    permission_classes = [IsPremium]
    renderer_classes = [WorkbookRenderer, JSONRenderer]
    schema_tag = SCHEMA_TAG
    raises = {
        "get": [ReauthenticationRequiredError, BackupsBusyError],
    }

    @extend_schema(
        operation_id="downloadBackup",
        responses={
            (200, XLSX_CONTENT_TYPE): OpenApiResponse(OpenApiTypes.BINARY, "The file.")
        },
    )
    def get(self, request: Request) -> FileResponse:
        """Download a backup.

        The ledger as a workbook, without stocks, trades and expected incomes. The
        session of a member with a second factor must be fresh. 503 while too many
        others are being written.
        """
        require_fresh_authentication_with_factor(request)
        with export_slot():
            file = tempfile.SpooledTemporaryFile(MAX_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by the response
            write_backup(self.member, file)
        file.seek(0)
        return FileResponse(
            file,
            as_attachment=True,
            filename=backup_filename(timezone.localdate()),
            content_type=XLSX_CONTENT_TYPE,
        )


class RestoreBackupView(OwnedView):
    permission_classes = [IsPremium]
    parser_classes = [RawJSONParser, LimitedMultiPartParser]
    schema_tag = SCHEMA_TAG
    raises = {
        "post": [
            EmptyBackupError,
            InvalidBackupError,
            RestoreInProgressError,
            BackupsBusyError,
        ],
    }

    @extend_schema(
        operation_id="restoreBackup",
        parameters=[RestoreQuerySerializer],
        request={
            "multipart/form-data": RestoreFileRequestSerializer,
            "application/json": RestoreRequestSerializer,
        },
        responses=RestoreResultSerializer,
    )
    def post(self, request: Request) -> Response:
        """Replace the ledger by a backup.

        The backup is validated first and restored in one transaction.

        - Stocks and trades are deleted and not restored; expected incomes are kept.
        - Budgets are restored for the current month: for each category the budget of
          this month, else of the latest month before it, else of the earliest one
          after it.
        - Recurring rules continue from `nextDate` and book the due dates of the last
          year; without that column they start today.
        - A sheet has at most 200,000 rows. Unknown sheets and columns are ignored, and
          their names are not case-sensitive.

        400 `EMPTY_BACKUP` without rows, 400 `INVALID_BACKUP` for an invalid row, with
        sheet, row and column. 409 while another restore of the member runs, 503 if too
        many files are being parsed.
        """
        dry_run = validate_query(RestoreQuerySerializer, request)["dry_run"]
        # A JSON body comes as bytes, a form with the file in it.
        data: Any = request.data
        if not isinstance(data, bytes):
            data = validate_body(RestoreFileRequestSerializer, request)["file"].read()
        counts = restore_backup(self.member, data, timezone.now(), dry_run=dry_run)
        return Response({"dryRun": dry_run, **counts})
