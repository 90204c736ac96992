"""Net worth and its trend."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import to_payload, validate_query
from core.api.token_scopes import LEDGER
from ledger.base.ownership import OwnedView
from ledger.periods import Unit
from ledger.statistics.net_worth import compute_net_worth
from ledger.statistics.serializers import NetWorthSerializer
from ledger.statistics.trend import get_net_worth_trend
from ledger.statistics.trend_serializers import (
    NAME_BY_UNIT,
    TrendQuerySerializer,
    TrendSerializer,
    trend_point_payload,
)

SCHEMA_TAG = "Net worth"


class NetWorthView(OwnedView):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = SCHEMA_TAG

    @extend_schema(responses=NetWorthSerializer)
    def get(self, request: Request) -> Response:
        """Get the net worth.

        The current value of wallets and holdings.
        """
        return Response(to_payload(NetWorthSerializer, compute_net_worth(self.member)))


class NetWorthTrendView(OwnedView):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = SCHEMA_TAG

    @extend_schema(parameters=[TrendQuerySerializer], responses=TrendSerializer)
    def get(self, request: Request) -> Response:
        """Get the net-worth trend.

        By month, or by week from Monday; the current period is the last.
        """
        query = validate_query(TrendQuerySerializer, request)
        unit: Unit = query["unit"]
        today = timezone.localdate()
        points = get_net_worth_trend(self.member, unit, query["count"], today)
        return Response(
            {
                "unit": NAME_BY_UNIT[unit],
                "points": [trend_point_payload(point) for point in points],
            }
        )
