"""The form of a decision in Django admin."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.validators import ProhibitNullCharactersValidator
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from board.models import NOTE_LENGTH, Decision, ReportReason
from board.moderation.decisions import MAX_SILENCE_DAYS, Judgement
from core.errors import FieldError

Action = Decision.Action
# Names of the API to those of the form.
FIELDS = {"action": "action", "silenceDays": "silence_days"}


class SeenField(forms.CharField):
    """The time of the text that was read; empty for one without a time."""

    widget = forms.HiddenInput

    def clean(self, value: Any) -> datetime | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            moment = parse_datetime(text)
            if moment is not None and moment.tzinfo is not None:
                return moment.astimezone(UTC)
        # The second one is of the years 0 and 10000, in UTC.
        except (ValueError, OverflowError):
            pass
        raise forms.ValidationError(_("Load the page again."), code="invalid")


class JudgementForm(forms.Form):
    action = forms.ChoiceField(
        label=_("Decision"),
        choices=[(each.value, each.value) for each in Action],
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose a decision.")},
    )
    reason = forms.ChoiceField(
        label=_("Reason, which the author is told"),
        choices=ReportReason.choices,
        widget=forms.RadioSelect,
        required=False,
    )
    note = forms.CharField(
        label=_("Note for other moderators"),
        required=False,
        max_length=NOTE_LENGTH,
        validators=[ProhibitNullCharactersValidator()],
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    silence_days = forms.IntegerField(
        label=_("Silence the author for so many days"),
        required=False,
        min_value=1,
        max_value=MAX_SILENCE_DAYS,
    )
    seen = SeenField(required=False)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        action = values.get("action")
        if action and action != Action.DISMISS and not values.get("reason"):
            self.add_error("reason", gettext("Choose a reason."))
        return values

    @property
    def judgement(self) -> Judgement:
        values = self.cleaned_data
        is_dismissed = values["action"] == Action.DISMISS
        return Judgement(
            action=values["action"],
            # It is chosen beforehand; nobody is told of one with a dismissal.
            reason="" if is_dismissed else values["reason"],
            note=values["note"],
            silence_days=values["silence_days"],
            target_updated_at=values["seen"],
        )

    def add_refusals(self, errors: Iterable[FieldError]) -> None:
        """Show what the rules of the API refuse."""
        for error in errors:
            self.add_error(FIELDS.get(error.field), str(error.detail))
