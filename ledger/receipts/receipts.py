"""Text recognition of receipts; neither image nor text is stored."""

from typing import IO

from django.conf import settings

from core.images import encode_image
from ledger.errors import ReceiptsNotConfiguredError
from ledger.receipts.provider import recognize_text


def require_configured() -> None:
    if not settings.OCR_API_KEY:
        raise ReceiptsNotConfiguredError


def recognize_receipt(upload: IO[bytes]) -> str:
    return recognize_text(encode_image(upload, "receipt").content)
