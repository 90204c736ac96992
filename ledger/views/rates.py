"""Exchange rates."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core.api.fields import read_query
from core.api.permissions import IsMember
from ledger.rates import look_up_rate
from ledger.serializers.rates import FxRateBody, FxRateQuery


class FxRateView(APIView):
    permission_classes = [IsMember]

    @extend_schema(parameters=[FxRateQuery], responses=FxRateBody)
    def get(self, request: Request) -> Response:
        """Today's rate of two currencies, or the last known one with its date."""
        pair = read_query(FxRateQuery, request)
        found = look_up_rate(**pair, day=timezone.localdate(), however_old=True)
        return Response(
            {
                "from": pair["base"],
                "to": pair["quote"],
                "rate": found.rate,
                "date": found.rate_date,
            }
        )
