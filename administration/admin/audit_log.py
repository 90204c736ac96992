"""Audit log of administrators in Django admin."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest

from core.admin import ReadOnlyAdmin


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    list_display = ["action_time", "user", "action_flag", "content_type", "object_repr"]
    list_filter = ["action_flag"]
    list_select_related = ["user", "content_type"]
    ordering = ["-id"]
    fields = [
        "action_time",
        "user",
        "action_flag",
        "content_type",
        "object_id",
        "object_repr",
        "change_message",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[LogEntry]:
        rows: QuerySet[LogEntry] = super().get_queryset(request)
        return rows.defer("user__profile_image", "user__password")
