"""Re-encoding of uploaded images: measured, decoded and written again.

The result contains pixels only, so that neither personal metadata (places, names) nor
code that is hidden in the file is served.
"""

import io
import math
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from PIL import Image, ImageOps

from core.errors import InvalidImageError
from core.image_decoder import ALLOWED_FORMATS, open_image

# Of all frames together, checked before they are decoded (spec 5.6).
MAX_PIXELS = 40_000_000
MAX_FRAMES = 100
# Larger still images are downscaled: no screen shows more, and to encode WebP is slow.
MAX_OUTPUT_PIXELS = 12_500_000
OUTPUT_QUALITY = 90
# By the format that Pillow reports. MPO is a JPEG with further images behind the first,
# which phones write.
OUTPUT_FORMATS = {
    "PNG": "png",
    "JPEG": "jpeg",
    "MPO": "jpeg",
    "WEBP": "webp",
    "GIF": "gif",
}
ANIMATED_FORMATS = frozenset({"GIF", "WEBP"})
# What makes a browser run a file as a page, in spite of its content type.
_EMBEDDED_MARKUP_RE = re.compile(
    rb"<(?:script|html|iframe)[\s/>]|<!doctype", re.IGNORECASE
)
_PADDING = b"\0\t\r\n "
_PNG_CHECKSUM_BYTES = 4

# One image at a time in each process: a large one needs 200 MB while it is decoded.
_decode_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """An image as it is stored and served."""

    content: bytes
    content_type: str
    width: int
    height: int


def reencode_image(upload: IO[bytes]) -> EncodedImage:
    """Return the image upright and without metadata, animations with all frames.

    Raises `InvalidImageError` for what is no PNG, JPEG, WebP or GIF, has too many
    pixels or frames, is damaged, or has code or other data behind the image.
    """
    with _decode_lock:
        raw = upload.read()
        if _EMBEDDED_MARKUP_RE.search(raw):
            raise InvalidImageError("The file contains HTML or script code.")
        with open_image(io.BytesIO(raw), ALLOWED_FORMATS, MAX_PIXELS) as image:
            output_format = OUTPUT_FORMATS[str(image.format)]
            content_type = f"image/{output_format}"
            # First, since it also checks the size of every frame.
            frames = _count_frames(image)
            _require_no_trailing_data(image, raw)
            if frames > 1:
                content = _encode_animation(image)
                return EncodedImage(content, content_type, *image.size)
            still = _strip_metadata(_load_still_image(image))
            is_lossy = output_format in {"jpeg", "webp"}
            options = {"quality": OUTPUT_QUALITY} if is_lossy else {}
            output = io.BytesIO()
            still.save(output, output_format, **options)
            return EncodedImage(output.getvalue(), content_type, *still.size)


def _count_frames(image: Image.Image) -> int:
    """Return the number of frames; raise `InvalidImageError` beyond the limits."""
    frames = 1
    while image.format in ANIMATED_FORMATS:
        _validate_animation_size(image, frames)
        try:
            image.seek(frames)
        except EOFError:
            break
        frames += 1
        # Again: a frame of a GIF can enlarge the whole image.
        _validate_animation_size(image, frames)
    return frames


def _validate_animation_size(image: Image.Image, frames: int) -> None:
    if frames > MAX_FRAMES:
        raise InvalidImageError(f"The image has more than {MAX_FRAMES} frames.")
    if image.width * image.height * frames > MAX_PIXELS:
        raise InvalidImageError("The image has too many pixels.")


def _require_no_trailing_data(image: Image.Image, raw: bytes) -> None:
    """Raise `InvalidImageError` for data behind the end of the image.

    JPEG files are not checked: cameras append previews and further images.
    """
    if image.format == "WEBP":
        end = 8 + int.from_bytes(raw[4:8], "little")
    elif image.format == "PNG":
        end = _find_end_of_png(raw)
    elif image.format == "GIF":
        end = _find_end_of_gif(raw)
    else:
        return
    if raw[end:].strip(_PADDING):
        raise InvalidImageError("The file contains data after the end of the image.")


def _find_end_of_png(raw: bytes) -> int:
    """Return the offset behind the IEND chunk, or where the chunks break off."""
    offset = 8
    while offset < len(raw):
        length = int.from_bytes(raw[offset : offset + 4], "big")
        name = raw[offset + 4 : offset + 8]
        offset += 8 + length + _PNG_CHECKSUM_BYTES
        if name == b"IEND":
            break
    return offset


def _find_end_of_gif(raw: bytes) -> int:
    """Return the offset behind the trailer, or where the blocks break off."""
    offset = 13 + _palette_size(raw[10:11])
    while raw[offset : offset + 1] in {b"!", b","}:
        # "!" begins an extension, "," a frame with its own palette.
        if raw[offset : offset + 1] == b"!":
            offset += 2
        else:
            offset += 11 + _palette_size(raw[offset + 9 : offset + 10])
        # Sub-blocks, each with its length before it, until one of length zero.
        while size := int.from_bytes(raw[offset : offset + 1], "big"):
            offset += 1 + size
        offset += 1
    return offset + 1


def _palette_size(packed_fields: bytes) -> int:
    """Return the size in bytes of a GIF palette, from the byte that describes it."""
    flags = int.from_bytes(packed_fields, "big")
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _load_still_image(image: Image.Image) -> Image.Image:
    """Return the decoded image, upright, downscaled, in a mode its format can hold."""
    pixels = image.width * image.height
    if pixels > MAX_OUTPUT_PIXELS:
        scale = math.sqrt(MAX_OUTPUT_PIXELS / pixels)
        size = int(image.width * scale) or 1, int(image.height * scale) or 1
        # Lets the JPEG decoder scale down, which takes a fraction of the memory.
        image.draft(image.mode, size)
        if image.mode not in {"L", "RGB", "RGBA"}:
            mode = "RGBA" if image.has_transparency_data else "RGB"
            image = image.convert(mode)
        image.thumbnail(size)
    else:
        image.load()
    # Broken EXIF data does not make the image unusable.
    with suppress(Exception):
        ImageOps.exif_transpose(image, in_place=True)
    if image.format in {"JPEG", "MPO"} and image.mode not in {"L", "RGB"}:
        return image.convert("RGB")
    return image


def _encode_animation(image: Image.Image) -> bytes:
    loop, durations = image.info.get("loop"), []

    def iter_frames() -> Iterator[Image.Image]:
        number = 0
        while True:
            try:
                image.seek(number)
            except EOFError:
                return
            image.load()
            durations.append(image.info.get("duration") or 0)
            yield _strip_metadata(image.copy())
            number += 1

    first, *rest = iter_frames()
    options: dict[str, Any] = {} if loop is None else {"loop": loop}
    if image.format == "WEBP":
        options |= {"quality": OUTPUT_QUALITY, "method": 2}
    elif any(frame.has_transparency_data for frame in (first, *rest)):
        # Clear each frame before the next one, or it would show through.
        options |= {"disposal": 2}
    content = io.BytesIO()
    first.save(
        content,
        image.format,
        save_all=True,
        append_images=rest,
        duration=durations,
        **options,
    )
    return content.getvalue()


def _strip_metadata(image: Image.Image) -> Image.Image:
    """Remove everything but the pixels and the transparent color; return the image."""
    kept = {"transparency": image.info.get("transparency")}
    image.info = {name: value for name, value in kept.items() if value is not None}
    return image
