"""Announcements in Django admin (spec 7.12)."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError

from accounts.announcements.announcements import (
    create_announcement,
    delete_announcement,
    update_announcement,
)
from accounts.announcements.serializers import LANGUAGES, AnnouncementRequestSerializer
from accounts.models import Announcement
from accounts.models.announcements import (
    MAX_ANNOUNCEMENT_TEXT,
    MAX_ANNOUNCEMENT_TITLE,
)
from core.admin.actions import get_actor
from core.admin.base import ListAdmin
from core.admin.columns import Badges, badge_column, text_column, time_column
from core.admin.filters import badge_filter
from core.admin.form_fields import PlainTextField
from core.api.exception_handler import flatten_errors

Level, Audience = Announcement.Level, Announcement.Audience
LEVELS: Badges = {
    Level.INFO: (_("Information"), "info"),
    Level.WARNING: (_("Warning"), "warn"),
    Level.CRITICAL: (_("Critical"), "bad"),
}
AUDIENCES: Badges = {
    Audience.ALL: (_("Everybody"), ""),
    Audience.FREE: (_("Members without the paid plan"), ""),
    Audience.PREMIUM: (_("Members with the paid plan"), ""),
    Audience.STAFF: (_("Staff"), ""),
}
# Fields of the form by those of the API.
FIELDS = {"from": "starts_at", "until": "ends_at"}


def moment_field(label: Any) -> forms.DateTimeField:
    widget = forms.DateTimeInput(
        attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
    )
    return forms.DateTimeField(label=label, widget=widget)


def title_field(label: Any) -> forms.CharField:
    # The class of Django's own pages makes it wide.
    widget = forms.TextInput(attrs={"class": "vTextField"})
    return forms.CharField(
        label=label, max_length=MAX_ANNOUNCEMENT_TITLE, widget=widget
    )


def text_field(label: Any) -> PlainTextField:
    return PlainTextField(
        label=label,
        max_length=MAX_ANNOUNCEMENT_TEXT,
        widget=forms.Textarea(attrs={"rows": 6}),
    )


def choices_of(badges: Badges) -> list[tuple[Any, Any]]:
    return [(value, text) for value, (text, _tone) in badges.items()]


class AnnouncementForm(forms.ModelForm):  # type: ignore[type-arg]
    """An announcement; the rules are those of the API."""

    title_ko = title_field(_("Title in Korean"))
    title_en = title_field(_("Title in English"))
    text_ko = text_field(_("Text in Korean"))
    text_en = text_field(_("Text in English"))
    level = forms.ChoiceField(label=_("Level"), choices=choices_of(LEVELS))
    audience = forms.ChoiceField(label=_("Audience"), choices=choices_of(AUDIENCES))
    starts_at = moment_field(_("Shown from"))
    ends_at = moment_field(_("Shown until"))

    class Meta:
        model = Announcement
        fields = (
            *("title_ko", "title_en", "text_ko", "text_en"),
            *("level", "audience", "starts_at", "ends_at"),
        )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if self.errors:
            return values
        body = {
            name: {each: values[f"{name}_{each}"] for each in LANGUAGES}
            for name in ("title", "text")
        }
        serializer = AnnouncementRequestSerializer(
            data={
                **body,
                "level": values["level"],
                "audience": values["audience"],
                "from": values["starts_at"].isoformat(),
                "until": values["ends_at"].isoformat(),
            }
        )
        try:
            serializer.is_valid(raise_exception=True)
        except ValidationError as error:
            for each in flatten_errors(error.get_full_details()):
                field = FIELDS.get(each.field, each.field.replace(".", "_"))
                self.add_error(field, str(each.detail))
            return values
        values |= serializer.validated_data
        if values["ends_at"] <= values["starts_at"]:
            self.add_error("ends_at", _("Must be after the beginning."))
        return values


@admin.register(Announcement)
class AnnouncementAdmin(ListAdmin):
    form = AnnouncementForm
    list_display = [
        text_column("title_ko", _("Title in Korean")),
        text_column("title_en", _("Title in English")),
        badge_column("level", _("Level"), LEVELS),
        badge_column("audience", _("Audience"), AUDIENCES),
        time_column("starts_at", _("Shown from")),
        time_column("ends_at", _("Shown until"), order="ends_at"),
    ]
    list_filter = [
        badge_filter("level", _("Level"), LEVELS),
        badge_filter("audience", _("Audience"), AUDIENCES),
    ]
    fields = [
        "title_ko",
        "title_en",
        "text_ko",
        "text_en",
        ("level", "audience"),
        ("starts_at", "ends_at"),
    ]
    ordering = ["-id"]
    actions = None

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"starts_at": timezone.localtime()}

    def save_model(
        self, request: HttpRequest, obj: Announcement, form: Any, change: bool
    ) -> None:
        actor = get_actor(request)
        values = {
            name: form.cleaned_data[name] for name in AnnouncementForm.Meta.fields
        }
        if change:
            update_announcement(actor, obj.pk, values)
        else:
            obj.pk = create_announcement(actor, values).pk

    def delete_model(self, request: HttpRequest, obj: Announcement) -> None:
        delete_announcement(get_actor(request), obj.pk)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Log nothing: `create_announcement` has logged it."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Log nothing: `update_announcement` has logged it."""

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Log nothing: `delete_announcement` has logged it."""
