"""Net worth now, and how it came about."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.permissions import IsMember
from core.api.serializers import validate_query
from ledger.networth import compute_net_worth
from ledger.ownership import OwnedViewSet
from ledger.periods import Unit
from ledger.serializers.trend import (
    NAME_BY_UNIT,
    TrendQuerySerializer,
    TrendSerializer,
    trend_point_payload,
)
from ledger.serializers.wallets import NetWorthSerializer, wallet_worth_payload
from ledger.trend import get_net_worth_trend


class NetWorthViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(responses=NetWorthSerializer)
    def retrieve(self, request: Request) -> Response:
        """What the member's wallets and holdings are worth now."""
        worth = compute_net_worth(self.member)
        return Response(
            {
                "total": worth.total,
                "assets": worth.assets,
                "liabilities": worth.liabilities,
                "investments": worth.investments,
                "wallets": [wallet_worth_payload(row) for row in worth.wallets],
            }
        )

    @extend_schema(parameters=[TrendQuerySerializer], responses=TrendSerializer)
    def trend(self, request: Request) -> Response:
        """By month, or by week from Monday; the current period is the last."""
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
