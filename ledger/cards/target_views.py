"""The targets of a card."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import IsoDateField
from core.api.operations import extend_schema
from core.api.permissions import IsPremium
from core.api.serializers import QuerySerializer, Serializer, validate_query
from core.api.token_scopes import LEDGER
from ledger.base.month_fields import MonthNameField
from ledger.base.ownership import OwnedView
from ledger.cards.schedule import first_of_month, format_month
from ledger.cards.targets import Reason, TargetMonth, get_targets


class TargetQuerySerializer(QuerySerializer):
    month = MonthNameField(
        required=False,
        help_text="Calendar month, as YYYY-MM; left out: the current one.",
    )


class TargetExclusionSerializer(Serializer):
    reason = serializers.ChoiceField(
        choices=[reason.value for reason in Reason],
        help_text=(
            "An excluded category, a tag, or installments; of several the first."
        ),
    )
    amount = serializers.IntegerField(
        help_text="Spent less refunds, in whole home-currency units; not 0."
    )


class TargetSerializer(Serializer):
    amount = serializers.IntegerField(
        help_text="What the issuer asks for, in whole home-currency units."
    )
    reached = serializers.BooleanField(help_text="Whether `counted` is as much.")
    remaining = serializers.IntegerField(help_text="What is missing; 0 if reached.")


class TargetMonthSerializer(Serializer):
    month = MonthNameField(help_text="Calendar month, as YYYY-MM.")
    counted = serializers.IntegerField(
        help_text="Purchases less refunds that count, in whole home-currency units."
    )
    excluded = TargetExclusionSerializer(
        many=True, help_text="What does not count, by reason."
    )
    targets = TargetSerializer(many=True, help_text="Each target of the settings.")
    last_day = IsoDateField(help_text="Last day of the month.")


class TargetView(OwnedView):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Cards"

    @extend_schema(
        operation_id="getCardTargets",
        parameters=[TargetQuerySerializer],
        responses=TargetMonthSerializer,
    )
    def get(self, request: Request, wallet_id: int) -> Response:
        """Get the spending on a card in a month against its targets.

        Confirmed purchases count in full, installments too, less refunds into the card:
        a refund of a known purchase in the month of the purchase. The categories, tags
        and installments that the settings leave out do not count. 404 for a wallet
        without settings.
        """
        query = validate_query(TargetQuerySerializer, request)
        month = query.get("month", first_of_month(timezone.localdate()))
        return Response(_payload(get_targets(self.member, wallet_id, month)))


def _payload(found: TargetMonth) -> dict[str, Any]:
    return {
        "month": format_month(found.month),
        "counted": found.counted,
        "excluded": [
            {"reason": reason.value, "amount": amount}
            for reason, amount in found.excluded
        ],
        "targets": [target._asdict() for target in found.targets],
        "lastDay": found.last_day,
    }
