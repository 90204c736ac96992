"""The OpenAPI document as a judge of every response that the tests get.

A response must have a status of its operation, an error one of its codes, and a body the
schema of its status, without any property that the schema does not name.
"""

import functools
import gzip
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import jsonschema_rs
from django.urls import resolve

from config.url_aliases import _list_routes
from config.urls import api_urls
from core.api.documented_errors import FIELD_CODES
from core.api.openapi import API_PREFIX
from core.api.openapi_view import build_document
from core.api.serializers import to_camel_case

PROBLEM, PLAIN = "application/problem+json", "application/json"
_PARAMETER = re.compile(r"<\w+:(\w+)>")


def assert_documented(response: Any) -> None:
    """Fail if the document does not know this response of an operation."""
    request = response.wsgi_request
    match = request.resolver_match
    path = match and find_paths().get(match.func)
    method = "get" if request.method == "HEAD" else request.method.lower()
    operation = path and build_document()["paths"].get(path, {}).get(method)
    if not operation:
        return
    told = (
        f"{request.method} {path}: {response.status_code} {response.content[:500]!r}"
        if (not response.streaming)
        else f"{request.method} {path}: {response.status_code}"
    )
    documented = operation["responses"].get(str(response.status_code))
    assert documented is not None, f"undocumented status: {told}"
    if reference := documented.get("$ref"):
        name = reference.rpartition("/")[2]
        documented = build_document()["components"]["responses"][name]
    links = documented.get("links", {})
    location = response.headers.get("Location")
    assert bool(links) == bool(location), f"Location {location}: {told}"
    if location:
        item = find_paths()[resolve(urlsplit(location).path).func]
        linked = build_document()["paths"][item].values()
        assert {each["operationId"] for each in linked} == links.keys(), told
    challenged = "WWW-Authenticate" in response.headers
    assert challenged == (response.status_code == 401), f"no challenge: {told}"
    if response.streaming or not response.content:
        return
    media_type = response.headers["Content-Type"].partition(";")[0]
    media = documented.get("content", {}).get(media_type)
    assert media is not None, f"undocumented media type {media_type}: {told}"
    if "json" not in media_type:
        return
    content = response.content
    if response.headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    body = json.loads(content)
    if media_type == PROBLEM:
        assert body["code"] in documented["x-codes"], f"undocumented code: {told}"
        if body["code"].endswith("_NOT_CONFIGURED"):
            assert "Retry-After" not in response.headers, told
        codes = {error["code"] for error in body.get("errors", [])}
        assert codes <= set(FIELD_CODES), f"undocumented code of a field: {told}"
    validate = find_validator(json.dumps(media["schema"]))
    error = next(validate.iter_errors(body), None)
    assert error is None, f"{error.message} at {error.instance_path}: {told}"


def select_known_fields(method: str, path: str, body: Any) -> Any:
    """Return the fields of the body that the operation knows; None if it takes none."""
    documented = find_paths()[resolve(path.partition("?")[0]).func]
    operation = build_document()["paths"][documented][method.lower()]
    content = operation.get("requestBody", {}).get("content", {})
    if PLAIN not in content:
        return None
    schema = content[PLAIN]["schema"]
    if schema.get("type") == "array":
        return []
    name = schema["$ref"].rpartition("/")[2]
    known = build_document()["components"]["schemas"][name]["properties"]
    return {field: value for field, value in body.items() if field in known}


@functools.cache
def find_paths() -> dict[Callable[..., Any], str]:
    """Return the path in the document of each view, which an alias shares."""
    return {
        callback: API_PREFIX
        + _PARAMETER.sub(lambda name: f"{{{to_camel_case(name[1])}}}", route)
        for route, callback in _list_routes(api_urls)
    }


@functools.cache
def find_validator(schema: str) -> Any:
    root = json.loads(schema) | {"components": {"schemas": strict_schemas()}}
    return jsonschema_rs.Draft202012Validator(root)


@functools.cache
def strict_schemas() -> dict[str, Any]:
    """Return the schemas without any property that they do not name."""
    return {
        name: {"additionalProperties": False, **schema}
        if "properties" in schema
        else schema
        for name, schema in build_document()["components"]["schemas"].items()
    }
