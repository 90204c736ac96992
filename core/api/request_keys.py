"""`Idempotency-Key`: what a client sends again under a key has one effect."""

import hashlib
import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext, gettext_lazy
from rest_framework.request import Request

from core.api.operations import get_handler
from core.api.unknown_names import REPEATED
from core.errors import DomainError, InvalidFieldError
from core.repeated_headers import is_repeated

IDEMPOTENCY_KEY = "Idempotency-Key"
METHODS_OF_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
REPLAYED = "Idempotency-Replayed"
DRY_RUN = "dryRun"
# Larger numbers are never written out.
MAX_DIGITS = 30
_ENVIRON_KEY = "HTTP_IDEMPOTENCY_KEY"
_KEY_RE = re.compile(r"[\x21-\x7e]{1,128}")


class KeyReusedError(DomainError):
    status = 422
    code = "IDEMPOTENCY_KEY_REUSED"
    detail = gettext_lazy("The key was used for another request.")


def takes_key(view: Any, request: Request) -> bool:
    """Return True for a write of a `KeyedView` that takes one."""
    keyless = getattr(view, "keyless_actions", None)
    if keyless is None or request.method not in METHODS_OF_WRITES:
        return False
    name = getattr(view, "action", None) or str(request.method).lower()
    is_keyed = view.keyed_actions is None or name in view.keyed_actions
    is_known = get_handler(view, request) is not None
    return is_keyed and name not in keyless and is_known


def read_key(request: Request) -> str | None:
    """Return None without the header; raise `InvalidFieldError` for a malformed one."""
    key: str | None = request.META.get(_ENVIRON_KEY)
    if key is None:
        return None
    if is_repeated(request.META, _ENVIRON_KEY):
        raise InvalidFieldError(
            IDEMPOTENCY_KEY, gettext("Must be sent once."), REPEATED
        )
    if not _KEY_RE.fullmatch(key):
        text = gettext("Must be 1 to 128 visible ASCII characters.")
        raise InvalidFieldError(IDEMPOTENCY_KEY, text)
    return key


def is_dry_run(request: Request) -> bool:
    """Return True if the request asks that nothing is written."""
    if request.query_params.get(DRY_RUN, "").lower() in {"true", "1"}:
        return True
    body = request.data
    return isinstance(body, Mapping) and body.get(DRY_RUN) is True


def hash_request(request: Request) -> bytes:
    """Return the SHA-256 of method, path, query and body.

    A JSON body counts by its value, a form by its fields and the content of its files:
    the boundary between them differs from try to try.
    """
    digest = hashlib.sha256()
    address = [request.method, request.path, request.META.get("QUERY_STRING", "")]
    for part in (*address, _describe_body(request.data)):
        data = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def _describe_body(body: Any) -> bytes:
    if isinstance(body, bytes):
        return hashlib.sha256(body).digest()
    if isinstance(body, QueryDict):
        body = {
            name: [_describe_part(part) for part in body.getlist(name)] for name in body
        }
    return json.dumps(body, sort_keys=True, default=_describe_number).encode()


def _describe_number(value: Decimal) -> int | dict[str, str]:
    """Return the same for equal numbers, and for no text."""
    if value.adjusted() < MAX_DIGITS and value == value.to_integral_value():
        return int(value)
    return {"\0number": str(value.normalize())}


def _describe_part(part: Any) -> str:
    if isinstance(part, str):
        return f"text {part}"
    digest = hashlib.sha256()
    for chunk in part.chunks():
        digest.update(chunk)
    part.seek(0)
    return f"file {digest.hexdigest()}"
