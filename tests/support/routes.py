"""The URLconf as a flat list of routes, for sweeps over every address."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# Ids that no row has.
MISSING_ID = 987_654_321
MISSING_UUID = "12345678-1234-4234-8234-123456789abc"
# Parameters that are no ids, with a value for all routes.
FIXED = {"month": "2026-11"}
_PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")


@dataclass(frozen=True, slots=True)
class Route:
    """One address; parameters are written as `{name}`."""

    path: str
    methods: tuple[str, ...]
    view: Any
    parameters: tuple[str, ...]
    # Those parameters that are UUIDs.
    random_ids: tuple[str, ...] = ()

    def address(self, **ids: Any) -> str:
        """Return the path with ids in it; those not given belong to no row."""
        missing = dict.fromkeys(self.parameters, MISSING_ID) | dict.fromkeys(
            self.random_ids, MISSING_UUID
        )
        return self.path.format(**missing | FIXED | ids)


def list_routes() -> list[Route]:
    """Return every route of the service that answers anything but refusals.

    The pages of Django admin are left out.
    """
    routes = [*_walk("/", get_resolver().url_patterns)]
    return [r for r in routes if r.methods and not _is_admin(r.path)]


def _is_admin(path: str) -> bool:
    return path == "/admin" or path.startswith("/admin/")


def _walk(prefix: str, patterns: list[URLPattern | URLResolver]) -> Iterator[Route]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if _is_admin(path):
            continue
        if isinstance(pattern, URLResolver):
            yield from _walk(path, pattern.url_patterns)
        else:
            yield Route(
                path=_PARAMETER.sub(r"{\2}", path),
                methods=_methods_of(pattern.callback),
                view=getattr(pattern.callback, "cls", None)
                or getattr(pattern.callback, "view_class", None),
                parameters=tuple(
                    name for _, name in _PARAMETER.findall(path) if name not in FIXED
                ),
                random_ids=tuple(
                    name for kind, name in _PARAMETER.findall(path) if kind == "uuid"
                ),
            )


def _methods_of(callback: Any) -> tuple[str, ...]:
    actions = getattr(callback, "actions", None)
    view = getattr(callback, "cls", None) or callback.view_class
    return tuple(
        method
        for method in METHODS
        if (method.lower() in actions if actions else hasattr(view, method.lower()))
    )
