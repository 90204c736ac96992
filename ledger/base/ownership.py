"""Member isolation: views and fields that reach only the caller's rows.

The id of another member's row is 404 in a path or query and a validation error in a
body, indistinguishable from an unknown id (spec 1.8).
"""

from typing import Any, cast

from accounts.models import Member
from accounts.sessions.authentication import current_member
from core.api.fields import StrictIntegerField, StrictPrimaryKeyField
from core.api.views import APIView, ViewSet
from core.api.viewsets import ModelViewSet
from core.errors import NotFoundError
from ledger.models.base import OwnedModel, OwnedQuerySet

MAX_ID = 2**63 - 1


class OwnedView(APIView):
    @property
    def member(self) -> Member:
        return current_member(self.request)


class OwnedViewSet(OwnedView, ViewSet):
    """A viewset without rows of its own."""


class OwnedModelViewSet(OwnedView, ModelViewSet):
    """Viewset of the caller's rows; `queryset` has the rows of all members."""

    def get_queryset(self) -> OwnedQuerySet:
        rows = cast("OwnedQuerySet", super().get_queryset())
        return rows.owned_by(self.member)

    def raise_if_missing(self) -> None:
        """Raise `NotFoundError` before the body is read."""
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
