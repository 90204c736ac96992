"""Base classes of the Django admin: fast with a million rows, and read-only pages."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.contrib.admin.utils import unquote
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.forms import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.functional import cached_property

# Lists are counted and paged up to here; rows behind it are found by searching.
MAX_COUNTED_ROWS = 10_000
# The lookups that Django's own list filters put into URLs.
ALLOWED_LOOKUPS = {"exact", "isnull", "gte", "lt"}
MAX_INLINE_ROWS = 20
# Large or secret columns of the member that lists with a member column do not show.
DEFERRED_MEMBER_FIELDS = ("member__profile_image", "member__password")


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    """A paginator that stops counting at `MAX_COUNTED_ROWS`."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:MAX_COUNTED_ROWS].count())


class AuditedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Writes and shows changes by the audit log of the admin site."""

    admin_site: Any

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self.admin_site.log_change(request, obj, ADDITION, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self.admin_site.log_change(request, obj, CHANGE, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for obj in queryset:
            self.admin_site.log_change(request, obj, DELETION, "")

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        url = self.admin_site.history_url(self.model, unquote(object_id))
        return HttpResponseRedirect(url)


class ListAdmin(AuditedAdmin):
    """A list without whole-table counts and without sorting by unindexed columns.

    Lookups are limited to those of the list's own filters, and selected rows to ids
    of the model's form, so that a crafted URL cannot start an expensive query.
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
        field, _, operator = lookup.partition("__")
        parameters = {getattr(each, "parameter_name", "") for each in self.list_filter}
        return lookup in parameters or (
            field in self.list_filter and operator in ALLOWED_LOOKUPS
        )

    def is_id(self, text: str) -> bool:
        """Return True if the text has the form of an id of the model."""
        return text.isascii() and text.isdigit()

    def response_action(
        self, request: HttpRequest, queryset: Any, *args: Any, **options: Any
    ) -> Any:
        selected = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not all(map(self.is_id, selected)):
            raise BadRequest("The selected ids are invalid.")
        return super().response_action(request, queryset, *args, **options)


class ReadOnlyAdminMixin:
    """No adding, changing or deleting: changes go through the service's own rules."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnlyAdminMixin, ListAdmin):
    """A read-only list with read-only pages."""


class NewestFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    """The first `MAX_INLINE_ROWS` rows in the inline's order."""

    @cached_property
    def newest(self) -> Any:
        return super().get_queryset()[:MAX_INLINE_ROWS]

    def get_queryset(self) -> Any:
        return self.newest


class NewestInline(ReadOnlyAdminMixin, admin.TabularInline):  # type: ignore[type-arg]
    """A read-only table of the newest rows that belong to the object."""

    formset = NewestFormSet
    extra = 0
    max_num = 0
    can_delete = False
