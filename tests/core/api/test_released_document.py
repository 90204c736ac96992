"""Clients of the released document work with the one to come (contract-people 5.6)."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from tests.support.document_changes import (
    RELEASED,
    list_breaking_changes,
    without_texts,
)

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def released() -> Any:
    return json.loads(RELEASED.read_text())


def test_document_breaks_no_client_of_the_released_one(released: Any) -> None:
    generator: Any = SchemaGenerator
    document = generator().get_schema(request=None, public=True)
    assert list_breaking_changes(released, without_texts(document)) == []


def change_of(document: Any, *path: str) -> dict[str, Any]:
    for name in path:
        document = document[name]
    return document  # type: ignore[no-any-return]


def entry(document: Any, name: str = "Entry") -> Any:
    return change_of(document, "components", "schemas", name)


def operation(document: Any, path: str, method: str) -> Any:
    return change_of(document, "paths", path, method)


ENTRIES = "/api/account/entries"
BREAKING: dict[str, tuple[Change, str]] = {
    "path": (
        lambda document: document["paths"].pop("/api/auth/login"),
        "POST /api/auth/login: removed",
    ),
    "method": (
        lambda document: document["paths"][ENTRIES].pop("post"),
        "POST /api/account/entries: removed",
    ),
    "operation id": (
        lambda document: operation(document, ENTRIES, "get").update(operationId="all"),
        "GET /api/account/entries: another operationId",
    ),
    "parameter": (
        lambda document: operation(document, ENTRIES, "get").update(parameters=[]),
        "GET /api/account/entries: parameter keyword: removed",
    ),
    "required parameter": (
        lambda document: operation(document, ENTRIES, "get")["parameters"].append(
            {"in": "query", "name": "new", "required": True, "schema": {}}
        ),
        "GET /api/account/entries: parameter new: required",
    ),
    "status": (
        lambda document: operation(document, ENTRIES, "post")["responses"].pop("201"),
        "POST /api/account/entries: no response 201",
    ),
    "field of a response": (
        lambda document: entry(document)["properties"].pop("memo"),
        "response.results[].memo: removed",
    ),
    "field that is not always sent": (
        lambda document: entry(document)["required"].remove("memo"),
        "response.results[].memo: may be missing",
    ),
    "null in a response": (
        lambda document: entry(document)["properties"]["memo"].update(
            type=["string", "null"]
        ),
        "response.results[].memo: another type",
    ),
    "format of a response": (
        lambda document: entry(document)["properties"]["amount"].pop("format"),
        "response.results[].amount: another format",
    ),
    "field of a request": (
        lambda document: entry(document, "EntryWrite")["properties"].pop("memo"),
        "request.memo: removed",
    ),
    "required field": (
        lambda document: entry(document, "EntryWrite")["required"].append("memo"),
        "request.memo: required",
    ),
    "type of a request": (
        lambda document: entry(document, "EntryWrite")["properties"]["memo"].update(
            type="integer"
        ),
        "request.memo: another type",
    ),
    "length of a request": (
        lambda document: entry(document, "EntryWrite")["properties"]["memo"].update(
            maxLength=3
        ),
        "request.memo: another maxLength",
    ),
    "object that is no longer null": (
        lambda document: entry(document, "NamedWallet")["properties"].pop("id"),
        "response.results[].wallet: another choice",
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_change_that_breaks_clients_is_found(released: Any, name: str) -> None:
    change, expected = BREAKING[name]
    document = copy.deepcopy(released)
    change(document)
    changes = list_breaking_changes(released, document)
    assert any(expected in line for line in changes), changes


ADDITIONS: dict[str, Change] = {
    "path": lambda document: document["paths"].update({"/api/new": {"get": {}}}),
    "parameter": lambda document: operation(document, ENTRIES, "get")[
        "parameters"
    ].append({"in": "query", "name": "new", "schema": {"type": "string"}}),
    "field of a response": lambda document: entry(document)["properties"].update(
        new={"type": "string"}
    ),
    "field of a request": lambda document: entry(document, "EntryWrite")[
        "properties"
    ].update(new={"type": "string"}),
    "value of a request": lambda document: entry(document, "EntryWrite")["properties"][
        "memo"
    ].update(maxLength=1_000),
    "refusal": lambda document: operation(document, ENTRIES, "post")[
        "responses"
    ].update({"409": {}}),
}


@pytest.mark.parametrize("name", ADDITIONS)
def test_addition_breaks_no_client(released: Any, name: str) -> None:
    document = copy.deepcopy(released)
    ADDITIONS[name](document)
    assert list_breaking_changes(released, document) == []
