"""Profile images: four formats, validated by decoding, limited in size."""

import base64
import io
import random
from contextlib import suppress
from typing import Any

import pytest
from PIL import Image

from accounts.models import Member, RateLimit
from accounts.profile.profile import MAX_IMAGE_BYTES
from core.image_sandbox import ImageError, encode_avatar
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem

PATH = "/api/auth/profile-image"
KINDS = ["png", "jpeg", "webp", "gif"]


def draw(kind: str, size: tuple[int, int] = (16, 12), mode: str = "RGB") -> bytes:
    """Return a real image with some noise in it."""
    noise = random.Random(7).randbytes(size[0] * size[1] * 3)
    picture = Image.frombytes("RGB", size, noise).convert(mode)
    content = io.BytesIO()
    picture.save(content, kind)
    return content.getvalue()


def blank(kind: str, size: tuple[int, int]) -> bytes:
    """Return an image of one color: a small file with any number of pixels."""
    content = io.BytesIO()
    Image.new("1", size).save(content, kind)
    return content.getvalue()


def data_url(content: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def put(client: JSONClient, image: Any) -> Any:
    return client.send("PUT", PATH, {"profileImage": image})


def assert_refused(response: Any, member: Member) -> None:
    assert (response.status_code, response.data["code"]) == (400, "INVALID_IMAGE")
    member.refresh_from_db()
    assert member.profile_image == ""


@pytest.mark.parametrize("empty", ["", None])
def test_empty_value_clears_the_image_in_favor_of_the_providers(
    free_member: Member, client: JSONClient, empty: str | None
) -> None:
    picture = "https://pictures.example/a.png"
    Member.objects.filter(pk=free_member.pk).update(idp_picture=picture)
    assert put(client, data_url(draw("png"), "png")).status_code == 200
    response = put(client, empty)
    assert response.status_code == 200
    assert response.data["profileImage"] is None
    assert response.data["idpPicture"] == picture


@pytest.mark.parametrize("claimed", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_image_must_be_of_the_kind_it_claims(
    free_member: Member, client: JSONClient, kind: str, claimed: str
) -> None:
    response = put(client, data_url(draw(kind), claimed))
    if kind == claimed:
        assert response.status_code == 200
        stored = JSONClient(free_member).get_json("/api/auth/profile")["profileImage"]
        assert response.data["profileImage"] == stored == data_url(draw(kind), kind)
    else:
        assert_refused(response, free_member)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_truncated_image_is_refused(
    free_member: Member, client: JSONClient, kind: str, part: float
) -> None:
    content = draw(kind, (64, 64))
    image = data_url(content[: int(len(content) * part)], kind)
    assert_refused(put(client, image), free_member)


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    "image",
    [
        "nonsense",
        "https://pictures.example/a.png",
        "data:",
        "data:image/png;base64,",
        "data:image/png;base64,@@@@",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,AAAAA",
        "data:image/png;base64,====",
        "data:image/png,%89PNG",
        "data:image/png;charset=utf-8;base64,AAAA",
        data_url(SVG, "svg+xml"),
        data_url(SVG, "png"),
        data_url(b"<html><script>alert(1)</script></html>", "gif"),
        data_url(b"GIF89a/*" + b"\x00" * 20 + b"*/=1;alert(1)", "gif"),
        data_url(draw("png"), "png").replace("image/png", "image/PNG"),
        data_url(draw("png"), "png").replace("image/png", "text/html"),
        data_url(draw("png"), "png") + "\n<script>",
        " x" + data_url(draw("png"), "png"),
        data_url(draw("bmp"), "bmp"),
        data_url(draw("tiff"), "png"),
        data_url(draw("ico"), "png"),
    ],
)
def test_other_kinds_and_invalid_data_are_refused(
    free_member: Member, client: JSONClient, image: str
) -> None:
    assert_refused(put(client, image), free_member)


@pytest.mark.parametrize(
    "body", [{}, *({"profileImage": v} for v in (5, True, ["x"], {"a": 1}, "a\x00b"))]
)
def test_value_of_another_type_is_a_validation_error(
    client: JSONClient, body: dict[str, Any]
) -> None:
    assert_problem(client.send("PUT", PATH, body), 400, "VALIDATION_ERROR")


def test_one_mebibyte_is_the_most(free_member: Member, client_of: ClientOf) -> None:
    content = draw("png")
    full = content + b"\0" * (MAX_IMAGE_BYTES - len(content))
    assert_refused(
        put(client_of(free_member), data_url(full + b"\0", "png")), free_member
    )
    response = put(client_of(free_member), data_url(full, "png"))
    assert response.status_code == 200


def test_body_beyond_all_bounds_is_413(client: JSONClient) -> None:
    image = data_url(b"\0" * (2 * 2**20), "png")
    assert_problem(put(client, image), 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("kind", ["png", "gif"])
@pytest.mark.parametrize("size", [(25_001, 1_000), (13_000, 13_000)])
def test_tiny_file_of_too_many_pixels_is_refused(
    free_member: Member, client: JSONClient, kind: str, size: tuple[int, int]
) -> None:
    content = blank(kind, size)
    assert len(content) < MAX_IMAGE_BYTES // 2
    assert_refused(put(client, data_url(content, kind)), free_member)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_image_is_refused_or_accepted_but_never_an_error(kind: str) -> None:
    content = draw(kind, (24, 24), "L")
    taken = 0
    for seed in range(150):
        dice = random.Random(seed)
        damaged = bytearray(content)
        for _ in range(dice.randint(1, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        with suppress(ImageError):
            encode_avatar(bytes(damaged), (kind,))
            taken += 1
    assert taken < 150, "some damage is beyond repair"


def with_metadata(kind: str, size: tuple[int, int] = (16, 12)) -> bytes:
    """Return an image with the metadata of place and camera."""
    exif = Image.Exif()
    exif[0x010E] = "at home"
    options: dict[str, Any] = {"exif": exif}
    if kind == "gif":
        options = {"comment": b"at home"}
    content = io.BytesIO()
    source = Image.open(io.BytesIO(draw(kind, size)))
    source.save(content, kind, **options)
    assert b"at home" in content.getvalue()
    return content.getvalue()


def decode_url(url: str) -> bytes:
    return base64.b64decode(url.partition(",")[2])


@pytest.mark.parametrize("kind", KINDS)
def test_metadata_are_not_stored(client: JSONClient, kind: str) -> None:
    response = put(client, data_url(with_metadata(kind), kind))
    assert response.status_code == 200
    content = decode_url(response.data["profileImage"])
    assert b"at home" not in content
    stored = Image.open(io.BytesIO(content))
    assert (stored.format, stored.size) == (kind.upper(), (16, 12))
    assert not stored.getexif()


@pytest.mark.parametrize("hidden", [b"at home", b"<script>at home</script>"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_behind_the_image_is_not_stored(
    client: JSONClient, kind: str, hidden: bytes
) -> None:
    response = put(client, data_url(draw(kind) + hidden, kind))
    assert b"at home" not in decode_url(response.data["profileImage"])


def test_second_image_of_a_jpeg_is_not_stored(client: JSONClient) -> None:
    content = io.BytesIO()
    other = Image.open(io.BytesIO(with_metadata("jpeg")))
    Image.open(io.BytesIO(draw("jpeg"))).save(
        content, "mpo", save_all=True, append_images=[other]
    )
    response = put(client, data_url(content.getvalue(), "jpeg"))
    stored = decode_url(response.data["profileImage"])
    assert stored.count(b"\xff\xd8\xff") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_image_that_would_grow_is_made_smaller(client: JSONClient, kind: str) -> None:
    content = with_metadata(kind, (560, 560))
    assert len(content) <= MAX_IMAGE_BYTES
    response = put(client, data_url(content, kind))
    assert len(decode_url(response.data["profileImage"])) <= MAX_IMAGE_BYTES


def test_sixty_images_an_hour(client: JSONClient) -> None:
    assert put(client, data_url(draw("png"), "png")).status_code == 200
    own = RateLimit.objects.get(key__startswith="profile-images")
    own.attempts *= 60
    own.save()
    assert_problem(put(client, data_url(draw("png"), "png")), 429, "RATE_LIMITED")
    assert put(client, "").status_code == 200
