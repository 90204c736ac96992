"""Django admin of the default categories, as an ordered tree."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import F
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.models import Member
from core.admin.base import AuditedAdmin
from core.admin.columns import Badges, badge_column, text_column
from core.admin.filters import badge_filter
from core.admin.places import add_list_query, read_list_query
from core.errors import DomainError
from ledger.categories import defaults as default_categories
from ledger.categories.defaults import DOWN, UP
from ledger.categories.tree import validate_parent
from ledger.models import DefaultCategory

FIELDS = ("type", "parent", "name", "name_en", "icon", "color")
MOVE_STEPS = {"up": UP, "down": DOWN}
TYPES: Badges = {
    DefaultCategory.Type.EXPENSE: (_("Expense"), ""),
    DefaultCategory.Type.INCOME: (_("Income"), "good"),
}
TYPE = badge_column("type", _("Type"), TYPES)
NAME_EN = text_column("name_en", _("Name in English"))
LABELS = {
    "type": _("Type"),
    "parent": _("Above it"),
    "name": _("Name"),
    "name_en": _("Name in English"),
    "icon": _("Icon"),
    "color": _("Colour"),
}


class DefaultCategoryForm(forms.ModelForm):  # type: ignore[type-arg]
    """The rules of the API; their errors become errors of the form."""

    class Meta:
        model = DefaultCategory
        fields = FIELDS
        labels = LABELS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "type" in self.fields:
            cast("Any", self.fields["type"]).choices = [
                (value, text) for value, (text, _tone) in TYPES.items()
            ]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if {"type", "parent"} <= set(values):
            category = DefaultCategory(
                pk=self.instance.pk, type=values["type"], parent=values["parent"]
            )
            try:
                validate_parent(category)
            except DomainError as error:
                raise ValidationError(str(error.detail)) from error
        return values


@admin.register(DefaultCategory)
class DefaultCategoryAdmin(AuditedAdmin):
    form = DefaultCategoryForm
    fields = FIELDS
    list_display = ["in_tree", NAME_EN, TYPE, "order"]
    list_display_links = ["in_tree"]
    list_filter = [badge_filter("type", _("Type"), TYPES)]
    list_per_page = 1000
    sortable_by = ()
    show_facets = admin.ShowFacets.NEVER
    actions = None
    ordering = [
        "type",
        Coalesce("parent__sort_order", "sort_order"),
        Coalesce("parent_id", "id"),
        F("parent_id").asc(nulls_first=True),
        "sort_order",
        "id",
    ]

    @admin.display(description=_("Name"))
    def in_tree(self, category: DefaultCategory) -> SafeString:
        kind = "minor" if category.parent_id else "major"
        return format_html('<span class="{}">{}</span>', kind, category.name)

    @admin.display(description=_("Position"))
    def order(self, category: DefaultCategory) -> SafeString:
        up_url, down_url = (
            reverse("admin:ledger_defaultcategory_move", args=[category.pk, direction])
            for direction in MOVE_STEPS
        )
        return format_html(
            '<button type="submit" class="move" formaction="{}" id="{}" '
            'aria-label="{}">▲</button> '
            '<button type="submit" class="move" formaction="{}" id="{}" '
            'aria-label="{}">▼</button>',
            up_url,
            _button_id(category.pk, "up"),
            gettext("Move {name} up").format(name=category.name),
            down_url,
            _button_id(category.pk, "down"),
            gettext("Move {name} down").format(name=category.name),
        )

    def get_urls(self) -> list[URLPattern]:
        move = path(
            "<int:category_id>/move/<str:direction>",
            self.admin_site.admin_view(require_POST(self.move)),
            name="ledger_defaultcategory_move",
        )
        return [move, *super().get_urls()]

    def move(
        self, request: HttpRequest, category_id: int, direction: str
    ) -> HttpResponse:
        if not self.has_change_permission(request):
            raise PermissionDenied
        try:
            step = MOVE_STEPS.get(direction, UP)
            default_categories.move_default_category(_actor(request), category_id, step)
        except DomainError as error:
            messages.error(request, str(error.detail))
        # The browser scrolls to the pressed button in its new place, and focuses it.
        place = _button_id(category_id, direction)
        return HttpResponseRedirect(f"{_changelist_url(request)}#{place}")

    def save_model(
        self, request: HttpRequest, obj: DefaultCategory, form: Any, change: bool
    ) -> None:
        values = {name: form.cleaned_data[name] for name in FIELDS}
        if change:
            saved = default_categories.update_default_category(
                _actor(request), obj.pk, values
            )
        else:
            saved = default_categories.create_default_category(_actor(request), values)
        obj.__dict__.update(saved.__dict__)

    def delete_model(self, request: HttpRequest, obj: DefaultCategory) -> None:
        default_categories.delete_default_category(_actor(request), obj.pk)

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        return _show_domain_errors(request, super().changeform_view, *args, **options)

    def delete_view(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        return _show_domain_errors(request, super().delete_view, *args, **options)

    # `default_categories` writes the audit log, for the API too.
    def log_addition(self, *_: Any) -> Any:
        """Do nothing."""

    def log_change(self, *_: Any) -> Any:
        """Do nothing."""

    def log_deletions(self, *_: Any) -> Any:
        """Do nothing."""


def _show_domain_errors(
    request: HttpRequest, view: Any, *args: Any, **options: Any
) -> Any:
    """Show a `DomainError` as a message.

    The form checks the same rules, but a concurrent change can still violate them.
    """
    try:
        return view(request, *args, **options)
    except DomainError as error:
        messages.error(request, str(error.detail))
        return HttpResponseRedirect(_changelist_url(request))


def _button_id(category_id: int, direction: str) -> str:
    return (
        f"move-{'up' if MOVE_STEPS.get(direction, UP) == UP else 'down'}-{category_id}"
    )


def _actor(request: HttpRequest) -> Member:
    return cast("Member", request.user)


def _changelist_url(request: HttpRequest) -> str:
    """Return the address of the list, as it was when the request left it."""
    url = reverse("admin:ledger_defaultcategory_changelist")
    return add_list_query(url, read_list_query(request, is_list=False))
