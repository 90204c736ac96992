"""POST /api/account/ocr/receipt: a picture in, its text out, nothing kept."""

import base64
import io
import json
import random
import tracemalloc
from contextlib import suppress
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
from ledger.receipts import receipts
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.images import decode, draw, encode, make_exif
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/account/ocr/receipt"
VISION = "/v1/images:annotate"
TEXT = "영수증\n합계 12,000"


@pytest.fixture(autouse=True)
def _db(db: None) -> None: ...


@pytest.fixture(autouse=True)
def _answer(vision: HTTPServer) -> None:
    answer(vision, fullTextAnnotation={"text": TEXT})


@pytest.fixture
def client(premium_member: Any) -> JSONClient:
    return JSONClient(premium_member)


def answer(vision: HTTPServer, **result: Any) -> None:
    vision.clear()
    vision.expect_request(VISION).respond_with_json({"responses": [result]})


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
    return decode(base64.b64decode(text))


@pytest.mark.parametrize("kind", ALLOWED_FORMATS)
def test_text_of_each_kind_of_picture_is_answered(
    client: JSONClient, vision: HTTPServer, kind: str
) -> None:
    # The name and the claimed type of the file do not matter.
    image = SimpleUploadedFile("../../etc/a.svg", draw(kind), "text/html")
    response = send(client, {"image": image})
    assert response.status_code == 200, response.content
    assert response.data == {"text": TEXT}
    assert sent_to(vision).format == "JPEG"


def test_nothing_recognized_is_an_empty_text(
    administrator: Any, vision: HTTPServer
) -> None:
    answer(vision)
    # An administrator needs no plan.
    assert upload(JSONClient(administrator), draw()).data == {"text": ""}


def test_failures_of_the_provider(client: JSONClient, vision: HTTPServer) -> None:
    answer(vision, error={"code": 3, "message": "Bad image data."})
    assert_problem(upload(client, draw()), 400, "INVALID_IMAGE")
    vision.clear()
    assert_problem(upload(client, draw()), 502, "PROVIDER_UNAVAILABLE")


@pytest.mark.parametrize("content", [b"", b"no picture", draw()])
def test_without_a_key_every_upload_of_a_premium_member_is_503(
    client: JSONClient, settings: Any, content: bytes
) -> None:
    settings.OCR_API_KEY = ""
    assert_problem(upload(client, content), 503, "OCR_NOT_CONFIGURED")
    assert_problem(client.send("POST", PATH, {}), 503, "OCR_NOT_CONFIGURED")
    assert_problem(upload(JSONClient(), content), 401, "AUTHENTICATION_REQUIRED")
    free = JSONClient(make_member())
    assert_problem(upload(free, content), 403, "PREMIUM_REQUIRED")


@pytest.mark.parametrize("fields", [{}, {"image": "text"}])
def test_image_must_be_given_as_a_file_of_multipart(
    client: JSONClient, fields: dict[str, Any]
) -> None:
    assert_invalid(send(client, fields), "image")
    response = client.send("POST", PATH, {"image": "data:image/png;base64,AAAA"})
    assert_problem(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("rest", ["", "; boundary=", "; boundary=é", "; boundary=x"])
def test_broken_multipart_is_400(client: JSONClient, rest: str) -> None:
    kind = f"multipart/form-data{rest}"
    response = client.generic("POST", PATH, b"--y\r\nno parts", content_type=kind)
    assert response.status_code == 400, response.content


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
    assert_problem(upload(client, content), 400, "INVALID_IMAGE")
    assert vision.log == []


@pytest.mark.parametrize("kind", ["png", "gif"])
@pytest.mark.parametrize("size", [(10_001, 5_000), (20_000, 20_000)])
def test_too_many_pixels_are_refused_by_the_header(
    client: JSONClient, vision: HTTPServer, kind: str, size: tuple[int, int]
) -> None:
    content = encode(Image.new("1", size), kind)
    tracemalloc.start()
    try:
        response = upload(client, content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert_problem(response, 400, "INVALID_IMAGE")
    assert peak < 20 * 2**20
    assert vision.log == []


def prepare(content: bytes) -> bytes:
    return encode_receipt(content, ALLOWED_FORMATS)[0]


@pytest.mark.parametrize(
    ("size", "shrunk"),
    [
        ((MAX_SIDE_PIXELS, 100), (MAX_SIDE_PIXELS, 100)),
        ((MAX_SIDE_PIXELS + 1, 10), (MAX_SIDE_PIXELS, 10)),
        ((3000, 6000), (1024, 2048)),
        ((9000, 3), (2048, 1)),
        # The most pixels that are read.
        ((10_000, MAX_PIXELS // 10_000), (MAX_SIDE_PIXELS, 1024)),
    ],
)
@pytest.mark.parametrize("kind", ["png", "jpeg"])
def test_picture_is_shrunk_to_its_longest_side(
    size: tuple[int, int], shrunk: tuple[int, int], kind: str
) -> None:
    content = encode(Image.new("1", size), kind)
    assert decode(prepare(content)).size == shrunk


@pytest.mark.parametrize("kind", ALLOWED_FORMATS)
def test_damaged_picture_is_refused_or_taken_but_never_a_fault(kind: str) -> None:
    content, taken = draw(kind), 0
    for seed in range(50):
        dice = random.Random(seed)
        damaged = bytearray(content)
        for _ in range(dice.randint(1, 6)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        with suppress(ImageError):
            taken += bool(prepare(bytes(damaged)))
    assert taken < 50


# The moves that undo how EXIF says the camera was held, from orientation 2 on.
UNDO = [
    *(Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_180),
    *(Image.Transpose.FLIP_TOP_BOTTOM, Image.Transpose.TRANSPOSE),
    *(Image.Transpose.ROTATE_90, Image.Transpose.TRANSVERSE),
    Image.Transpose.ROTATE_270,
]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_picture_is_turned_as_the_camera_was_held(orientation: int) -> None:
    upright = Image.new("RGB", (64, 32), "blue")
    upright.paste("red", (0, 0, 32, 16))
    stored = upright if orientation == 1 else upright.transpose(UNDO[orientation - 2])
    exif = make_exif(orientation)
    sent = decode(prepare(encode(stored, "jpeg", exif=exif, quality=95)))
    assert sent.size == (64, 32)
    pixels: list[Any] = [
        sent.getpixel(at) for at in ((8, 4), (56, 4), (8, 28), (56, 28))
    ]
    assert [red > blue for red, _, blue in pixels] == [True, False, False, False]


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize(
    "exif", [make_exif(), b"Exif\0\0nonsense", b"Exif\0\0MM\0*\0\0\xff\xff"]
)
def test_metadata_are_not_sent_on_broken_ones_neither(exif: Any) -> None:
    picture = Image.new("RGB", (8, 8))
    sent = prepare(encode(picture, "jpeg", exif=exif, comment=b"at home"))
    for trace in (b"Photographer", b"nonsense", b"at home"):
        assert trace not in sent


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16", "CMYK"])
def test_picture_of_each_mode_is_sent_as_rgb(mode: str) -> None:
    kind = "jpeg" if mode == "CMYK" else "png"
    content = encode(Image.new(mode, (8, 8)), kind)
    assert decode(prepare(content)).mode == "RGB"


@pytest.mark.parametrize("kind", ["png", "webp", "gif"])
def test_what_is_clear_becomes_white(kind: str) -> None:
    content = encode(Image.new("RGBA", (8, 8), (0, 0, 0, 0)), kind)
    sent = decode(prepare(content))
    pixel: Any = sent.getpixel((4, 4))
    assert min(pixel) > 250


def pad(size: int) -> bytes:
    content = draw()
    return content + b"\0" * (size - len(content))


def test_ten_megabytes_are_the_most(
    client: JSONClient, vision: HTTPServer, tmp_path: Path
) -> None:
    assert upload(client, pad(MAX_UPLOAD_BYTES)).status_code == 200
    response = upload(client, pad(MAX_UPLOAD_BYTES + 1))
    assert_problem(response, 413, "PAYLOAD_TOO_LARGE")
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
    assert_problem(response, 413, "PAYLOAD_TOO_LARGE")
    assert body.position == 0


@pytest.mark.parametrize(
    ("size", "status"), [(MAX_UPLOAD_BYTES, 200), (MAX_UPLOAD_BYTES + 2**15, 413)]
)
def test_large_upload_is_not_held_in_memory(
    client: JSONClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    status: int,
) -> None:
    # The memory of the server of the test would count.
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
