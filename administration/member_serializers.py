"""Serializers of the support view and of changes of many members."""

from typing import Any

from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.login.serializers import FactorsSerializer, LinkedIdentitySerializer
from accounts.members.serializers import MAX_ID, MemberSummarySerializer
from accounts.models import AuditLogEntry, LegalDocument, Member
from accounts.sessions.serializers import (
    OwnSessionSerializer,
    SecurityEventSerializer,
)
from accounts.tokens.serializers import PersonalTokenSerializer
from administration.bulk import MAX_MEMBERS, BulkAction, Result
from administration.support import MAX_REASON_LENGTH
from billing.models import AMOUNT_DECIMALS, AMOUNT_DIGITS
from billing.serializers import PRODUCT_IDS
from core.api.fields import (
    ExactDecimalField,
    FutureDateTimeField,
    OpenTextField,
    StrictCharField,
    StrictIntegerField,
    UniqueListField,
)
from core.api.serializers import QuerySerializer, Serializer, to_camel_case
from ledger.base.row_counts import COUNTED

NEWEST = "The newest 20, newest first."


class SupportQuerySerializer(QuerySerializer):
    reason = StrictCharField(
        max_length=MAX_REASON_LENGTH,
        help_text=(
            "Why, 1 to 200 characters. The log keeps it after the account is gone, so "
            "that it should name nobody."
        ),
    )


class SupportSessionSerializer(OwnSessionSerializer):
    """A session of a member, as the member sees it."""

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        # There is no session of the request, and nothing is ended by id here.
        del fields["current"], fields["id"]
        return fields


class SupportTokenSerializer(PersonalTokenSerializer):
    """A personal token of a member, by its name."""

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        del fields["id"]
        return fields


class SupportConsentSerializer(Serializer):
    """What the member said to a document."""

    kind = OpenTextField(
        source="document.kind",
        known_values=LegalDocument.Kind.values,
        help_text="What the document is.",
    )
    version = serializers.CharField(
        source="document.version", help_text="Name of its version."
    )
    locale = serializers.ChoiceField(
        source="document.locale",
        choices=Member.Locale.choices,
        help_text="Its language.",
    )
    accepted = serializers.BooleanField(help_text="Whether the member has agreed.")
    at = serializers.DateTimeField(help_text="When.")


class SupportPurchaseSerializer(Serializer):
    """A purchase, without its token."""

    id = serializers.IntegerField()
    store = serializers.CharField(help_text="Such as `google_play`.")
    order_id = serializers.CharField(help_text="The number of the order in the store.")
    product_id = OpenTextField(
        known_values=PRODUCT_IDS, help_text="The `id` of the product."
    )
    state = serializers.CharField(
        help_text="In the words of the store; empty if it has said nothing."
    )
    purchased_at = serializers.DateTimeField(help_text="When it was bought.")
    expires_at = serializers.DateTimeField(help_text="Until when it is paid.")
    auto_renew = serializers.BooleanField(help_text="Whether the store renews it.")
    counts = serializers.BooleanField(
        source="is_active", help_text="Whether the plan is computed from it."
    )
    replaced_at = serializers.DateTimeField(
        allow_null=True, help_text="When another one took its place; or null."
    )
    paid_amount = ExactDecimalField(
        max_digits=AMOUNT_DIGITS,
        decimal_places=AMOUNT_DECIMALS,
        allow_null=True,
        help_text="In whole units of the currency; null if it is not known.",
    )
    paid_currency = serializers.CharField(help_text="ISO 4217 code, or empty.")
    refunded_at = serializers.DateTimeField(
        allow_null=True, help_text="When the store paid it back; or null."
    )


class StaffActionSerializer(Serializer):
    """A deed of staff to the member, from the audit log."""

    at = serializers.DateTimeField(help_text="When.")
    actor_id = serializers.IntegerField(help_text="Id of the administrator.")
    action = OpenTextField(
        known_values=AuditLogEntry.Action.values, help_text="What was done."
    )
    text = serializers.CharField(help_text="Details in English; may be empty.")


class LedgerRowsSerializer(Serializer):
    """Numbers of rows; nobody but the member reads the rows."""

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for name in COUNTED:
            text, shown = f"Number of {name.replace('_', ' ')}.", to_camel_case(name)
            # DRF refuses a source that is the name.
            source = None if shown == name else name
            fields[shown] = serializers.IntegerField(source=source, help_text=text)
        return fields


class MemberSupportSerializer(Serializer):
    """What support may know of a member."""

    member = MemberSummarySerializer(help_text="Account, status, silence and plan.")
    factors = FactorsSerializer(help_text="The second factor.")
    identities = LinkedIdentitySerializer(many=True, help_text="Linked identities.")
    sessions = SupportSessionSerializer(
        many=True, help_text="The 20 sessions that were used last."
    )
    tokens = SupportTokenSerializer(many=True, help_text="Personal tokens, by name.")
    consents = SupportConsentSerializer(many=True, help_text=NEWEST)
    purchases = SupportPurchaseSerializer(many=True, help_text=NEWEST)
    staff_actions = StaffActionSerializer(
        many=True, help_text=f"Changes by staff, of the plan too. {NEWEST}"
    )
    ledger_rows = LedgerRowsSerializer(
        help_text="Numbers of rows, never their content."
    )
    security_events = SecurityEventSerializer(many=True, help_text=NEWEST)


class BulkRequestSerializer(Serializer):
    """A change of many members."""

    ids = UniqueListField(
        child=StrictIntegerField(min_value=1, max_value=MAX_ID),
        min_length=1,
        max_length=MAX_MEMBERS,
        help_text="Ids of the members, at most 100.",
    )
    action = serializers.ChoiceField(
        choices=[each.value for each in BulkAction], help_text="What to do."
    )
    reason = StrictCharField(
        max_length=MAX_REASON_LENGTH,
        help_text=(
            "Why, 1 to 200 characters, for the log; of a suspension and a silence the "
            "member reads it too."
        ),
    )
    until = FutureDateTimeField(
        required=False,
        allow_null=True,
        help_text=(
            "The end of a silence, which needs one, or of a suspension, which without "
            "it does not end by itself."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        action, until = BulkAction(attrs["action"]), attrs.get("until")
        if action == BulkAction.SILENCE and until is None:
            text = gettext("A silence needs an end.")
            raise serializers.ValidationError({"until": text}, code="required")
        if action not in {BulkAction.SILENCE, BulkAction.SUSPEND} and until:
            text = gettext("Only a suspension and a silence have an end.")
            raise serializers.ValidationError({"until": text})
        return attrs | {"action": action}


class BulkResultSerializer(Serializer):
    """What became of one member."""

    id = serializers.IntegerField(source="member_id")
    done = serializers.SerializerMethodField(
        help_text="Whether it is done; also if it was so already."
    )
    code = serializers.SerializerMethodField(
        help_text="The code of the single request's error; null if it is done."
    )
    detail = serializers.SerializerMethodField(
        help_text="What is wrong, for people; null if it is done."
    )

    def get_done(self, result: Result) -> bool:
        return result.error is None

    @extend_schema_field(
        OpenTextField(
            known_values=["ADMIN_REQUIRED", "FORBIDDEN", "NOT_FOUND", "SELF_CHANGE"],
            allow_null=True,
        )
    )
    def get_code(self, result: Result) -> str | None:
        return result.code

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_detail(self, result: Result) -> str | None:
        return result.detail


class BulkResultsSerializer(Serializer):
    """A result for each id, in their order."""

    results = BulkResultSerializer(many=True, help_text="One for each id.")
