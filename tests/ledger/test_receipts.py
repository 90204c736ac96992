"""POST /api/account/ocr/receipt: a picture in, its text out, nothing kept."""

import base64
import io
import json
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image
from pytest_httpserver import HTTPServer

from core.api.parsers import MAX_UPLOAD_BYTES
from core.image_sandbox import ALLOWED_FORMATS, ImageError, encode_receipt
from core.image_sandbox import MAX_RECEIPT_PIXELS as MAX_PIXELS
from core.image_sandbox import MAX_RECEIPT_SIDE as MAX_SIDE_PIXELS
from ledger import receipts
from tests.support.clients import JSONClient
from tests.support.factories import make_member

pytestmark = pytest.mark.django_db

PATH = "/api/account/ocr/receipt"
VISION = "/v1/images:annotate"
TEXT = "영수증\n합계 12,000"
RED, BLUE = (255, 0, 0), (0, 0, 255)


@pytest.fixture
def vision(settings: Any, httpserver: HTTPServer, tmp_path: Path) -> HTTPServer:
    """Return a fake of Google Vision, which finds TEXT on every picture."""
    settings.OCR_API_KEY = "AIzaSy-very-secret-key"
    settings.OCR_BASE_URL = httpserver.url_for("").rstrip("/")
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    body = {"responses": [{"fullTextAnnotation": {"text": TEXT}}]}
    httpserver.expect_request(VISION).respond_with_json(body)
    return httpserver


@pytest.fixture
def client(premium_member: Any) -> JSONClient:
    return JSONClient(premium_member)


def draw(kind: str = "png", size: tuple[int, int] = (40, 30), **options: Any) -> bytes:
    noise = random.Random(7).randbytes(size[0] * size[1] * 3)
    content = io.BytesIO()
    Image.frombytes("RGB", size, noise).save(content, kind, **options)
    return content.getvalue()


def encode(picture: Image.Image, kind: str = "png", **options: Any) -> io.BytesIO:
    content = io.BytesIO()
    picture.save(content, kind, **options)
    content.seek(0)
    return content


def upload(client: JSONClient, content: bytes, name: str = "receipt.png") -> Any:
    return send(client, {"image": SimpleUploadedFile(name, content)})


def send(client: JSONClient, fields: dict[str, Any]) -> Any:
    response: Any = client.post(PATH, fields)
    response.data = json.loads(response.content)
    return response


def sent_to(vision: HTTPServer) -> Image.Image:
    """Return the picture that the provider was given."""
    ((request, _),) = vision.log
    text = json.loads(request.data)["requests"][0]["image"]["content"]
    return Image.open(io.BytesIO(base64.b64decode(text)))


def refusal_of(response: Any) -> tuple[int, str]:
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.data["code"]


# --- What is answered -----------------------------------------------------------


@pytest.mark.parametrize("kind", ALLOWED_FORMATS)
def test_text_of_each_kind_of_picture_is_answered(
    client: JSONClient, vision: HTTPServer, kind: str
) -> None:
    response = upload(client, draw(kind))
    assert response.status_code == 200, response.content
    assert response.data == {"text": TEXT}
    assert sent_to(vision).format == "JPEG"


def test_nothing_recognized_is_an_empty_text(
    client: JSONClient, vision: HTTPServer
) -> None:
    vision.clear()
    vision.expect_request(VISION).respond_with_json({"responses": [{}]})
    assert upload(client, draw()).data == {"text": ""}


def test_name_and_claimed_type_of_the_file_do_not_matter(
    client: JSONClient, vision: HTTPServer
) -> None:
    image = SimpleUploadedFile("../../etc/a.svg", draw("jpeg"), "text/html")
    assert send(client, {"image": image}).status_code == 200


# --- Who may, and when ----------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"no picture", draw()])
def test_without_a_key_every_upload_is_503(
    client: JSONClient, settings: Any, content: bytes
) -> None:
    settings.OCR_API_KEY = ""
    assert refusal_of(upload(client, content)) == (503, "OCR_NOT_CONFIGURED")
    response = client.send("POST", PATH, {})
    assert refusal_of(response) == (503, "OCR_NOT_CONFIGURED")


def test_login_and_plan_come_before_the_key(settings: Any) -> None:
    settings.OCR_API_KEY = ""
    refused = upload(JSONClient(), draw())
    assert refusal_of(refused) == (401, "AUTHENTICATION_REQUIRED")
    refused = upload(JSONClient(make_member()), draw())
    assert refusal_of(refused) == (403, "PREMIUM_REQUIRED")


def test_administrator_needs_no_plan(vision: HTTPServer, administrator: Any) -> None:
    assert upload(JSONClient(administrator), draw()).status_code == 200


@pytest.mark.parametrize("fields", [{}, {"picture": "x"}, {"image": "text"}])
def test_image_must_be_given_as_a_file(
    client: JSONClient, vision: HTTPServer, fields: dict[str, Any]
) -> None:
    response = send(client, fields)
    assert refusal_of(response) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["image"]


def test_only_multipart_is_read(client: JSONClient, vision: HTTPServer) -> None:
    response = client.send("POST", PATH, {"image": "data:image/png;base64,AAAA"})
    assert refusal_of(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=é",
        "multipart/form-data; boundary=x",
    ],
)
def test_broken_multipart_is_400(
    client: JSONClient, vision: HTTPServer, kind: str
) -> None:
    response = client.generic("POST", PATH, b"--y\r\nno parts", content_type=kind)
    assert response.status_code == 400, response.content


# --- What is no picture ---------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no picture",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        draw("png")[:200],
        draw("jpeg")[:200],
        draw("bmp"),
        draw("tiff"),
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
    ],
)
def test_what_is_no_picture_is_refused(
    client: JSONClient, vision: HTTPServer, content: bytes
) -> None:
    assert refusal_of(upload(client, content)) == (400, "INVALID_IMAGE")
    assert vision.log == []


@pytest.mark.parametrize("kind", ["png", "gif"])
@pytest.mark.parametrize("size", [(10_001, 5_000), (20_000, 20_000)])
def test_too_many_pixels_are_refused_by_the_header(
    client: JSONClient, vision: HTTPServer, kind: str, size: tuple[int, int]
) -> None:
    content = encode(Image.new("1", size), kind).getvalue()
    tracemalloc.start()
    try:
        response = upload(client, content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert refusal_of(response) == (400, "INVALID_IMAGE")
    assert peak < 20 * 2**20
    assert vision.log == []


def prepare_image(file: io.BytesIO) -> bytes:
    return encode_receipt(file.getvalue(), ALLOWED_FORMATS)[0]


def test_most_pixels_are_read() -> None:
    content = encode(Image.new("1", (10_000, MAX_PIXELS // 10_000)))
    assert Image.open(io.BytesIO(prepare_image(content))).size == (
        MAX_SIDE_PIXELS,
        1024,
    )


@pytest.mark.parametrize("kind", ALLOWED_FORMATS)
def test_damaged_picture_is_refused_or_taken_but_never_a_fault(kind: str) -> None:
    content = draw(kind)
    for seed in range(150):
        dice = random.Random(seed)
        damaged = bytearray(content)
        for _ in range(dice.randint(1, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        try:
            prepare_image(io.BytesIO(damaged))
        except ImageError:
            continue


def test_picture_that_the_provider_refuses_is_invalid(
    client: JSONClient, vision: HTTPServer
) -> None:
    vision.clear()
    error = {"code": 3, "message": "Bad image data."}
    vision.expect_request(VISION).respond_with_json({"responses": [{"error": error}]})
    assert refusal_of(upload(client, draw())) == (400, "INVALID_IMAGE")


def test_provider_that_fails_is_502(client: JSONClient, settings: Any) -> None:
    settings.OCR_API_KEY = "key"
    assert refusal_of(upload(client, draw())) == (502, "PROVIDER_UNAVAILABLE")


# --- What is sent on ------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "shrunk"),
    [
        ((MAX_SIDE_PIXELS, 100), (MAX_SIDE_PIXELS, 100)),
        ((MAX_SIDE_PIXELS + 1, 10), (MAX_SIDE_PIXELS, 10)),
        ((3000, 6000), (1024, 2048)),
        ((9000, 3), (2048, 1)),
    ],
)
@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_picture_is_shrunk_to_its_longest_side(
    size: tuple[int, int], shrunk: tuple[int, int], kind: str
) -> None:
    content = encode(Image.new("RGB", size), kind)
    assert Image.open(io.BytesIO(prepare_image(content))).size == shrunk


@pytest.mark.parametrize("orientation", [1, 2, 3, 4, 5, 6, 7, 8])
def test_picture_is_turned_as_the_camera_was_held(orientation: int) -> None:
    # The stored pixels are the upright ones, moved as EXIF says they were.
    upright = Image.new("RGB", (64, 32), BLUE)
    upright.paste(RED, (0, 0, 32, 16))
    undo: dict[int, Callable[[Image.Image], Image.Image]] = {
        1: lambda p: p,
        2: lambda p: p.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        3: lambda p: p.transpose(Image.Transpose.ROTATE_180),
        4: lambda p: p.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
        5: lambda p: p.transpose(Image.Transpose.TRANSPOSE),
        6: lambda p: p.transpose(Image.Transpose.ROTATE_90),
        7: lambda p: p.transpose(Image.Transpose.TRANSVERSE),
        8: lambda p: p.transpose(Image.Transpose.ROTATE_270),
    }
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = encode(undo[orientation](upright), "jpeg", exif=exif, quality=95)
    sent = Image.open(io.BytesIO(prepare_image(stored)))
    assert sent.size == (64, 32)
    assert brightest_of(sent, (8, 4)) == "red"
    assert {brightest_of(sent, at) for at in ((56, 4), (8, 28), (56, 28))} == {"blue"}


def brightest_of(picture: Image.Image, at: tuple[int, int]) -> str:
    pixel: Any = picture.getpixel(at)
    return "red" if pixel[0] > pixel[2] else "blue"


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("exif", [b"Exif\0\0nonsense", b"Exif\0\0MM\0*\0\0\xff\xff"])
def test_broken_exif_data_make_no_picture_unusable(exif: bytes) -> None:
    assert prepare_image(encode(Image.new("RGB", (8, 8)), "jpeg", exif=exif))


def test_metadata_are_not_sent_on() -> None:
    exif = Image.Exif()
    exif[0x010E] = "at home"
    content = encode(
        Image.new("RGB", (8, 8)), "jpeg", exif=exif, comment=b"at home too"
    )
    assert b"at home" in content.getvalue()
    assert b"at home" not in prepare_image(content)


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16", "CMYK"])
def test_picture_of_each_mode_is_sent_as_rgb(mode: str) -> None:
    kind = "jpeg" if mode == "CMYK" else "png"
    content = encode(Image.new(mode, (8, 8)), kind)
    assert Image.open(io.BytesIO(prepare_image(content))).mode == "RGB"


@pytest.mark.parametrize("kind", ["png", "webp", "gif"])
def test_what_is_clear_becomes_white(kind: str) -> None:
    content = encode(Image.new("RGBA", (8, 8), (0, 0, 0, 0)), kind)
    sent = Image.open(io.BytesIO(prepare_image(content)))
    pixel: Any = sent.getpixel((4, 4))
    assert min(pixel) > 250


# --- Large uploads --------------------------------------------------------------


def pad(size: int) -> bytes:
    content = draw()
    return content + b"\0" * (size - len(content))


def test_ten_megabytes_are_the_most(
    client: JSONClient, vision: HTTPServer, tmp_path: Path
) -> None:
    assert upload(client, pad(MAX_UPLOAD_BYTES)).status_code == 200
    response = upload(client, pad(MAX_UPLOAD_BYTES + 1))
    assert refusal_of(response) == (413, "PAYLOAD_TOO_LARGE")
    assert list(tmp_path.iterdir()) == []


class Body(io.RawIOBase):
    """A multipart body of one file that is made while it is read."""

    def __init__(self, size: int) -> None:
        head = b'--x\r\nContent-Disposition: form-data; name="image"; filename="a"'
        self._start = head + b"\r\n\r\n" + draw()
        self._end = b"\r\n--x--\r\n"
        self.size = size
        self.position = 0

    def read(self, size: int = -1) -> bytes:
        start, end = self.position, min(self.position + size, self.size)
        zeros = max(0, end - max(start, len(self._start)))
        piece = self._start[start:end] + b"\0" * zeros
        tail = self._end[max(0, start - self.size + len(self._end)) :]
        left = self.size - end
        if left < len(self._end):
            tail = tail[: len(tail) - left]
            piece = piece[: len(piece) - len(tail)] + tail
        self.position = end
        return piece


def stream(client: JSONClient, body: Body) -> Any:
    surroundings: dict[str, Any] = {
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
        "CONTENT_LENGTH": str(body.size),
        "wsgi.input": body,
    }
    response: Any = client.generic("POST", PATH, **surroundings)
    response.data = json.loads(response.content)
    return response


def test_body_that_announces_too_much_is_refused_unread(
    client: JSONClient, vision: HTTPServer
) -> None:
    body = Body(MAX_UPLOAD_BYTES * 2)
    response = stream(client, body)
    assert refusal_of(response) == (413, "PAYLOAD_TOO_LARGE")
    assert body.position == 0


@pytest.mark.parametrize(
    ("size", "status"), [(MAX_UPLOAD_BYTES, 200), (MAX_UPLOAD_BYTES + 2**15, 413)]
)
def test_large_upload_is_not_held_in_memory(
    client: JSONClient,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    status: int,
) -> None:
    # Without the fake: its own server would count.
    settings.OCR_API_KEY, settings.FILE_UPLOAD_TEMP_DIR = "key", str(tmp_path)
    monkeypatch.setattr(receipts, "recognize_text", lambda picture: TEXT)
    upload(client, draw())
    tracemalloc.start()
    try:
        response = stream(client, Body(size))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert response.status_code == status, response.content
    assert peak < 2 * 2**20
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [400, 502])
def test_temporary_file_goes_away_after_a_refusal(
    client: JSONClient, vision: HTTPServer, tmp_path: Path, status: int
) -> None:
    content = b"x" * 3 * 2**20
    if status == 502:
        vision.clear()
        content = pad(3 * 2**20)
    assert upload(client, content).status_code == status
    assert list(tmp_path.iterdir()) == []
