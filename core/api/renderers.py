"""JSON responses; decimals are exact number literals."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


def format_decimal(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def dump_json(data: Any) -> bytes:
    try:
        return orjson.dumps(data, default=_encode_default)
    except orjson.JSONEncodeError:
        return orjson.dumps(_convert_big_ints(data), default=_encode_default)


def _convert_big_ints(data: Any) -> Any:
    """Convert integers of more than 64 bits, which orjson rejects."""
    if isinstance(data, int) and abs(data) >= 2**63:
        return Decimal(data)
    if isinstance(data, dict):
        return {key: _convert_big_ints(value) for key, value in data.items()}
    return (
        [_convert_big_ints(value) for value in data] if isinstance(data, list) else data
    )


def _encode_default(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(format_decimal(value))
    if isinstance(value, dict | list | tuple):
        return dict(value) if isinstance(value, dict) else list(value)
    return str(value)


class JSONRenderer(BaseRenderer):
    """Serializers name the keys in camelCase (spec 1.3)."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else dump_json(data)


class ContentNegotiation(DefaultContentNegotiation):
    """Answer with the first media type if the client accepts none (RFC 9110, 12.5.1).

    Generated clients accept only `application/problem+json` where a success has no
    content.
    """

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> Any:
        first = renderers[0], renderers[0].media_type
        if len(renderers) == 1 or request.META.get("HTTP_ACCEPT", "*/*") == "*/*":
            return first
        try:
            return super().select_renderer(request, renderers, format_suffix)
        except NotAcceptable:
            return first
