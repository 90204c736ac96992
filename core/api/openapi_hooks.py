"""The last steps in building the OpenAPI document."""

import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from core.api.documented_errors import DEFAULT_RESPONSE, RETRY_AFTER_STATUSES
from core.api.recording import OPERATION_ID
from core.api.request_keys import REPLAYED
from core.api.serializers import to_camel_case

# Replaced by links.
CREATED_ITEM = "x-created-item"
# Replaced by a header.
VERSIONED = "x-versioned"
REPLAYABLE = "x-replayable"
RECORDED = "x-recorded"
METHODS = ("get", "post", "put", "patch", "delete")
HEADERS: dict[str, Any] = {
    "X-Request-ID": {
        "description": "Names the request in the logs of the service.",
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": (
            "Seconds after which to try again; none with a code that ends in "
            "`_NOT_CONFIGURED`."
        ),
        "schema": {"type": "integer", "format": "int32"},
    },
    "ETag": {
        "description": (
            "Identifies the content, for `If-None-Match`, or the version of a row, for "
            "`If-Match`."
        ),
        "schema": {"type": "string"},
    },
    REPLAYED: {
        "description": "`true` if the answer is that of an earlier request.",
        "schema": {"type": "string"},
    },
    OPERATION_ID: {
        "description": "Names what the request did, to undo it; none if nothing.",
        "schema": {"type": "string"},
    },
    "Content-Disposition": {
        "description": "Carries the name of the file.",
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "The URL of the new item.",
        "schema": {"type": "string", "format": "uri"},
    },
    "WWW-Authenticate": {
        "description": "The scheme of authentication.",
        "schema": {"type": "string"},
    },
}

_PATH_PARAMETER_RE = re.compile(r"\{\w+\}")


def list_operations(document: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def simplify_references(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Write a reference and its description side by side.

    Client generators make a class of `allOf`.
    """
    _simplify(result["components"]["schemas"])
    _simplify(result["paths"])
    return result


def _simplify(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _simplify(item)
    elif isinstance(node, dict):
        match node.get("allOf"):
            case [{"$ref": str(reference)}]:
                del node["allOf"]
                node["$ref"] = reference
        for item in node.values():
            _simplify(item)


def add_server(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    return result | {"servers": [{"url": settings.PUBLIC_URL.rstrip("/")}]}


def mark_public_operations(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    for _path, _method, operation in list_operations(result):
        operation.setdefault("security", [])
    return result


def _camel_case_parameters(path: str) -> str:
    return _PATH_PARAMETER_RE.sub(lambda match: to_camel_case(match.group()), path)


def rename_path_parameters(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    result["paths"] = {
        _camel_case_parameters(path): item for path, item in result["paths"].items()
    }
    for _path, _method, operation in list_operations(result):
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                parameter["name"] = to_camel_case(parameter["name"])
                if parameter["schema"]["type"] == "integer":
                    parameter["schema"]["format"] = "int64"
    return result


def add_links(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Link each creation with the operations on its item."""
    for _path, _method, operation in list_operations(result):
        for response in operation["responses"].values():
            path, pointer = response.pop(CREATED_ITEM, (None, None))
            if path is None:
                continue
            path = _camel_case_parameters(path)
            (parameter,) = _PATH_PARAMETER_RE.findall(path)
            item = result["paths"][path]
            response["links"] = {
                item[method]["operationId"]: {
                    "operationId": item[method]["operationId"],
                    "parameters": {parameter[1:-1]: pointer},
                }
                for method in METHODS
                if method in item
            }
    return result


def add_response_headers(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    result["components"]["headers"] = HEADERS
    for _path, _method, operation in list_operations(result):
        for status, response in operation["responses"].items():
            names = ["X-Request-ID"]
            if status in RETRY_AFTER_STATUSES:
                names.append("Retry-After")
            if status == "401":
                names.append("WWW-Authenticate")
            schemas = [c["schema"] for c in response.get("content", {}).values()]
            if {"type": "string", "format": "binary"} in schemas:
                names.append("Content-Disposition")
            if "links" in response:
                names.append("Location")
            if "304" in operation["responses"] and status in {"200", "304"}:
                names.append("ETag")
            marked = {VERSIONED: "ETag", RECORDED: OPERATION_ID, REPLAYABLE: REPLAYED}
            names += [name for mark, name in marked.items() if response.pop(mark, 0)]
            response["headers"] = {
                name: {"$ref": f"#/components/headers/{name}"} for name in names
            }
    return result


def share_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Move problem responses without an example to shared components."""
    shared = result["components"]["responses"] = {}
    for _path, _method, operation in list_operations(result):
        responses = operation["responses"]
        for status, response in responses.items():
            if _has_example(response):
                continue
            if "x-codes" in response:
                name = "Or".join(
                    to_camel_case(f"_{code.lower()}") for code in response["x-codes"]
                )
            elif status == DEFAULT_RESPONSE:
                name = "OtherProblem"
            else:
                continue
            shared[name] = response
            responses[status] = {"$ref": f"#/components/responses/{name}"}
    result["components"]["responses"] = dict(sorted(shared.items()))
    return result


def _has_example(response: dict[str, Any]) -> bool:
    return any("examples" in media for media in response.get("content", {}).values())
