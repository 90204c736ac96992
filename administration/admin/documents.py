"""Terms and other documents in Django admin: read, and published once for all."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.validators import ProhibitNullCharactersValidator
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import linebreaks_filter
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError

from accounts.legal.documents import publish_documents
from accounts.legal.serializers import LegalDocumentSerializer
from accounts.models import ConsentCount, LegalDocument, Member
from accounts.models.legal import (
    MAX_BODY_LENGTH,
    MAX_TITLE_LENGTH,
    MAX_VERSION_LENGTH,
)
from core.admin.actions import get_actor
from core.admin.base import ReadOnlyAdmin
from core.admin.columns import Badges, badge_column, text_column, time_column
from core.admin.filters import YES_NO, badge_filter, choice_filter
from core.admin.form_fields import PlainTextField
from core.errors import DuplicateError

# In `Meta` the names would need a migration.
LegalDocument._meta.verbose_name = _("legal document")
LegalDocument._meta.verbose_name_plural = _("legal documents")

Kind = LegalDocument.Kind
KINDS: Badges = {
    Kind.TERMS: (_("Terms of use"), ""),
    Kind.PRIVACY: (_("Privacy"), ""),
    Kind.COMMUNITY: (_("Community rules"), ""),
    Kind.AGE: (_("Statement of age"), ""),
    Kind.MARKETING: (_("Marketing"), ""),
}
LANGUAGES: Badges = {
    Member.Locale.KO: (_("Korean"), ""),
    Member.Locale.EN: (_("English"), ""),
}
REQUIRED: Badges = {True: (_("Required"), "warn"), False: (_("Optional"), "")}
# Of the API to those of the form.
FIELDS = {"effectiveAt": "effective_at"}


class PublicationForm(forms.Form):
    """A version in one or both languages; the rules are those of the API."""

    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[(value, text) for value, (text, _tone) in KINDS.items()],
    )
    version = forms.CharField(label=_("Version"), max_length=MAX_VERSION_LENGTH)
    effective_at = forms.DateTimeField(
        label=_("In force from"),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
        ),
    )
    required = forms.BooleanField(
        label=_("Nobody signs up or writes on the board without it"), required=False
    )
    title_ko = forms.CharField(
        label=_("Title in Korean"), max_length=MAX_TITLE_LENGTH, required=False
    )
    body_ko = PlainTextField(
        label=_("Text in Korean"),
        max_length=MAX_BODY_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 12}),
        validators=[ProhibitNullCharactersValidator()],
    )
    title_en = forms.CharField(
        label=_("Title in English"), max_length=MAX_TITLE_LENGTH, required=False
    )
    body_en = PlainTextField(
        label=_("Text in English"),
        max_length=MAX_BODY_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 12}),
        validators=[ProhibitNullCharactersValidator()],
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if self.errors:
            return values
        written = [
            each
            for each in LANGUAGES
            if values[f"title_{each}"] or values[f"body_{each}"]
        ]
        if not written:
            self.add_error("title_ko", gettext("Write it in one language at least."))
        # An error takes its field out of the values.
        sent = dict(values)
        values["rows"] = [self._validate(sent, locale) for locale in written]
        return values

    def _validate(self, values: dict[str, Any], locale: str) -> dict[str, Any]:
        """Return the row of a language, as the API takes it."""
        row = LegalDocumentSerializer(
            data={
                "kind": values["kind"],
                "version": values["version"],
                "locale": locale,
                "title": values[f"title_{locale}"],
                "body": values[f"body_{locale}"],
                "effectiveAt": values["effective_at"].isoformat(),
                "required": values["required"],
            }
        )
        try:
            row.is_valid(raise_exception=True)
        except ValidationError as error:
            for name, texts in dict(error.detail).items():  # type: ignore[arg-type]
                field = FIELDS.get(name, name)
                known = field if field in self.fields else f"{field}_{locale}"
                self.add_error(known, [str(text) for text in texts])
        return dict(row.validated_data)


def show_body(document: LegalDocument) -> SafeString:
    return format_html(
        '<div class="document">{}</div>', linebreaks_filter(document.body)
    )


@admin.register(LegalDocument)
class LegalDocumentAdmin(ReadOnlyAdmin):
    list_display = [
        text_column("title", _("Title")),
        badge_column("kind", _("Kind"), KINDS),
        text_column("version", _("Version")),
        badge_column("locale", _("Language"), LANGUAGES),
        badge_column("required", _("Consent"), REQUIRED),
        time_column("effective_at", _("In force from")),
        time_column("created_at", _("Published"), order="id"),
    ]
    list_filter = [
        badge_filter("kind", _("Kind"), KINDS),
        badge_filter("locale", _("Language"), LANGUAGES),
        choice_filter("required", _("Required"), YES_NO),
    ]
    ordering = ["-id"]
    fields = [
        (*list_display[:4],),
        (*list_display[4:],),
        ("accepted", "refused"),
        "shown",
    ]
    readonly_fields = ["accepted", "refused", "shown"]

    @admin.display(description=_("Consents given"))
    def accepted(self, document: LegalDocument) -> str:
        return count_answers(document, accepted=True)

    @admin.display(description=_("Consents refused or taken back"))
    def refused(self, document: LegalDocument) -> str:
        return count_answers(document, accepted=False)

    @admin.display(description=_("Text"))
    def shown(self, document: LegalDocument) -> SafeString:
        return show_body(document)

    def get_object_name(self, row: LegalDocument) -> str:
        return f"{KINDS[row.kind][0]} {row.version} ({LANGUAGES[row.locale][0]})"

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)
        is_list = request.resolver_match and (
            request.resolver_match.url_name == self.view_name("changelist")
        )
        return rows.defer("body") if is_list else rows

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self.has_view_permission(request)

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Ask for a version, show it, publish it when it is sent again."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = PublicationForm(request.POST or None)
        is_confirmed = "confirmed" in request.POST
        is_edited = "edit" in request.POST
        if form.is_valid() and is_confirmed and not is_edited:
            try:
                publish_documents(get_actor(request), form.cleaned_data["rows"])
            except DuplicateError as error:
                form.add_error("version", str(error.detail))
            else:
                messages.success(request, gettext("The document has been published."))
                return HttpResponseRedirect(self.get_list_url())
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Publish a document"),
            "opts": self.opts,
            "form": form,
            # Nothing can be changed afterwards, so it is read once more.
            "is_question": form.is_valid() and not is_edited,
            "kind": KINDS.get(str(form["kind"].value()), ("", ""))[0],
        }
        return TemplateResponse(request, "admin/publish_document.html", context)


def count_answers(document: LegalDocument, *, accepted: bool) -> str:
    rows = ConsentCount.objects.filter(document=document, accepted=accepted)
    return f"{rows.aggregate(total=Sum('count'))['total'] or 0:,}"
