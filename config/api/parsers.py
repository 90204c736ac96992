"""How a JSON body is read: bounded, exact numbers, no hostile nesting."""

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import IO, Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import UnreadablePostError
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser


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
        body = read_bounded(stream)
        try:
            return json.loads(
                body.decode("utf-8-sig"),
                parse_float=Decimal,
                parse_constant=_refuse_constant,
            )
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8.") from None
        except (ValueError, RecursionError, InvalidOperation):
            raise ParseError("The body is not valid JSON.") from None


def read_bounded(stream: IO[Any]) -> bytes:
    """The whole body; one byte over the limit is `RequestDataTooBig`."""
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    try:
        body: bytes = stream.read(limit + 1)
    except UnreadablePostError:
        raise ParseError("The body ended early.") from None
    if len(body) > limit:
        raise RequestDataTooBig
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
