"""Pictures to upload: real ones, and files made to harm."""

import io
import random
import struct
import zlib
from typing import Any

from PIL import Image

PLACE = b"51.5074"
SCRIPT = b"<script>alert(document.domain)</script>"


def draw(kind: str = "png", size: tuple[int, int] = (40, 30), **options: Any) -> bytes:
    """Return an image of noise: no two neighboring pixels are alike."""
    return encode(make_noise(size), kind, **options)


def make_noise(size: tuple[int, int], seed: int = 7) -> Image.Image:
    noise = random.Random(seed).randbytes(size[0] * size[1] * 3)
    return Image.frombytes("RGB", size, noise)


def encode(picture: Image.Image, kind: str = "png", **options: Any) -> bytes:
    content = io.BytesIO()
    picture.save(content, kind, **options)
    return content.getvalue()


def decode(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def animate(
    kind: str, frames: int, size: tuple[int, int] = (24, 16), **options: Any
) -> bytes:
    """Return an animation, each frame of one color of its own."""
    first, *rest = (
        Image.new("RGB", size, (i * 37 % 256, i * 91 % 256, i * 53 % 256))
        for i in range(frames)
    )
    return encode(first, kind, save_all=True, append_images=rest, **options)


def make_bare_gif(frames: int, size: tuple[int, int] = (1, 1)) -> bytes:
    """Return a GIF of as many frames of one pixel as are wanted, each in 15 bytes."""
    head = b"GIF89a" + struct.pack("<HH", *size) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"
    frame = b",\0\0\0\0\x01\0\x01\0\0" + b"\x02\x02\x4c\x01\0"
    return head + frame * frames + b";"


def make_png_bomb(side: int) -> bytes:
    """Return a tiny PNG of side × side gray pixels, a bit each, packed twice over."""
    rows = zlib.compressobj(9)
    line = b"\0" * (side // 8 + 2)
    data = b"".join(rows.compress(line) for _ in range(side)) + rows.flush()
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body))
        + name
        + body
        + struct.pack(">I", zlib.crc32(name + body))
        for name, body in ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    )


def make_exif(orientation: int = 1) -> Image.Exif:
    """Return what a camera writes: how it was held, who held it, and where."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x013B] = "A. Photographer"
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (51.0, 30.0, 26.0)
    return exif


def make_gif_program() -> bytes:
    """Return a GIF that is also JavaScript: its width is the start of a comment."""
    gif = make_bare_gif(1, size=(0x2A2F, 1))
    return gif + b"*/=1;alert(document.domain);//"
