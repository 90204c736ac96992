"""Filters of lists, with labels in plain words."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core.admin.columns import Badges, Text

YES_NO = ((1, _("Yes")), (0, _("No")))


class ChoiceFilter(admin.SimpleListFilter):
    """A filter by one of a few values of a field; without a query for them."""

    title = ""
    parameter_name = ""
    choices_: Iterable[tuple[object, Text]] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        return [(str(value), text) for value, text in self.choices_]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None:
            return queryset
        return queryset.filter(**{self.parameter_name: value})


def choice_filter(
    field: str, title: Text, choices: Iterable[tuple[object, Text]]
) -> type[ChoiceFilter]:
    """Return the filter of a field whose addresses are `?field__exact=value`."""
    attributes = {
        "title": title,
        "parameter_name": f"{field}__exact",
        "choices_": tuple(choices),
    }
    return type(f"{field.title()}Filter", (ChoiceFilter,), attributes)


def badge_filter(field: str, title: Text, badges: Badges) -> type[ChoiceFilter]:
    """Return the filter of a field that the list shows as badges."""
    return choice_filter(field, title, [(v, text) for v, (text, _) in badges.items()])


class TitledDateFilter(admin.DateFieldListFilter):
    """Django's filter by days, with a title of ours."""

    title_: Text = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = str(self.title_)


def date_filter(field: str, title: Text) -> tuple[str, type[TitledDateFilter]]:
    """Return the filter of a moment: today, the last 7 days, this month, this year."""
    return field, type(f"{field.title()}Filter", (TitledDateFilter,), {"title_": title})
