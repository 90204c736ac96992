"""Backup and restore of the caller's ledger."""

import tempfile
from collections.abc import Mapping
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.parsers import read_bounded
from config.api.permissions import IsPremium
from config.api.renderers import JSONRenderer
from config.api.serializers import read_query
from config.errors import InvalidField
from ledger.backup.export import name_file, write_backup
from ledger.backup.restore import restore_backup
from ledger.backup.workbook import MAX_FILE_BYTES
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
FORM_BYTES = 2**16
"""What a multipart form may add to its file."""


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
        return read_bounded(stream, MAX_FILE_BYTES)


class BackupViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    renderer_classes = [WorkbookRenderer, JSONRenderer]

    @extend_schema(
        responses={(200, WORKBOOK): OpenApiResponse(OpenApiTypes.BINARY, "The file.")}
    )
    def retrieve(self, request: Request) -> FileResponse:
        """The whole ledger as a workbook; stocks and trades are not in it."""
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
    parser_classes = [UnreadJSONParser, MultiPartParser]

    @extend_schema(
        parameters=[RestoreQuery],
        request={"multipart/form-data": RestoreFile, "application/json": RestoreBody},
        responses=RestoredBody,
    )
    def create(self, request: Request) -> Response:
        """Replace the whole ledger by a backup.

        Everything is checked first and written in one transaction. Stocks, trades and
        expected incomes are deleted and not restored; budgets become those of the
        current month, a category's latest one counting. A backup without rows is
        refused (EMPTY_BACKUP), a bad row too (INVALID_BACKUP, with sheet, row and
        column). A second restore at the same time is 409.
        """
        dry_run = read_query(RestoreQuery, request)["dry_run"]
        counts = restore_backup(
            self.member, read_upload(request), timezone.now(), dry_run=dry_run
        )
        return Response({"dryRun": dry_run, **counts})


def read_upload(request: Request) -> bytes:
    """The uploaded file, or the JSON body; more than 10 MB is refused."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_FILE_BYTES + FORM_BYTES:
        raise RequestDataTooBig
    body: Any = request.data
    if isinstance(body, bytes):
        return body
    file = request.FILES.get("file")
    if file is None:
        raise InvalidField("file", "This field is required.", "required")
    if file.size > MAX_FILE_BYTES:
        raise RequestDataTooBig
    data: bytes = file.read()
    return data
