"""Audit log in Django admin."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import AuditLogEntry
from administration.log_entries import (
    ACTIONS,
    TARGETS,
    describe_target,
    describe_text,
    link_to_target,
)
from core.admin.base import ReadOnlyAdmin
from core.admin.columns import (
    Column,
    badge_column,
    link_column,
    text_column,
    time_column,
)
from core.admin.filters import badge_filter

# Lookups in the URL of an object's history (`ServiceAdminSite.history_url`).
HISTORY_LOOKUPS = ("target_type", "target_id")
ACTOR = link_column(
    "actor", _("By"), "accounts_member", lambda e: e.actor_id, lambda e: e.actor_name
)
TARGET = Column("target", _("Name"), describe_target, get_html=link_to_target)
TARGET_TYPE = badge_column("target_type", _("Kind"), TARGETS)
ACTION = badge_column("action", _("Action"), ACTIONS)
AT = time_column("at", _("Time"), order="id")
TEXT = Column("text", _("Details"), describe_text)


@admin.register(AuditLogEntry)
class AuditLogEntryAdmin(ReadOnlyAdmin):
    list_display = [AT, ACTOR, ACTION, TARGET_TYPE, TARGET, TEXT]
    list_filter = [badge_filter("action", _("Action"), ACTIONS)]
    ordering = ["-id"]
    fields = [
        (AT, ACTOR, ACTION),
        (TARGET_TYPE, TARGET, text_column("target_id", _("Number"))),
        TEXT,
        text_column("request_id", _("Request")),
    ]
    export_columns = [*list_display, text_column("target_id", _("Number"))]

    def get_object_name(self, row: AuditLogEntry) -> str:
        return gettext("Log entry {id}").format(id=row.pk)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        is_history = lookup in HISTORY_LOOKUPS
        return is_history or super().lookup_allowed(lookup, value, request)
