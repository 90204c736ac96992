"""Uploaded images are encoded anew: without metadata, upright, in bounds."""

from typing import Any

import pytest
from PIL import Image as Pixels

from board.models import Image
from core.image_sandbox import (
    ALLOWED_FORMATS,
    MAX_FRAMES,
    MAX_OUTPUT_PIXELS,
    MAX_PIXELS,
    encode_post_image,
)
from tests.support.board import store, upload
from tests.support.clients import JSONClient
from tests.support.images import (
    PLACE,
    animate,
    decode,
    draw,
    encode,
    make_exif,
    make_noise,
)


def color_at(picture: Pixels.Image, *place: int) -> tuple[int, ...]:
    """Return red, green, blue and alpha of a pixel."""
    x, y = place
    at = (picture.convert("RGBA").tobytes(), 4 * (y * picture.width + x))
    return tuple(at[0][at[1] : at[1] + 4])


def serve(client: JSONClient, content: bytes) -> Any:
    return decode(client.get(store(client, content)).content)


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_metadata_is_removed_and_the_image_is_upright(
    client: JSONClient, kind: str
) -> None:
    picture = Pixels.new("RGB", (60, 40), "white")
    picture.paste("red", (0, 0, 60, 20))
    content = encode(picture, kind, exif=make_exif(orientation=6), icc_profile=PLACE)
    assert decode(content).getexif()
    made = serve(client, content)
    assert not made.getexif()
    assert made.size == (40, 60)
    assert color_at(made, 35, 30)[1] < 100  # red is at the right
    assert color_at(made, 5, 30)[1] > 200
    stored = bytes(Image.objects.get().content or b"")
    for trace in (b"Exif", b"EXIF", b"Photographer", PLACE, b"ICC"):
        assert trace not in stored


@pytest.mark.parametrize("kind", ["jpeg", "gif", "png"])
def test_comments_are_gone(client: JSONClient, kind: str) -> None:
    content = draw(kind, comment=b"taken at home")
    serve(client, content)
    assert b"taken at home" not in bytes(Image.objects.get().content or b"")


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_broken_exif_data_is_ignored(client: JSONClient) -> None:
    content = draw("jpeg", exif=b"Exif\0\0II*\0\xff\xff\xff\xff broken")
    assert serve(client, content).size == (40, 30)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_png_keeps_its_pixels_in_every_mode(client: JSONClient, mode: str) -> None:
    picture = make_noise((20, 10)).convert("L" if mode == "I;16" else mode)
    content = encode(picture.convert(mode))
    made = serve(client, content)
    assert made.convert("RGBA").tobytes() == decode(content).convert("RGBA").tobytes()


@pytest.mark.parametrize("kind", ["png", "webp", "gif"])
def test_what_is_clear_stays_clear(client: JSONClient, kind: str) -> None:
    picture = Pixels.new("RGBA", (20, 10), (0, 0, 0, 0))
    picture.paste((255, 0, 0, 255), (0, 0, 10, 10))
    made = serve(client, encode(picture, kind))
    assert color_at(made, 15, 5)[3] == 0
    assert color_at(made, 4, 5) == pytest.approx((255, 0, 0, 255), abs=8)


def test_cmyk_jpeg_becomes_one_that_browsers_show(client: JSONClient) -> None:
    content = encode(make_noise((20, 10)).convert("CMYK"), "jpeg")
    assert serve(client, content).mode == "RGB"


def test_jpeg_of_several_images_is_its_first(client: JSONClient) -> None:
    content = encode(
        make_noise((20, 10)), "mpo", save_all=True, append_images=[make_noise((9, 9))]
    )
    assert decode(content).format == "MPO"
    made = serve(client, content)
    assert (made.format, made.size) == ("JPEG", (20, 10))


@pytest.mark.parametrize(
    "content",
    [
        encode(make_noise((40, 30)), "jpeg", exif=make_exif(6)),
        encode(Pixels.new("L", (8_000, 5_000)), "png"),
        animate("webp", 3),
        animate("gif", 3),
    ],
    ids=["rotated", "large", "webp", "gif"],
)
def test_size_of_an_image_is_that_of_the_stored_one(
    client: JSONClient, content: bytes
) -> None:
    response = upload(client, content)
    path = response.data["url"][response.data["url"].index("/api/") :]
    shown = decode(client.get(path).content)
    assert (response.data["width"], response.data["height"]) == shown.size


def test_very_large_image_is_downscaled() -> None:
    content = encode(Pixels.new("L", (8_000, 5_000)), "jpeg")
    _, _, width, height = encode_post_image(content, ALLOWED_FORMATS)
    assert width * height <= MAX_OUTPUT_PIXELS
    assert width / height == pytest.approx(1.6, rel=0.01)


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_animation_keeps_frames_durations_and_loop(
    client: JSONClient, kind: str
) -> None:
    durations = [40, 100, 250, 1000]
    made = serve(client, animate(kind, 4, duration=durations, loop=3))
    assert made.n_frames == 4
    assert made.info["loop"] == 3
    for i, duration in enumerate(durations):
        made.seek(i)
        made.load()
        assert made.info["duration"] == duration
        color = (i * 37 % 256, i * 91 % 256, i * 53 % 256)
        assert color_at(made, 5, 5)[:3] == pytest.approx(color, abs=8)


def test_clear_parts_of_a_moving_gif_stay_clear(client: JSONClient) -> None:
    frames = []
    for x in (0, 10, 20):
        frame = Pixels.new("RGBA", (30, 10), (0, 0, 0, 0))
        frame.paste((0, 200, 0, 255), (x, 0, x + 10, 10))
        frames.append(frame)
    first, *rest = frames
    content = encode(
        first, "gif", save_all=True, append_images=rest, duration=50, disposal=2
    )
    made = serve(client, content)
    assert made.n_frames == 3
    for i, x in enumerate((0, 10, 20)):
        made.seek(i)
        alphas = [color_at(made, at, 5)[3] for at in (5, 15, 25)]
        assert alphas == [255 * (x == at - 5) for at in (5, 15, 25)]


def test_most_frames_are_kept(client: JSONClient) -> None:
    assert serve(client, animate("gif", MAX_FRAMES)).n_frames == MAX_FRAMES


def test_most_pixels_are_taken(client: JSONClient) -> None:
    # Also by the limits of the process that decodes them.
    content = encode(Pixels.new("1", (8_000, MAX_PIXELS // 8_000)))
    assert serve(client, content).format == "PNG"
