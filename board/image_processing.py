"""Uploaded pictures become pictures of ours: measured, decoded, written anew.

What is written holds nothing but pixels, so that neither places and names in metadata
nor a program hidden in the file gets out again.
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

MAX_PIXELS = 40_000_000
"""Of all frames together, judged before they are decoded (spec 5.6)."""
MAX_FRAMES = 100
MAX_OUTPUT_PIXELS = 12_500_000
"""A larger still picture is made smaller: no screen shows more, and WebP takes long."""
OUTPUT_QUALITY = 90
OUTPUT_FORMATS = {
    "PNG": "png",
    "JPEG": "jpeg",
    "MPO": "jpeg",
    "WEBP": "webp",
    "GIF": "gif",
}
"""MPO is what telephones call a JPEG with more pictures behind it."""
ANIMATED_FORMATS = frozenset({"GIF", "WEBP"})
_EMBEDDED_MARKUP = re.compile(
    rb"<(?:script|html|iframe)[\s/>]|<!doctype", re.IGNORECASE
)
_PADDING = b"\0\t\r\n "
_PNG_CHECKSUM_BYTES = 4

_decode_lock = threading.Lock()
"""A process decodes one picture at a time, which may take 200 MB meanwhile."""


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """A picture as it is stored and served."""

    content: bytes
    content_type: str
    width: int
    height: int


def reencode_image(upload: IO[bytes]) -> EncodedImage:
    """The picture upright, without metadata, with all frames of a moving GIF or WebP.

    Raises `InvalidImageError` for what is no PNG, JPEG, WebP or GIF, has too many pixels
    or frames, is damaged, or has a program or anything else behind the picture.
    """
    with _decode_lock:
        raw = upload.read()
        if _EMBEDDED_MARKUP.search(raw):
            raise InvalidImageError("There is more than a picture in this file.")
        with open_image(io.BytesIO(raw), ALLOWED_FORMATS, MAX_PIXELS) as picture:
            kind = OUTPUT_FORMATS[str(picture.format)]
            frames = _count_frames(picture)
            _require_no_trailing_data(picture, raw)
            if frames > 1:
                content = _encode_animation(picture)
                return EncodedImage(content, f"image/{kind}", *picture.size)
            still = _load_still_image(picture)
            content = _encode_still_image(still, kind)
            return EncodedImage(content, f"image/{kind}", *still.size)


def _count_frames(picture: Image.Image) -> int:
    """How many there are, within the bounds; a frame can enlarge the whole GIF."""
    frames = 1
    while picture.format in ANIMATED_FORMATS:
        _validate_animation_size(picture, frames)
        try:
            picture.seek(frames)
        except EOFError:
            break
        frames += 1
        _validate_animation_size(picture, frames)
    return frames


def _validate_animation_size(picture: Image.Image, frames: int) -> None:
    if frames > MAX_FRAMES:
        raise InvalidImageError(f"The picture has more than {MAX_FRAMES} frames.")
    if picture.width * picture.height * frames > MAX_PIXELS:
        raise InvalidImageError("The picture has too many pixels.")


def _require_no_trailing_data(picture: Image.Image, raw: bytes) -> None:
    """Refuse what has something behind its end; cameras put much behind a JPEG."""
    if picture.format == "WEBP":
        end = 8 + int.from_bytes(raw[4:8], "little")
    elif picture.format == "PNG":
        end = _find_end_of_png(raw)
    elif picture.format == "GIF":
        end = _find_end_of_gif(raw)
    else:
        return
    if raw[end:].strip(_PADDING):
        raise InvalidImageError("There is more than a picture in this file.")


def _find_end_of_png(raw: bytes) -> int:
    """Behind the chunk IEND, or where the chunks break off."""
    place = 8
    while place < len(raw):
        length = int.from_bytes(raw[place : place + 4], "big")
        name = raw[place + 4 : place + 8]
        place += 8 + length + _PNG_CHECKSUM_BYTES
        if name == b"IEND":
            break
    return place


def _find_end_of_gif(raw: bytes) -> int:
    """Behind the trailer, or where the blocks break off; at most `MAX_FRAMES`."""
    place = 13 + _palette_size(raw[10:11])
    while raw[place : place + 1] in {b"!", b","}:
        if raw[place : place + 1] == b"!":
            place += 2
        else:
            place += 11 + _palette_size(raw[place + 9 : place + 10])
        while size := int.from_bytes(raw[place : place + 1], "big"):
            place += 1 + size
        place += 1
    return place + 1


def _palette_size(flags: bytes) -> int:
    flag = int.from_bytes(flags, "big")
    return 3 << ((flag & 7) + 1) if flag & 0x80 else 0


def _load_still_image(picture: Image.Image) -> Image.Image:
    """The pixels, upright and not too many, in a mode that each kind can hold."""
    pixels = picture.width * picture.height
    if pixels > MAX_OUTPUT_PIXELS:
        shrink = math.sqrt(MAX_OUTPUT_PIXELS / pixels)
        size = int(picture.width * shrink) or 1, int(picture.height * shrink) or 1
        picture.draft(picture.mode, size)
        if picture.mode not in {"L", "RGB", "RGBA"}:
            mode = "RGBA" if picture.has_transparency_data else "RGB"
            picture = picture.convert(mode)
        picture.thumbnail(size)
    else:
        picture.load()
    with suppress(Exception):  # broken EXIF data make no picture unusable
        ImageOps.exif_transpose(picture, in_place=True)
    if picture.format in {"JPEG", "MPO"}:
        return picture if picture.mode in {"L", "RGB"} else picture.convert("RGB")
    return picture


def _encode_still_image(still: Image.Image, kind: str) -> bytes:
    _strip_metadata(still)
    content = io.BytesIO()
    if kind in {"jpeg", "webp"}:
        still.save(content, kind, quality=OUTPUT_QUALITY)
    else:
        still.save(content, kind)
    return content.getvalue()


def _encode_animation(picture: Image.Image) -> bytes:
    loop, durations = picture.info.get("loop"), []

    def walk() -> Iterator[Image.Image]:
        frame = 0
        while True:
            try:
                picture.seek(frame)
            except EOFError:
                return
            picture.load()
            durations.append(picture.info.get("duration") or 0)
            yield _strip_metadata(picture.copy())
            frame += 1

    first, *rest = walk()
    options: dict[str, Any] = {} if loop is None else {"loop": loop}
    if picture.format == "WEBP":
        options |= {"quality": OUTPUT_QUALITY, "method": 2}
    elif any(frame.has_transparency_data for frame in (first, *rest)):
        options |= {"disposal": 2}
    content = io.BytesIO()
    first.save(
        content,
        picture.format,
        save_all=True,
        append_images=rest,
        duration=durations,
        **options,
    )
    return content.getvalue()


def _strip_metadata(picture: Image.Image) -> Image.Image:
    """Leave the pixels only, and which of their colours is clear."""
    kept = {"transparency": picture.info.get("transparency")}
    picture.info = {name: value for name, value in kept.items() if value is not None}
    return picture
