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

from core.errors import InvalidImage
from core.image_decoder import KINDS, open_picture

MOST_PIXELS = 40_000_000
"""Of all frames together, judged before they are decoded (contract, section 4)."""
MOST_FRAMES = 100
KEPT_PIXELS = 12_500_000
"""A larger still picture is made smaller: no screen shows more, and WebP takes long."""
QUALITY = 90
TYPES = {"PNG": "png", "JPEG": "jpeg", "MPO": "jpeg", "WEBP": "webp", "GIF": "gif"}
"""MPO is what telephones call a JPEG with more pictures behind it."""
MOVING = frozenset({"GIF", "WEBP"})
_PROGRAM = re.compile(rb"<(?:script|html|iframe)[\s/>]|<!doctype", re.IGNORECASE)
_PADDING = b"\0\t\r\n "
_PNG_CHECKSUM_BYTES = 4

_decoding = threading.Lock()
"""A process decodes one picture at a time, which may take 200 MB meanwhile."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is stored and served."""

    content: bytes
    content_type: str
    width: int
    height: int


def remake(upload: IO[bytes]) -> Picture:
    """The picture upright, without metadata, with all frames of a moving GIF or WebP.

    Raises `InvalidImage` for what is no PNG, JPEG, WebP or GIF, has too many pixels
    or frames, is damaged, or has a program or anything else behind the picture.
    """
    with _decoding:
        raw = upload.read()
        if _PROGRAM.search(raw):
            raise InvalidImage("There is more than a picture in this file.")
        with open_picture(io.BytesIO(raw), KINDS, MOST_PIXELS) as picture:
            kind = TYPES[str(picture.format)]
            frames = _count_frames(picture)
            _refuse_more_than(picture, raw)
            if frames > 1:
                content = _write_frames(picture)
                return Picture(content, f"image/{kind}", *picture.size)
            still = _take_still(picture)
            content = _write(still, kind)
            return Picture(content, f"image/{kind}", *still.size)


def _count_frames(picture: Image.Image) -> int:
    """How many there are, within the bounds; a frame can enlarge the whole GIF."""
    frames = 1
    while picture.format in MOVING:
        _refuse_too_many(picture, frames)
        try:
            picture.seek(frames)
        except EOFError:
            break
        frames += 1
        _refuse_too_many(picture, frames)
    return frames


def _refuse_too_many(picture: Image.Image, frames: int) -> None:
    if frames > MOST_FRAMES:
        raise InvalidImage(f"The picture has more than {MOST_FRAMES} frames.")
    if picture.width * picture.height * frames > MOST_PIXELS:
        raise InvalidImage("The picture has too many pixels.")


def _refuse_more_than(picture: Image.Image, raw: bytes) -> None:
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
        raise InvalidImage("There is more than a picture in this file.")


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
    """Behind the trailer, or where the blocks break off; at most `MOST_FRAMES`."""
    place = 13 + _size_of_palette(raw[10:11])
    while raw[place : place + 1] in {b"!", b","}:
        if raw[place : place + 1] == b"!":
            place += 2
        else:
            place += 11 + _size_of_palette(raw[place + 9 : place + 10])
        while size := int.from_bytes(raw[place : place + 1], "big"):
            place += 1 + size
        place += 1
    return place + 1


def _size_of_palette(flags: bytes) -> int:
    flag = int.from_bytes(flags, "big")
    return 3 << ((flag & 7) + 1) if flag & 0x80 else 0


def _take_still(picture: Image.Image) -> Image.Image:
    """The pixels, upright and not too many, in a mode that each kind can hold."""
    pixels = picture.width * picture.height
    if pixels > KEPT_PIXELS:
        shrink = math.sqrt(KEPT_PIXELS / pixels)
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


def _write(still: Image.Image, kind: str) -> bytes:
    _forget(still)
    content = io.BytesIO()
    if kind in {"jpeg", "webp"}:
        still.save(content, kind, quality=QUALITY)
    else:
        still.save(content, kind)
    return content.getvalue()


def _write_frames(picture: Image.Image) -> bytes:
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
            yield _forget(picture.copy())
            frame += 1

    first, *rest = walk()
    options: dict[str, Any] = {} if loop is None else {"loop": loop}
    if picture.format == "WEBP":
        options |= {"quality": QUALITY, "method": 2}
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


def _forget(picture: Image.Image) -> Image.Image:
    """Leave the pixels only, and which of their colours is clear."""
    kept = {"transparency": picture.info.get("transparency")}
    picture.info = {name: value for name, value in kept.items() if value is not None}
    return picture
