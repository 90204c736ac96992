"""Changes of an OpenAPI document that break the clients of an earlier one.

    script/manage spectacular --format openapi-json |
        .venv/bin/python -m tests.support.document_changes

stores the document as the released one: a line for each operation and each component.
Hand-written, since the available comparers read OpenAPI 3.0, or are no packages of Python
or npm.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.api.fields import TAG_PATTERN, TEXT_PATTERN

RELEASED = Path(__file__).resolve().parents[1] / "samples" / "openapi_released.json"
METHODS = ("get", "post", "put", "patch", "delete")
# Not compared.
_TEXTS = {"description", "summary", "title", "example", "examples"}
# Limits of values: whether a larger one accepts more.
_LIMITS = {
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), True),
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems"), False),
}

TOLD_PATTERNS = {TEXT_PATTERN, TAG_PATTERN}

Node = Mapping[str, Any]


class Pair(NamedTuple):
    """The same part of the released document and of the current one."""

    released: Any
    current: Any

    def get(self, name: str, default: Any = None) -> "Pair":
        return Pair(
            self.released.get(name, default) or default,
            self.current.get(name, default) or default,
        )


def without_texts(node: Any) -> Any:
    """Return the part of a document that is compared.

    Names of properties, which may be those of texts, are kept.
    """
    if isinstance(node, list):
        return [without_texts(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        name: {key: without_texts(each) for key, each in value.items()}
        if name == "properties"
        else without_texts(value)
        for name, value in node.items()
        if name not in _TEXTS
    }


def list_breaking_changes(released: Node, current: Node) -> list[str]:
    """Return what a client of the released document may fail on, a line each.

    That are removals, operations with another id, new requirements and narrower types
    in requests, wider ones in responses.
    """
    return list(dict.fromkeys(_Comparison(released, current).changes()))


class _Comparison:
    def __init__(self, released: Node, current: Node) -> None:
        self._documents = Pair(released, current)
        # Pairs of named schemas that are compared already, by the direction.
        self._compared: set[tuple[str, str, bool]] = set()

    def changes(self) -> Iterator[str]:
        paths = self._documents.get("paths", {})
        for path, item in paths.released.items():
            for method in METHODS:
                if method not in item:
                    continue
                name = f"{method.upper()} {path}"
                if method not in paths.current.get(path, {}):
                    yield f"{name}: removed"
                    continue
                operations = Pair(item[method], paths.current[path][method])
                for change in self._operation_changes(operations):
                    yield f"{name}: {change}"

    def _operation_changes(self, operations: Pair) -> Iterator[str]:
        if len({each["operationId"] for each in operations}) > 1:
            yield "another operationId"
        yield from self._parameter_changes(operations.get("parameters", []))
        bodies = self._resolve(operations.get("requestBody", {}))
        if bodies.current.get("required") and not bodies.released.get("required"):
            yield "a body is required"
        yield from self._content_changes(bodies, "request", is_request=True)
        responses = operations.get("responses", {})
        for status in responses.released:
            if not status.startswith("2"):
                continue
            if status not in responses.current:
                yield f"no response {status}"
                continue
            pair = self._resolve(Pair(*(each[status] for each in responses)))
            yield from self._content_changes(pair, "response", is_request=False)

    def _parameter_changes(self, parameters: Pair) -> Iterator[str]:
        resolved = [
            [self._resolve_one(each, index) for each in parameters[index]]
            for index in (0, 1)
        ]
        by_name = Pair(
            *({(each["in"], each["name"]): each for each in side} for side in resolved)
        )
        for key, parameter in by_name.released.items():
            name = f"parameter {key[1]}"
            if key not in by_name.current:
                yield f"{name}: removed"
                continue
            schemas = Pair(parameter["schema"], by_name.current[key]["schema"])
            yield from self._schema_changes(schemas, name, is_request=True)
        for key, parameter in by_name.current.items():
            was_required = by_name.released.get(key, {}).get("required")
            if parameter.get("required") and not was_required:
                yield f"parameter {key[1]}: required"

    def _content_changes(
        self, pair: Pair, where: str, *, is_request: bool
    ) -> Iterator[str]:
        contents = pair.get("content", {})
        for media_type, content in contents.released.items():
            if media_type not in contents.current:
                yield f"{where}: no {media_type}"
                continue
            schemas = Pair(content, contents.current[media_type]).get("schema", {})
            yield from self._schema_changes(schemas, where, is_request=is_request)

    def _schema_changes(
        self, schemas: Pair, where: str, *, is_request: bool
    ) -> Iterator[str]:
        names = [each.get("$ref", "") for each in schemas]
        if all(names):
            key = (*names, is_request)
            if key in self._compared:
                return
            self._compared.add(key)
        schemas = self._resolve(schemas)
        if any("oneOf" in each for each in schemas):
            yield from self._alternative_changes(schemas, where, is_request=is_request)
            return
        is_closed = [each.get("additionalProperties") is False for each in schemas]
        if is_request and is_closed == [False, True]:
            yield f"{where}: refuses other names"
        yield from _value_changes(schemas, where, is_request=is_request)
        yield from self._property_changes(schemas, where, is_request=is_request)
        for word in ("items", "additionalProperties"):
            parts = schemas.get(word, {})
            if any(parts):
                yield from self._schema_changes(
                    parts, f"{where}[]", is_request=is_request
                )

    def _property_changes(
        self, schemas: Pair, where: str, *, is_request: bool
    ) -> Iterator[str]:
        properties = schemas.get("properties", {})
        required = schemas.get("required", [])
        for name, schema in properties.released.items():
            field = f"{where}.{name}"
            if name not in properties.current:
                yield f"{field}: removed"
                continue
            pair = Pair(schema, properties.current[name])
            yield from self._schema_changes(pair, field, is_request=is_request)
        if is_request:
            for name in set(required.current) - set(required.released):
                yield f"{where}.{name}: required"
        else:
            for name in set(required.released) - set(required.current):
                yield f"{where}.{name}: may be missing"

    def _alternative_changes(
        self, schemas: Pair, where: str, *, is_request: bool
    ) -> Iterator[str]:
        """Compare schemas of which at least one is a choice, such as that of null."""
        sides = [each.get("oneOf", [each]) for each in schemas]
        accepted, known = sides if is_request else sides[::-1]
        for schema in accepted:
            sides_of_schema = [
                (schema, other) if is_request else (other, schema) for other in known
            ]
            # A copy: a choice that does not fit has compared nothing.
            compared = set(self._compared)
            for pair in sides_of_schema:
                self._compared = set(compared)
                if not list(
                    self._schema_changes(Pair(*pair), where, is_request=is_request)
                ):
                    break
            else:
                self._compared = compared
                yield f"{where}: another choice"

    def _resolve(self, pair: Pair) -> Pair:
        return Pair(*(self._resolve_one(pair[index], index) for index in (0, 1)))

    def _resolve_one(self, node: Any, index: int) -> Any:
        while "$ref" in node:
            target: Any = self._documents[index]
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node


def _value_changes(schemas: Pair, where: str, *, is_request: bool) -> Iterator[str]:
    """Compare the types, values and limits of what is no object."""
    # In which direction values may be added: what is sent must still be accepted,
    # what is received must be among what was known.
    accepted, known = schemas if is_request else reversed(schemas)
    if not _types(known) >= _types(accepted):
        yield f"{where}: another type"
    if known.get("enum") and not set(known["enum"]) >= set(
        accepted.get("enum") or [None]
    ):
        yield f"{where}: other values"
    for limit, is_upper in _LIMITS.items():
        if limit in known and not _is_within(accepted, known, limit, is_upper=is_upper):
            yield f"{where}: another {limit}"
    for word in ("format", "pattern"):
        is_added = word not in schemas.released
        # Control characters, and commas in tags, were always refused.
        if is_request and is_added and schemas.current.get(word) in TOLD_PATTERNS:
            continue
        if schemas.released.get(word) != schemas.current.get(word):
            yield f"{where}: another {word}"


def _types(schema: Node) -> set[str]:
    types = schema.get("type", [])
    found = {types} if isinstance(types, str) else set(types)
    # Every type, where none is named; an integer is a number.
    every = {"string", "number", "integer", "boolean", "array", "object", "null"}
    if "number" in found:
        found.add("integer")
    return found or every


def _is_within(accepted: Node, known: Node, limit: str, *, is_upper: bool) -> bool:
    if limit in {"minLength", "maxLength"} and "enum" in accepted:
        lengths = [len(value) for value in accepted["enum"]]
        accepted = {"minLength": min(lengths), "maxLength": max(lengths)}
    if limit not in accepted:
        return False
    # A decimal in the document is a float in a file.
    smaller, larger = float(accepted[limit]), float(known[limit])
    return smaller <= larger if is_upper else smaller >= larger


def render_lines(node: Any, depth: int) -> str:
    """Return JSON that breaks lines between the members of the upper levels only."""
    if depth == 0 or not isinstance(node, dict):
        return json.dumps(node, ensure_ascii=False, sort_keys=True)
    members = (
        f"{json.dumps(name)}: {render_lines(node[name], depth - 1)}"
        for name in sorted(node)
    )
    return "{" + ",\n".join(members) + "}"


if __name__ == "__main__":
    document = without_texts(json.load(sys.stdin))
    # components.schemas.Entry and paths./api/auth/login.post are 3 levels down.
    RELEASED.write_text(render_lines(document, depth=3) + "\n")
