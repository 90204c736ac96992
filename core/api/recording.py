"""`Operation-Id`: the name of what a request did, by which it can be undone."""

from typing import Any

from rest_framework.request import Request

OPERATION_ID = "Operation-Id"


def is_recorded(view: Any, request: Request) -> bool:
    """Return True if what the handler writes is recorded."""
    name = getattr(view, "action", None) or str(request.method).lower()
    return name in getattr(view, "operations", {})
