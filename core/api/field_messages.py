"""Texts of fields in place of DRF's, which name types of Python and echo the input.

DRF has no setting for them.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy
from rest_framework import serializers

from core.errors import NotFoundError

_LIST = {
    "empty": gettext_lazy("Must not be empty."),
    "not_a_list": gettext_lazy("Must be a list."),
    "min_length": gettext_lazy("Must have at least {min_length} items."),
    "max_length": gettext_lazy("Must have at most {max_length} items."),
}
_NUMBER = {
    "min_value": gettext_lazy("Must be at least {min_value}."),
    "max_value": gettext_lazy("Must be at most {max_value}."),
    "max_string_length": gettext_lazy("Must have fewer digits."),
}
FIELD_MESSAGES: Mapping[Any, Mapping[str, Any]] = {
    serializers.BooleanField: {"invalid": gettext_lazy("Must be true or false.")},
    serializers.CharField: {
        "invalid": gettext_lazy("Must be text."),
        "min_length": gettext_lazy("Must be at least {min_length} characters."),
        "max_length": gettext_lazy("Must be at most {max_length} characters."),
    },
    serializers.UUIDField: {"invalid": gettext_lazy("Must be a UUID.")},
    serializers.IntegerField: {
        **_NUMBER,
        "invalid": gettext_lazy("Must be a whole number."),
    },
    serializers.DecimalField: {
        **_NUMBER,
        # Not 1E-8.
        "min_value": gettext_lazy("Must be at least {min_value:f}."),
        "invalid": gettext_lazy("Must be a number."),
        "max_digits": gettext_lazy("Must have at most {max_digits} digits."),
        "max_whole_digits": gettext_lazy(
            "Must have at most {max_whole_digits} digits before the point."
        ),
        "max_decimal_places": gettext_lazy(
            "Must have at most {max_decimal_places} decimal places."
        ),
    },
    serializers.DateField: {"invalid": gettext_lazy("Must be a date as YYYY-MM-DD.")},
    serializers.DateTimeField: {
        "invalid": gettext_lazy("Must be a time as YYYY-MM-DDTHH:MM:SS+HH:MM."),
        "date": gettext_lazy("Must be a time as YYYY-MM-DDTHH:MM:SS+HH:MM."),
    },
    serializers.ChoiceField: {
        "invalid_choice": gettext_lazy("This is none of the possible values.")
    },
    serializers.FileField: {
        "required": gettext_lazy("No file was submitted."),
        "invalid": gettext_lazy("Must be a file of a form."),
        "max_length": gettext_lazy("The file name is too long."),
    },
    serializers.DictField: {
        "not_a_dict": gettext_lazy("Must be an object."),
        "empty": gettext_lazy("Must not be empty."),
    },
    serializers.ListField: _LIST,
    serializers.ListSerializer: _LIST,
    serializers.Serializer: {"invalid": gettext_lazy("Must be an object.")},
    # The same for a row of another member and for none.
    serializers.PrimaryKeyRelatedField: {
        "does_not_exist": NotFoundError.detail,
        "incorrect_type": gettext_lazy("Must be a whole number."),
    },
}


def replace_messages() -> None:
    """Replace the texts before any field is made."""
    for field_class, messages in FIELD_MESSAGES.items():
        field_class.default_error_messages = {
            **field_class.default_error_messages,
            **messages,
        }


replace_messages()
