"""Serializer fields of several topics."""

import re
from typing import Any, ClassVar

from rest_framework import serializers

from core.api.field_texts import FieldText
from core.api.fields import (
    MAX_AMOUNT,
    StrictCharField,
    StrictIntegerField,
    TagNameField,
    UniqueListField,
)
from ledger.entry_shape import MAX_TAGS_PER_ENTRY as MAX_TAGS_PER_ENTRY
from ledger.models import Category
from ledger.models.base import (
    COLOR_PATTERN,
    COLOR_TEXT,
    MAX_ICON_LENGTH,
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
)

COLOR = re.compile(COLOR_PATTERN)


class NameField(StrictCharField):
    def __init__(self, **kwargs: Any) -> None:
        limits = f"1 to {MAX_NAME_LENGTH} characters."
        kwargs.setdefault("help_text", FieldText("The name.", requests=limits))
        super().__init__(max_length=MAX_NAME_LENGTH, **kwargs)


class OptionalTextField(StrictCharField):
    """A text that may be missing or null, stored as ""."""

    def __init__(self, max_length: int = MAX_MEMO_LENGTH, **kwargs: Any) -> None:
        text = FieldText(
            "May be empty.",
            requests=f"At most {max_length} characters; null is empty.",
            left_out="Left out: empty.",
        )
        kwargs.setdefault("help_text", text)
        super().__init__(
            max_length=max_length,
            required=False,
            allow_blank=True,
            default="",
            **kwargs,
        )


class IconField(StrictCharField):
    """Null, or what a client shows beside the name; a PUT without it keeps it."""

    def __init__(self, **kwargs: Any) -> None:
        text = FieldText(
            "A client's name of an icon, or one emoji; null without one.",
            requests=f"1 to {MAX_ICON_LENGTH} characters.",
            left_out="Left out of an update, it does not change.",
        )
        kwargs.setdefault("help_text", text)
        super().__init__(
            max_length=MAX_ICON_LENGTH, required=False, allow_null=True, **kwargs
        )


class ColorField(StrictCharField):
    """Null, or a colour in small hexadecimal digits; a PUT without it keeps it."""

    pattern = "^#[0-9a-fA-F]{6}$"

    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid": COLOR_TEXT,
    }

    def __init__(self, **kwargs: Any) -> None:
        text = FieldText(
            "A colour as `#rrggbb`; null without one.",
            left_out="Left out of an update, it does not change.",
        )
        kwargs.setdefault("help_text", text)
        super().__init__(required=False, allow_null=True, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        value = super().to_internal_value(data).lower()
        if not COLOR.fullmatch(value):
            self.fail("invalid")
        return value


class CategoryNameField(NameField):
    """A category by name; an unknown name creates a major category."""

    def to_representation(self, value: Any) -> str:
        category: Category = value
        return category.name


class SignedMoneyField(StrictIntegerField):
    """Whole home-currency units, which may be negative."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-MAX_AMOUNT, max_value=MAX_AMOUNT, **kwargs)


class VersionField(serializers.IntegerField):
    def __init__(self) -> None:
        super().__init__(
            read_only=True,
            min_value=0,
            help_text="Grows with each change of the row; the `ETag` for `If-Match`.",
        )


class LedgerTagNameField(TagNameField):
    def __init__(self, **kwargs: Any) -> None:
        limits = f"1 to {MAX_NAME_LENGTH} characters, without commas."
        kwargs.setdefault("help_text", FieldText("The name.", requests=limits))
        super().__init__(max_length=MAX_NAME_LENGTH, **kwargs)


class LedgerTagListField(UniqueListField):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("default", list)
        super().__init__(
            child=LedgerTagNameField(),
            max_length=MAX_TAGS_PER_ENTRY,
            required=False,
            **kwargs,
        )


class LinkedTagListField(LedgerTagListField):
    """The tags of a row that was read with its `tag_names`."""

    def get_attribute(self, instance: Any) -> list[str]:
        names: list[str] = instance.tag_names
        return names
