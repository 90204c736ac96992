"""Addresses of created rows: `Location`, and links of the document (spec 1.3)."""

import re
from functools import cache
from typing import Any

import orjson
from django.urls import get_resolver
from rest_framework.request import Request

from core.api.operations import CreatedItem, get_handler
from core.api.public_urls import build_public_url

_PARAMETER_RE = re.compile(r"\{\w+\}")


def find_created_item(view: Any, request: Request) -> CreatedItem | None:
    """Return what `extend_schema(creates=…)` says; a viewset creates its own items."""
    handler = get_handler(view, request)
    item: CreatedItem | None = getattr(handler, "created_item", None)
    if item is None and getattr(view, "action", None) == "create":
        return CreatedItem(f"{view.basename}-detail")
    return item


def find_location(view: Any, request: Request, answer: Any) -> str | None:
    item = find_created_item(view, request)
    if item is None:
        return None
    value = answer
    for name in item.id_path:
        # PostgreSQL makes the JSON of entries.
        if isinstance(value, orjson.Fragment):
            value = orjson.loads(orjson.dumps(value))
        value = value and value[name]
    # Another request may have deleted it in the meantime.
    if not value:
        return None
    return build_public_url(request, _get_path_template(item.route).format(value))


@cache
def describe_path(route: str) -> str:
    """Return the path with its parameter in braces, such as `{wallet_id}`."""
    ((template, names),) = get_resolver().reverse_dict.getlist(route)[0][0]
    return "/" + str(template % {name: f"{{{name}}}" for name in names})


@cache
def _get_path_template(route: str) -> str:
    return _PARAMETER_RE.sub("{}", describe_path(route))
