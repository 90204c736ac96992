"""Google Vision: what is sent, what is read from its answers, how it fails."""

import base64
import json
import logging
import threading
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from core.errors import ProviderUnavailableError
from core.logging import JSONFormatter
from ledger.receipts import provider as receipts
from ledger.receipts.provider import recognize_text
from tests.support.stores import find_closed_port

VISION = "/v1/images:annotate"
KEY = "AIzaSy-very-secret-key"
PICTURE = b"\xff\xd8 a JPEG"
TEXT = "스타벅스\n아메리카노 4,500\n"


@pytest.fixture(autouse=True)
def _vision(vision: HTTPServer) -> None: ...


def answer(server: HTTPServer, body: Any, status: int = 200) -> None:
    server.expect_request(VISION, method="POST").respond_with_json(body, status=status)


def result(**fields: Any) -> dict[str, Any]:
    return {"responses": [fields]}


def test_picture_is_sent_as_the_provider_wants_it(httpserver: HTTPServer) -> None:
    answer(httpserver, result(fullTextAnnotation={"text": TEXT}))
    assert recognize_text(PICTURE) == TEXT
    ((request, _),) = httpserver.log
    assert json.loads(request.data) == {
        "requests": [
            {
                "image": {"content": base64.b64encode(PICTURE).decode()},
                "features": [{"type": "DOCUMENT_TEXT_DETECTION"}],
                "imageContext": {"languageHints": ["ko", "en"]},
            }
        ]
    }
    assert request.content_type == "application/json"
    assert request.headers["X-Goog-Api-Key"] == KEY
    assert KEY not in request.url


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, ""),
        ({"textAnnotations": []}, ""),
        ({"fullTextAnnotation": {"pages": []}}, ""),
        ({"fullTextAnnotation": {"text": ""}}, ""),
        ({"fullTextAnnotation": None, "error": None}, ""),
        ({"error": {}}, ""),
        ({"textAnnotations": [{"description": TEXT}, {"description": "x"}]}, TEXT),
        ({"fullTextAnnotation": {"text": "a\ud800b"}}, "a?b"),
    ],
)
def test_text_is_read_from_the_answer(
    httpserver: HTTPServer, fields: Any, text: str
) -> None:
    answer(httpserver, result(**fields))
    assert recognize_text(PICTURE) == text


INVALID: list[Any] = [{}, [], None, {"responses": []}, {"responses": [None]}]
INVALID += [{"responses": {}}]
WRONG_KEY = {"status": "INVALID_ARGUMENT", "message": f"API key not valid: {KEY}."}


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"error": WRONG_KEY}, 400, "status 400 INVALID_ARGUMENT"),
        ({"error": {"status": "PERMISSION_DENIED"}}, 403, "403 PERMISSION_DENIED"),
        ({"error": {"status": f"{KEY}\n"}}, 403, "status 403"),
        ({"error": {"status": "RESOURCE_EXHAUSTED"}}, 429, "no response"),
        ({}, 404, "status 404"),
        ([], 401, "status 401"),
        ({}, 500, "no response"),
        ({"error": {"status": "UNAVAILABLE"}}, 503, "no response"),
        (result(error={"code": 14, "message": KEY}), 200, "error 14"),
        (result(error={"code": "x", "message": KEY}), 200, "error"),
        (result(error={"message": KEY}), 200, "error"),
        *((body, 200, "invalid response") for body in INVALID),
        # No server at the address.
        (None, None, "no response"),
    ],
)
def test_failure_is_logged_without_secrets(
    httpserver: HTTPServer,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
    body: Any,
    status: int | None,
    reason: str,
) -> None:
    caplog.set_level(logging.DEBUG, "urllib3" if status else None)
    if status:
        answer(httpserver, body, status)
    else:
        settings.OCR_BASE_URL = f"http://127.0.0.1:{find_closed_port()}"
    with pytest.raises(ProviderUnavailableError) as refused:
        recognize_text(PICTURE)
    lines = "\n".join(JSONFormatter().format(record) for record in caplog.records)
    assert f"receipt recognition: {reason}" in lines or reason in lines
    for secret in (KEY, base64.b64encode(PICTURE).decode()):
        assert secret not in lines + str(refused.value)


FAILURES: dict[str, Any] = {
    "html": lambda request: Response("<html>Sign in</html>", mimetype="text/html"),
    "empty": lambda request: Response(""),
    "deep": lambda request: Response("[" * 100_000),
    "not utf-8": lambda request: Response(b'{"responses": "\xff\xfe"}'),
    "huge": lambda request: Response(" " * 2**21 + "{}"),
    "redirect": lambda request: Response(status=307, headers={"Location": "/else"}),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_answer_that_is_none_is_refused(httpserver: HTTPServer, failure: str) -> None:
    httpserver.expect_request(VISION).respond_with_handler(FAILURES[failure])
    httpserver.expect_request("/else").respond_with_json(result())
    with pytest.raises(ProviderUnavailableError):
        recognize_text(PICTURE)
    assert [request.path for request, _ in httpserver.log] == [VISION]


# Far longer than a loaded machine needs to give up.
HANG_SECONDS = 20


def test_slow_provider_is_given_up_in_time(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over = threading.Event()

    def hang(request: Request) -> Response:
        is_over.wait(HANG_SECONDS)
        return Response('{"responses": [{}]}')

    assert receipts.RECOGNITION_TIMEOUT_SECONDS == 10
    monkeypatch.setattr(receipts, "RECOGNITION_TIMEOUT_SECONDS", 0.3)
    with HTTPServer(threaded=True) as server:
        settings.OCR_BASE_URL = server.url_for("").rstrip("/")
        server.expect_request(VISION).respond_with_handler(hang)
        # At the end the answer would be good.
        with pytest.raises(ProviderUnavailableError):
            recognize_text(PICTURE)
        is_over.set()
