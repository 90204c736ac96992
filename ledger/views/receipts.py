"""Receipt recognition."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.parsers import LimitedMultiPartParser
from core.api.permissions import IsPremium
from core.api.serializers import validate_body
from ledger import receipts
from ledger.ownership import OwnedViewSet
from ledger.serializers.receipts import ReceiptRequestSerializer, ReceiptTextSerializer


class ReceiptViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    parser_classes = [LimitedMultiPartParser]

    @extend_schema(request=ReceiptRequestSerializer, responses=ReceiptTextSerializer)
    def read(self, request: Request) -> Response:
        """The full text on the picture of a receipt; nothing is stored.

        Without a key for the recognition every upload is refused, unread (503).
        """
        receipts.require_configured()
        image = validate_body(ReceiptRequestSerializer, request)["image"]
        return Response({"text": receipts.recognize_receipt(image)})
