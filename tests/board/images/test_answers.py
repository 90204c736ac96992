"""POST /api/board/images and GET /api/images/{id}: uploads and downloads."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from board.models import Image
from tests.support.board import IMAGES, KINDS, refusal_of, send, store, upload
from tests.support.clients import JSONClient
from tests.support.images import decode, draw
from tests.support.routes import MISSING_UUID


@pytest.mark.parametrize("kind", KINDS)
def test_image_of_each_kind_is_stored_and_served(
    client: JSONClient, settings: Any, kind: str
) -> None:
    settings.PUBLIC_URL = "https://ledger.example"
    response = upload(client, draw(kind))
    image = Image.objects.get()
    assert response.status_code == 201
    assert response.data == {
        "id": str(image.pk),
        "url": f"https://ledger.example/api/images/{image.pk}",
        "width": 40,
        "height": 30,
    }
    answer = JSONClient().get(f"/api/images/{image.pk}")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == f"image/{kind}"
    assert answer.content == bytes(image.content or b"")
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
        for method in ("GET", "HEAD"):
            answer = JSONClient().generic(method, path, HTTP_IF_NONE_MATCH=given)
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


@pytest.mark.parametrize("fields", [{}, {"image": "text"}])
def test_image_must_be_given_as_a_file(
    client: JSONClient, fields: dict[str, Any]
) -> None:
    response = send(client, fields)
    assert refusal_of(response) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["image"]


def test_only_multipart_is_read(client: JSONClient) -> None:
    response = client.send("POST", IMAGES, {"image": "data:image/png;base64,AAAA"})
    assert refusal_of(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_name_and_claimed_type_of_the_file_do_not_matter(client: JSONClient) -> None:
    image = SimpleUploadedFile("../../x.svg", draw("jpeg"), "text/html")
    assert send(client, {"image": image}).status_code == 201
    assert Image.objects.get().content_type == "image/jpeg"
