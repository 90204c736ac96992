"""Serializers of documents and consents (spec 2.20)."""

from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from accounts.models import Consent, LegalDocument, Member
from accounts.models.legal import (
    MAX_BODY_LENGTH,
    MAX_TITLE_LENGTH,
    MAX_VERSION_LENGTH,
)
from core.api.fields import (
    OpenTextField,
    StrictBooleanField,
    StrictCharField,
    StrictDateTimeField,
    StrictIntegerField,
)
from core.api.serializers import Serializer

MAX_ID = 2**63 - 1


class LegalDocumentSerializer(Serializer):
    """A version of a document in one language."""

    id = serializers.IntegerField(read_only=True)
    kind = serializers.ChoiceField(
        choices=LegalDocument.Kind.values, help_text="What it is."
    )
    version = StrictCharField(
        max_length=MAX_VERSION_LENGTH, help_text="Name of the version."
    )
    locale = serializers.ChoiceField(
        choices=Member.Locale.choices, help_text="Its language."
    )
    title = StrictCharField(
        max_length=MAX_TITLE_LENGTH, help_text="The title of the document."
    )
    body = StrictCharField(
        max_length=MAX_BODY_LENGTH,
        help_text="Plain text; an empty line begins a paragraph.",
    )
    effective_at = StrictDateTimeField(help_text="From when it is in force.")
    required = StrictBooleanField(  # type: ignore[assignment]
        help_text="Whether nobody signs up or writes on the board without it."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["kind"] == LegalDocument.Kind.MARKETING and attrs["required"]:
            text = gettext("Consent to marketing is always optional.")
            raise serializers.ValidationError({"required": text})
        return attrs


class ConsentSerializer(Serializer):
    """What the caller said to a document."""

    document_id = serializers.IntegerField(help_text="Id of the document.")
    kind = OpenTextField(
        known_values=LegalDocument.Kind.values, help_text="What the document is."
    )
    version = serializers.CharField(help_text="Name of its version.")
    title = serializers.CharField(help_text="Its title.")
    accepted = serializers.BooleanField(help_text="Whether the caller accepted it.")
    at = serializers.DateTimeField(help_text="When the caller said so.")

    def to_representation(self, instance: Consent) -> dict[str, Any]:
        document = instance.document
        return {
            "documentId": document.pk,
            "kind": document.kind,
            "version": document.version,
            "title": document.title,
            "accepted": instance.accepted,
            "at": instance.at,
        }


class ConsentRequestSerializer(Serializer):
    answer = ConsentSerializer

    document_id = StrictIntegerField(
        min_value=1, max_value=MAX_ID, help_text="A document that is in force."
    )
    accepted = StrictBooleanField(help_text="False takes a consent back.")
