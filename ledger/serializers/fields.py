"""Fields that several wire shapes of the ledger share."""

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
from ledger.models.base import MAX_MEMO_LENGTH, MAX_NAME_LENGTH

MAX_TAGS_PER_ENTRY = 50
"""Tags on one entry."""


class NameField(StrictCharField):
    """A name of 1 to 100 characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_NAME_LENGTH, **options)


class OptionalTextField(StrictCharField):
    """A text that may be left out, empty or null; it is "" then."""

    def __init__(self, max_length: int = MAX_MEMO_LENGTH, **options: Any) -> None:
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


class SignedMoneyField(StrictIntegerField):
    """Whole home-currency units that may be negative, such as a loan's balance."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=-MAX_AMOUNT, max_value=MAX_AMOUNT, **options)


class LedgerTagNameField(TagNameField):
    """A tag's name of 1 to 100 characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_NAME_LENGTH, **options)


class LedgerTagListField(UniqueListField):
    """The tags of an entry by name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            child=LedgerTagNameField(),
            max_length=MAX_TAGS_PER_ENTRY,
            required=False,
            default=list,
            **options,
        )


class MoveToQuerySerializer(QuerySerializer):
    """`moveTo`: where what refers to a deleted row goes."""

    move_to = serializers.IntegerField(required=False)
