"""How bodies are read: bounded, JSON with exact numbers, uploads of one size."""

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import IO, Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import UnreadablePostError
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, MultiPartParser

MAX_UPLOAD_BYTES = 10 * 2**20
"""Of one file (spec 10.1)."""
MULTIPART_OVERHEAD_BYTES = 2**16
"""What the rest of a multipart body may take."""


class StrictJSONParser(BaseParser):
    """JSON as RFC 8259 has it: UTF-8, no NaN, fractions as `Decimal`.

    Python's own scanner refuses numbers of more than 4,300 digits (ValueError),
    exponents beyond decimal's bounds (InvalidOperation) and nesting beyond its
    recursion limit (RecursionError).
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = read_limited(stream)
        try:
            return json.loads(
                body.decode("utf-8-sig"),
                parse_float=Decimal,
                parse_constant=_reject_constant,
            )
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8.") from None
        except (ValueError, RecursionError, InvalidOperation):
            raise ParseError("The body is not valid JSON.") from None


class LimitedMultiPartParser(MultiPartParser):
    """multipart/form-data with files of at most `MAX_UPLOAD_BYTES`.

    A body that announces more is refused unread; no body can be longer than it
    announces. Files beyond 2.5 MB are temporary ones, which end with the request.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        request = (parser_context or {})["request"]
        announced = str(request.META.get("CONTENT_LENGTH") or "")
        if (
            announced.isdigit()
            and int(announced) > MAX_UPLOAD_BYTES + MULTIPART_OVERHEAD_BYTES
        ):
            raise RequestDataTooBig
        try:
            parsed: Any = super().parse(stream, media_type, parser_context)
        except UnreadablePostError:
            raise ParseError("The body ended early.") from None
        files = [file for _, several in parsed.files.lists() for file in several]
        if any(file.size > MAX_UPLOAD_BYTES for file in files):
            for file in files:
                file.close()
            raise RequestDataTooBig
        return parsed


class RawBodyParser(BaseParser):
    """The body as it came, whatever it says it is."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return read_limited(stream)


def read_limited(stream: IO[Any], limit: int | None = None) -> bytes:
    """The whole body; one byte over the limit is `RequestDataTooBig`."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if limit is None else limit
    try:
        body: bytes = stream.read(limit + 1)
    except UnreadablePostError:
        raise ParseError("The body ended early.") from None
    if len(body) > limit:
        raise RequestDataTooBig
    return body


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)
