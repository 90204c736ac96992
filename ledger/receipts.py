"""Text recognition of receipt images; neither image nor text is stored."""

from typing import IO

from django.conf import settings

from core.images import encode_image
from ledger.errors import ReceiptsNotConfiguredError
from ledger.providers.receipts import recognize_text


def require_configured() -> None:
    """Raise `ReceiptsNotConfiguredError` if no API key is set."""
    if not settings.OCR_API_KEY:
        raise ReceiptsNotConfiguredError


def recognize_receipt(upload: IO[bytes]) -> str:
    """Return all text on the image, "" if there is none.

    Raises `InvalidImageError`, or `ProviderUnavailableError` if the recognition fails.
    """
    return recognize_text(encode_image(upload, "receipt").content)
