"""Audit log of administrators in Django admin."""

from django.contrib import admin
from django.http import HttpRequest

from accounts.models import AuditLogEntry
from core.admin import ReadOnlyAdmin

# The lookups in the address of an object's history (`ServiceAdminSite.history_url`).
HISTORY_LOOKUPS = ("target_type", "target_id")


@admin.register(AuditLogEntry)
class AuditLogEntryAdmin(ReadOnlyAdmin):
    """All entries, newest first, or those of one object."""

    list_display = ["at", "actor_name", "action", "target_type", "target_label", "text"]
    list_filter = ["action"]
    ordering = ["-id"]
    fields = [
        "at",
        ("actor_name", "actor_id"),
        "action",
        ("target_type", "target_id"),
        "target_label",
        "text",
        "request_id",
    ]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        is_history = lookup in HISTORY_LOOKUPS
        return is_history or super().lookup_allowed(lookup, value, request)
