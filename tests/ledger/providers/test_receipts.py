"""Google Vision: what is sent, what is read from its answers, how it fails."""

import base64
import json
import logging
import time
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from core.errors import InvalidImageError, ProviderUnavailableError
from core.logging import JSONFormatter
from ledger.providers import receipts
from ledger.providers.receipts import recognize_text
from tests.support.stores import find_closed_port

KEY = "AIzaSy-very-secret-key"
PATH = "/v1/images:annotate"
PICTURE = b"\xff\xd8 a JPEG"
TEXT = "스타벅스\n아메리카노 4,500\n"


@pytest.fixture(autouse=True)
def configured(settings: Any, httpserver: HTTPServer) -> None:
    settings.OCR_API_KEY = KEY
    settings.OCR_BASE_URL = httpserver.url_for("").rstrip("/")


def answer(server: HTTPServer, body: Any, status: int = 200) -> None:
    server.expect_request(PATH, method="POST").respond_with_json(body, status=status)


def of_picture(**result: Any) -> dict[str, Any]:
    return {"responses": [result]}


def lines_of(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(JSONFormatter().format(record) for record in caplog.records)


def test_picture_is_sent_as_the_provider_wants_it(httpserver: HTTPServer) -> None:
    answer(httpserver, of_picture(fullTextAnnotation={"text": TEXT}))
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
    ("result", "text"),
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
    httpserver: HTTPServer, result: Any, text: str
) -> None:
    answer(httpserver, of_picture(**result))
    assert recognize_text(PICTURE) == text


def test_picture_that_the_provider_cannot_read_is_invalid(
    httpserver: HTTPServer,
) -> None:
    error = {"code": 3, "message": "Bad image data."}
    answer(httpserver, of_picture(error=error))
    with pytest.raises(InvalidImageError):
        recognize_text(PICTURE)


REFUSED_KEY = {
    "error": {
        "code": 400,
        "message": f"API key not valid: {KEY}.",
        "status": "INVALID_ARGUMENT",
        "details": [{"reason": "API_KEY_INVALID"}],
    }
}


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (REFUSED_KEY, 400, "status 400 INVALID_ARGUMENT"),
        ({"error": {"status": "PERMISSION_DENIED"}}, 403, "403 PERMISSION_DENIED"),
        ({"error": {"status": f"{KEY}\n"}}, 403, "status 403"),
        ({"error": {"status": "RESOURCE_EXHAUSTED"}}, 429, "no response"),
        ({}, 404, "status 404"),
        ([], 401, "status 401"),
        ({}, 500, "no response"),
        ({"error": {"status": "UNAVAILABLE"}}, 503, "no response"),
        (of_picture(error={"code": 14, "message": KEY}), 200, "error 14"),
        (of_picture(error={"code": "x", "message": KEY}), 200, "error"),
        (of_picture(error={"message": KEY}), 200, "error"),
        ({}, 200, "invalid response"),
        ({"responses": []}, 200, "invalid response"),
        ({"responses": [None]}, 200, "invalid response"),
        ({"responses": {}}, 200, "invalid response"),
        ([], 200, "invalid response"),
        (None, 200, "invalid response"),
    ],
)
def test_refusal_is_logged_without_secrets(
    httpserver: HTTPServer,
    caplog: pytest.LogCaptureFixture,
    body: Any,
    status: int,
    reason: str,
) -> None:
    caplog.set_level(logging.DEBUG, "urllib3")
    answer(httpserver, body, status)
    with pytest.raises(ProviderUnavailableError) as refused:
        recognize_text(PICTURE)
    lines = lines_of(caplog)
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
    httpserver.expect_request(PATH).respond_with_handler(FAILURES[failure])
    httpserver.expect_request("/else").respond_with_json(of_picture())
    with pytest.raises(ProviderUnavailableError):
        recognize_text(PICTURE)
    assert [request.path for request, _ in httpserver.log] == [PATH]


def test_slow_provider_is_given_up_in_time(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(request: Request) -> Response:
        time.sleep(1)
        return Response("{}")

    assert receipts.RECOGNITION_TIMEOUT_SECONDS == 10
    monkeypatch.setattr(receipts, "RECOGNITION_TIMEOUT_SECONDS", 0.3)
    with HTTPServer(threaded=True) as server:
        settings.OCR_BASE_URL = server.url_for("").rstrip("/")
        server.expect_request(PATH).respond_with_handler(hang)
        started = time.monotonic()
        with pytest.raises(ProviderUnavailableError):
            recognize_text(PICTURE)
        assert time.monotonic() - started < 0.9


def test_provider_that_is_not_there_is_logged_without_secrets(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings.OCR_BASE_URL = f"http://127.0.0.1:{find_closed_port()}"
    with pytest.raises(ProviderUnavailableError):
        recognize_text(PICTURE)
    assert "receipt recognition: no response" in lines_of(caplog)
    assert KEY not in lines_of(caplog)
