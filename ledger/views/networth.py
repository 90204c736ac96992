"""Net worth now, and how it came about."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_query
from core.api.permissions import IsMember
from ledger.networth import compute_net_worth
from ledger.ownership import OwnedViewSet
from ledger.periods import Unit
from ledger.serializers.trend import NAMES, TrendBody, TrendQuery, describe_point
from ledger.serializers.wallets import NetWorthBody, describe_wallet_worth
from ledger.trend import read_trend


class NetWorthViewSet(OwnedViewSet):
    permission_classes = [IsMember]

    @extend_schema(responses=NetWorthBody)
    def retrieve(self, request: Request) -> Response:
        """What the member's wallets and holdings are worth now."""
        worth = compute_net_worth(self.member)
        return Response(
            {
                "total": worth.total,
                "assets": worth.assets,
                "liabilities": worth.liabilities,
                "investments": worth.investments,
                "wallets": [describe_wallet_worth(row) for row in worth.wallets],
            }
        )

    @extend_schema(parameters=[TrendQuery], responses=TrendBody)
    def trend(self, request: Request) -> Response:
        """By month, or by week from Monday; the current period is the last."""
        query = read_query(TrendQuery, request)
        unit: Unit = query["unit"]
        today = timezone.localdate()
        points = read_trend(self.member, unit, query["count"], today)
        return Response(
            {
                "unit": NAMES[unit],
                "points": [describe_point(point) for point in points],
            }
        )
