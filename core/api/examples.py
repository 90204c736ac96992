"""Examples of requests, answers and refusals in the OpenAPI document."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise

from core.api.exception_handler import (
    PROBLEM_MEDIA_TYPE,
    AuthenticationRequiredError,
    problem_body,
)
from core.api.permissions import AdminRequiredError, PremiumRequiredError
from core.api.renderers import dump_json
from core.api.unknown_names import UNKNOWN
from core.errors import DomainError, DuplicateError, FieldError, NotFoundError

JSON_MEDIA_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request without its method and path.

    `upload` is the form field of a file. `caller` is "member" (with the paid plan),
    "free_member", "administrator" or "anonymous".
    """

    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    upload: str = ""
    caller: str = "member"


@dataclass(frozen=True, slots=True)
class Refusal:
    error: DomainError
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Call):
    """`refusal` is None if nothing is refused."""

    status: int = 200
    answer: Any = None
    refusal: Refusal | None


def invalid(field_name: str, code: str, detail: str | Promise, **call: Any) -> Refusal:
    error = DomainError(errors=(FieldError(field_name, detail, code),))
    return Refusal(error, Call(**call))


def duplicate(detail: str | Promise, **call: Any) -> Refusal:
    return Refusal(DuplicateError(detail), Call(**call))


def not_found(*, body: Any = None, caller: str = "member", **path: int) -> Refusal:
    return Refusal(NotFoundError(), Call(path=path, body=body, caller=caller))


def unknown_parameter(name: str, **call: Any) -> Refusal:
    return invalid(name, UNKNOWN, "This name is unknown.", query={name: "1"}, **call)


def unauthenticated(**call: Any) -> Refusal:
    return Refusal(AuthenticationRequiredError(), Call(caller="anonymous", **call))


def premium_required(**call: Any) -> Refusal:
    return Refusal(PremiumRequiredError(), Call(caller="free_member", **call))


def administrator_required(**call: Any) -> Refusal:
    return Refusal(AdminRequiredError(), Call(**call))


def add_examples(
    document: dict[str, Any], examples: Mapping[str, Example]
) -> dict[str, Any]:
    for item in document["paths"].values():
        for operation in item.values():
            if example := examples.get(operation["operationId"]):
                _add_example(operation, example)
    return document


def _add_example(operation: dict[str, Any], example: Example) -> None:
    values = {"path": example.path, "query": example.query}
    for parameter in operation.get("parameters", []):
        of_its_kind = values.get(parameter["in"], {})
        if parameter["name"] in of_its_kind:
            parameter["example"] = of_its_kind[parameter["name"]]
    if example.body is not None:
        content = operation["requestBody"]["content"]
        content[JSON_MEDIA_TYPE]["example"] = example.body
    responses = operation["responses"]
    if example.answer is not None:
        content = responses[str(example.status)]["content"]
        content[JSON_MEDIA_TYPE]["example"] = example.answer
    if example.refusal is None:
        return
    error = example.refusal.error
    status = str(error.status)
    # Operations may share it.
    responses[status] = response = copy.deepcopy(responses[status])
    problems = response["content"][PROBLEM_MEDIA_TYPE].setdefault("examples", {})
    problems[error.code] = {"value": render_problem(error)}


def render_problem(error: DomainError) -> Any:
    """Render in the default language."""
    with translation.override(settings.LANGUAGE_CODE):
        return orjson.loads(dump_json(problem_body(error)))
