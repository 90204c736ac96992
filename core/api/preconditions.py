"""`ETag` and `If-Match` of rows that have a version (RFC 9110, 8.8.3 and 13.1.1)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.utils.translation import gettext, gettext_lazy
from rest_framework.request import Request

from core.errors import DomainError, InvalidFieldError
from core.repeated_headers import is_repeated

IF_MATCH = "If-Match"
# Compression, here or in a proxy, makes a tag weak.
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS_RE = re.compile(rf"{_TAG}(?:[ \t]*,[ \t]*{_TAG})*")
_TEXT_RE = re.compile(r'"([^"]*)"')


class VersionConflictError(DomainError):
    """`current` is the row as it is."""

    status = 412
    code = "VERSION_CONFLICT"
    detail = gettext_lazy("The row has changed in the meantime.")

    def __init__(self, current: Any = None) -> None:
        super().__init__(members={"current": current})


@dataclass(frozen=True, slots=True)
class IfMatch:
    """The tags of the header; None allows any row that exists."""

    tags: frozenset[str] | None

    def allows(self, version: int) -> bool:
        return self.tags is None or str(version) in self.tags


def read_if_match(request: Request) -> IfMatch | None:
    """Return None without the header; raise `InvalidFieldError` for a malformed one."""
    value: str | None = request.META.get("HTTP_IF_MATCH")
    if value is None:
        return None
    if is_repeated(request.META, "HTTP_IF_MATCH"):
        raise InvalidFieldError(IF_MATCH, gettext("Must be sent once."), "repeated")
    value = value.strip(" \t")
    if value == "*":
        return IfMatch(None)
    if not _TAGS_RE.fullmatch(value):
        text = gettext('Must be `*`, or tags such as `"5"`.')
        raise InvalidFieldError(IF_MATCH, text)
    return IfMatch(frozenset(_TEXT_RE.findall(value)))


def is_guarded(view: Any) -> bool:
    return getattr(view, "action", None) in getattr(view, "guarded_actions", ())


def is_versioned(view: Any) -> bool:
    return getattr(view, "action", None) in getattr(view, "versioned_actions", ())


def format_etag(version: int) -> str:
    return f'"{version}"'


def read_version(body: Any) -> int | None:
    """Return the version of an answer that is a row."""
    # PostgreSQL makes the JSON of entries.
    if isinstance(body, orjson.Fragment):
        body = orjson.loads(orjson.dumps(body))
    return body.get("version") if isinstance(body, Mapping) else None
