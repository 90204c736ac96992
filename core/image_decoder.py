"""Pictures from outside: no pixel is decoded before the header tells how many."""

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from PIL import Image, UnidentifiedImageError

from core.errors import InvalidImageError

ALLOWED_FORMATS = ("png", "jpeg", "webp", "gif")
"""The kinds that are read; never those that can carry scripts, such as SVG."""
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
    content: IO[bytes], kinds: tuple[str, ...], most_pixels: int
) -> Iterator[Image.Image]:
    """A picture of one of `kinds` whose pixels the block may decode.

    Whatever is wrong with it is `InvalidImageError`, also what shows only in the block.
    """
    try:
        with Image.open(content, formats=kinds) as picture:
            if picture.width * picture.height > most_pixels:
                raise InvalidImageError("The picture has too many pixels.")
            yield picture
    except _DECODE_ERRORS:
        raise InvalidImageError from None
