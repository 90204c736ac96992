"""The examples of the OpenAPI document: each is sent, and answered as it says."""

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import translation
from pytest_httpserver import HTTPServer

from accounts.models import Member
from accounts.security_examples import SEED
from config.openapi_examples import EXAMPLES
from core.api.examples import Call, Example, render_problem
from core.api.openapi_view import build_document
from core.api.renderers import dump_json
from tests.support.clients import JSONClient
from tests.support.example_scene import NOW, Scene, make_scene
from tests.support.fakes import FakeRates
from tests.support.images import draw

# Modules of examples; each begins with a scene of its own.
SCENARIOS = [
    "core.openapi_examples",
    "accounts.openapi_examples",
    "accounts.security_examples",
    "ledger.openapi_examples.wallets",
    "ledger.openapi_examples.categories",
    "ledger.openapi_examples.tags",
    "ledger.openapi_examples.entries",
    "ledger.openapi_examples.card_notifications",
    "ledger.openapi_examples.recurring",
    "ledger.openapi_examples.budgets",
    "ledger.openapi_examples.investments",
    "ledger.openapi_examples.files",
    "board.openapi_examples",
    "billing.openapi_examples",
    "administration.openapi_examples",
]
# What a new member is likely to try out first.
FIRST_STEPS = [
    "createWallet",
    "createCategory",
    "createTag",
    "createEntry",
    "listEntries",
    "createQuickEntry",
    "createRecurringRule",
    "createBudget",
    "createStock",
    "parseNotification",
    "restoreBackup",
    "createPost",
]
# Fields with ids of rows, which the database chooses.
ID_FIELD = re.compile(r"id|ids|\w+Id|moveTo|before|refundOf|with")
MISSING_ID = 2**50
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Fields of random texts: keys, and a hash of one.
RANDOM = {"token", "googlePlay"}
IDP_LOGIN_ID = re.compile("idp-[0-9a-f]{16}")
HOST = re.compile(r"^https?://[^/]+")


def read_operations(document: Any) -> dict[str, tuple[str, str, Any]]:
    """Return method, path and description of each operation by its id."""
    return {
        operation["operationId"]: (method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


class Scenario:
    """Sends examples, with the ids of the scene in place of theirs."""

    def __init__(self, scene: Scene) -> None:
        self.ids = scene.ids
        self.uuids: dict[str, str] = {}
        self.operations = read_operations(build_document())
        self.clients = {
            name: JSONClient(member) for name, member in scene.members.items()
        }

    def send(self, operation_id: str, call: Call) -> Any:
        method, path, _ = self.operations[operation_id]
        path = path.format(**self.real(dict(call.path)))
        query = {
            name: json.dumps(value) if isinstance(value, bool) else str(value)
            for name, value in self.real(dict(call.query)).items()
        }
        # A new client each time for anybody: logins set a cookie.
        client = self.clients.get(call.caller) or JSONClient()
        extra: Any = {"HTTP_ACCEPT": call.accept}
        if call.upload:
            file = SimpleUploadedFile("lunch.png", draw(), "image/png")
            return client.post(path, {call.upload: file}, query_params=query, **extra)
        body = None if call.body is None else self.real(call.body)
        return client.send(method, path, body, query_params=query, **extra)

    def real(self, value: Any, name: str = "") -> Any:
        """Return an example's value with the ids of rows, MISSING_ID for no row."""
        match value:
            case dict():
                return {key: self.real(part, key) for key, part in value.items()}
            case list():
                return [self.real(part, name) for part in value]
            case int() if ID_FIELD.fullmatch(name):
                return self.ids.get(value, MISSING_ID)
            case str():
                return UUID.sub(lambda m: self.uuids.get(m[0], m[0]), value)
        return value

    def differences(self, expected: Any, actual: Any, name: str) -> Iterator[str]:
        """Yield where an answer is not what the example says."""
        if isinstance(expected, Mapping) and isinstance(actual, dict):
            if expected.keys() != actual.keys():
                yield f"{name}: has {sorted(actual)}"
            for key in expected.keys() & actual.keys():
                yield from self.differences(expected[key], actual[key], f"{name}.{key}")
        elif isinstance(expected, list) and isinstance(actual, list):
            if len(expected) != len(actual):
                yield f"{name}: has {len(actual)} items"
            for part, real in zip(expected, actual, strict=False):
                yield from self.differences(part, real, name)
        elif not self.is_same(expected, actual, name.rpartition(".")[2]):
            yield f"{name}: {actual!r}, not {expected!r}"

    def is_same(self, expected: Any, actual: Any, field: str) -> bool:
        """Return whether the real value of a field is what the example says.

        An id or UUID that is new in the example stands for the one in the answer from
        then on. Random texts have the same length. URLs may be those of another host.
        """
        match expected, actual:
            case int(), int() if ID_FIELD.fullmatch(field):
                return self.ids.setdefault(expected, actual) == actual
            case str(), str() if field in RANDOM or IDP_LOGIN_ID.fullmatch(expected):
                return len(expected) == len(actual)
            case str(), str() if field == "recoveryCodes":
                return len(expected) == len(actual)
            case str(), str() if UUID.fullmatch(expected) and UUID.fullmatch(actual):
                return self.uuids.setdefault(expected, actual) == actual
            case str(), str() if HOST.match(expected):
                known, real = UUID.search(expected), UUID.search(actual)
                if known and real:
                    self.uuids.setdefault(known[0], real[0])
                return HOST.sub("", self.real(expected)) == HOST.sub("", actual)
            case float(), _:
                return bool(Decimal(str(expected)) == actual)
        return bool(expected == actual)

    def check(self, operation_id: str, example: Example) -> Iterator[str]:
        """Send the refused request, then the good one; yield what is not as said."""
        refusal, problem = example.refusal, render_problem(example.refusal.error)
        for name, call, status, answer in (
            ("refusal", refusal.call, refusal.error.status, problem),
            ("answer", example, example.status, example.answer),
        ):
            response = self.send(operation_id, call)
            if response.status_code != status:
                yield f"{operation_id} {name}: {response.status_code} {response.content!r}"
            elif answer is not None:
                text = response.content.decode()
                actual = json.loads(text, parse_float=Decimal)
                yield from self.differences(answer, actual, f"{operation_id} {name}")


@pytest.fixture
def scene(
    db: None,
    settings: Any,
    httpserver: HTTPServer,
    fx_source: FakeRates,
    mail_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Scene]:
    """Yield the scene on the day of the examples, with the outside services."""
    settings.BILLING_TEST_MODE = True
    settings.PUBLIC_URL = "https://ledger.example"
    monkeypatch.setattr("accounts.second_factor.make_seed", lambda: SEED)
    settings.OCR_API_KEY = "key"
    settings.OCR_BASE_URL = httpserver.url_for("").rstrip("/")
    receipt = {"fullTextAnnotation": {"text": "김밥천국 강남점\n합계 12,000원"}}
    httpserver.expect_request("/v1/images:annotate").respond_with_json(
        {"responses": [receipt]}
    )
    fx_source.quote("USD", "KRW", "1387.5", "2026-11-20")
    settings.IDP_CLIENT_ID = "1096-ledger.apps.googleusercontent.com"
    settings.IDP_TOKENINFO_URL = httpserver.url_for("/tokeninfo")
    settings.IDP_TOKENS_ARE_JWTS = True
    httpserver.expect_request("/tokeninfo").respond_with_json(
        {
            "iss": "https://accounts.google.com",
            "aud": settings.IDP_CLIENT_ID,
            "sub": "113",
            "email": "haeun@example.com",
            "email_verified": "true",
            "name": "최하은",
            "picture": "https://pictures.example/haeun.png",
            "exp": str(int(NOW.timestamp()) + 3_600),
        }
    )
    with time_machine.travel(NOW, tick=False):
        yield make_scene()


@pytest.mark.parametrize("module", SCENARIOS)
def test_examples_are_answered_as_they_say(module: str, scene: Scene) -> None:
    scenario = Scenario(scene)
    examples = import_module(module).EXAMPLES
    assert examples
    differences = [
        difference
        for operation_id, example in examples.items()
        for difference in scenario.check(operation_id, example)
    ]
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("operation_id", FIRST_STEPS)
def test_first_steps_need_nothing_that_only_the_examples_have(
    operation_id: str, premium_member: Member
) -> None:
    # Whoever tries the document out has none of the rows of the examples.
    scenario = Scenario(Scene({"member": premium_member}))
    example = EXAMPLES[operation_id]
    assert scenario.send(operation_id, example).status_code == example.status


def test_scenarios_send_all_examples() -> None:
    sent = [name for module in SCENARIOS for name in import_module(module).EXAMPLES]
    assert sorted(sent) == sorted(EXAMPLES)


def test_every_operation_has_an_example() -> None:
    assert sorted(read_operations(build_document())) == sorted(EXAMPLES)


@pytest.mark.parametrize("operation_id", EXAMPLES)
def test_example_is_in_the_document(operation_id: str) -> None:
    example = EXAMPLES[operation_id]
    _, _, operation = read_operations(build_document())[operation_id]
    parameters = {
        parameter["name"]: parameter["example"]
        for parameter in operation.get("parameters", [])
        if "example" in parameter
    }
    assert parameters == {**example.path, **example.query}
    if example.body is not None:
        body = operation["requestBody"]["content"]["application/json"]
        assert body["example"] == example.body
    responses = operation["responses"]
    if example.answer is not None:
        content = responses[str(example.status)]["content"]
        assert content["application/json"]["example"] == example.answer
    error = example.refusal.error
    response = responses.get(str(error.status)) or responses["default"]
    problems = response["content"]["application/problem+json"]["examples"]
    assert problems[error.code] == {"value": render_problem(error)}


def test_examples_have_the_schemas_of_the_document() -> None:
    document = json.loads(dump_json(build_document()))
    components = {"components": document["components"]}
    errors = []
    for operation_id, (_, _, operation) in read_operations(document).items():
        for name, content in list_contents(operation):
            for example in list_examples(content):
                validator = jsonschema_rs.Draft202012Validator(
                    content["schema"] | components
                )
                errors += [
                    f"{operation_id} {name} {error.instance_path}: {error.message}"
                    for error in validator.iter_errors(example)
                ]
    assert errors == []


def list_contents(operation: Any) -> Iterator[tuple[str, Any]]:
    """Yield the content of the request and of each response, by media type."""
    bodies = {"request": operation.get("requestBody", {})} | operation["responses"]
    for name, body in bodies.items():
        for content in body.get("content", {}).values():
            yield name, content


def list_examples(content: Any) -> list[Any]:
    named = [example["value"] for example in content.get("examples", {}).values()]
    return named + ([content["example"]] if "example" in content else [])


def test_examples_are_in_english_whoever_asks_first() -> None:
    with translation.override("ko"):
        text = render_problem(EXAMPLES["getWallet"].refusal.error)["detail"]
    assert text == "Not found."
