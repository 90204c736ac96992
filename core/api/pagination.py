"""The one page class of lists that grow: `count`, `next`, `previous`, `results`."""

from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from core.api.serializers import QuerySerializer, validate_query
from core.errors import NotFoundError

Row = TypeVar("Row", bound=Model)

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
MAX_PAGE_NUMBER = 10**9


class PageQuerySerializer(QuerySerializer):
    page = serializers.IntegerField(min_value=1, default=1)
    size = serializers.IntegerField(
        min_value=1,
        default=DEFAULT_PAGE_SIZE,
        help_text=f"Rows on a page, at most {MAX_PAGE_SIZE}.",
    )


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which part of a list is asked for: `number` from 1, `size` rows."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    def slice_rows(self, rows: QuerySet[Row]) -> list[Row]:
        """The rows of this page."""
        return list(rows[self.offset : self.offset + self.size])


class UnorderedListError(TypeError):
    """A list without an order would repeat and skip rows between pages."""


def get_page_request(request: Request) -> PageRequest:
    """`page` from 1 and `size`, default 20, at most 100 (spec 1.4)."""
    values = validate_query(PageQuerySerializer, request)
    if values["page"] > MAX_PAGE_NUMBER:
        raise NotFoundError("There is no such page.")
    return PageRequest(values["page"], min(values["size"], MAX_PAGE_SIZE))


def page_payload(
    request: Request, page: PageRequest, count: int, results: Any
) -> dict[str, Any]:
    """The answer; a page past the end is 404, an empty first page is not."""
    if page.number > 1 and page.offset >= count:
        raise NotFoundError("There is no such page.")
    after = page.number + 1 if page.offset + page.size < count else None
    before = page.number - 1 if page.number > 1 else None
    return {
        "count": count,
        "next": _url_with_parameter(request, "page", after),
        "previous": _url_with_parameter(request, "page", before),
        "results": results,
    }


def keyset_page_payload(
    request: Request, name: str, following: int | None, count: int, results: Any
) -> dict[str, Any]:
    """The answer of a list that is read by key: `next` alone leads on, by `name`."""
    return {
        "count": count,
        "next": _url_with_parameter(request, name, following),
        "previous": None,
        "results": results,
    }


def paginate_queryset(
    queryset: QuerySet[Any], page: PageRequest
) -> tuple[int, list[Any]]:
    """The count and the rows of one page of an ordered queryset."""
    if not queryset.ordered:
        raise UnorderedListError(f"{queryset.model.__name__} list without an order")
    return queryset.count(), page.slice_rows(queryset)


def _url_with_parameter(request: Request, name: str, number: int | None) -> str | None:
    if number is None:
        return None
    query = request.query_params.dict() | {name: str(number)}
    return request.build_absolute_uri(f"{request.path}?{urlencode(query)}")
