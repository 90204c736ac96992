"""Decodes an untrusted image and encodes it again, in a process of its own.

    python -I image_sandbox.py post|avatar|receipt KIND < IMAGE > HEADER_AND_IMAGE

The system limits memory and processor time: a small file can unpack to hundreds of
megabytes. KIND is the required format, or `any`. HEADER is a line of JSON, `{"type",
"width", "height"}` or `{"error"}`.
"""

import io
import json
import math
import os
import re
import resource
import struct
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

from PIL import Image, ImageOps, UnidentifiedImageError

MAX_MEMORY_BYTES = 896 * 2**20
MAX_CPU_SECONDS = 20
NICENESS = 5
# Formats without scripts, unlike SVG.
ALLOWED_FORMATS = ("png", "jpeg", "webp", "gif")
# Sum over all frames, checked before decoding (spec 5.6).
MAX_PIXELS = 40_000_000
MAX_FRAMES = 100
MAX_OUTPUT_PIXELS = 12_500_000
OUTPUT_QUALITY = 90
# Phones write MPO: a JPEG followed by further images.
OUTPUT_FORMATS = {
    "PNG": "png",
    "JPEG": "jpeg",
    "MPO": "jpeg",
    "WEBP": "webp",
    "GIF": "gif",
}
ANIMATED_FORMATS = frozenset({"GIF", "WEBP"})
EMBEDDED_MARKUP_RE = re.compile(
    rb"<(?:script|html|iframe)[\s/>]|<!doctype", re.IGNORECASE
)
PADDING = b"\0\t\r\n "
PNG_CHECKSUM_BYTES = 4
MAX_AVATAR_BYTES, MAX_AVATAR_PIXELS, MAX_AVATAR_SIDE = 2**20, 25_000_000, 1024
MAX_RECEIPT_PIXELS = 50_000_000
MAX_RECEIPT_SIDE = 2048
WHITE = (255, 255, 255)
EXIF_ORIENTATION_TAG = 0x0112
TRANSPOSE_BY_ORIENTATION = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
DECODE_ERRORS = (
    UnidentifiedImageError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
    MemoryError,
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    LookupError,
    struct.error,
    zlib.error,
)

PIXEL_INFO = {
    *("jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi", "adobe"),
    *("adobe_transform", "progressive", "progression", "transparency", "gamma", "srgb"),
    *("chromaticity", "interlace", "aspect", "background", "version", "duration"),
    *("loop", "extension", "timestamp", "default_image", "blend", "disposal", "bbox"),
}
METADATA_CHUNKS = {
    "PNG": (b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"iCCP", b"tIME"),
    "GIF": (b"\x21\xfe", b"XMP DataXMP"),
    "WEBP": (b"EXIF", b"XMP ", b"ICCP"),
}
JPEG_START, JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"

Encoded: TypeAlias = tuple[bytes, str, int, int]


class ImageError(Exception):
    """The text is a key of `core.images.ERROR_DETAILS`, or ""."""


def main() -> None:
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    purpose, kind = sys.argv[1:]
    formats = ALLOWED_FORMATS if kind == "any" else (kind,)
    content = b""
    try:
        content, kind, width, height = ENCODERS[purpose](
            sys.stdin.buffer.read(), formats
        )
        header: dict[str, Any] = {"type": kind, "width": width, "height": height}
    except ImageError as error:
        header = {"error": str(error)}
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + content)


@contextmanager
def open_image(
    raw: bytes, formats: tuple[str, ...], max_pixels: int
) -> Iterator[Image.Image]:
    """Raise `ImageError` for any defect, also found in the block."""
    try:
        with Image.open(io.BytesIO(raw), formats=formats) as image:
            if image.width * image.height > max_pixels:
                raise ImageError("pixels")
            yield image
    except DECODE_ERRORS:
        raise ImageError from None


def encode_post_image(raw: bytes, formats: tuple[str, ...]) -> Encoded:
    if EMBEDDED_MARKUP_RE.search(raw):
        raise ImageError("markup")
    with open_image(raw, formats, MAX_PIXELS) as image:
        output_format = OUTPUT_FORMATS[str(image.format)]
        frames = count_frames(image)
        require_no_trailing_data(image, raw)
        if frames > 1:
            return encode_animation(image), output_format, *image.size
        still = strip_metadata(load_still_image(image))
        return encode_still_image(still, output_format), output_format, *still.size


def encode_avatar(raw: bytes, formats: tuple[str, ...]) -> Encoded:
    """Strip and downscale an image that has metadata.

    An animation that becomes too large is reduced to its first frame.
    """
    with open_image(raw, formats, MAX_AVATAR_PIXELS) as image:
        output_format = OUTPUT_FORMATS[str(image.format)]
        if not has_metadata(image, raw):
            image.load()
            return raw, output_format, *image.size
        if count_frames(image) > 1:
            content = encode_animation(image)
            if len(content) <= MAX_AVATAR_BYTES:
                return content, output_format, *image.size
            image.seek(0)
        still = strip_metadata(load_still_image(image))
        side = MAX_AVATAR_SIDE
        while True:
            still.thumbnail((side, side))
            content = encode_still_image(still, output_format)
            if len(content) <= MAX_AVATAR_BYTES:
                return content, output_format, *still.size
            side //= 2


def has_metadata(image: Image.Image, raw: bytes) -> bool:
    if image.info.keys() - PIXEL_INFO or EMBEDDED_MARKUP_RE.search(raw):
        return True
    if image.format in {"JPEG", "MPO"}:
        markers = {marker for marker, _ in getattr(image, "applist", [])}
        # A preview, or data behind the end, may be an image with its own metadata.
        has_one_image = raw.count(JPEG_START) == 1 and raw.endswith(JPEG_END)
        return bool(markers - {"APP0", "APP14"}) or not has_one_image
    try:
        require_no_trailing_data(image, raw)
    except ImageError:
        return True
    return any(name in raw for name in METADATA_CHUNKS[str(image.format)])


def encode_receipt(raw: bytes, formats: tuple[str, ...]) -> Encoded:
    with open_image(raw, formats, MAX_RECEIPT_PIXELS) as image:
        # Read the orientation first: `draft` and the conversions drop metadata.
        try:
            orientation = int(image.getexif().get(EXIF_ORIENTATION_TAG, 1))
        except Exception:  # An image with broken EXIF data is still usable.
            orientation = 1
        image.draft("RGB", (MAX_RECEIPT_SIDE, MAX_RECEIPT_SIDE))
        has_alpha = image.mode in {"LA", "PA", "RGBA", "RGBa", "La"}
        has_alpha = has_alpha or "transparency" in image.info
        small: Image.Image = image
        # `thumbnail` resamples only these modes well.
        if image.mode not in {"L", "RGB", "RGBA"}:
            small = image.convert("RGBA" if has_alpha else "RGB")
        small.thumbnail((MAX_RECEIPT_SIDE, MAX_RECEIPT_SIDE))
        if has_alpha:
            layer = small.convert("RGBA")
            small = Image.new("RGB", layer.size, WHITE)
            small.paste(layer, mask=layer.getchannel("A"))
        else:
            small = small.convert("RGB")
        if orientation in TRANSPOSE_BY_ORIENTATION:
            small = small.transpose(TRANSPOSE_BY_ORIENTATION[orientation])
        small.info.clear()
        return encode_still_image(small, "jpeg"), "jpeg", *small.size


def encode_still_image(image: Image.Image, output_format: str) -> bytes:
    is_lossy = output_format in {"jpeg", "webp"}
    options = {"quality": OUTPUT_QUALITY} if is_lossy else {}
    output = io.BytesIO()
    image.save(output, output_format, **options)
    return output.getvalue()


def count_frames(image: Image.Image) -> int:
    frames = 1
    while image.format in ANIMATED_FORMATS:
        validate_animation_size(image, frames)
        try:
            image.seek(frames)
        except EOFError:
            break
        frames += 1
        # A frame of a GIF can enlarge the whole image.
        validate_animation_size(image, frames)
    return frames


def validate_animation_size(image: Image.Image, frames: int) -> None:
    if frames > MAX_FRAMES:
        raise ImageError("frames")
    if image.width * image.height * frames > MAX_PIXELS:
        raise ImageError("pixels")


def require_no_trailing_data(image: Image.Image, raw: bytes) -> None:
    """Raise `ImageError` for data behind the end of the image.

    Cameras append previews and further images to JPEG files.
    """
    if image.format == "WEBP":
        end = 8 + int.from_bytes(raw[4:8], "little")
    elif image.format == "PNG":
        end = find_end_of_png(raw)
    elif image.format == "GIF":
        end = find_end_of_gif(raw)
    else:
        return
    if raw[end:].strip(PADDING):
        raise ImageError("trailing")


def find_end_of_png(raw: bytes) -> int:
    """Return the offset behind IEND, or where the chunks break off."""
    offset = 8
    while offset < len(raw):
        length = int.from_bytes(raw[offset : offset + 4], "big")
        name = raw[offset + 4 : offset + 8]
        offset += 8 + length + PNG_CHECKSUM_BYTES
        if name == b"IEND":
            break
    return offset


def find_end_of_gif(raw: bytes) -> int:
    offset = 13 + palette_size(raw[10:11])
    while raw[offset : offset + 1] in {b"!", b","}:
        # "!" begins an extension, "," a frame with its own palette.
        if raw[offset : offset + 1] == b"!":
            offset += 2
        else:
            offset += 11 + palette_size(raw[offset + 9 : offset + 10])
        # Sub-blocks begin with their length; zero ends them.
        while size := int.from_bytes(raw[offset : offset + 1], "big"):
            offset += 1 + size
        offset += 1
    return offset + 1


def palette_size(packed_fields: bytes) -> int:
    flags = int.from_bytes(packed_fields, "big")
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def load_still_image(image: Image.Image) -> Image.Image:
    pixels = image.width * image.height
    if pixels > MAX_OUTPUT_PIXELS:
        scale = math.sqrt(MAX_OUTPUT_PIXELS / pixels)
        size = int(image.width * scale) or 1, int(image.height * scale) or 1
        # Scaling down in the JPEG decoder takes a fraction of the memory.
        image.draft(image.mode, size)
        if image.mode not in {"L", "RGB", "RGBA"}:
            mode = "RGBA" if image.has_transparency_data else "RGB"
            image = image.convert(mode)
        image.thumbnail(size)
    else:
        image.load()
    with suppress(Exception):
        ImageOps.exif_transpose(image, in_place=True)
    if image.format in {"JPEG", "MPO"} and image.mode not in {"L", "RGB"}:
        return image.convert("RGB")
    return image


def encode_animation(image: Image.Image) -> bytes:
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
            yield strip_metadata(image.copy())
            number += 1

    first, *rest = iter_frames()
    options: dict[str, Any] = {} if loop is None else {"loop": loop}
    if image.format == "WEBP":
        options |= {"quality": OUTPUT_QUALITY, "method": 2}
    elif any(frame.has_transparency_data for frame in (first, *rest)):
        # Clear each frame, or it would show through the next.
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


def strip_metadata(image: Image.Image) -> Image.Image:
    kept = {"transparency": image.info.get("transparency")}
    image.info = {name: value for name, value in kept.items() if value is not None}
    return image


ENCODERS: dict[str, Callable[[bytes, tuple[str, ...]], Encoded]] = {
    "post": encode_post_image,
    "avatar": encode_avatar,
    "receipt": encode_receipt,
}

if __name__ == "__main__":
    main()
