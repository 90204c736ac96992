"""Text recognition."""

from rest_framework.request import Request
from rest_framework.response import Response

from core.api.operations import extend_schema
from core.api.parsers import MAX_MULTIPART_BYTES, LimitedMultiPartParser
from core.api.permissions import IsPremium
from core.api.serializers import validate_body
from core.api.token_scopes import LEDGER
from core.errors import InvalidImageError, ProviderUnavailableError
from ledger.base.ownership import OwnedView
from ledger.errors import ReceiptsNotConfiguredError
from ledger.receipts import receipts
from ledger.receipts.serializers import ReceiptRequestSerializer, ReceiptTextSerializer


class ReceiptView(OwnedView):
    permission_classes = [IsPremium]
    token_scopes = LEDGER
    keyless_actions = frozenset({"post"})
    parser_classes = [LimitedMultiPartParser]
    schema_tag = "Receipts"
    body_limits = {"post": MAX_MULTIPART_BYTES}
    raises = {
        "post": [
            InvalidImageError,
            ReceiptsNotConfiguredError,
            ProviderUnavailableError,
        ],
    }

    @extend_schema(
        operation_id="recognizeReceipt",
        request=ReceiptRequestSerializer,
        responses=ReceiptTextSerializer,
    )
    def post(self, request: Request) -> Response:
        """Recognize the text of a receipt.

        Nothing is stored. 503 `OCR_NOT_CONFIGURED` if the service has no API key.
        """
        # This check comes before the upload is read.
        receipts.require_configured()
        image = validate_body(ReceiptRequestSerializer, request)["image"]
        return Response({"text": receipts.recognize_receipt(image)})
