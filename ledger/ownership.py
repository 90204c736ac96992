"""Member isolation, decided once: a request reaches only its caller's rows.

An id of another member is 404 in a path or a query and a validation error in a
body, indistinguishable from an id that does not exist (spec 1.8).
"""

from typing import Any, TypeVar

from drf_spectacular.plumbing import get_lib_doc_excludes
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.viewsets import ViewSet

from accounts.authentication import current_member
from accounts.models import Member
from core.api.fields import StrictIntegerField
from core.api.serializers import QuerySerializer, Serializer
from core.errors import NotFoundError
from ledger.models.base import OwnedModel, OwnedQuerySet

Owned = TypeVar("Owned", bound=OwnedModel)


class OwnedViewSet(ViewSet):
    """The base of all ledger views: `self.member` is whose ledger it is."""

    @property
    def member(self) -> Member:
        return current_member(self.request)


class OwnedPrimaryKeyField(serializers.PrimaryKeyRelatedField):  # type: ignore[type-arg]
    """An id in a body, resolved among the caller's rows only."""

    def __init__(self, model: type[OwnedModel] | None = None, **options: Any) -> None:
        self.model = model
        if not options.get("read_only"):
            options.setdefault("queryset", model.objects.all() if model else None)
        super().__init__(pk_field=StrictIntegerField(), **options)

    def run_validation(self, data: Any = empty) -> Any:
        """DRF takes an empty text for null; here it is of a wrong type."""
        if data == "":
            self.fail("incorrect_type", data_type="str")
        return super().run_validation(data)

    def get_queryset(self) -> OwnedQuerySet:
        rows: Any = super().get_queryset()
        return rows.owned_by(current_member(self.context["request"]))  # type: ignore[no-any-return]

    def use_pk_only_optimization(self) -> bool:
        return False


def get_owned_or_404(rows: OwnedQuerySet, member: Member, row_id: int) -> Any:
    """The member's row, or `NotFoundError`; `rows` may lock or prefetch."""
    row = rows.owned_by(member).filter(pk=row_id).first()
    if row is None:
        raise NotFoundError
    return row


def get_doc_excludes() -> list[type]:
    """Classes whose docstrings are about the code, not about an endpoint."""
    of_libraries: list[type] = get_lib_doc_excludes()  # type: ignore[no-untyped-call]
    return [*of_libraries, Serializer, QuerySerializer, OwnedViewSet]
