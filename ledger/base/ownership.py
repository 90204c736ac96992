"""Member isolation: views and fields that reach only the caller's rows.

The id of another member's row is 404 in a path or query and a validation error in a
body, indistinguishable from an unknown id (spec 1.8).
"""

import functools
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, cast

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import is_success

from accounts.models import Member
from accounts.sessions.authentication import current_member
from core.api.fields import StrictIntegerField, StrictPrimaryKeyField
from core.api.keyed_answers import KeyedRequest
from core.api.keyed_views import KeyedView
from core.api.preconditions import (
    IF_MATCH,
    IfMatch,
    VersionConflictError,
    format_etag,
    read_if_match,
    read_version,
)
from core.api.recording import OPERATION_ID
from core.api.request_keys import IDEMPOTENCY_KEY, REPLAYED
from core.api.views import ViewSet, raise_if_compressed
from core.api.viewsets import ModelViewSet
from core.errors import NotFoundError
from ledger.base.ledger_write import require
from ledger.base.operations import Recording, record
from ledger.base.request_keys import answer_once
from ledger.models import OperationKind
from ledger.models.base import OwnedModel, OwnedQuerySet

MAX_ID = 2**63 - 1


class OwnedView(KeyedView):
    # Handlers or actions whose writes are recorded, so that they can be undone.
    operations: ClassVar[dict[str, OperationKind]] = {}
    _recording: Recording | None = None

    @property
    def member(self) -> Member:
        return current_member(self.request)

    @property
    def key_owner(self) -> dict[str, int]:
        return {"member_id": self.member.pk, "caller_id": self.member.pk}

    def answer_once(
        self, keyed: KeyedRequest, handle: Callable[[], Response]
    ) -> Response:
        def handle_and_name() -> Response:
            return self._name_operation(handle())

        return answer_once(self.member, keyed, handle_and_name)

    def prepare(self, request: Request) -> None:
        """Let the handler record what it writes, if it is an operation."""
        method = str(request.method).lower()
        kind = self.operations.get(getattr(self, "action", None) or method)
        if kind is not None:
            handler = getattr(self, method)

            @functools.wraps(handler)
            def handle(request: Request, *args: Any, **kwargs: Any) -> Response:
                with record(kind, self.member.pk) as self._recording:
                    response: Response = handler(request, *args, **kwargs)
                return response

            setattr(self, method, handle)
        super().prepare(request)

    @property
    def operation_id(self) -> int | None:
        """Return the id of the recorded operation; None if nothing was written."""
        return self._recording.operation_id if self._recording else None

    def _name_operation(self, response: Response) -> Response:
        if self.operation_id is not None and is_success(response.status_code):
            response.headers[OPERATION_ID] = str(self.operation_id)
        return response

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if not response.headers.get(REPLAYED):
            self._name_operation(response)
        return super().finalize_response(request, response, *args, **kwargs)


class OwnedViewSet(OwnedView, ViewSet):
    """A viewset without rows of its own."""


class OwnedModelViewSet(OwnedView, ModelViewSet):
    """Viewset of the caller's rows; `queryset` has the rows of all members."""

    # Actions that answer one row, with its version as `ETag`.
    versioned_actions: ClassVar[AbstractSet[str]] = frozenset(
        {"retrieve", "create", "update", "partial_update"}
    )
    # Actions on one row that `If-Match` may make depend on its version.
    guarded_actions: ClassVar[AbstractSet[str]] = frozenset(
        {"update", "partial_update", "destroy"}
    )
    operations: ClassVar[dict[str, OperationKind]] = {"destroy": OperationKind.DELETE}
    _if_match: IfMatch | None = None

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Under a key the request is judged under the lock.
        if "HTTP_IF_MATCH" not in request.META or IDEMPOTENCY_KEY in request.headers:
            return super().dispatch(request, *args, **kwargs)
        with require(self.raise_if_changed):
            return super().dispatch(request, *args, **kwargs)

    def check_request(self, request: Request) -> None:
        if self.action in self.guarded_actions and IF_MATCH in request.headers:
            raise_if_compressed(request)
            self.raise_if_missing()
            self._if_match = read_if_match(request)
            # Before the body is read; the write checks again under its lock.
            self.raise_if_changed()
        super().check_request(request)

    def raise_if_changed(self) -> None:
        """Raise `NotFoundError` or `VersionConflictError` as `If-Match` asks for."""
        if self._if_match is None:
            return
        current = self.read_current()
        version = read_version(current)
        if version is None or not self._if_match.allows(version):
            raise VersionConflictError(current)

    def read_current(self) -> Any:
        """Return the answer that has the row as it is."""
        return self.retrieve(self.request).data

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if (
            self.action in self.versioned_actions
            and is_success(response.status_code)
            and "ETag" not in response.headers
            and (version := read_version(response.data)) is not None
        ):
            response.headers["ETag"] = format_etag(version)
        return super().finalize_response(request, response, *args, **kwargs)

    def get_queryset(self) -> OwnedQuerySet:
        rows = cast("OwnedQuerySet", super().get_queryset())
        return rows.owned_by(self.member)

    def raise_if_missing(self) -> None:
        """Raise `NotFoundError` before the body is read."""
        if self.lookup_url_kwarg not in self.kwargs:
            return
        if not self.get_queryset().filter(pk=self.object_id).exists():
            raise NotFoundError


class OwnedPrimaryKeyField(StrictPrimaryKeyField):
    """The id of one of the caller's rows, as a JSON number."""

    def __init__(self, model: type[OwnedModel], **kwargs: Any) -> None:
        super().__init__(queryset=model.objects.all(), **kwargs)

    def get_queryset(self) -> OwnedQuerySet:
        rows = cast("OwnedQuerySet", super().get_queryset())
        return rows.owned_by(current_member(self.context["request"]))


class OwnedIdField(OwnedPrimaryKeyField):
    """An id of `OwnedPrimaryKeyField`, as a number in validated data."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(data).pk


class UncheckedPrimaryKeyField(OwnedPrimaryKeyField):
    """An id that only the write looks up, or its composite foreign key."""

    def to_internal_value(self, data: Any) -> Any:
        row_id: int = cast("StrictIntegerField", self.pk_field).to_internal_value(data)
        if not 0 < row_id <= MAX_ID:
            self.fail("does_not_exist", pk_value=row_id)
        return row_id

    def check(self, data: Any) -> None:
        """Raise `ValidationError` if the caller has no such row."""
        super().to_internal_value(data)


def get_owned_or_404(rows: OwnedQuerySet, member: Member, row_id: int) -> Any:
    """Return the member's row, or raise `NotFoundError`."""
    row = rows.owned_by(member).filter(pk=row_id).first()
    if row is None:
        raise NotFoundError
    return row
