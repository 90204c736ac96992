"""Wire shapes of statistics."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from core.api.fields import Exact, Serializer
from ledger.cash_flow import CategoryFlow, Flow
from ledger.models.base import EntryType
from ledger.periods import Unit
from ledger.serializers.periods import RangeQuery
from ledger.statistics import MonthStatistics, RangeStatistics, YearStatistics


class GroupedRangeQuery(RangeQuery):
    group_by = serializers.ChoiceField(
        choices=[unit.value for unit in Unit],
        required=False,
        default=Unit.DAY.value,
        help_text="Weeks begin on Monday; the first and last are cut to the range.",
    )


class NetBody(Serializer):
    income = serializers.IntegerField()
    expense = serializers.IntegerField()
    net = serializers.IntegerField(help_text="income - expense")


class FlowBody(NetBody):
    count = serializers.IntegerField()


class CategoryFlowBody(Serializer):
    type = serializers.ChoiceField(choices=EntryType.choices)
    category = serializers.CharField(allow_null=True)
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    amount = serializers.IntegerField()
    count = serializers.IntegerField()
    share = Exact(
        max_digits=20,
        decimal_places=4,
        allow_null=True,
        help_text="Of its type's amount, such as 0.25.",
    )


class DayFlowBody(Serializer):
    date = serializers.DateField()
    income = serializers.IntegerField()
    expense = serializers.IntegerField()


class WalletFlowBody(Serializer):
    wallet_id = serializers.IntegerField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    income = serializers.IntegerField()
    expense = serializers.IntegerField()


class TagFlowBody(Serializer):
    tag = serializers.CharField()
    income = serializers.IntegerField()
    expense = serializers.IntegerField()
    count = serializers.IntegerField()


class MonthStatisticsBody(FlowBody):
    year = serializers.IntegerField()
    month = serializers.IntegerField()
    previous = NetBody()
    by_category = CategoryFlowBody(many=True)
    by_day = DayFlowBody(many=True)
    by_wallet = WalletFlowBody(many=True)
    by_tag = TagFlowBody(many=True)


class MonthFlowBody(FlowBody):
    month = serializers.IntegerField()


class YearStatisticsBody(NetBody):
    year = serializers.IntegerField()
    months = MonthFlowBody(many=True)
    by_category = CategoryFlowBody(many=True)


class PointBody(FlowBody):
    start = serializers.DateField()
    end = serializers.DateField()


class RangeStatisticsBody(NetBody):
    from_ = serializers.DateField()
    to = serializers.DateField()
    group_by = serializers.ChoiceField(choices=[unit.value for unit in Unit])
    points = PointBody(many=True)


def describe_net(flow: Flow) -> dict[str, int]:
    return {"income": flow.income, "expense": flow.expense, "net": flow.net}


def describe_flow(flow: Flow) -> dict[str, int]:
    return describe_net(flow) | {"count": flow.count}


def describe_categories(rows: Sequence[CategoryFlow]) -> list[dict[str, Any]]:
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


def describe_month(month: MonthStatistics) -> dict[str, Any]:
    return {
        **describe_flow(month.total),
        "previous": describe_net(month.previous),
        "byCategory": describe_categories(month.by_category),
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


def describe_year(year: YearStatistics) -> dict[str, Any]:
    return {
        **describe_net(year.total),
        "months": [
            {"month": number} | describe_flow(flow) for number, flow in year.months
        ],
        "byCategory": describe_categories(year.by_category),
    }


def describe_range(statistics: RangeStatistics) -> dict[str, Any]:
    return {
        **describe_net(statistics.total),
        "points": [
            {"start": part.start, "end": part.end} | describe_flow(flow)
            for part, flow in statistics.points
        ],
    }
