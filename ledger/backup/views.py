"""Backup and restore."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from django.http import FileResponse, QueryDict
from django.utils import timezone
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import ReauthenticationRequiredError
from accounts.login.fresh import require_fresh_authentication_with_factor
from core.api.keyed_answers import AlreadyAnsweredError, KeyedRequest
from core.api.operations import extend_schema
from core.api.parsers import (
    MAX_MULTIPART_BYTES,
    MAX_UPLOAD_BYTES,
    LimitedMultiPartParser,
    read_limited,
)
from core.api.permissions import IsPremium
from core.api.recording import OPERATION_ID
from core.api.request_keys import IDEMPOTENCY_KEY
from core.api.serializers import validate_body, validate_query
from core.api.unknown_names import REPEATED
from core.errors import InvalidFieldError
from ledger.backup.concurrency_limits import export_slot
from ledger.backup.export import backup_filename, write_backup
from ledger.backup.restore import RestoreResult, restore_backup
from ledger.backup.serializers import (
    RestoreFileRequestSerializer,
    RestoreQuerySerializer,
    RestoreRequestSerializer,
    RestoreResultSerializer,
)
from ledger.backup.validation import FIRST_DATA_ROW
from ledger.base.ledger_write import LockedLedger
from ledger.base.ownership import OwnedView
from ledger.base.request_keys import raise_if_answered
from ledger.errors import (
    BackupsBusyError,
    EmptyBackupError,
    InvalidBackupError,
    RestoreInProgressError,
    RestoreTimeoutError,
)
from ledger.models import OperationKind, RequestKey

SCHEMA_TAG = "Backup"
XLSX_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_IN_MEMORY_BYTES = 2**20


class RawJSONParser(BaseParser):
    """Passes a JSON body on as bytes, which a separate process parses."""

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


class RestoreView(OwnedView):
    """Base of both operations: a file, and the rows themselves."""

    schema_tag = SCHEMA_TAG
    # The file is read before the transaction begins.
    is_one_transaction = False
    operations = {"post": OperationKind.RESTORE}
    _keyed: KeyedRequest | None = None
    body_limits = {"post": MAX_MULTIPART_BYTES}
    raises = {
        "post": [
            ReauthenticationRequiredError,
            EmptyBackupError,
            InvalidBackupError,
            RestoreInProgressError,
            BackupsBusyError,
            RestoreTimeoutError,
        ],
    }

    def prepare(self, request: Request) -> None:
        if IDEMPOTENCY_KEY in request.headers:
            require_fresh_authentication_with_factor(request)
            self._keyed = self.read_key(request)
            if self._keyed:
                # Raises for a key of another request.
                RequestKey.find(self._keyed)
        super().prepare(request)

    def restore(
        self, data: bytes, *, dry_run: bool, keep_import_keys: bool
    ) -> Response:
        keyed = self._keyed
        if keyed and (known := RequestKey.find(keyed)):
            return known

        def describe(result: RestoreResult) -> dict[str, Any]:
            ignored = [name._asdict() for name in result.ignored]
            return {"dryRun": dry_run, **result.row_counts, "ignored": ignored}

        def keep_answer(_: LockedLedger, result: RestoreResult) -> None:
            if keyed:
                raise_if_answered(keyed)
                headers = {OPERATION_ID: self.operation_id}
                RequestKey.store(keyed, describe(result), headers=headers)

        try:
            result = restore_backup(
                self.member,
                data,
                timezone.now(),
                dry_run=dry_run,
                keep_import_keys=keep_import_keys,
                on_written=keep_answer,
            )
        except AlreadyAnsweredError as error:
            return error.response
        return Response(describe(result))


class RestoreBackupView(RestoreView):
    permission_classes = [IsPremium]
    # JSON as in version 1.0, outside the document.
    parser_classes = [LimitedMultiPartParser, RawJSONParser]

    @extend_schema(
        operation_id="restoreBackup",
        parameters=[RestoreQuerySerializer],
        request={"multipart/form-data": RestoreFileRequestSerializer},
        responses=RestoreResultSerializer,
    )
    def post(self, request: Request) -> Response:
        """Replace the ledger by a backup.

        The backup is validated first and restored in one transaction. The session of a
        member with a second factor must be fresh.

        - Stocks and trades are deleted and not restored; expected incomes are kept.
        - Budgets are restored for the current month: for each category the budget of
          this month, else of the latest month before it, else of the earliest one
          after it.
        - Recurring rules continue from `nextDate` and book the due dates of the last
          year; without that column they start today.
        - A sheet has at most 200,000 rows. Names of sheets and columns are not
          case-sensitive. Other sheets and columns are passed over and answered in
          `ignored`; a column whose name is near one that its sheet lacks is an error.

        400 `EMPTY_BACKUP` without rows, 400 `INVALID_BACKUP` for an invalid row, with
        sheet, row and column. 409 while another restore of the member runs, 503 if too
        many files are being parsed.
        """
        require_fresh_authentication_with_factor(request)
        query = validate_query(RestoreQuerySerializer, request)
        # A JSON body comes as bytes, a form with the file in it.
        data: Any = request.data
        if not isinstance(data, bytes):
            if isinstance(data, QueryDict) and len(data.getlist("file")) > 1:
                detail = gettext("The parameter must not be repeated.")
                raise InvalidFieldError("file", detail, REPEATED)
            data = validate_body(RestoreFileRequestSerializer, request)["file"].read()
        return self.restore(data, **query)


class RestoreBackupFromJsonView(RestoreView):
    permission_classes = [IsPremium]
    parser_classes = [RawJSONParser]

    @extend_schema(
        operation_id="restoreBackupFromJson",
        parameters=[RestoreQuerySerializer],
        request={"application/json": RestoreRequestSerializer},
        responses=RestoreResultSerializer,
    )
    def post(self, request: Request) -> Response:
        """Replace the ledger by the rows of a backup.

        As `restoreBackup`, but strict: an unknown name is an error. `field` of an error
        counts rows from 0, `row` from 2 as in a workbook.
        """
        require_fresh_authentication_with_factor(request)
        query = validate_query(RestoreQuerySerializer, request)
        try:
            # A body of no bytes is not parsed.
            data: Any = request.data or b""
            return self.restore(data, **query)
        except InvalidBackupError as error:
            raise count_rows_from_zero(error) from None


def count_rows_from_zero(error: InvalidBackupError) -> InvalidBackupError:
    """Return the error with the fields of a JSON body."""
    return InvalidBackupError(
        error.detail,
        errors=tuple(
            replace(each, field=_make_json_path(each.location))
            if each.location
            else each
            for each in error.errors
        ),
    )


def _make_json_path(location: Mapping[str, Any]) -> str:
    index = location["row"] - FIRST_DATA_ROW
    return ".".join(filter(None, (location["sheet"], str(index), location["column"])))
