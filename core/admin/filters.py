"""Filters of lists."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core.admin.columns import Badges, Text

YES_NO = ((1, _("Yes")), (0, _("No")))


class ChoiceFilter(admin.SimpleListFilter):
    title = ""
    parameter_name = ""
    choices_: Iterable[tuple[object, Text]] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        return [(str(value), text) for value, text in self.choices_]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        if value is None:
            return queryset
        # Another value would fail in the database, or find nothing.
        if value not in {str(each) for each, _ in self.choices_}:
            raise IncorrectLookupParameters
        return queryset.filter(**{self.parameter_name: value})


def choice_filter(
    field: str, title: Text, choices: Iterable[tuple[object, Text]]
) -> type[ChoiceFilter]:
    attributes = {
        "title": title,
        "parameter_name": f"{field}__exact",
        "choices_": tuple(choices),
    }
    return type(f"{field.title()}Filter", (ChoiceFilter,), attributes)


def badge_filter(field: str, title: Text, badges: Badges) -> type[ChoiceFilter]:
    return choice_filter(field, title, [(v, text) for v, (text, _) in badges.items()])


class TitledDateFilter(admin.DateFieldListFilter):
    title_: Text = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = str(self.title_)


def date_filter(field: str, title: Text) -> tuple[str, type[TitledDateFilter]]:
    return field, type(f"{field.title()}Filter", (TitledDateFilter,), {"title_": title})
