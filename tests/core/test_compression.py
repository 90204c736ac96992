"""Compression of responses (decision 0109)."""

import gzip
import json
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from accounts.models import Member
from core.compression import MIN_BYTES, CompressionMiddleware
from tests.conftest import ClientOf
from tests.support.clients import JSONClient

GZIP: dict[str, Any] = {"HTTP_ACCEPT_ENCODING": "br, gzip;q=0.8"}
LONG = b'{"names": "' + b"x" * MIN_BYTES + b'"}'


def answer(
    content: bytes = LONG,
    *,
    path: str = "/api/account/entries",
    accept: str = "gzip",
    response: Any = None,
    **headers: str,
) -> Any:
    """Return the middleware's answer after a view that answers the content."""

    def view(request: HttpRequest) -> Any:
        given = {"Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return response or HttpResponse(content, headers=given)

    request = RequestFactory().get(path, HTTP_ACCEPT_ENCODING=accept)
    return CompressionMiddleware(view)(request)


def test_long_json_is_compressed_for_clients_that_accept_it() -> None:
    made = answer()
    assert made.headers["Content-Encoding"] == "gzip"
    assert made.headers["Content-Length"] == str(len(made.content))
    assert made.headers["Vary"] == "Accept-Encoding"
    assert len(made.content) < MIN_BYTES
    assert gzip.decompress(made.content) == LONG


@pytest.mark.parametrize(
    "accept", ["", "br", "identity", "gzip;q=0", "gzip;q=0.0, br", "xgzip"]
)
def test_others_get_the_same_body_as_before(accept: str) -> None:
    made = answer(accept=accept)
    assert made.content == LONG
    assert "Content-Encoding" not in made.headers
    # A cache must not give them another client's bytes.
    assert made.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("path", ["/api/auth/profile", "/auth/profile"])
def test_responses_with_tokens_are_not_compressed(path: str) -> None:
    assert answer(path=path).content == LONG


def test_short_and_binary_responses_are_left_alone() -> None:
    assert answer(b"{}").content == b"{}"
    assert answer(Content_Type="image/png").content == LONG
    assert answer(Content_Encoding="br").headers["Content-Encoding"] == "br"
    stream = StreamingHttpResponse([LONG], content_type="application/json")
    assert answer(response=stream).getvalue() == LONG


def test_entity_tag_becomes_weak() -> None:
    assert answer(ETag='"a"').headers["ETag"] == 'W/"a"'
    assert answer(ETag='W/"a"').headers["ETag"] == 'W/"a"'
    assert answer(ETag='"a"', accept="").headers["ETag"] == '"a"'


def test_length_tells_little_of_the_content() -> None:
    assert len({len(answer().content) for _ in range(50)}) > 10


def test_list_and_document_are_compressed_and_equal(client: JSONClient) -> None:
    for number in range(12):
        wallet = {"name": f"wallet {number}", "kind": "CASH"}
        client.send("POST", "/api/account/wallets", wallet)
    for path in "/api/account/wallets", "/api/schema?format=json":
        plain, compressed = client.get(path), client.get(path, **GZIP)
        assert compressed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(compressed.content) == plain.content
        assert "Content-Encoding" not in plain.headers


def test_weak_tag_of_a_compressed_answer_is_recognized(
    anonymous: JSONClient, settings: Any
) -> None:
    settings.ABOUT = settings.ABOUT | {"name": "x" * MIN_BYTES}
    compressed = anonymous.get("/api/meta", **GZIP)
    etag = compressed.headers["ETag"]
    assert etag.startswith('W/"')
    assert json.loads(gzip.decompress(compressed.content))["version"]
    again = anonymous.get("/api/meta", **GZIP, HTTP_IF_NONE_MATCH=etag)
    assert (again.status_code, again.content) == (304, b"")
    # As the 200 has them, so that caches keep both forms apart (RFC 9110, 15.4.5).
    for name in "ETag", "Vary", "Cache-Control":
        assert again.headers[name] == compressed.headers[name]
    assert "Accept-Encoding" in again.headers["Vary"]


def test_workbook_is_sent_as_it_is(client_of: ClientOf, premium_member: Member) -> None:
    response: Any = client_of(premium_member).get("/api/account/backup", **GZIP)
    assert "Content-Encoding" not in response.headers
    assert response.getvalue().startswith(b"PK")
