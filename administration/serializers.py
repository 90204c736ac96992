"""Wire shapes of the administrators' area."""

from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from accounts.models import Member
from administration.models import DefaultCategory
from config.api.serializers import Flag, QuerySerializer, Serializer, Text, Whole

NAME_LENGTH = 100
SEARCH_LENGTH = 100


class SignupSwitchBody(Serializer):
    enabled = Flag()


class MemberQuery(QuerySerializer):
    search = Text(
        required=False,
        max_length=SEARCH_LENGTH,
        help_text="Words, each contained in login id, display name or email.",
    )
    role = serializers.ChoiceField(choices=Member.Role.choices, required=False)
    status = serializers.ChoiceField(choices=Member.Status.choices, required=False)
    plan = serializers.ChoiceField(
        choices=Member.Plan.choices,
        required=False,
        help_text="The plan that counts now: FREE once it has expired.",
    )


class RoleBody(Serializer):
    role = serializers.ChoiceField(choices=Member.Role.choices)


class StatusBody(Serializer):
    status = serializers.ChoiceField(choices=Member.Status.choices)


class PlanBody(Serializer):
    plan = serializers.ChoiceField(choices=Member.Plan.choices)


class ParentId(serializers.PrimaryKeyRelatedField):  # type: ignore[type-arg]
    """The id of a default category."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            queryset=DefaultCategory.objects.all(), pk_field=Whole(), **options
        )

    def run_validation(self, data: Any = empty) -> Any:
        """DRF takes an empty text for null; here it is of a wrong type."""
        if data == "":
            self.fail("incorrect_type", data_type="str")
        return super().run_validation(data)

    def use_pk_only_optimization(self) -> bool:
        return False


class DefaultCategoryBody(Serializer):
    id = serializers.IntegerField(read_only=True)
    name = Text(max_length=NAME_LENGTH)
    name_en = Text(
        max_length=NAME_LENGTH,
        allow_blank=True,
        required=False,
        help_text="What an import in English takes instead of the name.",
    )
    type = serializers.ChoiceField(choices=DefaultCategory.Type.choices)
    parent_id = ParentId(source="parent", required=False, allow_null=True, default=None)
    sort_order = serializers.IntegerField(read_only=True)


def describe_default_category(category: DefaultCategory) -> dict[str, Any]:
    return {
        "id": category.pk,
        "name": category.name,
        "nameEn": category.name_en,
        "type": category.type,
        "parentId": category.parent_id,
        "sortOrder": category.sort_order,
    }
