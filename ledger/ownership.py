"""Member isolation: views and fields that reach only the caller's rows.

The id of another member's row is 404 in a path or query and a validation error in a
body, indistinguishable from an id that does not exist (spec 1.8).
"""

from typing import Any, cast

from accounts.authentication import current_member
from accounts.models import Member
from core.api.fields import StrictIntegerField, StrictPrimaryKeyField
from core.api.views import APIView, ViewSet
from core.api.viewsets import ModelViewSet
from core.errors import NotFoundError
from ledger.models.base import OwnedModel, OwnedQuerySet

MAX_ID = 2**63 - 1


class OwnedView(APIView):
    """Base view of the ledger."""

    @property
    def member(self) -> Member:
        """Return the caller, whose ledger it is."""
        return current_member(self.request)


class OwnedViewSet(OwnedView, ViewSet):
    """Base viewset of the ledger without rows of its own."""


class OwnedModelViewSet(OwnedView, ModelViewSet):
    """Base viewset of the caller's rows; `queryset` names those of all members."""

    def get_queryset(self) -> OwnedQuerySet:
        rows = cast("OwnedQuerySet", super().get_queryset())
        return rows.owned_by(self.member)


class OwnedPrimaryKeyField(StrictPrimaryKeyField):
    """The id of one of the caller's rows, as a JSON number."""

    def __init__(self, model: type[OwnedModel], **kwargs: Any) -> None:
        super().__init__(queryset=model.objects.all(), **kwargs)

    def get_queryset(self) -> OwnedQuerySet:
        rows = cast("OwnedQuerySet", super().get_queryset())
        return rows.owned_by(current_member(self.context["request"]))


class UncheckedPrimaryKeyField(OwnedPrimaryKeyField):
    """The id of one of the caller's rows, which the write itself looks up.

    The value is an unsaved row with the caller as its owner, so that a row of another
    member is never referred to.
    """

    def __init__(self, model: type[OwnedModel], **kwargs: Any) -> None:
        super().__init__(model, **kwargs)
        self.model = model

    def to_internal_value(self, data: Any) -> Any:
        row_id: int = cast("StrictIntegerField", self.pk_field).to_internal_value(data)
        if not 0 < row_id <= MAX_ID:
            self.fail("does_not_exist", pk_value=row_id)
        member = current_member(self.context["request"])
        row = self.model(member=member)
        row.pk = row_id
        return row

    def check(self, data: Any) -> None:
        """Raise `ValidationError` if there is no such row of the caller."""
        super().to_internal_value(data)


def get_owned_or_404(rows: OwnedQuerySet, member: Member, row_id: int) -> Any:
    """Return the member's row of `rows`, or raise `NotFoundError`."""
    row = rows.owned_by(member).filter(pk=row_id).first()
    if row is None:
        raise NotFoundError
    return row
