"""Examples of requests, answers and refusals in the OpenAPI document.

Each app has them in its `openapi_examples`, by operation id, in an order in which they
can be sent. `tests/test_openapi_examples.py` sends all of them, so that none is wrong.
"""

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
    NotAcceptableError,
    problem_body,
)
from core.api.permissions import AdminRequiredError, PremiumRequiredError
from core.api.renderers import dump_json
from core.errors import DomainError, DuplicateError, FieldError, NotFoundError

JSON_MEDIA_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The parts of a request beside its method and path.

    `path` and `query` are the parameters, `upload` is the form field of a file, and
    `caller` is who sends it: "member" has the paid plan, "free_member" has not,
    "administrator", or "anonymous". `accept` is the media type asked for.
    """

    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    upload: str = ""
    caller: str = "member"
    accept: str = JSON_MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error, and the request that it is the answer to."""

    error: DomainError
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Call):
    """A request with its answer, which is None without a JSON body, and a refusal."""

    status: int = 200
    answer: Any = None
    refusal: Refusal


def invalid(field_name: str, code: str, detail: str | Promise, **call: Any) -> Refusal:
    """Return the refusal of a request for one of its fields."""
    error = DomainError(errors=(FieldError(field_name, detail, code),))
    return Refusal(error, Call(**call))


def duplicate(detail: str | Promise, **call: Any) -> Refusal:
    """Return the refusal of a request for something that there may be once."""
    return Refusal(DuplicateError(detail), Call(**call))


def not_found(*, body: Any = None, caller: str = "member", **path: int) -> Refusal:
    """Return the refusal of a request for an id that does not exist."""
    return Refusal(NotFoundError(), Call(path=path, body=body, caller=caller))


def not_acceptable() -> Refusal:
    """Return the refusal of a request for another format, where there is no other."""
    return Refusal(
        NotAcceptableError(), Call(caller="anonymous", accept="application/xml")
    )


def unauthenticated(**call: Any) -> Refusal:
    """Return the refusal of a request without a session."""
    return Refusal(AuthenticationRequiredError(), Call(caller="anonymous", **call))


def premium_required(**call: Any) -> Refusal:
    """Return the refusal of a request without the paid plan."""
    return Refusal(PremiumRequiredError(), Call(caller="free_member", **call))


def administrator_required(**call: Any) -> Refusal:
    """Return the refusal of a request of an ordinary member."""
    return Refusal(AdminRequiredError(), Call(**call))


def add_examples(
    document: dict[str, Any], examples: Mapping[str, Example]
) -> dict[str, Any]:
    """Add the example of each operation to the OpenAPI document, and return it."""
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
    error = example.refusal.error
    status = str(error.status) if str(error.status) in responses else "default"
    # A copy, since operations may share it.
    responses[status] = response = copy.deepcopy(responses[status])
    problems = response["content"][PROBLEM_MEDIA_TYPE].setdefault("examples", {})
    problems[error.code] = {"value": render_problem(error)}


def render_problem(error: DomainError) -> Any:
    """Return the body of an error as clients see it who prefer no language."""
    with translation.override(settings.LANGUAGE_CODE):
        return orjson.loads(dump_json(problem_body(error)))
