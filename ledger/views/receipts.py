"""Receipt recognition."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.fields import read_body
from core.api.parsers import UploadParser
from core.api.permissions import IsPremium
from ledger import receipts
from ledger.ownership import OwnedViewSet
from ledger.serializers.receipts import ReceiptBody, ReceiptTextBody


class ReceiptViewSet(OwnedViewSet):
    permission_classes = [IsPremium]
    parser_classes = [UploadParser]

    @extend_schema(request=ReceiptBody, responses=ReceiptTextBody)
    def read(self, request: Request) -> Response:
        """The full text on the picture of a receipt; nothing is stored.

        Without a key for the recognition every upload is refused, unread (503).
        """
        receipts.check_configured()
        image = read_body(ReceiptBody, request)["image"]
        return Response({"text": receipts.read_receipt(image)})
