"""Fields that several wire shapes of the ledger share."""

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.fields import empty

from config.api.serializers import MAX_AMOUNT, ExactList, QuerySerializer, Text, Whole
from ledger.models.base import MEMO_LENGTH, NAME_LENGTH

MAX_TAGS = 50
"""Tags on one entry."""


class NameField(Text):
    """A name of 1 to 100 characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=NAME_LENGTH, **options)


class OptionalText(Text):
    """A text that may be left out, empty or null; it is "" then."""

    def __init__(self, max_length: int = MEMO_LENGTH, **options: Any) -> None:
        super().__init__(
            max_length=max_length,
            required=False,
            allow_blank=True,
            allow_null=True,
            default="",
            **options,
        )

    def run_validation(self, data: Any = empty) -> Any:
        return super().run_validation(data) or ""


class SignedAmount(Whole):
    """Whole home-currency units that may be negative, such as a loan's balance."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=-MAX_AMOUNT, max_value=MAX_AMOUNT, **options)


class TagNameField(NameField):
    """A tag's name: no commas, which separate tags in a backup."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "comma": "A tag has no commas in its name.",
    }

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if "," in text:
            self.fail("comma")
        return text


class TagNames(ExactList):
    """The tags of an entry by name; each counts once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            child=TagNameField(),
            max_length=MAX_TAGS,
            required=False,
            default=list,
            **options,
        )

    def to_internal_value(self, data: Any) -> list[str]:
        return list(dict.fromkeys(super().to_internal_value(data)))


class MoveToQuery(QuerySerializer):
    """`moveTo`: where what refers to a deleted row goes."""

    move_to = serializers.IntegerField(required=False)
