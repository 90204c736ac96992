"""The audit log."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import AuditLogEntry
from accounts.sessions.authentication import current_member
from administration.log import (
    LogFilter,
    filter_lines,
    list_lines,
    log_export,
    log_reading,
)
from administration.log_entries import describe_text
from administration.log_serializers import (
    LogEntrySerializer,
    LogFilterSerializer,
    LogPageSerializer,
    LogQuerySerializer,
)
from core.admin.columns import Column, text_column
from core.admin.export import csv_response, iterate_rows
from core.api.operations import extend_schema
from core.api.pagination import MAX_PAGE_SIZE, keyset_url
from core.api.permissions import IsAdministrator
from core.api.serializers import validate_query
from core.api.views import APIView

SCHEMA_TAG = "Log"
# The names of the fields of a line.
COLUMNS = (
    text_column("id", "id"),
    Column("at", "at", lambda line: line.at.isoformat()),
    text_column("actor_id", "actorId"),
    text_column("action", "action"),
    text_column("target_type", "targetType"),
    text_column("target_id", "targetId"),
    Column("text", "text", describe_text),
    text_column("request_id", "requestId"),
)
# Names of the query for the filter of a line about reading.
SENT_NAMES = {
    "target_type": "targetType",
    "target_id": "targetId",
    "start": "from",
    "end": "to",
}


class LogView(APIView):
    permission_classes = [IsAdministrator]
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="listLog",
        parameters=[LogQuerySerializer],
        responses=LogPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """List what administrators and moderators did.

        The newest first. Reading is a line of the log itself: one in an hour for the
        same filter, so that a walk through all pages adds one.
        """
        query = validate_query(LogQuerySerializer, request)
        before, size = query.pop("before", None), query.pop("size")
        lines, next_before = list_lines(
            LogFilter(**query), before=before, size=min(size, MAX_PAGE_SIZE)
        )
        log_reading(current_member(request), name_filter(query))
        return Response(
            {
                "results": LogEntrySerializer(lines, many=True).data,
                "next": keyset_url(request, "before", next_before),
            }
        )


class LogFileView(APIView):
    permission_classes = [IsAdministrator]
    schema_tag = SCHEMA_TAG

    @extend_schema(
        operation_id="downloadLog",
        parameters=[LogFilterSerializer],
        responses={
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.BINARY, "The file.")
        },
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Download the log as a CSV file.

        All lines that the filter finds, the newest first, in UTF-8 with a byte order
        mark. Cells that spreadsheets would run as a formula begin with an apostrophe.
        Each download is a line of the log, with its filter and the number of lines.
        """
        query = validate_query(LogFilterSerializer, request)
        lines = filter_lines(LogFilter(**query))
        log_export(
            current_member(request), AuditLogEntry, lines.count(), name_filter(query)
        )
        return csv_response("log", COLUMNS, iterate_rows(lines))


def name_filter(query: dict[str, Any]) -> dict[str, Any]:
    return {SENT_NAMES.get(name, name): value for name, value in query.items()}
