"""Fast lists and read-only pages."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import ADDITION, CHANGE, DELETION
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.contrib.admin.views.main import ERROR_FLAG
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.forms import BaseInlineFormSet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.functional import cached_property
from django.utils.text import capfirst

from core.admin.columns import Column, Text
from core.admin.export import csv_response, iterate_rows

# Later rows are found by searching.
MAX_COUNTED_ROWS = 10_000
ALLOWED_LOOKUPS = {"exact", "isnull", "gte", "lt"}
MAX_INLINE_ROWS = 20
# Large or secret columns.
DEFERRED_MEMBER_FIELDS = ("member__profile_image", "member__password")


class CappedPaginator(Paginator):  # type: ignore[type-arg]
    @cached_property
    def count(self) -> int:
        return min(self._found, MAX_COUNTED_ROWS)

    @property
    def exceeds_actions(self) -> bool:
        """Return whether there are more rows than one action takes."""
        is_full = self.count == MAX_COUNTED_ROWS and self._found > MAX_COUNTED_ROWS
        return is_full or self.count > MAX_COUNTED_ROWS

    @property
    def max_count(self) -> int:
        return MAX_COUNTED_ROWS

    @cached_property
    def _found(self) -> int:
        rows: Any = self.object_list
        return int(rows[: MAX_COUNTED_ROWS + 1].count())


class AuditedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    admin_site: Any
    # Django's types do not allow `Column` objects everywhere.
    list_display: Any = ("__str__",)
    fields: ClassVar[Any] = None

    def get_object_name(self, row: Any) -> str:
        return str(row)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(
            request, {"title": title, **(extra_context or {})}
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        if (original := context["original"]) is not None:
            name = self.get_object_name(original)
            context |= {"title": name, "subtitle": None, "object_name": name}
        return super().render_change_form(request, context, *args, **options)

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

    Lookups are limited to the list's filters: a crafted URL starts no expensive query.
    """

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    list_max_show_all = 0
    # Without columns there is no export.
    export_columns: Any = ()

    def get_sortable_by(self, request: HttpRequest) -> list[Any]:
        return [
            column
            for column in self.get_list_display(request)
            if isinstance(column, Column) and column.admin_order_field
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        fields = flatten_fieldsets(self.get_fieldsets(request, obj))
        columns = [name for name in fields if isinstance(name, Column)]
        return [*columns, *self.readonly_fields]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        field, _, operator = lookup.partition("__")
        parameters = {getattr(each, "parameter_name", "") for each in self.list_filter}
        fields = {
            each[0] if isinstance(each, tuple) else each for each in self.list_filter
        }
        return lookup in parameters or (field in fields and operator in ALLOWED_LOOKUPS)

    def is_id(self, text: str) -> bool:
        return text.isascii() and text.isdigit()

    def response_action(
        self, request: HttpRequest, queryset: Any, *args: Any, **options: Any
    ) -> Any:
        selected = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not all(map(self.is_id, selected)):
            raise BadRequest("The selected ids are invalid.")
        return super().response_action(request, queryset, *args, **options)

    def get_urls(self) -> list[URLPattern]:
        if not self.export_columns:
            return super().get_urls()
        export = path(
            "export/",
            self.admin_site.admin_view(self.export_view),
            name=self.view_name("export"),
        )
        return [export, *super().get_urls()]

    def get_inline_formsets(
        self, request: HttpRequest, formsets: Any, inlines: Any, obj: Any = None
    ) -> Any:
        found = super().get_inline_formsets(request, formsets, inlines, obj)
        for each in found:
            if isinstance(each.opts, NewestInline):
                each.all_query = each.opts.get_all_query(obj)
        return found

    def get_list_url(self) -> str:
        return reverse(f"admin:{self.view_name('changelist')}")

    def view_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def export_view(self, request: HttpRequest) -> Any:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        try:
            rows = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:
            return HttpResponseRedirect(f"{self.get_list_url()}?{ERROR_FLAG}=1")
        self.admin_site.log_export(request, self.model, rows)
        return csv_response(
            str(self.opts.model_name), self.export_columns, iterate_rows(rows)
        )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        context = dict(extra_context or {})
        if self.export_columns:
            query = request.GET.copy()
            for name in ("p", "o", ERROR_FLAG):
                query.pop(name, None)
            url = reverse(f"admin:{self.view_name('export')}")
            context["export_url"] = f"{url}?{query.urlencode()}" if query else url
        return super().changelist_view(request, context)


class ReadOnlyAdminMixin:
    """Refuse all changes: the service's own rules make them."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnlyAdminMixin, ListAdmin):
    """A read-only list."""


class NewestFormSet(BaseInlineFormSet):  # type: ignore[type-arg]
    @cached_property
    def newest(self) -> Any:
        return super().get_queryset()[:MAX_INLINE_ROWS]

    def get_queryset(self) -> Any:
        return self.newest


class NewestInline(ReadOnlyAdminMixin, admin.TabularInline):  # type: ignore[type-arg]
    template = "admin/newest_inline.html"
    formset = NewestFormSet
    extra = 0
    max_num = 0
    can_delete = False
    columns: Sequence[Column] = ()
    all_label: Text = ""

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.columns

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.columns

    def get_all_query(self, obj: Any) -> str:
        return ""
