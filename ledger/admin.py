"""Default categories in Django admin: an ordered tree."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import F
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from accounts.models import Member
from core.errors import DomainError
from ledger import default_categories
from ledger.category_tree import validate_parent
from ledger.default_categories import DOWN, UP
from ledger.models import DefaultCategory

FIELDS = ("type", "parent", "name", "name_en")
MOVE_STEPS = {"up": UP, "down": DOWN}


class DefaultCategoryForm(forms.ModelForm):  # type: ignore[type-arg]
    """The same rules as the API's; a refusal shows as a form error."""

    class Meta:
        model = DefaultCategory
        fields = FIELDS

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if {"type", "parent"} <= set(values):
            place = {"type": values["type"], "parent": values["parent"]}
            try:
                validate_parent(DefaultCategory(pk=self.instance.pk, **place))
            except DomainError as refusal:
                raise ValidationError(refusal.detail) from refusal
        return values


@admin.register(DefaultCategory)
class DefaultCategoryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Minor categories stand under their major one; buttons change the order."""

    form = DefaultCategoryForm
    fields = FIELDS
    list_display = ["in_tree", "name_en", "type", "order"]
    list_display_links = ["in_tree"]
    list_filter = ["type"]
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

    class Media:
        css = {"all": ["administration/tree.css"]}

    @admin.display(description="name")
    def in_tree(self, category: DefaultCategory) -> SafeString:
        kind = "minor" if category.parent_id else "major"
        return format_html('<span class="{}">{}</span>', kind, category.name)

    @admin.display(description="order")
    def order(self, category: DefaultCategory) -> SafeString:
        addresses = [
            reverse(
                "admin:ledger_defaultcategory_move", args=[category.pk, way]
            )
            for way in MOVE_STEPS
        ]
        return format_html(
            '<button type="submit" class="move" formaction="{}" '
            'aria-label="Move {} up">▲</button> '
            '<button type="submit" class="move" formaction="{}" '
            'aria-label="Move {} down">▼</button>',
            addresses[0],
            category.name,
            addresses[1],
            category.name,
        )

    def get_urls(self) -> list[URLPattern]:
        move = path(
            "<int:category_id>/move/<str:way>",
            self.admin_site.admin_view(require_POST(self.move)),
            name="ledger_defaultcategory_move",
        )
        return [move, *super().get_urls()]

    def move(self, request: HttpRequest, category_id: int, way: str) -> HttpResponse:
        """One place up or down among the siblings."""
        try:
            step = MOVE_STEPS.get(way, UP)
            default_categories.move_default_category(_actor(request), category_id, step)
        except DomainError as refusal:
            messages.error(request, refusal.detail)
        return HttpResponseRedirect(_changelist_url())

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

    def log_addition(self, *_: Any) -> Any:
        """Nothing: the functions that change a category log it, for the API too."""

    def log_change(self, *_: Any) -> Any:
        """Nothing, for the same reason."""

    def log_deletions(self, *_: Any) -> Any:
        """Nothing, for the same reason."""


def _show_domain_errors(
    request: HttpRequest, view: Any, *args: Any, **options: Any
) -> Any:
    """A refusal that came between the form and the database."""
    try:
        return view(request, *args, **options)
    except DomainError as refusal:
        messages.error(request, refusal.detail)
        return HttpResponseRedirect(_changelist_url())


def _actor(request: HttpRequest) -> Member:
    return cast("Member", request.user)


def _changelist_url() -> str:
    return reverse("admin:ledger_defaultcategory_changelist")
