"""Forms of the page for reports from outside (spec 5.13)."""

from typing import Any

from django.utils.translation import gettext_lazy
from rest_framework import serializers

from accounts.codes.serializers import CodeField
from accounts.members.serializers import StrictEmailField
from board.models import MAX_REPORTER_NAME_LENGTH, OUTSIDE_TEXT_LENGTH, ReportReason
from core.api.fields import StrictCharField
from core.api.serializers import Serializer

MAX_TARGET_LENGTH = 500


class TextAreaField(StrictCharField):
    """A text of an HTML form, whose lines end with CR LF."""

    def to_internal_value(self, data: Any) -> str:
        text = data.replace("\r\n", "\n") if isinstance(data, str) else data
        return super().to_internal_value(text)


class OutsideReportFormSerializer(Serializer):
    target = StrictCharField(max_length=MAX_TARGET_LENGTH)
    reason = serializers.ChoiceField(
        choices=ReportReason.values,
        error_messages={"invalid_choice": gettext_lazy("Choose a reason.")},
    )
    text = TextAreaField(max_length=OUTSIDE_TEXT_LENGTH)
    name = StrictCharField(max_length=MAX_REPORTER_NAME_LENGTH)
    email = StrictEmailField()


class OutsideCodeFormSerializer(Serializer):
    request = serializers.UUIDField()
    code = CodeField()
