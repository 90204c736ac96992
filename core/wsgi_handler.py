"""Django's WSGI handler, which remembers where paths lead."""

import functools
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.urls import ResolverMatch, get_resolver

MAX_REMEMBERED_PATHS = 1_024


class RememberingWSGIHandler(WSGIHandler):
    """Resolves a path once: Django tries the patterns of each request in turn."""

    def resolve_request(self, request: Any) -> ResolverMatch:
        # A middleware may set the URLconf of a request.
        if hasattr(request, "urlconf"):
            own: ResolverMatch = super().resolve_request(request)
            return own
        match = _resolve(request.path_info)
        request.resolver_match = match
        return match


@functools.lru_cache(MAX_REMEMBERED_PATHS)
def _resolve(path: str) -> ResolverMatch:
    # An unknown path raises `Resolver404`, which is not remembered.
    match: ResolverMatch = get_resolver().resolve(path)
    return match
