"""The wire shape of the shared default categories."""

from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from core.api.fields import StrictCharField, StrictIntegerField
from core.api.serializers import Serializer
from ledger.models import DefaultCategory

NAME_LENGTH = 100


class ParentCategoryField(serializers.PrimaryKeyRelatedField):  # type: ignore[type-arg]
    """The id of a default category."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            queryset=DefaultCategory.objects.all(),
            pk_field=StrictIntegerField(),
            **options,
        )

    def run_validation(self, data: Any = empty) -> Any:
        """DRF takes an empty text for null; here it is of a wrong type."""
        if data == "":
            self.fail("incorrect_type", data_type="str")
        return super().run_validation(data)

    def use_pk_only_optimization(self) -> bool:
        return False


class DefaultCategorySerializer(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = StrictCharField(max_length=NAME_LENGTH)
    name_en = StrictCharField(
        max_length=NAME_LENGTH,
        allow_blank=True,
        required=False,
        help_text="What an import in English takes instead of the name.",
    )
    type = serializers.ChoiceField(choices=DefaultCategory.Type.choices)
    parent_id = ParentCategoryField(
        source="parent", required=False, allow_null=True, default=None
    )
    sort_order = serializers.IntegerField(read_only=True)


def default_category_payload(category: DefaultCategory) -> dict[str, Any]:
    return {
        "id": category.pk,
        "name": category.name,
        "nameEn": category.name_en,
        "type": category.type,
        "parentId": category.parent_id,
        "sortOrder": category.sort_order,
    }
