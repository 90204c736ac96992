"""The page of the OpenAPI document: HTML without a library, for people (spec 7.7)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from core.api.documented_errors import list_error_classes
from core.api.openapi_hooks import list_operations
from core.errors import DomainError

Document = Mapping[str, Any]

JSON_MEDIA_TYPE = "application/json"
REFERENCE = "$ref"
SUCCESS = ("2", "3")
# A code of more operations than this part of all is told once, above them.
SHARED_PART = 0.5
# What the code of a refusal tells about the caller.
CALLERS = {
    "ADMIN_REQUIRED": "administrator",
    "MODERATOR_REQUIRED": "moderator",
    "PREMIUM_REQUIRED": "premium",
}
_CODE_SPAN_RE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body, or a parameter."""

    name: str
    type: SafeString
    description: SafeString
    is_required: bool
    # Answers have it, or not.
    is_conditional: bool = False
    place: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    type: SafeString
    fields: list[Field]
    example: str


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    type: SafeString
    description: SafeString
    example: str


@dataclass(frozen=True, slots=True)
class Problem:
    status: str
    code: str
    text: SafeString


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    description: list[SafeString]
    caller: str
    scope: str
    parameters: list[Field]
    # Names of headers that many operations take.
    shared_headers: list[str]
    body: Body | None
    answers: list[Answer]
    problems: list[Problem]
    shared_codes: list[str]
    refusal: str


@dataclass(frozen=True, slots=True)
class Tag:
    name: str
    anchor: str
    description: SafeString
    operations: list[Operation]


@dataclass(frozen=True, slots=True)
class Schema:
    name: str
    description: SafeString
    fields: list[Field]
    # Of a schema without fields.
    type: SafeString


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    version: str
    description: SafeString
    tags: list[Tag]
    schemas: list[Schema]
    shared_problems: list[Problem]
    shared_headers: list[Field]
    shared_refusal: str
    operation_count: int


class PageBuilder:
    """Turns a document into what the template shows, in the active language."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._operations = list(list_operations(dict(document)))
        self._texts = read_texts_of_codes()
        statuses = Counter[tuple[str, str]]()
        headers = Counter[str]()
        for _path, _method, operation in self._operations:
            statuses.update(self._list_codes(operation))
            headers.update(_list_header_names(operation))
        least = len(self._operations) * SHARED_PART
        self._shared = sorted(key for key, count in statuses.items() if count > least)
        # Schemas of requests alone have their fields at the operation.
        self._listed = set(find_references(self._list_parts()))
        # Headers whose text stands above the operations.
        self._shared_headers = {name for name, count in headers.items() if count > 1}

    def build(self) -> Page:
        info = self._document["info"]
        refusals = self._document["components"]["schemas"].get("Problem")
        return Page(
            title=info["title"],
            version=info["version"],
            description=mark_up(info["description"]),
            tags=list(self._build_tags()),
            schemas=list(self._build_schemas()),
            shared_problems=[self._describe_code(*key) for key in self._shared],
            shared_headers=list(self._build_shared_headers()),
            shared_refusal=self._find_refusal() if refusals else "",
            operation_count=len(self._operations),
        )

    def _build_tags(self) -> Iterator[Tag]:
        for tag in self._document["tags"]:
            operations = [
                self._build_operation(path, method, operation)
                for path, method, operation in self._operations
                if tag["name"] in operation["tags"]
            ]
            if operations:
                yield Tag(
                    name=tag["name"],
                    anchor=f"tag-{tag['name'].lower().replace(' ', '-')}",
                    description=mark_up(tag["description"]),
                    operations=operations,
                )

    def _build_operation(
        self, path: str, method: str, operation: dict[str, Any]
    ) -> Operation:
        codes = self._list_codes(operation)
        callers = [CALLERS[code] for _, code in codes if code in CALLERS]
        parameters = [
            _build_parameter(parameter)
            for parameter in operation.get("parameters", [])
            if parameter["name"] not in self._shared_headers
        ]
        return Operation(
            id=operation["operationId"],
            method=method.upper(),
            path=path,
            summary=operation.get("summary", ""),
            description=[
                mark_up(part)
                for part in operation.get("description", "").split("\n\n")
                if part
            ],
            caller=(callers or ["member"])[0] if operation["security"] else "anybody",
            scope=operation.get("x-token-scope") or "",
            parameters=parameters,
            shared_headers=[
                name
                for name in _list_header_names(operation)
                if name in self._shared_headers
            ],
            body=self._build_body(operation.get("requestBody")),
            answers=list(self._build_answers(operation)),
            problems=[
                self._describe_code(*key) for key in codes if key not in self._shared
            ],
            shared_codes=[
                code for status, code in codes if (status, code) in self._shared
            ],
            refusal=_find_example_of_problem(operation),
        )

    def _build_body(self, body: dict[str, Any] | None) -> Body | None:
        if body is None:
            return None
        media_type, media = next(iter(body["content"].items()))
        schema = media["schema"]
        is_list = schema.get("type") == "array"
        name = name_of(schema["items"] if is_list else schema)
        fields = self._document["components"]["schemas"][name] if name else schema
        kind = describe_type(schema)
        if name and name not in self._listed:
            kind = escape(f"[{name}]" if is_list else name)
        if media_type != JSON_MEDIA_TYPE:
            kind = format_html("{} <code>{}</code>", kind, media_type)
        return Body(
            kind, list(build_fields(fields, is_request=True)), dump(media, "example")
        )

    def _build_answers(self, operation: dict[str, Any]) -> Iterator[Answer]:
        for status, response in operation["responses"].items():
            if not status.startswith(SUCCESS):
                continue
            content = response.get("content", {})
            json = content.get(JSON_MEDIA_TYPE)
            if json:
                kind = describe_type(json["schema"])
            else:
                names = ((name,) for name in content)
                kind = format_html_join(" ", "<code>{}</code>", names)
            yield Answer(
                status,
                kind,
                mark_up(response.get("description", "")),
                dump(json or {}, "example"),
            )

    def _build_schemas(self) -> Iterator[Schema]:
        for name, schema in self._document["components"]["schemas"].items():
            if name not in self._listed:
                continue
            fields = schema.get("properties", {}).values()
            is_request = any("x-left-out" in field for field in fields)
            yield Schema(
                name=name,
                description=mark_up(schema.get("description", "")),
                fields=list(build_fields(schema, is_request=is_request)),
                type=describe_type(schema),
            )

    def _list_parts(self) -> list[Any]:
        """Return all that refers to schemas, without the bodies of requests."""
        responses = [operation["responses"] for _, _, operation in self._operations]
        parts = [
            schema.get("properties", {})
            for schema in self._document["components"]["schemas"].values()
        ]
        return [responses, parts, self._document["components"].get("responses", {})]

    def _build_shared_headers(self) -> Iterator[Field]:
        parameters = [
            parameter
            for _, _, operation in self._operations
            for parameter in operation.get("parameters", [])
            if parameter["name"] in self._shared_headers
        ]
        for name in sorted(self._shared_headers):
            yield _build_parameter(next(p for p in parameters if p["name"] == name))

    def _list_codes(self, operation: dict[str, Any]) -> list[tuple[str, str]]:
        codes = []
        for status, response in operation["responses"].items():
            reference = response.get(REFERENCE)
            if reference:
                name = reference.rpartition("/")[2]
                response = self._document["components"]["responses"][name]
            codes += [(status, code) for code in response.get("x-codes", [])]
        return codes

    def _describe_code(self, status: str, code: str) -> Problem:
        return Problem(status, code, mark_up(self._texts.get(code, "")))

    def _find_refusal(self) -> str:
        found = (_find_example_of_problem(each) for _, _, each in self._operations)
        return next((text for text in found if '"errors"' in text), "")


def read_texts_of_codes() -> dict[str, str]:
    """Return the text of each code, in the active language."""
    texts: dict[str, str] = {}
    # The class of all, before those that say it of one case.
    classes = sorted(list_error_classes(), key=_count_steps_from_the_kernel)
    for error in classes:
        texts.setdefault(error.code, str(error.detail))
    return texts


def _count_steps_from_the_kernel(error: type[DomainError]) -> tuple[bool, int, str]:
    return not error.__module__.startswith("core."), len(error.__mro__), error.__name__


def build_fields(schema: Document, *, is_request: bool) -> Iterator[Field]:
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        is_required = name in required or field.get("x-left-out") == "required"
        yield Field(
            name=name,
            type=describe_type(field),
            description=mark_up(field.get("description", "")),
            is_required=is_request and is_required,
            is_conditional=not is_request and name not in required,
        )


def _build_parameter(parameter: dict[str, Any]) -> Field:
    example = parameter.get("example")
    return Field(
        name=parameter["name"],
        type=describe_type(parameter["schema"]),
        description=mark_up(parameter.get("description", "")),
        is_required=parameter.get("required", False),
        place=parameter["in"],
        example="" if example is None else str(example),
    )


def describe_type(schema: Document) -> SafeString:
    """Return the type in words, with links to the schemas."""
    if name := name_of(schema):
        return format_html('<a href="#schema-{}">{}</a>', name, name)
    if parts := schema.get("oneOf"):
        return mark_safe(" | ".join(describe_type(part) for part in parts))  # noqa: S308
    words = schema.get("enum") or schema.get("x-known-values")
    names = schema.get("type", "any")
    texts = []
    for kind in [names] if isinstance(names, str) else names:
        if kind == "array":
            texts.append(format_html("[{}]", describe_type(schema.get("items", {}))))
        elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            values = describe_type(schema["additionalProperties"])
            texts.append(format_html("{{name: {}}}", values))
        elif kind == "string" and words:
            texts += [format_html("<code>{}</code>", word) for word in words]
        elif kind != "null" and (precision := schema.get("format")):
            texts.append(escape(f"{kind} ({precision})"))
        else:
            texts.append(escape(kind))
    return mark_safe(" | ".join(texts))  # noqa: S308


def name_of(schema: Document) -> str:
    """Return the name of the schema that is referred to, "" for one in line."""
    return str(schema.get(REFERENCE, "")).rpartition("/")[2]


def find_references(node: Any) -> Iterator[str]:
    """Yield the names of the schemas that anything below refers to."""
    if isinstance(node, Mapping):
        if isinstance(node.get(REFERENCE), str):
            yield name_of(node)
        for value in node.values():
            yield from find_references(value)
    elif isinstance(node, Iterable) and not isinstance(node, str):
        for value in node:
            yield from find_references(value)


def mark_up(text: str) -> SafeString:
    """Return a text of the document as HTML; code stands in backquotes."""
    marked = _CODE_SPAN_RE.sub(r"<code>\1</code>", escape(text))
    return mark_safe(" ".join(marked.split()))  # noqa: S308


def dump(values: Document, name: str) -> str:
    if name not in values:
        return ""
    return orjson.dumps(values[name], option=orjson.OPT_INDENT_2).decode()


def _list_header_names(operation: dict[str, Any]) -> list[str]:
    parameters = operation.get("parameters", [])
    return [each["name"] for each in parameters if each["in"] == "header"]


def _find_example_of_problem(operation: dict[str, Any]) -> str:
    for response in operation["responses"].values():
        for media in response.get("content", {}).values():
            for example in media.get("examples", {}).values():
                return dump(example, "value")
    return ""
