"""Uploads that are no images, or too large, or damaged."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image as Pixels

from board.models import Image
from core.api.parsers import MAX_UPLOAD_BYTES
from core.image_sandbox import (
    ALLOWED_FORMATS,
    MAX_FRAMES,
    ImageError,
    encode_post_image,
)
from tests.support.board import KINDS, refusal_of, upload
from tests.support.clients import JSONClient
from tests.support.images import (
    SCRIPT,
    animate,
    draw,
    encode,
    make_bare_gif,
    make_gif_program,
    make_png_bomb,
)

MOST_MEGABYTES = 100
ROOT = Path(__file__).resolve().parents[3]

NO_IMAGES = {
    "nothing": b"",
    "text": b"no picture",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "svg with a prologue": b"<?xml version='1.0'?><svg><script>alert(1)</script></svg>",
    "html": b"<!doctype html><script>alert(1)</script>",
    "pdf": b"%PDF-1.7",
    "bmp": draw("bmp"),
    "tiff": draw("tiff"),
    "ico": draw("ico", size=(16, 16)),
    "GIF in name only": b"GIF89a/*" + SCRIPT + b"*/=1;alert(1)",
    "GIF and JavaScript": make_gif_program(),
    "PNG and HTML": draw("png") + b"<html>" + SCRIPT,
    "PNG and an archive": draw("png") + b"PK\x03\x04 and more",
    "WebP and more": draw("webp") + b"more than a picture",
    "JPEG and HTML": draw("jpeg") + SCRIPT,
    "JPEG with HTML in its comment": draw("jpeg", comment=SCRIPT),
    "cut-off PNG": draw("png")[:-200],
    "cut-off JPEG": draw("jpeg")[:300],
    "cut-off WebP": draw("webp")[:-50],
    "cut-off GIF": draw("gif")[:-300],
    "empty PNG": b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
    "1,000 frames": make_bare_gif(1_000),
    "600,000 frames": make_bare_gif(600_000),
    "101 frames of WebP": animate("webp", MAX_FRAMES + 1),
    "frames of 41 megapixels": make_bare_gif(41, size=(1_000, 1_000)),
    "41 megapixels": encode(Pixels.new("1", (8_200, 5_000))),
    "169 megapixels": make_png_bomb(13_000),
    "4,294 megapixels": make_bare_gif(1, size=(65_535, 65_535)),
    "268 megapixels of WebP": encode(Pixels.new("RGB", (16_383, 4)), "webp").replace(
        b"\xff?\x04\0", b"\xff?\xff?", 1
    ),
}


@pytest.mark.parametrize("name", NO_IMAGES)
def test_unusable_image_is_refused(client: JSONClient, name: str) -> None:
    assert refusal_of(upload(client, NO_IMAGES[name])) == (400, "INVALID_IMAGE")
    assert not Image.objects.exists()


def test_more_than_ten_megabytes_are_413(client: JSONClient) -> None:
    response = upload(client, draw() + b"\0" * 11 * 2**20)
    assert refusal_of(response) == (413, "PAYLOAD_TOO_LARGE")
    response = upload(client, draw() + b"\0" * (MAX_UPLOAD_BYTES - len(draw()) + 1))
    assert refusal_of(response) == (413, "PAYLOAD_TOO_LARGE")


MEASURE = """
import sys
from pathlib import Path
from tests.support.images import draw, make_bare_gif, make_png_bomb
sys.path.insert(0, ".")
from core.image_sandbox import ALLOWED_FORMATS, ImageError, encode_post_image

def read(name):
    status = Path("/proc/self/status").read_text()
    return int(status.split(name + ":")[1].split()[0]) // 1024

encode_post_image(draw(), ALLOWED_FORMATS)
cases = [make_png_bomb(13_000), make_bare_gif(1_000, size=(640, 480)),
         make_bare_gif(1_000), draw("png", size=(1_500, 1_500))[:-1_000],
         draw("jpeg", size=(1_500, 1_500))[:50_000], make_bare_gif(1, (65_535, 65_535)),
         b"<svg/>" * 100_000]
Path("/proc/self/clear_refs").write_text("5")
before = read("VmRSS")
for case in cases:
    try:
        encode_post_image(case, ALLOWED_FORMATS)
    except ImageError:
        continue
    raise SystemExit("taken")
print(read("VmHWM") - before)
"""


def test_hostile_images_take_little_memory() -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEASURE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < MOST_MEGABYTES


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_image_is_refused_or_accepted_but_never_an_error(kind: str) -> None:
    content = animate(kind, 3) if kind in {"gif", "webp"} else draw(kind)
    taken = 0
    for seed in range(150):
        dice = random.Random(seed)
        damaged = bytearray(content)
        for _ in range(dice.randint(1, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        try:
            encode_post_image(bytes(damaged), ALLOWED_FORMATS)
        except ImageError:
            continue
        taken += 1
    assert taken < 150, "some damage is beyond repair"
