"""Member isolation: views and fields that reach only the caller's rows.

The id of another member's row is 404 in a path or query and a validation error in a
body, indistinguishable from an unknown id (spec 1.8).
"""

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
from core.api.request_keys import IDEMPOTENCY_KEY
from core.api.views import ViewSet, raise_if_compressed
from core.api.viewsets import ModelViewSet
from core.errors import NotFoundError
from ledger.base.ledger_write import require
from ledger.base.request_keys import answer_once
from ledger.models.base import OwnedModel, OwnedQuerySet

MAX_ID = 2**63 - 1


class OwnedView(KeyedView):
    @property
    def member(self) -> Member:
        return current_member(self.request)

    @property
    def key_owner(self) -> dict[str, int]:
        return {"member_id": self.member.pk, "caller_id": self.member.pk}

    def answer_once(
        self, keyed: KeyedRequest, handle: Callable[[], Response]
    ) -> Response:
        return answer_once(self.member, keyed, handle)


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
        current = self.retrieve(self.request).data
        version = read_version(current)
        if version is None or not self._if_match.allows(version):
            raise VersionConflictError(current)

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
