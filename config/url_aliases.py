"""URL aliases without the prefix of the canonical URL (spec 1.2).

The OpenAPI document has no aliases.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.urls import URLPattern, URLResolver, path

from core.api.openapi import API_PREFIX

Endpoint = tuple[str, str, str, Any]

# /api/auth/profile is served as /auth/profile too.
ALIASED_WITHOUT_API = (
    "auth/verify-password",
    "auth/profile",
    "auth/points",
    "auth/signup-enabled",
    "account/entries/parse",
    "account/categories/import",
    "account/quick-entries",
    "account/quick-entries/reorder",
    "account/quick-entries/<int:quick_entry_id>",
    "board/posts/<int:post_id>/vote",
    "board/comments/<int:comment_id>/vote",
    "board/posts/<int:post_id>/recommenders",
    "board/my/posts",
    "board/my/comments",
)

# /api/account/tags/reorder is served as /api/tags/reorder and /tags/reorder too.
ALIASED_WITHOUT_APP = (
    "account/entries/notification",
    "account/entries/<int:entry_id>/confirm",
    "account/entries/pending/count",
    "account/networth/trend",
    "account/budgets/copy",
    "account/tags/reorder",
    "account/trades/<int:trade_id>",
    "board/posts/<int:post_id>/notice",
    "board/posts/<int:post_id>/unnotice",
)

_PATH_CONVERTER_RE = re.compile(r"<\w+:(\w+)>")


def build_alias_urls(
    api_urls: Sequence[URLPattern | URLResolver],
) -> list[URLPattern]:
    views = dict(_list_routes(api_urls))
    aliases = {route: views[route] for route in ALIASED_WITHOUT_API}
    for route in ALIASED_WITHOUT_APP:
        aliases[_without_app(route)] = views[route]
        aliases["api/" + _without_app(route)] = views[route]
    return [path(alias, view) for alias, view in aliases.items()]


def exclude_alias_urls(endpoints: Sequence[Endpoint], **_: Any) -> list[Endpoint]:
    """Return the endpoints with canonical paths (drf-spectacular hook)."""
    aliases = {
        API_PREFIX + _PATH_CONVERTER_RE.sub(r"{\1}", _without_app(route))
        for route in ALIASED_WITHOUT_APP
    }
    return [
        endpoint
        for endpoint in endpoints
        if endpoint[0].startswith(API_PREFIX) and endpoint[0] not in aliases
    ]


def _without_app(route: str) -> str:
    return route.partition("/")[2]


def _list_routes(
    patterns: Sequence[URLPattern | URLResolver], prefix: str = ""
) -> Iterator[tuple[str, Callable[..., Any]]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _list_routes(pattern.url_patterns, route)
        else:
            yield route, pattern.callback
