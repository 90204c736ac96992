"""Exports."""

import tempfile
from datetime import timedelta

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request

from accounts.errors import ReauthenticationRequiredError
from accounts.login.fresh import require_fresh_authentication_with_factor
from accounts.security.rate_limits import RateLimitPolicy
from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_query
from core.errors import NotFoundError, RateLimitedError
from ledger.backup.concurrency_limits import export_slot
from ledger.base.ownership import OwnedView, get_owned_or_404
from ledger.errors import BackupsBusyError
from ledger.export.export import FORMATS, export_filename, write_export
from ledger.export.scope import Export, Scope
from ledger.export.serializers import ExportQuerySerializer
from ledger.models import Wallet

MAX_IN_MEMORY_BYTES = 2**20
# It reads all rows of a ledger.
EXPORTS = RateLimitPolicy("ledger-export", 12, timedelta(hours=1))


class ExportView(OwnedView):
    permission_classes = [IsMember]
    schema_tag = "Export"
    raises = {
        "get": [
            ReauthenticationRequiredError,
            NotFoundError,
            RateLimitedError,
            BackupsBusyError,
        ],
    }

    @extend_schema(
        operation_id="exportLedger",
        parameters=[ExportQuerySerializer],
        responses={
            (200, each.media_type): OpenApiResponse(OpenApiTypes.BINARY, "The file.")
            for each in FORMATS.values()
        },
    )
    def get(self, request: Request) -> FileResponse:
        """Export the ledger.

        Open to every member, whatever the plan, and without personal tokens. The
        session of a member with a second factor must be fresh. 12 an hour; 503 while
        too many others are being written.

        - `json` is the whole ledger with all that a backup lacks. It is refused with
          `from`, `to` and `walletId`.
        - `csv` and `xlsx` are to be read by people. Text that a spreadsheet would run
          as a formula begins with an apostrophe. In `xlsx`, `from`, `to` and
          `walletId` choose entries and their lines; other sheets are whole.
        - `beancount` and `hledger` assert the balance of each wallet at the end.
          Entries before `from` are summed into opening balances, and with `walletId`
          that wallet alone is asserted. Pending entries are left out.
        """
        require_fresh_authentication_with_factor(request)
        query = validate_query(ExportQuerySerializer, request)
        scope = Scope(query.get("from_"), query.get("to"), query.get("wallet_id"))
        if scope.wallet_id is not None:
            get_owned_or_404(Wallet.objects.all(), self.member, scope.wallet_id)
        name, now = query["format"], timezone.now()
        with export_slot():
            EXPORTS.consume(str(self.member.pk))
            file = tempfile.SpooledTemporaryFile(MAX_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by the response
            try:
                write_export(name, Export(self.member, scope, now), file)
            except BaseException:
                file.close()
                raise
        file.seek(0)
        return FileResponse(
            file,
            as_attachment=True,
            filename=export_filename(name, timezone.localdate(now)),
            content_type=FORMATS[name].content_type,
        )
