"""Refuse unknown names in bodies and queries (spec 1.3).

A name that an operation does not know is an error with the code `unknown`, except:

- Fields of the answer of a resource may be sent back: read-only fields of its
  serializer, and fields of `Serializer.answer`.
- The views of `OPEN_VIEWS` take any name.
- `ledger.backup` reads sheets and columns of a workbook.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.utils.translation import gettext
from rest_framework.request import Request

from core.api.operations import (
    get_handler,
    has_body,
    list_body_fields,
    list_parameters,
)
from core.errors import DomainError, FieldError

UNKNOWN, REPEATED = "unknown", "repeated"

_FROM_OTHERS = "The sender chooses the names."
_IMAGE = "Addresses of images are shared, and get parameters on the way."
_PROBE = "Probes and scrapers add parameters of their own."
_PAGE = "Links to pages get parameters on the way."
# Views that take any name, and why.
OPEN_VIEWS: Mapping[str, str] = {
    "billing.views.StoreNotificationView": _FROM_OTHERS,
    "accounts.profile.avatar_views.AvatarView": _IMAGE,
    "board.views.images.ImageView": _IMAGE,
    "core.health.HealthView": _PROBE,
    "core.health.LivenessView": _PROBE,
    "administration.metrics_view.MetricsView": _PROBE,
    "core.api.openapi_view.OpenApiSchemaView": _PAGE,
    "core.api.openapi_view.DocumentationView": _PAGE,
    "core.api.openapi_view.TryOutView": _PAGE,
    "administration.views.landing.LandingView": _PAGE,
    "administration.views.favicon.FaviconView": _IMAGE,
    "accounts.codes.deletion_page.DeleteAccountPage": _PAGE,
    "accounts.codes.pages.ConfirmEmailPage": _PAGE,
    "accounts.legal.pages.LegalDocumentPage": _PAGE,
    "accounts.codes.pages.ResetPasswordPage": _PAGE,
    "board.outside_reports.pages.OutsideReportPage": _PAGE,
}

MAX_REPORTED_NAMES = 20
MAX_SHOWN_LENGTH = 100

MAX_DISTANCE, MAX_DISTANCE_OF_SHORT_NAMES = 2, 1
LONG_NAME_LENGTH = 5

JSON_MEDIA_TYPE = "application/json"
METHODS_WITH_CONTENT = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_IGNORED_BY_SIMILARITY = str.maketrans("", "", "_-")


class UnknownCode(str):
    """DRF passes on only texts and codes."""

    __slots__ = ("suggestion",)

    suggestion: str | None

    def __new__(cls, suggestion: str | None) -> "UnknownCode":
        code = super().__new__(cls, UNKNOWN)
        code.suggestion = suggestion
        return code


def is_open(view_class: type) -> bool:
    return f"{view_class.__module__}.{view_class.__qualname__}" in OPEN_VIEWS


def raise_for_unknown_names(view: Any, request: Request) -> None:
    """Raise `DomainError` for unknown parameters.

    Serializers check the fields of a body; an operation without body knows none.
    """
    query, method = request.META.get("QUERY_STRING"), request.method
    is_body_unknown = method in METHODS_WITH_CONTENT and not has_body(view, request)
    if not query and not is_body_unknown:
        return
    if is_open(type(view)) or get_handler(view, request) is None:
        return
    errors: list[FieldError] = []
    if query:
        errors += _list_parameter_errors(view, request)
    if is_body_unknown:
        errors += _list_body_errors(view, request)
    if errors:
        raise DomainError(errors=tuple(errors))


def _list_parameter_errors(view: Any, request: Request) -> Iterator[FieldError]:
    known = list_parameters(view, request)
    fields = list_body_fields(view, request)
    sent = request.query_params
    unknown = (name for name in sent if name not in known)
    for name in islice(unknown, MAX_REPORTED_NAMES):
        suggestion = find_suggestion(name, known, fields)
        text = describe_unknown_name(suggestion, "" if suggestion in known else "body")
        yield FieldError(show_name(name), text, UNKNOWN, suggestion=suggestion)
    for name in known:
        if len(sent.getlist(name)) > 1:
            yield FieldError(
                name, gettext("The parameter must not be repeated."), REPEATED
            )


def _list_body_errors(view: Any, request: Request) -> Iterator[FieldError]:
    media_type = (request.content_type or "").partition(";")[0].strip().lower()
    if media_type != JSON_MEDIA_TYPE or not isinstance(request.data, Mapping):
        return
    parameters = list_parameters(view, request)
    for name in islice(request.data, MAX_REPORTED_NAMES):
        suggestion = find_suggestion(name, (), parameters)
        text = describe_unknown_name(suggestion, "query")
        yield FieldError(show_name(name), text, UNKNOWN, suggestion=suggestion)


def describe_unknown_name(suggestion: str | None, place: str) -> str:
    """Name the `place`, "query" or "body", if the name is known only there."""
    if suggestion is None:
        return gettext("This name is unknown.")
    text = {
        "query": gettext("This name is unknown; `{name}` belongs in the query."),
        "body": gettext("This name is unknown; `{name}` belongs in the body."),
    }.get(place, gettext("This name is unknown; `{name}` is known."))
    return text.format(name=suggestion)


def find_suggestion(
    name: str,
    known: Iterable[str],
    elsewhere: Iterable[str],
    *,
    max_distance: int | None = None,
) -> str | None:
    """Return a known name that is near, or known in the other place.

    Near is within `max_distance` letters, by default fewer for short names.
    """
    known, elsewhere = list(known), list(elsewhere)
    for names in (known, elsewhere):
        for each in names:
            if _simplify(each) == _simplify(name):
                return each
    distances = {each: _distance(name, each) for each in known}
    near = [
        each
        for each in known
        if distances[each]
        <= (_max_distance(each) if max_distance is None else max_distance)
    ]
    return min(near, key=lambda each: distances[each], default=None)


def show_name(name: str) -> str:
    return name[:MAX_SHOWN_LENGTH].encode("utf-8", "replace").decode()


def _simplify(name: str) -> str:
    return name.translate(_IGNORED_BY_SIMILARITY).lower()


def _max_distance(known: str) -> int:
    is_short = len(known) < LONG_NAME_LENGTH
    return MAX_DISTANCE_OF_SHORT_NAMES if is_short else MAX_DISTANCE


def _distance(first: str, second: str) -> int:
    """Return the Levenshtein distance, or more than `MAX_DISTANCE`."""
    if abs(len(first) - len(second)) > MAX_DISTANCE:
        return MAX_DISTANCE + 1
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        above, row = row, [i]
        for j, other in enumerate(second, start=1):
            change = above[j - 1] + (letter != other)
            row.append(min(above[j] + 1, row[j - 1] + 1, change))
    return row[-1]
