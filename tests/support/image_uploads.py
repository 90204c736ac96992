"""Uploads of images to the board."""

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.support.clients import JSONClient

IMAGES = "/api/board/images"
KINDS = ["png", "jpeg", "webp", "gif"]


def upload(client: JSONClient, content: bytes, name: str = "a.png") -> Any:
    return send(client, {"image": SimpleUploadedFile(name, content)})


def send(client: JSONClient, fields: dict[str, Any]) -> Any:
    response: Any = client.post(IMAGES, fields)
    response.data = json.loads(response.content)
    return response


def refusal_of(response: Any) -> tuple[int, str]:
    assert response.headers["Content-Type"] == "application/problem+json"
    return response.status_code, response.data["code"]


def store(client: JSONClient, content: bytes) -> str:
    """Upload an image and return the path of the stored one."""
    response = upload(client, content)
    assert response.status_code == 201, response.content
    url: str = response.data["url"]
    return url[url.index("/api/") :]
