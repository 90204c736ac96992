"""The text of a notification in a request."""

from typing import Any

from core.api.fields import StrictCharField

MAX_TITLE_LENGTH = 200


class NotificationTextField(StrictCharField):
    """The unchanged text of a notification, with any line ends."""

    # Spans index into the text as it was sent: it is not trimmed.

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        # Other texts cannot have carriage returns.
        super().to_internal_value(data.replace("\r", "\n"))
        return data
