"""The last steps in building the OpenAPI document (drf-spectacular hooks)."""

import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from core.api.documented_errors import DEFAULT_RESPONSE, RETRY_AFTER_STATUSES
from core.api.serializers import to_camel_case

METHODS = ("get", "post", "put", "patch", "delete")
HEADERS: dict[str, Any] = {
    "X-Request-ID": {
        "description": "Names the request in the logs of the service.",
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "Seconds after which to try again.",
        "schema": {"type": "integer", "format": "int32"},
    },
    "ETag": {
        "description": "Identifies the content, for `If-None-Match`.",
        "schema": {"type": "string"},
    },
    "Content-Disposition": {
        "description": "Carries the name of the file.",
        "schema": {"type": "string"},
    },
    "WWW-Authenticate": {
        "description": "The scheme of authentication.",
        "schema": {"type": "string"},
    },
}

_PATH_PARAMETER_RE = re.compile(r"\{\w+\}")


def list_operations(document: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield path, method and description of each operation."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def simplify_references(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Write a reference and its description side by side, as OpenAPI 3.1 allows.

    drf-spectacular wraps such a reference in `allOf`, of which generators make a class.
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
    """Name the address of the installation."""
    return result | {"servers": [{"url": settings.PUBLIC_URL.rstrip("/")}]}


def mark_public_operations(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Say of public operations that they need no session."""
    for _path, _method, operation in list_operations(result):
        operation.setdefault("security", [])
    return result


def rename_path_parameters(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Name path parameters in camelCase, like all names that clients see."""
    result["paths"] = {
        _PATH_PARAMETER_RE.sub(lambda match: to_camel_case(match.group()), path): item
        for path, item in result["paths"].items()
    }
    for _path, _method, operation in list_operations(result):
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path":
                parameter["name"] = to_camel_case(parameter["name"])
                if parameter["schema"]["type"] == "integer":
                    parameter["schema"]["format"] = "int64"
    return result


def add_response_headers(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Name the headers that clients read."""
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
            if "304" in operation["responses"] and status in {"200", "304"}:
                names.append("ETag")
            response["headers"] = {
                name: {"$ref": f"#/components/headers/{name}"} for name in names
            }
    return result


def share_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Write each problem response once, under a name made of its codes.

    Those with an example stay with their operation.
    """
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
