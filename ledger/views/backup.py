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

from core.api.fields import read_body, read_query
from core.api.parsers import MAX_UPLOAD_BYTES, UploadParser, read_bounded
from core.api.permissions import IsPremium
from core.api.renderers import JSONRenderer
from ledger.backup.export import name_file, write_backup
from ledger.backup.restore import restore_backup
from ledger.ownership import OwnedViewSet
from ledger.serializers.backup import (
    RestoreBody,
    RestoredBody,
    RestoreFile,
    RestoreQuery,
)

WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MEMORY_BYTES = 2**20
"""A larger workbook is written to a temporary file."""


class WorkbookRenderer(BaseRenderer):
    """Names the type of the answer, which is written elsewhere."""

    media_type = WORKBOOK
    format = "xlsx"
    charset = None
    render_style = "binary"


class UnreadJSONParser(BaseParser):
    """The bytes of a JSON body; they are read where they can do no harm."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_bounded(stream, MAX_UPLOAD_BYTES)


class BackupViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    renderer_classes = [WorkbookRenderer, JSONRenderer]

    @extend_schema(
        responses={(200, WORKBOOK): OpenApiResponse(OpenApiTypes.BINARY, "The file.")}
    )
    def retrieve(self, request: Request) -> FileResponse:
        """The whole ledger as a workbook.

        Stocks, trades and expected incomes are not in it.
        """
        file = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115  # the answer closes it
        write_backup(self.member, file)
        file.seek(0)
        return FileResponse(
            file,
            as_attachment=True,
            filename=name_file(timezone.localdate()),
            content_type=WORKBOOK,
        )


class RestoreViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    parser_classes = [UnreadJSONParser, UploadParser]

    @extend_schema(
        parameters=[RestoreQuery],
        request={"multipart/form-data": RestoreFile, "application/json": RestoreBody},
        responses=RestoredBody,
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
        dry_run = read_query(RestoreQuery, request)["dry_run"]
        counts = restore_backup(
            self.member, read_upload(request), timezone.now(), dry_run=dry_run
        )
        return Response({"dryRun": dry_run, **counts})


def read_upload(request: Request) -> bytes:
    """The uploaded file, or the JSON body; more than 10 MB is refused."""
    body: Any = request.data
    if isinstance(body, bytes):
        return body
    data: bytes = read_body(RestoreFile, request)["file"].read()
    return data
