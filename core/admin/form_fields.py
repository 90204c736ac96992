"""Fields of forms of Django admin."""

from typing import Any

from django import forms


class PlainTextField(forms.CharField):
    """A text of several lines, whose ends of lines are those of the API."""

    def to_python(self, value: Any) -> str:
        # Browsers send CR LF.
        return str(super().to_python(value)).replace("\r\n", "\n")
