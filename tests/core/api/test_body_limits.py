"""Bounds of bodies by operation, asked before a body is read."""

from typing import Any

import pytest
from django.conf import settings

from core.api.body_limits import DEFAULT_BODY_BYTES, find_body_limit
from core.api.openapi_view import build_document
from core.api.parsers import MAX_MULTIPART_BYTES
from core.rsgi import MAX_BODY_BYTES
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem

# The document has no limits of these.
OPEN_TEXT_LENGTH = 100
# "" is a body that is a list.
LIST_LENGTHS = {"": 100, "lines": 50, "ids": 1_000, "clear": 20, "settings": 10}
NUMBER_BYTES = 24
# Two escapes, of a character outside of the first plane: an emoji.
ESCAPED_CHARACTER_BYTES = 12
# Of Base64, whose characters need one escape at most.
ASCII_TEXTS = {"idToken"}
# A file as JSON.
RAW_BODIES = {"/api/account/restore/json", "/api/billing/store/rtdn"}
# Who has many large entries sends several of them.
SPLIT_BODIES = {"/api/account/entries/batch"}
PROFILE_IMAGE_BYTES = 2**20 * 4 // 3


class Sizes:
    """The longest JSON of a schema of requests."""

    def __init__(self, document: Any) -> None:
        self.schemas = document["components"]["schemas"]

    def measure(self, schema: Any, name: str = "") -> int:
        schema = self.resolve(schema)
        for each in ("allOf", "oneOf", "anyOf"):
            if each in schema:
                return max(
                    (self.measure(part, name) for part in schema[each]), default=0
                )
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if "object" in types:
            return 2 + sum(
                len(key) + 4 + self.measure(value, key)
                for key, value in schema.get("properties", {}).items()
                if not value.get("readOnly")
            )
        if "array" in types:
            count = schema.get("maxItems", LIST_LENGTHS.get(name, 0))
            assert count, f"how long is the list {name}?"
            return 2 + int(count) * (self.measure(schema["items"]) + 1)
        if "string" in types:
            length = schema.get("maxLength", OPEN_TEXT_LENGTH)
            if name == "profileImage":
                return PROFILE_IMAGE_BYTES
            return 2 + int(length) * (
                6 if name in ASCII_TEXTS else ESCAPED_CHARACTER_BYTES
            )
        return NUMBER_BYTES

    def resolve(self, schema: Any) -> Any:
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rpartition("/")[2]]
        return schema


def list_json_bodies() -> list[tuple[str, str, int]]:
    document = build_document()
    sizes = Sizes(document)
    return [
        (method, path, sizes.measure(content["application/json"]["schema"]))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "application/json"
        in (content := operation.get("requestBody", {}).get("content", {}))
        and path not in RAW_BODIES | SPLIT_BODIES
    ]


def fill(path: str) -> str:
    """Put numbers in place of the path's parameters."""
    parts = ("1" if part.startswith("{") else part for part in path.split("/"))
    return "/".join(parts)


def test_every_valid_body_fits_even_with_all_characters_escaped() -> None:
    bodies = list_json_bodies()
    assert len(bodies) > 50
    for method, path, size in bodies:
        limit = find_body_limit(method.upper(), fill(path))
        assert size <= limit, f"{method} {path}: {size} > {limit}"


def test_few_operations_take_more_than_the_default() -> None:
    larger = {
        (method, path)
        for method, path, size in list_json_bodies()
        if find_body_limit(method.upper(), fill(path)) > DEFAULT_BODY_BYTES
        and size <= DEFAULT_BODY_BYTES
    }
    assert not larger


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [
        ("POST", "/api/auth/login", DEFAULT_BODY_BYTES),
        ("PUT", "/api/auth/password", DEFAULT_BODY_BYTES),
        ("POST", "/api/unknown", DEFAULT_BODY_BYTES),
        ("GET", "/api/account/entries", DEFAULT_BODY_BYTES),
        ("POST", "/api/account/entries", 9 * 2**16),
        ("PATCH", "/api/account/entries/5", 9 * 2**16),
        ("DELETE", "/api/account/entries/5", DEFAULT_BODY_BYTES),
        ("POST", "/api/account/entries/batch", 2**20),
        ("PATCH", "/api/account/entries", 2**19),
        ("PUT", "/api/account/wallets/reorder", 2**15),
        ("POST", "/api/account/restore", MAX_MULTIPART_BYTES),
        ("POST", "/api/board/images", MAX_MULTIPART_BYTES),
        ("POST", "/api/account/ocr/receipt", MAX_MULTIPART_BYTES),
        ("POST", "/admin/login/", settings.DATA_UPLOAD_MAX_MEMORY_SIZE),
    ],
)
def test_limits_of_operations(method: str, path: str, limit: int) -> None:
    assert find_body_limit(method, path) == limit
    assert limit < MAX_BODY_BYTES


def test_document_tells_the_limit_of_longer_bodies() -> None:
    paths = build_document()["paths"]
    assert paths["/api/board/posts"]["post"]["x-max-body-bytes"] == 5 * 2**18
    patch = paths["/api/account/entries/{entryId}"]["patch"]
    assert patch["x-max-body-bytes"] == 9 * 2**16
    assert "x-max-body-bytes" not in paths["/api/auth/login"]["post"]


@pytest.mark.django_db
def test_longer_body_is_refused_by_the_view_too(free_member: Any) -> None:
    wallet = {"name": "Wallet", "kind": "CASH", "memo": " " * DEFAULT_BODY_BYTES}
    answer = JSONClient(free_member).send("POST", "/api/account/wallets", wallet)
    assert_problem(answer, 413, "PAYLOAD_TOO_LARGE")
