"""Pages of lists: `count`, `next`, `previous` and `results` (spec 1.4)."""

from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

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
    """A requested page: `number` from 1, `size` rows."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    def slice_rows(self, rows: QuerySet[Row]) -> list[Row]:
        """Return the rows of the page."""
        return list(rows[self.offset : self.offset + self.size])


class UnorderedListError(TypeError):
    """A queryset without an order: its pages would repeat and skip rows."""


def get_page_request(request: Request) -> PageRequest:
    """Return the page of the query parameters `page` and `size` (spec 1.4)."""
    values = validate_query(PageQuerySerializer, request)
    if values["page"] > MAX_PAGE_NUMBER:
        raise NotFoundError(gettext("The page does not exist."))
    return PageRequest(values["page"], min(values["size"], MAX_PAGE_SIZE))


def page_payload(
    request: Request, page: PageRequest, count: int, results: Any
) -> dict[str, Any]:
    """Return the body of a page; raise `NotFoundError` after the last page."""
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
    request: Request, parameter: str, next_key: int | None, count: int, results: Any
) -> dict[str, Any]:
    """Return the body of a page in keyset pagination, with the key in `parameter`."""
    return {
        "count": count,
        "next": _url_with_parameter(request, parameter, next_key),
        "previous": None,
        "results": results,
    }


def open_page_payload(
    request: Request, parameter: str, next_key: str | None, results: Any
) -> dict[str, Any]:
    """Return the body of a page of a list that is not counted."""
    return {
        "count": None,
        "next": _url_with_parameter(request, parameter, next_key),
        "previous": None,
        "results": results,
    }


def paginate_queryset(
    queryset: QuerySet[Any], page: PageRequest
) -> tuple[int, list[Any]]:
    """Return the count and the rows of one page of an ordered queryset."""
    if not queryset.ordered:
        raise UnorderedListError(f"{queryset.model.__name__} queryset is not ordered.")
    return queryset.count(), page.slice_rows(queryset)


def _url_with_parameter(
    request: Request, name: str, value: int | str | None
) -> str | None:
    if value is None:
        return None
    query = request.query_params.dict() | {name: str(value)}
    return request.build_absolute_uri(f"{request.path}?{urlencode(query)}")
