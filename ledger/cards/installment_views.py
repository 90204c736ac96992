"""The list of installments."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import IsPremium
from core.api.serializers import Serializer
from core.api.token_scopes import LEDGER
from ledger.base.month_fields import MonthNameField
from ledger.base.ownership import OwnedView
from ledger.cards.installments import (
    InstallmentList,
    Installments,
    Part,
    list_installments,
)
from ledger.cards.schedule import format_month


class PartOfMonthSerializer(Serializer):
    month = MonthNameField(help_text="Month of the bill, as YYYY-MM.")
    amount = serializers.IntegerField(
        help_text="Less refunds, in whole home-currency units."
    )


class PlanSerializer(Serializer):
    entry_id = serializers.IntegerField(help_text="Id of the purchase.")
    wallet_id = serializers.IntegerField(
        allow_null=True, help_text="Id of its wallet; null without one."
    )
    memo = serializers.CharField(help_text="Memo of the purchase.")
    amount = serializers.IntegerField(
        help_text="Amount of the purchase, in whole home-currency units."
    )
    months = serializers.IntegerField(help_text="Number of parts, 2 to 24.")
    billed = serializers.IntegerField(
        help_text="Sum of the parts of bills whose period has ended."
    )
    remaining = serializers.IntegerField(help_text="Sum of the other parts.")
    next = PartOfMonthSerializer(
        allow_null=True, help_text="The first of the other parts that is not 0."
    )
    last = MonthNameField(help_text="Month of the last part, as YYYY-MM.")
    parts = PartOfMonthSerializer(
        many=True,
        help_text=(
            "All parts, in order. A refund takes the parts of later bills than its "
            "own, the last ones first; such a part may be 0."
        ),
    )


class InstallmentListSerializer(Serializer):
    items = PlanSerializer(many=True, help_text="Each purchase, the newest first.")
    remaining = serializers.IntegerField(
        help_text="Sum of `remaining`, in whole home-currency units."
    )
    by_month = PartOfMonthSerializer(
        many=True, help_text="What remains, by the month of the bills, oldest first."
    )


class InstallmentView(OwnedView):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Cards"

    @extend_schema(operation_id="listInstallments", responses=InstallmentListSerializer)
    def get(self, request: Request) -> Response:
        """List the purchases in installments with parts still to come.

        Those of bills whose period has not ended. Excluded purchases are listed, since
        they are paid, too; pending ones are not.
        """
        found = list_installments(self.member, timezone.localdate())
        return Response(_list_payload(found))


def _list_payload(found: InstallmentList) -> dict[str, Any]:
    return {
        "items": [_plan_payload(item) for item in found.items],
        "remaining": found.remaining,
        "byMonth": [_part_payload(part) for part in found.by_month],
    }


def _plan_payload(item: Installments) -> dict[str, Any]:
    plan = item.plan
    return {
        "entryId": plan.id,
        "walletId": plan.wallet_id,
        "memo": item.memo,
        "amount": plan.amount,
        "months": plan.months,
        "billed": item.billed,
        "remaining": item.remaining,
        "next": item.next and _part_payload(item.next),
        "last": format_month(item.parts[-1].month),
        "parts": [_part_payload(part) for part in item.parts],
    }


def _part_payload(part: Part) -> dict[str, Any]:
    return {"month": format_month(part.month), "amount": part.amount}
