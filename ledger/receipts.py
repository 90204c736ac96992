"""Receipts: an uploaded picture becomes text; nothing of it is kept."""

import io
import threading
from typing import IO

from django.conf import settings
from PIL import Image

from core.image_decoder import ALLOWED_FORMATS, open_image
from ledger.errors import ReceiptsNotConfiguredError
from ledger.providers.receipts import recognize_text

MAX_PIXELS = 50_000_000
MAX_SIDE_PIXELS = 2048
"""Pixels; enough to read by, and far below what the provider takes."""
JPEG_QUALITY = 90
WHITE = (255, 255, 255)
EXIF_ORIENTATION_TAG = 0x0112
"""The EXIF tag for how a camera was held."""
TRANSPOSE_BY_ORIENTATION = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

_decode_lock = threading.Lock()
"""A process decodes one picture at a time: 50 megapixels take 400 MB meanwhile."""


def require_configured() -> None:
    """Raises `ReceiptsNotConfiguredError` without a key; whatever was sent."""
    if not settings.OCR_API_KEY:
        raise ReceiptsNotConfiguredError


def recognize_receipt(upload: IO[bytes]) -> str:
    """All text on the picture, "" where there is none.

    Raises `InvalidImage` for what is no usable picture, `ProviderUnavailable` when
    the recognition fails.
    """
    with _decode_lock:
        picture = prepare_image(upload)
    return recognize_text(picture)


def prepare_image(upload: IO[bytes]) -> bytes:
    """The picture upright, of a bounded size, as a JPEG without its metadata."""
    with open_image(upload, ALLOWED_FORMATS, MAX_PIXELS) as picture:
        turn = TRANSPOSE_BY_ORIENTATION.get(_read_orientation(picture))
        picture.draft("RGB", (MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
        small = _downscale_to_rgb(picture)
        if turn is not None:
            small = small.transpose(turn)
        small.info.clear()
        content = io.BytesIO()
        small.save(content, "JPEG", quality=JPEG_QUALITY)
        return content.getvalue()


def _read_orientation(picture: Image.Image) -> int:
    try:
        return int(picture.getexif().get(EXIF_ORIENTATION_TAG, 1))
    except Exception:  # broken EXIF data make no picture unusable
        return 1


def _downscale_to_rgb(picture: Image.Image) -> Image.Image:
    """At most `MAX_SIDE_PIXELS` on either side, in RGB; what is clear becomes white."""
    clear = picture.mode in {"LA", "PA", "RGBA", "RGBa", "La"}
    clear = clear or "transparency" in picture.info
    if picture.mode not in {"L", "RGB", "RGBA"}:
        picture = picture.convert("RGBA" if clear else "RGB")
    picture.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
    if not clear:
        return picture.convert("RGB")
    layer = picture.convert("RGBA")
    page = Image.new("RGB", layer.size, WHITE)
    page.paste(layer, mask=layer.getchannel("A"))
    return page
