"""Parsers of request bodies."""

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import IO, Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import UnreadablePostError
from django.utils.translation import gettext
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, MultiPartParser

from core.api.body_limits import get_body_limit_of

# One file (spec 10.1).
MAX_UPLOAD_BYTES = 10 * 2**20
# The other parts of the body.
MULTIPART_OVERHEAD_BYTES = 2**16
MAX_MULTIPART_BYTES = MAX_UPLOAD_BYTES + MULTIPART_OVERHEAD_BYTES


class StrictJSONParser(BaseParser):
    """RFC 8259: no NaN or Infinity; fractions become `Decimal`."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = read_limited(stream, _get_limit(parser_context or {}))
        try:
            return json.loads(
                body.decode("utf-8-sig"),
                parse_float=Decimal,
                parse_constant=_reject_constant,
            )
        except UnicodeDecodeError:
            raise ParseError(gettext("The body is not UTF-8.")) from None
        # Integers above 4,300 digits, exponents out of range, and deep nesting.
        except (ValueError, RecursionError, InvalidOperation):
            raise ParseError(gettext("The body is not valid JSON.")) from None


class LimitedMultiPartParser(MultiPartParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        request = (parser_context or {})["request"]
        # A body is never longer than its Content-Length.
        content_length = str(request.META.get("CONTENT_LENGTH") or "")
        if content_length.isdigit() and int(content_length) > MAX_MULTIPART_BYTES:
            raise RequestDataTooBig
        try:
            parsed: Any = super().parse(stream, media_type, parser_context)
        except UnreadablePostError:
            raise ParseError(gettext("The request body is incomplete.")) from None
        except ParseError:
            raise ParseError(gettext("The body is not valid form data.")) from None
        files = [file for _, values in parsed.files.lists() for file in values]
        if any(file.size > MAX_UPLOAD_BYTES for file in files):
            for file in files:
                file.close()
            raise RequestDataTooBig
        return parsed


class RawBodyParser(BaseParser):
    media_type = "*/*"
    max_bytes: int | None = None

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_limited(stream, self.max_bytes)


def read_limited(stream: IO[Any], limit: int | None = None) -> bytes:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if limit is None else limit
    try:
        body: bytes = stream.read(limit + 1)
    except UnreadablePostError:
        raise ParseError(gettext("The request body is incomplete.")) from None
    if len(body) > limit:
        raise RequestDataTooBig
    return body


def _get_limit(parser_context: Mapping[str, Any]) -> int:
    view, request = parser_context.get("view"), parser_context.get("request")
    if view is None or request is None:
        return settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return get_body_limit_of(view, request.method)


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)
