"""Decoding of uploaded images: the pixel count is checked before any is decoded."""

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from PIL import Image, UnidentifiedImageError

from core.errors import InvalidImageError

# No format that can contain scripts, such as SVG.
ALLOWED_FORMATS = ("png", "jpeg", "webp", "gif")
# What Pillow's decoders raise for damaged or hostile files.
_DECODE_ERRORS = (
    UnidentifiedImageError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    LookupError,
    struct.error,
    zlib.error,
)
warnings.simplefilter("error", Image.DecompressionBombWarning)


@contextmanager
def open_image(
    file: IO[bytes], formats: tuple[str, ...], max_pixels: int
) -> Iterator[Image.Image]:
    """Yield the image if it has one of the formats and at most `max_pixels`.

    Raises `InvalidImageError` for everything that is wrong with it, including what the
    block finds when it decodes the pixels.
    """
    try:
        with Image.open(file, formats=formats) as image:
            if image.width * image.height > max_pixels:
                raise InvalidImageError("The image has too many pixels.")
            yield image
    except _DECODE_ERRORS:
        raise InvalidImageError from None
