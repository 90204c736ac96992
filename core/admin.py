"""Lists that stay quick with a million rows, and pages that only show."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.forms import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.functional import cached_property

MAX_COUNTED_ROWS = 10_000
"""As far as a list is counted, and its pages go; a search finds what is behind."""
ALLOWED_LOOKUPS = {"exact", "isnull", "gte", "lt"}
"""What Django's filters put behind the name of a field."""
MAX_INLINE_ROWS = 20
"""Rows of an inline."""
DEFERRED_MEMBER_FIELDS = ("member__profile_image", "member__password")
"""What a list that names members need not load."""


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts to `MAX_COUNTED_ROWS` and no further."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:MAX_COUNTED_ROWS].count())


class ListAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """No counts over whole tables, no sorting by what has no index.

    A list is filtered by its own filters only, and rows are chosen by numbers.
    """

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    list_max_show_all = 0
    sortable_by = ()

    class Media:
        css = {"all": ["administration/lists.css"]}

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        name, _, how = lookup.partition("__")
        own = {getattr(each, "parameter_name", "") for each in self.list_filter}
        return lookup in own or (name in self.list_filter and how in ALLOWED_LOOKUPS)

    def response_action(
        self, request: HttpRequest, queryset: Any, *args: Any, **options: Any
    ) -> Any:
        chosen = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not all(number.isascii() and number.isdigit() for number in chosen):
            raise BadRequest("What is chosen is no number.")
        return super().response_action(request, queryset, *args, **options)


class ReadOnlyAdminMixin:
    """To look at; what changes it goes through its own rules."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnlyAdminMixin, ListAdmin):
    """A list and its rows, to look at."""


class NewestFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """The first rows in the inline's order; a member may have thousands."""

    @cached_property
    def newest(self) -> Any:
        return super().get_queryset()[:MAX_INLINE_ROWS]

    def get_queryset(self) -> Any:
        return self.newest


class NewestInline(ReadOnlyAdminMixin, admin.TabularInline):  # type: ignore[type-arg]
    """The newest rows that belong to the object, to look at."""

    formset = NewestFormSet
    extra = 0
    max_num = 0
    can_delete = False
