"""Text recognition of receipt images; neither image nor text is stored."""

import io
import threading
from typing import IO

from django.conf import settings
from PIL import Image

from core.image_decoder import ALLOWED_FORMATS, open_image
from ledger.errors import ReceiptsNotConfiguredError
from ledger.providers.receipts import recognize_text

MAX_PIXELS = 50_000_000
# Enough for text recognition, and far below the limits of the provider.
MAX_SIDE_PIXELS = 2048
JPEG_QUALITY = 90
WHITE = (255, 255, 255)
EXIF_ORIENTATION_TAG = 0x0112
# By EXIF orientation: the operation that turns the image upright.
TRANSPOSE_BY_ORIENTATION = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

# One image per process at a time: decoding 50 megapixels takes 400 MB.
_decode_lock = threading.Lock()


def require_configured() -> None:
    """Raise `ReceiptsNotConfiguredError` if no API key is set."""
    if not settings.OCR_API_KEY:
        raise ReceiptsNotConfiguredError


def recognize_receipt(upload: IO[bytes]) -> str:
    """Return all text on the image, "" if there is none.

    Raises `InvalidImageError`, or `ProviderUnavailableError` if the recognition fails.
    """
    with _decode_lock:
        jpeg = prepare_image(upload)
    return recognize_text(jpeg)


def prepare_image(upload: IO[bytes]) -> bytes:
    """Return the image upright and downscaled, as a JPEG without metadata."""
    with open_image(upload, ALLOWED_FORMATS, MAX_PIXELS) as image:
        # Read the orientation first: `draft` and the conversions drop metadata.
        try:
            orientation = int(image.getexif().get(EXIF_ORIENTATION_TAG, 1))
        except Exception:  # An image with broken EXIF data is still usable.
            orientation = 1
        # Lets the JPEG decoder skip detail that is not needed.
        image.draft("RGB", (MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
        has_alpha = image.mode in {"LA", "PA", "RGBA", "RGBa", "La"}
        has_alpha = has_alpha or "transparency" in image.info
        small: Image.Image = image
        # `thumbnail` resamples only these modes well.
        if image.mode not in {"L", "RGB", "RGBA"}:
            small = image.convert("RGBA" if has_alpha else "RGB")
        small.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
        if has_alpha:
            # Transparent areas become white.
            layer = small.convert("RGBA")
            small = Image.new("RGB", layer.size, WHITE)
            small.paste(layer, mask=layer.getchannel("A"))
        else:
            small = small.convert("RGB")
        if orientation in TRANSPOSE_BY_ORIENTATION:
            small = small.transpose(TRANSPOSE_BY_ORIENTATION[orientation])
        small.info.clear()
        content = io.BytesIO()
        small.save(content, "JPEG", quality=JPEG_QUALITY)
        return content.getvalue()
