"""Serializers of statistics."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from core.api.fields import ExactDecimalField, IsoDateField
from core.api.serializers import QuerySerializer, Serializer
from ledger.cash_flow import CategoryFlow, Flow
from ledger.models.base import EntryType
from ledger.periods import Unit
from ledger.statistics import MonthStatistics, RangeStatistics, YearStatistics

# About ten years.
MAX_RANGE_DAYS = 3_700


class RangeStatisticsQuerySerializer(QuerySerializer):
    from_ = IsoDateField(source="from_")
    to = IsoDateField()
    group_by = serializers.ChoiceField(
        choices=[unit.value for unit in Unit],
        required=False,
        default=Unit.DAY.value,
        help_text="Weeks begin on Monday; the first and last are cut to the range.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["to"] < attrs["from_"]:
            raise serializers.ValidationError({"to": "Must not be before `from`."})
        if (attrs["to"] - attrs["from_"]).days > MAX_RANGE_DAYS:
            raise serializers.ValidationError(
                {"to": f"The range is limited to {MAX_RANGE_DAYS} days."}
            )
        return attrs


class NetFlowSerializer(Serializer):
    income = serializers.IntegerField()
    expense = serializers.IntegerField()
    net = serializers.IntegerField(help_text="income - expense")


class FlowSerializer(NetFlowSerializer):
    count = serializers.IntegerField()


class CategoryFlowSerializer(Serializer):
    type = serializers.ChoiceField(choices=EntryType.choices)
    category = serializers.CharField(allow_null=True)
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    amount = serializers.IntegerField()
    count = serializers.IntegerField()
    share = ExactDecimalField(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text="Of its type's amount, such as 0.25.",
    )


class DayFlowSerializer(Serializer):
    date = serializers.DateField()
    income = serializers.IntegerField()
    expense = serializers.IntegerField()


class WalletFlowSerializer(Serializer):
    wallet_id = serializers.IntegerField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    income = serializers.IntegerField()
    expense = serializers.IntegerField()


class TagFlowSerializer(Serializer):
    tag = serializers.CharField()
    income = serializers.IntegerField()
    expense = serializers.IntegerField()
    count = serializers.IntegerField()


class MonthStatisticsSerializer(FlowSerializer):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    previous = NetFlowSerializer()
    by_category = CategoryFlowSerializer(many=True)
    by_day = DayFlowSerializer(many=True)
    by_wallet = WalletFlowSerializer(many=True)
    by_tag = TagFlowSerializer(many=True)


class MonthFlowSerializer(FlowSerializer):
    month = serializers.IntegerField()


class YearStatisticsSerializer(NetFlowSerializer):
    year = serializers.IntegerField()
    months = MonthFlowSerializer(many=True)
    by_category = CategoryFlowSerializer(many=True)


class RangePointSerializer(FlowSerializer):
    start = serializers.DateField()
    end = serializers.DateField()


class RangeStatisticsSerializer(NetFlowSerializer):
    from_ = serializers.DateField()
    to = serializers.DateField()
    group_by = serializers.ChoiceField(choices=[unit.value for unit in Unit])
    points = RangePointSerializer(many=True)


def net_flow_payload(flow: Flow) -> dict[str, int]:
    return {"income": flow.income, "expense": flow.expense, "net": flow.net}


def flow_payload(flow: Flow) -> dict[str, int]:
    return net_flow_payload(flow) | {"count": flow.count}


def category_flows_payload(rows: Sequence[CategoryFlow]) -> list[dict[str, Any]]:
    return [
        {
            "type": row.type,
            "category": row.category,
            "parent": row.parent,
            "amount": row.amount,
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
            {"date": day, "income": flow.income, "expense": flow.expense}
            for day, flow in month.by_day
        ],
        "byWallet": [
            {
                "walletId": row.wallet_id,
                "name": row.name,
                "income": row.income,
                "expense": row.expense,
            }
            for row in month.by_wallet
        ],
        "byTag": [
            {
                "tag": row.tag,
                "income": row.income,
                "expense": row.expense,
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
