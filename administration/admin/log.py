"""The log of what administrators changed."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry

from administration.admin.lists import ReadOnlyAdmin


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
