"""Pages of lists (spec 1.4)."""

from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request

from core.api.public_urls import build_public_url
from core.api.serializers import QuerySerializer, validate_query
from core.errors import InvalidFieldError, NotFoundError

Row = TypeVar("Row", bound=Model)

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
MAX_PAGE_NUMBER = 10**9
MAX_ROW_ID = 2**63 - 1
# PostgreSQL reads all rows before a page by number. Where a list can be read by key,
# pages by number begin within so many rows, and `next` leads on by key.
MAX_PAGE_OFFSET = 20_000


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


class DayKey(NamedTuple):
    """The place of a row in a list by day and id."""

    day: date
    row_id: int

    def __str__(self) -> str:
        return f"{self.day.isoformat()}.{self.row_id}"

    @classmethod
    def parse(cls, text: str) -> "DayKey":
        """Read the key of a row, as `next` has it; raise `InvalidFieldError`."""
        day, _, row_id = text.partition(".")
        try:
            if not (row_id.isascii() and row_id.isdigit()):
                raise ValueError(row_id)
            return cls(date.fromisoformat(day), min(int(row_id), MAX_ROW_ID))
        except ValueError:
            detail = gettext("Must be a key that an answer gave.")
            raise InvalidFieldError("after", detail) from None


@dataclass(frozen=True, slots=True)
class PageRequest:
    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    def slice_rows(self, rows: QuerySet[Row]) -> list[Row]:
        return list(rows[self.offset : self.offset + self.size])

    @property
    def next_is_by_key(self) -> bool:
        return self.offset + self.size > MAX_PAGE_OFFSET

    def raise_if_too_deep(self) -> None:
        """Raise `NotFoundError` for a page that can be read by key only."""
        if self.offset > MAX_PAGE_OFFSET:
            detail = gettext("Pages by number end here; read on with `after`.")
            raise NotFoundError(detail)


class UnorderedListError(TypeError):
    """Pages of an unordered queryset would repeat and skip rows."""


def get_page_request(request: Request) -> PageRequest:
    values = validate_query(PageQuerySerializer, request)
    if values["page"] > MAX_PAGE_NUMBER:
        raise NotFoundError(gettext("The page does not exist."))
    return PageRequest(values["page"], min(values["size"], MAX_PAGE_SIZE))


def page_payload(
    request: Request,
    page: PageRequest,
    count: int,
    results: Any,
    next_key: DayKey | None = None,
) -> dict[str, Any]:
    """Return a page by number; `next_key` stands for a next page that is too deep."""
    # An empty list has a first page.
    if page.number > 1 and page.offset >= count:
        raise NotFoundError(gettext("The page does not exist."))
    next_number = page.number + 1 if page.offset + page.size < count else None
    previous_number = page.number - 1 if page.number > 1 else None
    next_url = keyset_url(request, "page", next_number)
    if next_number is not None and next_key is not None:
        next_url = keyset_url(request, "after", str(next_key))
    return {
        "count": count,
        "next": next_url,
        "previous": keyset_url(request, "page", previous_number),
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
        "next": keyset_url(request, parameter, next_key),
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


def keyset_url(request: Request, name: str, value: int | str | None) -> str | None:
    """Return the URL of the request with another parameter; None without a value."""
    if value is None:
        return None
    query = request.query_params.dict() | {name: str(value)}
    if name == "after":
        query.pop("page", None)
    return build_public_url(request, f"{request.path_info}?{urlencode(query)}")
