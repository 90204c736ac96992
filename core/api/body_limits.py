"""The largest body of an operation, which the web server asks before it reads one.

A view names its larger ones in `body_limits`. Parsing holds the interpreter's lock: a
long body of one client keeps all others waiting.
"""

import functools
from typing import Any

from django.conf import settings
from django.urls import Resolver404, resolve

# Room for a few texts with all characters escaped, an emoji as `\uXXXX\uXXXX`.
DEFAULT_BODY_BYTES = 2**14


def find_body_limit(method: str, path: str) -> int:
    """Return the bytes that a request may have; a path is as in `PATH_INFO`."""
    try:
        view = resolve(path).func
    except Resolver404:
        return DEFAULT_BODY_BYTES
    view_class: Any = getattr(view, "cls", None)
    if view_class is None:
        # Pages of Django admin.
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    # A viewset has one action for a method.
    actions = getattr(view, "actions", None) or {}
    return get_body_limit(view_class, actions.get(method.lower(), method.lower()))


def get_body_limit_of(view: Any, method: str) -> int:
    """Return the limit of a view that has the request."""
    action = getattr(view, "action", None)
    view_class: Any = type(view)
    return get_body_limit(view_class, action or method.lower())


@functools.cache
def get_body_limit(view_class: Any, handler: str) -> int:
    name = "update" if handler == "partial_update" else handler
    for each in view_class.__mro__:
        limits: dict[str, int] = vars(each).get("body_limits", {})
        if name in limits:
            return limits[name]
    return DEFAULT_BODY_BYTES
