"""Base classes of the views of the JSON API."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rest_framework import status, viewsets
from rest_framework import views as rest_framework_views
from rest_framework.request import Request

from core.api.created_items import find_location
from core.api.exception_handler import (
    IDENTITY,
    CompressedBodyError,
    MethodNotAllowedError,
)
from core.api.token_scopes import NO_TOKENS, ScopePair
from core.api.unknown_names import METHODS_WITH_CONTENT, raise_for_unknown_names
from core.errors import DomainError

# The CORS middleware answers OPTIONS; nothing answers TRACE.
HTTP_METHODS = ["get", "post", "put", "patch", "delete", "head"]


class APIView(rest_framework_views.APIView):
    http_method_names = HTTP_METHODS

    # Subclasses do not inherit it.
    token_scopes: ClassVar[ScopePair] = NO_TOKENS
    schema_tag: ClassVar[str]
    # Errors by handler (`get`) or action (`create`); subclasses add to them.
    # `partial_update` has the errors of `update` too.
    raises: ClassVar[Mapping[str, Sequence[type[DomainError]]]] = {}
    # Whether unsafe methods are open while nothing may be changed (spec 7.11).
    works_read_only: ClassVar[bool] = False
    # Bytes of the largest body by handler or action, where `DEFAULT_BODY_BYTES` are too
    # few (`core.api.body_limits`).
    body_limits: ClassVar[Mapping[str, int]] = {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method == "OPTIONS":
            # Browsers ask without credentials.
            raise MethodNotAllowedError
        super().initial(request, *args, **kwargs)
        self.prepare(request)

    def prepare(self, request: Request) -> None:
        """Do what comes between the permissions and the handler."""
        self.check_request(request)

    def check_request(self, request: Request) -> None:
        """Refuse a request before its handler reads it."""
        raise_if_compressed(request)
        raise_for_unknown_names(self, request)

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if response.status_code == status.HTTP_201_CREATED and (
            location := find_location(self, request, response.data)
        ):
            response.headers["Location"] = location
        return super().finalize_response(request, response, *args, **kwargs)


def raise_if_compressed(request: Request) -> None:
    """Raise `CompressedBodyError`: a small body may be any size uncompressed."""
    if request.method not in METHODS_WITH_CONTENT:
        return
    codings = request.META.get("HTTP_CONTENT_ENCODING", "").lower().split(",")
    if {coding.strip() for coding in codings} - {"", IDENTITY}:
        raise CompressedBodyError


class ViewSet(APIView, viewsets.ViewSet):
    pass
