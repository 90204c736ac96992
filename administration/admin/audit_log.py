"""Audit log in Django admin."""

import re
from datetime import date
from http import HTTPStatus
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.identifiers import normalize_identifier
from accounts.models import AuditLogEntry
from administration.log import LogFilter, list_day_conditions, log_reading
from administration.log_entries import (
    ACTIONS,
    TARGETS,
    describe_target,
    describe_text,
    link_to_target,
)
from core.admin.actions import get_actor
from core.admin.base import ReadOnlyAdmin
from core.admin.columns import (
    Column,
    badge_column,
    link_column,
    text_column,
    time_column,
)
from core.admin.filters import badge_filter, date_filter
from core.admin.places import list_filters

ISO_DAY_RE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Of an id.
MAX_DIGITS = 18
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
    list_filter = [
        badge_filter("action", _("Action"), ACTIONS),
        badge_filter("target_type", _("Kind"), TARGETS),
        date_filter("at", _("Time")),
    ]
    # Django shows the field; `get_search_results` searches.
    search_fields = ["actor_name"]
    search_help_text = _(
        "Login ID of who did it, number of who did it or of what was changed, or a day "
        "such as 2026-11-28."
    )
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

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AuditLogEntry], search_term: str
    ) -> tuple[QuerySet[AuditLogEntry], bool]:
        for word in search_term.split():
            queryset = queryset.filter(word_condition(word))
        return queryset, False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        response = super().changelist_view(request, extra_context)
        # A filter that does not exist is refused, and reads nothing.
        if response.status_code == HTTPStatus.OK:
            log_reading(get_actor(request), list_filters(request))
        return response

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        is_history = lookup in HISTORY_LOOKUPS
        return is_history or super().lookup_allowed(lookup, value, request)


def word_condition(word: str) -> Q:
    """Match lines of a day, or of an actor or target; each by an index."""
    if (day := parse_day(word)) is not None:
        filters = LogFilter(start=day, end=day)
        return Q(**list_day_conditions(filters))
    condition = Q(actor_name__in={word, normalize_identifier(word)}) | Q(target_id=word)
    if word.isascii() and word.isdigit() and len(word) <= MAX_DIGITS:
        condition |= Q(actor_id=int(word))
    return condition


def parse_day(word: str) -> date | None:
    try:
        return date.fromisoformat(word) if ISO_DAY_RE.fullmatch(word) else None
    except ValueError:
        return None
