"""Exchange rates."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.permissions import IsMember
from core.api.serializers import validate_query
from core.api.token_scopes import LEDGER
from core.api.views import APIView
from core.errors import ProviderUnavailableError
from ledger.currencies.rates import get_rate
from ledger.currencies.serializers import FxRateQuerySerializer, FxRateSerializer


class FxRateView(APIView):
    permission_classes = [IsMember]
    token_scopes = LEDGER
    schema_tag = "Exchange rates"
    raises = {
        "get": [ProviderUnavailableError],
    }

    @extend_schema(parameters=[FxRateQuerySerializer], responses=FxRateSerializer)
    def get(self, request: Request) -> Response:
        """Get the exchange rate of two currencies.

        Today's rate, or the last known one with its date.
        """
        pair = validate_query(FxRateQuerySerializer, request)
        rate = get_rate(**pair, day=timezone.localdate(), allow_stale=True)
        return Response(
            {
                "from": pair["base"],
                "to": pair["quote"],
                "rate": rate.rate,
                "date": rate.rate_date,
            }
        )
