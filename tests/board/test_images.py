"""POST /api/board/images and GET /api/images/{id}: uploads and downloads."""

import io
import json
import random
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from PIL import Image as Pixels

from accounts.models import Member, RateLimit
from board import images
from board.images import MAX_IMAGES, MAX_TOTAL_BYTES, UPLOAD_LIMIT
from board.models import Image
from core.api.parsers import MAX_UPLOAD_BYTES
from core.errors import InvalidImageError
from core.image_sandbox import (
    ALLOWED_FORMATS,
    MAX_FRAMES,
    MAX_OUTPUT_PIXELS,
    MAX_PIXELS,
    ImageError,
    encode_post_image,
)
from tests.support.clients import JSONClient
from tests.support.images import (
    PLACE,
    SCRIPT,
    animate,
    decode,
    draw,
    encode,
    make_bare_gif,
    make_exif,
    make_gif_program,
    make_noise,
    make_png_bomb,
)
from tests.support.routes import MISSING_UUID

pytestmark = pytest.mark.django_db

PATH = "/api/board/images"
KINDS = ["png", "jpeg", "webp", "gif"]
MOST_MEGABYTES = 100
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def upload(client: JSONClient, content: bytes, name: str = "a.png") -> Any:
    return send(client, {"image": SimpleUploadedFile(name, content)})


def send(client: JSONClient, fields: dict[str, Any]) -> Any:
    response: Any = client.post(PATH, fields)
    response.data = json.loads(response.content)
    return response


def color_at(picture: Pixels.Image, *place: int) -> tuple[int, ...]:
    """Return red, green, blue and alpha of a pixel."""
    x, y = place
    at = (picture.convert("RGBA").tobytes(), 4 * (y * picture.width + x))
    return tuple(at[0][at[1] : at[1] + 4])


def refusal_of(response: Any) -> tuple[int, str]:
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.data["code"]


def store(client: JSONClient, content: bytes) -> str:
    """Upload an image and return the path of the stored one."""
    response = upload(client, content)
    assert response.status_code == 201, response.content
    url: str = response.data["url"]
    return url[url.index("/api/") :]


def serve(client: JSONClient, content: bytes) -> Any:
    return decode(client.get(store(client, content)).content)


def make_image(member: Member, **fields: Any) -> Image:
    defaults = {"content": b"x", "content_type": "image/png", "width": 1, "height": 1}
    return Image.objects.create(
        member=member, **defaults | {"size": 1, "content_hash": "d"} | fields
    )


# --- Upload and answer ------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_image_of_each_kind_is_stored_and_served(
    client: JSONClient, settings: Any, kind: str
) -> None:
    settings.PUBLIC_URL = "https://ledger.example"
    response = upload(client, draw(kind))
    image = Image.objects.get()
    assert response.status_code == 201
    assert response.data == {
        "url": f"https://ledger.example/api/images/{image.pk}",
        "width": 40,
        "height": 30,
    }
    answer = JSONClient().get(f"/api/images/{image.pk}")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == f"image/{kind}"
    assert answer.content == bytes(image.content)
    picture = decode(answer.content)
    assert (picture.format, picture.size) == (kind.upper(), (40, 30))


def test_answer_is_cached_for_a_year_and_runs_nothing(client: JSONClient) -> None:
    path = store(client, draw("jpeg"))
    headers = JSONClient().get(path).headers
    image = Image.objects.get()
    assert headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert headers["ETag"] == f'"{image.content_hash}"'
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert headers["Content-Disposition"] == f'inline; filename="{image.pk}.jpg"'
    assert headers["Content-Length"] == str(image.size)
    assert "Vary" not in headers or "Cookie" not in headers["Vary"]


def test_same_image_again_is_304_without_a_body(client: JSONClient) -> None:
    path = store(client, draw())
    etag = JSONClient().get(path).headers["ETag"]
    for given in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        answer = JSONClient().get(path, HTTP_IF_NONE_MATCH=given)
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["ETag"] == etag
        assert "immutable" in answer.headers["Cache-Control"]
    assert JSONClient().get(path, HTTP_IF_NONE_MATCH='"other"').status_code == 200


def test_head_answers_the_headers_of_get(client: JSONClient) -> None:
    path = store(client, draw())
    whole, head = JSONClient().get(path), JSONClient().head(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Length", "Content-Type", "ETag", "Cache-Control"):
        assert head.headers[name] == whole.headers[name]


def test_neither_session_nor_cookie_matters(
    client: JSONClient, django_assert_num_queries: Any
) -> None:
    path = store(client, draw())
    stranger = JSONClient(HTTP_AUTHORIZATION="Bearer no-such-session")
    stranger.cookies["sessionid"] = "no-such-session"
    with django_assert_num_queries(1):
        answer = stranger.get(path)
    assert answer.status_code == 200
    assert not answer.cookies


@pytest.mark.parametrize("accept", ["image/avif,image/webp", "text/html", "x/y"])
def test_image_is_answered_whatever_is_accepted(
    client: JSONClient, accept: str
) -> None:
    answer = JSONClient().get(store(client, draw()), HTTP_ACCEPT=accept)
    assert answer.headers["Content-Type"] == "image/png"


@pytest.mark.parametrize(
    "path", [MISSING_UUID, "1", "a.png", "..%2f", "%00", "ABCDEF" * 6]
)
def test_unknown_id_is_404_as_json(anonymous: JSONClient, path: str) -> None:
    response = anonymous.send("GET", f"/api/images/{path}")
    assert refusal_of(response) == (404, "NOT_FOUND")
    assert response.headers["Cache-Control"] == "no-store"


def test_ids_cannot_be_guessed(client: JSONClient) -> None:
    first, second = store(client, draw()), store(client, draw())
    assert first != second
    assert {image.pk.version for image in Image.objects.all()} == {4}


def test_upload_needs_a_login() -> None:
    assert refusal_of(upload(JSONClient(), draw())) == (401, "AUTHENTICATION_REQUIRED")


@pytest.mark.parametrize("fields", [{}, {"picture": "x"}, {"image": "text"}])
def test_image_must_be_given_as_a_file(
    client: JSONClient, fields: dict[str, Any]
) -> None:
    response = send(client, fields)
    assert refusal_of(response) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["image"]


def test_only_multipart_is_read(client: JSONClient) -> None:
    response = client.send("POST", PATH, {"image": "data:image/png;base64,AAAA"})
    assert refusal_of(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_name_and_claimed_type_of_the_file_do_not_matter(client: JSONClient) -> None:
    image = SimpleUploadedFile("../../x.svg", draw("jpeg"), "text/html")
    assert send(client, {"image": image}).status_code == 201
    assert Image.objects.get().content_type == "image/jpeg"


# --- Re-encoding -------------------------------------------------------------------


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
    stored = bytes(Image.objects.get().content)
    for trace in (b"Exif", b"EXIF", b"Photographer", PLACE, b"ICC"):
        assert trace not in stored


@pytest.mark.parametrize("kind", ["jpeg", "gif", "png"])
def test_comments_are_gone(client: JSONClient, kind: str) -> None:
    content = draw(kind, comment=b"taken at home")
    serve(client, content)
    assert b"taken at home" not in bytes(Image.objects.get().content)


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


# --- What is refused ----------------------------------------------------------------

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
    response = upload(client, NO_IMAGES[name])
    assert refusal_of(response) == (400, "INVALID_IMAGE")
    assert not Image.objects.exists()


def test_more_than_ten_megabytes_are_413(client: JSONClient) -> None:
    response = upload(client, draw() + b"\0" * 11 * 2**20)
    assert refusal_of(response) == (413, "PAYLOAD_TOO_LARGE")
    response = upload(client, draw() + b"\0" * (MAX_UPLOAD_BYTES - len(draw()) + 1))
    assert refusal_of(response) == (413, "PAYLOAD_TOO_LARGE")


def test_most_pixels_are_taken(client: JSONClient) -> None:
    # Also by the limits of the process that decodes them.
    content = encode(Pixels.new("1", (8_000, MAX_PIXELS // 8_000)))
    assert serve(client, content).format == "PNG"


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


# --- Quotas ---------------------------------------------------------------------------


def test_hundred_uploads_an_hour(client: JSONClient) -> None:
    content = draw(size=(4, 4))
    assert upload(client, content).status_code == 201
    own = RateLimit.objects.get(key__startswith="images")
    own.attempts *= 99
    own.save()
    assert upload(client, content).status_code == 201
    refused = upload(client, content)
    assert refusal_of(refused) == (429, "RATE_LIMITED")
    assert 3_500 < int(refused.headers["Retry-After"]) <= 3_600
    assert Image.objects.count() == 2
    assert UPLOAD_LIMIT.max_attempts == 100


def test_refused_images_count_as_attempts_only(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(25):
        assert upload(client, b"no picture").status_code == 400
    assert upload(client, draw()).status_code == 201
    for limit in RateLimit.objects.filter(key__startswith="image-attempts"):
        limit.attempts *= 12
        limit.save()
    assert refusal_of(upload(client, draw())) == (429, "RATE_LIMITED")


def test_images_are_limited_by_number(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    for number in range(MAX_IMAGES - 1):
        make_image(free_member, content_hash=str(number))
    assert upload(client, draw()).status_code == 201
    refused = upload(client, draw())
    assert refusal_of(refused) == (400, "VALIDATION_ERROR")
    assert refused.data["errors"][0]["code"] == "quota"
    assert upload(JSONClient(other_member), draw()).status_code == 201


def test_images_are_limited_by_size(client: JSONClient, free_member: Member) -> None:
    made = encode_post_image(draw(), ALLOWED_FORMATS)[0]
    kept = make_image(free_member, size=MAX_TOTAL_BYTES - len(made) + 1)
    refused = upload(client, draw())
    assert refusal_of(refused) == (400, "VALIDATION_ERROR")
    assert "50 MB" in refused.data["errors"][0]["detail"]
    Image.objects.filter(pk=kept.pk).update(size=kept.size - 1)
    assert upload(client, draw()).status_code == 201


def test_upload_of_a_deleted_member_fails(free_member: Member) -> None:
    gone = Member.objects.get(pk=free_member.pk)
    free_member.delete()
    with pytest.raises(Member.DoesNotExist):
        images.create_image(gone, io.BytesIO(draw()), timezone.now())
    assert timedelta(hours=1) == UPLOAD_LIMIT.window


def test_refused_image_leaves_nothing(free_member: Member) -> None:
    with pytest.raises(InvalidImageError):
        images.create_image(free_member, io.BytesIO(b""), timezone.now())
    assert not Image.objects.exists()
    assert RateLimit.objects.get(key__startswith="images:").attempts == []
