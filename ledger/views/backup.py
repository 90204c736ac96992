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

from core.api.parsers import MAX_UPLOAD_BYTES, LimitedMultiPartParser, read_limited
from core.api.permissions import IsPremium
from core.api.renderers import JSONRenderer
from core.api.serializers import validate_body, validate_query
from ledger.backup.export import backup_filename, write_backup
from ledger.backup.restore import restore_backup
from ledger.ownership import OwnedViewSet
from ledger.serializers.backup import (
    RestoreFileRequestSerializer,
    RestoreQuerySerializer,
    RestoreRequestSerializer,
    RestoreResultSerializer,
)

XLSX_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_IN_MEMORY_BYTES = 2**20
"""A larger workbook is written to a temporary file."""


class WorkbookRenderer(BaseRenderer):
    """Names the type of the answer, which is written elsewhere."""

    media_type = XLSX_CONTENT_TYPE
    format = "xlsx"
    charset = None
    render_style = "binary"


class RawJSONParser(BaseParser):
    """The bytes of a JSON body; they are read where they can do no harm."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_limited(stream, MAX_UPLOAD_BYTES)


class BackupViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    renderer_classes = [WorkbookRenderer, JSONRenderer]

    @extend_schema(
        responses={
            (200, XLSX_CONTENT_TYPE): OpenApiResponse(OpenApiTypes.BINARY, "The file.")
        }
    )
    def retrieve(self, request: Request) -> FileResponse:
        """The whole ledger as a workbook.

        Stocks, trades and expected incomes are not in it.
        """
        file = tempfile.SpooledTemporaryFile(MAX_IN_MEMORY_BYTES)  # noqa: SIM115  # the answer closes it
        write_backup(self.member, file)
        file.seek(0)
        return FileResponse(
            file,
            as_attachment=True,
            filename=backup_filename(timezone.localdate()),
            content_type=XLSX_CONTENT_TYPE,
        )


class RestoreViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    parser_classes = [RawJSONParser, LimitedMultiPartParser]

    @extend_schema(
        parameters=[RestoreQuerySerializer],
        request={
            "multipart/form-data": RestoreFileRequestSerializer,
            "application/json": RestoreRequestSerializer,
        },
        responses=RestoreResultSerializer,
    )
    def create(self, request: Request) -> Response:
        """Replace the whole ledger by a backup.

        Everything is checked first and written in one transaction. Stocks and trades
        are deleted and not restored; expected incomes stay as they are. Budgets become
        those of the current month: of a category the one of this month counts, else
        of the latest month before it, else of the earliest one after it. Recurring
        rules go on from `nextDate`, and book what they owe of the last year; without
        that column they start today. A backup without rows is refused (EMPTY_BACKUP),
        a bad row too (INVALID_BACKUP, with sheet, row and column). A second restore at
        the same time is 409; where many files are read at once, 503 after some
        seconds. A sheet has at most 200,000 rows; sheets and columns that are not of
        a backup are passed over, and letter case in their names does not count.
        """
        dry_run = validate_query(RestoreQuerySerializer, request)["dry_run"]
        counts = restore_backup(
            self.member, read_upload(request), timezone.now(), dry_run=dry_run
        )
        return Response({"dryRun": dry_run, **counts})


def read_upload(request: Request) -> bytes:
    """The uploaded file, or the JSON body; more than 10 MB is refused."""
    body: Any = request.data
    if isinstance(body, bytes):
        return body
    data: bytes = validate_body(RestoreFileRequestSerializer, request)["file"].read()
    return data
