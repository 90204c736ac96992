"""Serializer fields that several topics of the ledger share."""

from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from core.api.fields import (
    MAX_AMOUNT,
    StrictCharField,
    StrictIntegerField,
    TagNameField,
    UniqueListField,
)
from core.api.serializers import QuerySerializer
from ledger.models import Category
from ledger.models.base import MAX_MEMO_LENGTH, MAX_NAME_LENGTH
from ledger.moves import MAX_ENTRIES_OF_REQUEST

MAX_TAGS_PER_ENTRY = 50
# Of a deletion with `moveTo`, for the OpenAPI document.
MOVING_DESCRIPTION = (
    f"With more than {MAX_ENTRIES_OF_REQUEST:,} entries the answer is 202: it is "
    "`moving` until a job has moved them and deletes it. It takes no writes meanwhile, "
    "and what it moves to cannot be deleted (409 `MOVING`)."
)


class NameField(StrictCharField):
    """A name of 1 to 100 characters."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("help_text", f"1 to {MAX_NAME_LENGTH} characters.")
        super().__init__(max_length=MAX_NAME_LENGTH, **kwargs)


class OptionalTextField(StrictCharField):
    """A text that may be missing, empty or null; these are all stored as ""."""

    # For the OpenAPI document.
    is_null_only_in_requests = True

    def __init__(self, max_length: int = MAX_MEMO_LENGTH, **kwargs: Any) -> None:
        kwargs.setdefault(
            "help_text", f"At most {max_length} characters; empty if left out or null."
        )
        super().__init__(
            max_length=max_length,
            required=False,
            allow_blank=True,
            allow_null=True,
            default="",
            **kwargs,
        )

    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation(data) or ""


class CategoryNameField(NameField):
    """A category by name; one that does not exist is created as a major category."""

    def to_representation(self, value: Any) -> str:
        category: Category = value
        return category.name


class SignedMoneyField(StrictIntegerField):
    """Whole home-currency units that may be negative, such as a loan's balance."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-MAX_AMOUNT, max_value=MAX_AMOUNT, **kwargs)


class LedgerTagNameField(TagNameField):
    """The name of a tag, 1 to 100 characters."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault(
            "help_text", f"1 to {MAX_NAME_LENGTH} characters, without commas."
        )
        super().__init__(max_length=MAX_NAME_LENGTH, **kwargs)


class LedgerTagListField(UniqueListField):
    """The tags of an entry by name."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            child=LedgerTagNameField(),
            max_length=MAX_TAGS_PER_ENTRY,
            required=False,
            default=list,
            **kwargs,
        )


class LinkedTagListField(LedgerTagListField):
    """The tags of a row that was read with its `tag_names`."""

    def get_attribute(self, instance: Any) -> list[str]:
        names: list[str] = instance.tag_names
        return names


class MovingField(serializers.BooleanField):
    """A boolean: the entries of a wallet or category are moving to another one."""

    def __init__(self, **kwargs: Any) -> None:
        fixed = {
            "source": "is_moving",
            "read_only": True,
            "help_text": "True while a job moves its entries to another one; it is "
            "deleted then. Writes that name it are 409 `MOVING`.",
        }
        super().__init__(**(kwargs | fixed))


class MoveToQuerySerializer(QuerySerializer):
    """`moveTo`: the row that takes over the references to the deleted one."""

    move_to = serializers.IntegerField(
        required=False,
        help_text="Id of the one that takes over what refers to the deleted one.",
    )
