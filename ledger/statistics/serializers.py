"""Serializers of statistics."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext
from rest_framework import serializers

from core.api.fields import (
    ClosedChoiceField,
    ExactDecimalField,
    IsoDateField,
)
from core.api.serializers import Serializer
from ledger.base.month_fields import (
    InstallmentsQuerySerializer,
    SpreadAnswerSerializer,
)
from ledger.models import Wallet
from ledger.models.base import CategoryType
from ledger.periods import Unit
from ledger.statistics.cash_flow import CategoryFlow, Flow
from ledger.statistics.statistics import (
    MonthStatistics,
    RangeStatistics,
    YearStatistics,
)


class NetWorthWalletSerializer(Serializer):
    id = serializers.IntegerField(help_text="Id of the wallet.")
    name = serializers.CharField(help_text="Name of the wallet.")
    kind = serializers.ChoiceField(choices=Wallet.Kind.choices, help_text="What it is.")
    balance = serializers.IntegerField(
        help_text="Opening balance + income - expense of confirmed entries."
    )
    value = serializers.IntegerField(
        help_text="The typed-in value, else the balance; negative for a debt."
    )
    archived = serializers.BooleanField(help_text="Whether it is no longer in use.")


class NetWorthSerializer(Serializer):
    total = serializers.IntegerField(help_text="assets - liabilities")
    assets = serializers.IntegerField(help_text="Sum of positive wallets and holdings.")
    liabilities = serializers.IntegerField(
        help_text="Sum of negative wallets, as a positive number."
    )
    investments = serializers.IntegerField(help_text="Market value of holdings.")
    wallets = NetWorthWalletSerializer(
        many=True, help_text="Each wallet, in its `sortOrder`, archived ones too."
    )


# About ten years.
MAX_RANGE_DAYS = 3_700


class RangeStatisticsQuerySerializer(InstallmentsQuerySerializer):
    from_ = IsoDateField(source="from_", help_text="First day.")
    to = IsoDateField(help_text="Last day; at most 3,700 days after the first.")
    group_by = serializers.ChoiceField(
        choices=[unit.value for unit in Unit],
        required=False,
        default=Unit.DAY.value,
        help_text="Weeks begin on Monday; the first and last are cut to the range.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["to"] < attrs["from_"]:
            raise serializers.ValidationError(
                {"to": gettext("Must not be before `from`.")}
            )
        if (attrs["to"] - attrs["from_"]).days > MAX_RANGE_DAYS:
            detail = gettext("The range is limited to {limit} days.")
            raise serializers.ValidationError(
                {"to": detail.format(limit=MAX_RANGE_DAYS)}
            )
        return attrs


REFUNDED_TEXT = (
    "What came back, in whole home-currency units; `expense` is without it, so that "
    "expense + refunded is what was spent."
)
NET_EXPENSE_TEXT = "Expense less refunds, in whole home-currency units."


class TransfersSerializer(Serializer):
    amount = serializers.IntegerField(
        help_text="Moved between own wallets, in whole home-currency units."
    )
    count = serializers.IntegerField(help_text="Number of entries that move money.")


class ExcludedSerializer(Serializer):
    income = serializers.IntegerField(
        help_text="Income of excluded entries, in whole home-currency units."
    )
    expense = serializers.IntegerField(
        help_text="Expense of excluded entries, in whole home-currency units."
    )
    count = serializers.IntegerField(help_text="Number of excluded entries.")


class NetFlowSerializer(Serializer):
    income = serializers.IntegerField(help_text="Income, in whole home-currency units.")
    expense = serializers.IntegerField(help_text=NET_EXPENSE_TEXT)
    net = serializers.IntegerField(help_text="income - expense")
    refunded = serializers.IntegerField(help_text=REFUNDED_TEXT)
    transfers = TransfersSerializer(help_text="Between own wallets, in neither sum.")
    excluded = ExcludedSerializer(help_text="Entries that are left out of all else.")


class FlowSerializer(NetFlowSerializer):
    count = serializers.IntegerField(help_text="Number of entries.")


class CategoryFlowSerializer(Serializer):
    type = ClosedChoiceField(
        choices=CategoryType.choices,
        help_text="Money received (`income`) or spent (`expense`).",
    )
    category_id = serializers.IntegerField(
        allow_null=True, help_text="Id of the category; null for entries without one."
    )
    category = serializers.CharField(
        allow_null=True, help_text="Name of the category; null for entries without one."
    )
    parent = serializers.CharField(
        allow_null=True, help_text="Name of its major category; null for a major one."
    )  # type: ignore[assignment]
    amount = serializers.IntegerField(
        help_text="Sum of its entries less refunds, in whole home-currency units."
    )
    refunded = serializers.IntegerField(
        help_text="What came back, in whole home-currency units; 0 for an income."
    )
    count = serializers.IntegerField(help_text="Number of entries.")
    share = ExactDecimalField(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text=(
            "Of the amounts of its type that are above 0, such as 0.25; null below 0."
        ),
    )


class DayFlowSerializer(Serializer):
    date = serializers.DateField(help_text="The day.")
    income = serializers.IntegerField(help_text="Income, in whole home-currency units.")
    expense = serializers.IntegerField(help_text=NET_EXPENSE_TEXT)
    refunded = serializers.IntegerField(help_text=REFUNDED_TEXT)


class WalletFlowSerializer(Serializer):
    wallet_id = serializers.IntegerField(
        allow_null=True, help_text="Id of the wallet; null for entries without one."
    )
    name = serializers.CharField(
        allow_null=True, help_text="Name of the wallet; null for entries without one."
    )
    income = serializers.IntegerField(help_text="Income, in whole home-currency units.")
    expense = serializers.IntegerField(help_text=NET_EXPENSE_TEXT)
    refunded = serializers.IntegerField(help_text=REFUNDED_TEXT)
    transfer_in = serializers.IntegerField(
        help_text="Moved in from own wallets, in whole home-currency units."
    )
    transfer_out = serializers.IntegerField(
        help_text="Moved out to own wallets, in whole home-currency units."
    )


class TagFlowSerializer(Serializer):
    tag = serializers.CharField(help_text="Name of the tag.")
    income = serializers.IntegerField(help_text="Income, in whole home-currency units.")
    expense = serializers.IntegerField(help_text=NET_EXPENSE_TEXT)
    refunded = serializers.IntegerField(help_text=REFUNDED_TEXT)
    count = serializers.IntegerField(help_text="Number of entries.")


class MonthStatisticsSerializer(SpreadAnswerSerializer, FlowSerializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    previous = NetFlowSerializer(help_text="Totals of the month before.")
    by_category = CategoryFlowSerializer(
        many=True,
        help_text="Each category with entries: expenses first, the largest on top.",
    )
    by_day = DayFlowSerializer(many=True, help_text="Each day of the month.")
    by_wallet = WalletFlowSerializer(many=True, help_text="Each wallet with entries.")
    by_tag = TagFlowSerializer(
        many=True,
        help_text="Each tag with entries; an entry with two tags counts in both.",
    )


class MonthFlowSerializer(FlowSerializer):
    month = serializers.IntegerField()


class YearStatisticsSerializer(SpreadAnswerSerializer, NetFlowSerializer):
    year = serializers.IntegerField()
    months = MonthFlowSerializer(many=True, help_text="Each month of the year.")
    by_category = CategoryFlowSerializer(
        many=True,
        help_text="Each category with entries: expenses first, the largest on top.",
    )


class RangePointSerializer(FlowSerializer):
    start = serializers.DateField(help_text="First day.")
    end = serializers.DateField(help_text="Last day.")


class RangeStatisticsSerializer(SpreadAnswerSerializer, NetFlowSerializer):
    from_ = serializers.DateField(help_text="First day.")
    to = serializers.DateField(help_text="Last day.")
    group_by = serializers.ChoiceField(
        choices=[unit.value for unit in Unit], help_text="Length of the periods."
    )
    points = RangePointSerializer(many=True, help_text="Each period, oldest first.")


def net_flow_payload(flow: Flow) -> dict[str, Any]:
    return {
        "income": flow.income,
        "expense": flow.expense,
        "net": flow.net,
        "refunded": flow.refunded,
        "transfers": {"amount": flow.transferred, "count": flow.transfer_count},
        "excluded": {
            "income": flow.excluded_income,
            "expense": flow.excluded_expense,
            "count": flow.excluded_count,
        },
    }


def flow_payload(flow: Flow) -> dict[str, Any]:
    return net_flow_payload(flow) | {"count": flow.count}


def category_flows_payload(rows: Sequence[CategoryFlow]) -> list[dict[str, Any]]:
    return [
        {
            "type": row.type,
            "categoryId": row.category_id,
            "category": row.category,
            "parent": row.parent,
            "amount": row.amount,
            "refunded": row.refunded,
            "count": row.count,
            "share": row.share,
        }
        for row in rows
    ]


def month_statistics_payload(month: MonthStatistics) -> dict[str, Any]:
    return {
        **flow_payload(month.total),
        "previous": net_flow_payload(month.previous),
        "byCategory": category_flows_payload(month.by_category),
        "byDay": [
            {
                "date": day,
                "income": flow.income,
                "expense": flow.expense,
                "refunded": flow.refunded,
            }
            for day, flow in month.by_day
        ],
        "byWallet": [
            {
                "walletId": row.wallet_id,
                "name": row.name,
                "income": row.income,
                "expense": row.expense,
                "refunded": row.refunded,
                "transferIn": row.transfer_in,
                "transferOut": row.transfer_out,
            }
            for row in month.by_wallet
        ],
        "byTag": [
            {
                "tag": row.tag,
                "income": row.income,
                "expense": row.expense,
                "refunded": row.refunded,
                "count": row.count,
            }
            for row in month.by_tag
        ],
    }


def year_statistics_payload(year: YearStatistics) -> dict[str, Any]:
    return {
        **net_flow_payload(year.total),
        "months": [
            {"month": number} | flow_payload(flow) for number, flow in year.months
        ],
        "byCategory": category_flows_payload(year.by_category),
    }


def range_statistics_payload(statistics: RangeStatistics) -> dict[str, Any]:
    return {
        **net_flow_payload(statistics.total),
        "points": [
            {"start": part.start, "end": part.end} | flow_payload(flow)
            for part, flow in statistics.points
        ],
    }
