"""Pages of lists (spec 1.4)."""

from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from core.api.public_urls import build_public_url
from core.api.serializers import QuerySerializer, validate_query
from core.errors import NotFoundError

Row = TypeVar("Row", bound=Model)

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
MAX_PAGE_NUMBER = 10**9


class PageQuerySerializer(QuerySerializer):
    page = serializers.IntegerField(
        min_value=1,
        default=1,
        help_text="Number of the page, from 1; a page after the last one is 404.",
    )
    size = serializers.IntegerField(
        min_value=1,
        default=DEFAULT_PAGE_SIZE,
        help_text=f"Rows on a page, at most {MAX_PAGE_SIZE}.",
    )


@dataclass(frozen=True, slots=True)
class PageRequest:
    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    def slice_rows(self, rows: QuerySet[Row]) -> list[Row]:
        return list(rows[self.offset : self.offset + self.size])


class UnorderedListError(TypeError):
    """Pages of an unordered queryset would repeat and skip rows."""


def get_page_request(request: Request) -> PageRequest:
    values = validate_query(PageQuerySerializer, request)
    if values["page"] > MAX_PAGE_NUMBER:
        raise NotFoundError(gettext("The page does not exist."))
    return PageRequest(values["page"], min(values["size"], MAX_PAGE_SIZE))


def page_payload(
    request: Request, page: PageRequest, count: int, results: Any
) -> dict[str, Any]:
    # An empty list has a first page.
    if page.number > 1 and page.offset >= count:
        raise NotFoundError(gettext("The page does not exist."))
    next_number = page.number + 1 if page.offset + page.size < count else None
    previous_number = page.number - 1 if page.number > 1 else None
    return {
        "count": count,
        "next": _url_with_parameter(request, "page", next_number),
        "previous": _url_with_parameter(request, "page", previous_number),
        "results": results,
    }


def keyset_page_payload(
    request: Request,
    parameter: str,
    next_key: int | str | None,
    count: int | None,
    results: Any,
) -> dict[str, Any]:
    return {
        "count": count,
        "next": _url_with_parameter(request, parameter, next_key),
        "previous": None,
        "results": results,
    }


def open_page_payload(
    request: Request, parameter: str, next_key: str | None, results: Any
) -> dict[str, Any]:
    """Omit the count."""
    return keyset_page_payload(request, parameter, next_key, None, results)


def paginate_queryset(
    queryset: QuerySet[Any], page: PageRequest
) -> tuple[int, list[Any]]:
    if not queryset.ordered:
        raise UnorderedListError(f"{queryset.model.__name__} queryset is not ordered.")
    return queryset.count(), page.slice_rows(queryset)


def _url_with_parameter(
    request: Request, name: str, value: int | str | None
) -> str | None:
    if value is None:
        return None
    query = request.query_params.dict() | {name: str(value)}
    return build_public_url(request, f"{request.path_info}?{urlencode(query)}")
