"""Statistics of a month, a year and a range."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_query
from core.api.permissions import IsPremium
from core.errors import InvalidField
from ledger import statistics
from ledger.ownership import OwnedViewSet
from ledger.periods import Period, Unit
from ledger.serializers.periods import MonthQuery, YearQuery, month_from
from ledger.serializers.statistics import (
    GroupedRangeQuery,
    MonthStatisticsBody,
    RangeStatisticsBody,
    YearStatisticsBody,
    describe_month,
    describe_range,
    describe_year,
)

MAX_RANGE_DAYS = 3_700
"""About ten years in one answer."""


class StatisticsViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(parameters=[MonthQuery], responses=MonthStatisticsBody)
    def month(self, request: Request) -> Response:
        """Totals, the month before, and by category, day, wallet and tag."""
        month = month_from(read_query(MonthQuery, request))
        found = statistics.read_month(self.member, month.year, month.month)
        head = {"year": month.year, "month": month.month}
        return Response(head | describe_month(found))

    @extend_schema(parameters=[YearQuery], responses=YearStatisticsBody)
    def year(self, request: Request) -> Response:
        """The twelve months of a year, and its categories."""
        query = read_query(YearQuery, request)
        year = query.get("year", timezone.localdate().year)
        found = statistics.read_year(self.member, year)
        return Response({"year": year} | describe_year(found))

    @extend_schema(parameters=[GroupedRangeQuery], responses=RangeStatisticsBody)
    def range(self, request: Request) -> Response:
        """Any days, grouped by day, week or month; at most ten years."""
        query = read_query(GroupedRangeQuery, request)
        period = Period(query["from_"], query["to"])
        if period.end < period.start:
            raise InvalidField("to", "This lies before `from`.")
        if (period.end - period.start).days > MAX_RANGE_DAYS:
            raise InvalidField("to", f"At most {MAX_RANGE_DAYS} days at once.")
        unit = Unit(query["group_by"])
        found = statistics.read_range(self.member, period, unit)
        head = {"from": period.start, "to": period.end, "groupBy": unit.value}
        return Response(head | describe_range(found))
