"""Statistics of a month, a year and a range."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.permissions import IsPremium
from core.api.serializers import validate_query
from core.errors import InvalidFieldError
from ledger import statistics
from ledger.ownership import OwnedViewSet
from ledger.periods import Period, Unit
from ledger.serializers.periods import (
    MonthQuerySerializer,
    YearQuerySerializer,
    resolve_month,
)
from ledger.serializers.statistics import (
    GroupedRangeQuerySerializer,
    MonthStatisticsSerializer,
    RangeStatisticsSerializer,
    YearStatisticsSerializer,
    month_statistics_payload,
    range_statistics_payload,
    year_statistics_payload,
)

MAX_RANGE_DAYS = 3_700
"""About ten years in one answer."""


class StatisticsViewSet(OwnedViewSet):
    permission_classes = [IsPremium]

    @extend_schema(
        parameters=[MonthQuerySerializer], responses=MonthStatisticsSerializer
    )
    def month(self, request: Request) -> Response:
        """Totals, the month before, and by category, day, wallet and tag."""
        month = resolve_month(validate_query(MonthQuerySerializer, request))
        found = statistics.get_month_statistics(self.member, month.year, month.month)
        head = {"year": month.year, "month": month.month}
        return Response(head | month_statistics_payload(found))

    @extend_schema(parameters=[YearQuerySerializer], responses=YearStatisticsSerializer)
    def year(self, request: Request) -> Response:
        """The twelve months of a year, and its categories."""
        query = validate_query(YearQuerySerializer, request)
        year = query.get("year", timezone.localdate().year)
        found = statistics.get_year_statistics(self.member, year)
        return Response({"year": year} | year_statistics_payload(found))

    @extend_schema(
        parameters=[GroupedRangeQuerySerializer], responses=RangeStatisticsSerializer
    )
    def range(self, request: Request) -> Response:
        """Any days, grouped by day, week or month; at most ten years."""
        query = validate_query(GroupedRangeQuerySerializer, request)
        period = Period(query["from_"], query["to"])
        if period.end < period.start:
            raise InvalidFieldError("to", "This lies before `from`.")
        if (period.end - period.start).days > MAX_RANGE_DAYS:
            raise InvalidFieldError("to", f"At most {MAX_RANGE_DAYS} days at once.")
        unit = Unit(query["group_by"])
        found = statistics.get_range_statistics(self.member, period, unit)
        head = {"from": period.start, "to": period.end, "groupBy": unit.value}
        return Response(head | range_statistics_payload(found))
