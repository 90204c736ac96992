"""Statistics."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import IsPremium
from core.api.serializers import validate_query
from core.api.token_scopes import LEDGER
from ledger.base.month_fields import (
    SpreadMonthQuerySerializer,
    SpreadYearQuerySerializer,
    resolve_month,
    spread_payload,
)
from ledger.base.ownership import OwnedViewSet
from ledger.periods import Period, Unit
from ledger.statistics import spread, statistics
from ledger.statistics.serializers import (
    MonthStatisticsSerializer,
    RangeStatisticsQuerySerializer,
    RangeStatisticsSerializer,
    YearStatisticsSerializer,
    month_statistics_payload,
    range_statistics_payload,
    year_statistics_payload,
)


class StatisticsViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    schema_tag = "Statistics"

    @extend_schema(
        parameters=[SpreadMonthQuerySerializer], responses=MonthStatisticsSerializer
    )
    @action(detail=False, url_path="month")
    def get_month_statistics(self, request: Request) -> Response:
        """Get the statistics of a month.

        Totals, the previous month, and flows by category, day, wallet and tag.
        """
        query = validate_query(SpreadMonthQuerySerializer, request)
        month = resolve_month(query)
        module = _choose_module(query)
        result = module.get_month_statistics(self.member, month.year, month.month)
        return Response(
            {"year": month.year, "month": month.month}
            | spread_payload(query)
            | month_statistics_payload(result)
        )

    @extend_schema(
        parameters=[SpreadYearQuerySerializer], responses=YearStatisticsSerializer
    )
    @action(detail=False, url_path="year")
    def get_year_statistics(self, request: Request) -> Response:
        """Get the statistics of a year.

        Totals, and flows by month and category.
        """
        query = validate_query(SpreadYearQuerySerializer, request)
        year = query.get("year", timezone.localdate().year)
        result = _choose_module(query).get_year_statistics(self.member, year)
        return Response(
            {"year": year} | spread_payload(query) | year_statistics_payload(result)
        )

    @extend_schema(
        parameters=[RangeStatisticsQuerySerializer],
        responses=RangeStatisticsSerializer,
    )
    @action(detail=False, url_path="range")
    def get_range_statistics(self, request: Request) -> Response:
        """Get the statistics of a range of days.

        By day, week or month; at most ten years.
        """
        query = validate_query(RangeStatisticsQuerySerializer, request)
        period = Period(query["from_"], query["to"])
        unit = Unit(query["group_by"])
        module = _choose_module(query)
        result = module.get_range_statistics(self.member, period, unit)
        return Response(
            {"from": period.start, "to": period.end, "groupBy": unit.value}
            | spread_payload(query)
            | range_statistics_payload(result)
        )


def _choose_module(query: Mapping[str, Any]) -> ModuleType:
    return spread if "installments" in query else statistics
