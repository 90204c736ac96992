"""The examples of the OpenAPI document: each is sent, and answered as it says."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import time_machine
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.utils import translation
from pytest_httpserver import HTTPServer

from accounts.models import Member
from accounts.models.limits import RateLimit
from accounts.security_examples import SEED
from config.openapi_examples import EXAMPLES
from core.api.examples import Call, Example, render_problem
from core.api.openapi_view import build_document
from core.api.renderers import dump_json
from core.errors import NotFoundError
from ledger.backup.examples import ROWS
from ledger.imports.examples import BANK_LIST
from tests.support.clients import JSONClient
from tests.support.copies import Copy
from tests.support.example_scene import NOW, Scene, make_scene
from tests.support.fakes import FakeRates
from tests.support.flush import rolled_back
from tests.support.images import draw
from tests.support.operations import OPERATIONS, begin_transaction, dump_ledger

# Modules of examples; each begins with a scene of its own.
SCENARIOS = [
    "core.openapi_examples",
    "accounts.openapi_examples",
    "accounts.security_examples",
    "ledger.wallets.examples",
    "ledger.categories.examples",
    "ledger.tags.examples",
    "ledger.entries.examples",
    "ledger.cards.examples",
    "ledger.bulk.examples",
    "ledger.changes.examples",
    "ledger.operations.examples",
    "ledger.notifications.examples",
    "ledger.recurring.examples",
    "ledger.budgets.examples",
    "ledger.cards.installment_examples",
    "ledger.investments.examples",
    "ledger.imports.examples",
    "ledger.backup.examples",
    "ledger.export.examples",
    "board.openapi_examples",
    "board.moderation.examples",
    "accounts.inbox.examples",
    "accounts.legal.examples",
    "accounts.announcements.examples",
    "billing.openapi_examples",
    "administration.openapi_examples",
    "administration.log_examples",
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
    "restoreBackupFromJson",
    "createPost",
]
# Views that take any name.
OPEN_OPERATIONS = {
    *("getImage", "getAvatar", "getHealth", "getLiveness", "getSchema"),
    "receiveStoreNotification",
}
KEYED_OPERATIONS_OF_THE_BOARD = {
    *("createPost", "createComment", "reportPost", "reportComment", "reportMember"),
}
# Nothing is written, or each message of a text is known by itself.
KEYLESS_OPERATIONS = {
    *("createImport", "updateImport"),
    *("parseNotification", "processNotification", "recognizeReceipt"),
}
# Left out, the refund has the wallet of its expense; null is no wallet.
# Null names no entries, and an empty list none.
OTHER_NULLS = {
    *(("refundEntry", "walletId"), ("changeEntries", "ids")),
    # Guesses the columns anew.
    ("updateImport", "mapping"),
}
# Fields with ids of rows, which the database chooses.
ID_FIELD = re.compile(r"id|ids|by|\w+Ids?|moveTo|before|refundOf|with")
MISSING_ID = 2**50
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Fields of random texts: keys, and a hash of one.
RANDOM = {"token", "googlePlay"}
# Of the ids of rows.
SEALED = {"cursor", "digest"}
# Fields of an object that errors name as fields of the one around it.
PASSED_OVER = re.compile(r"^(operations\.\d+)\.entry\b")
# Clients read anew after them.
REPLACING_OPERATIONS = {"restoreBackup", "restoreBackupFromJson"}
# The answer is not what the body writes.
NO_RESOURCES = {
    *("changeEntries", "changeImportRows", "updateImport", "setPrintedBill"),
}
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

    def __init__(self, scene: Scene, accept: str = "application/json") -> None:
        self.ids, self.accept = scene.ids, accept
        self.members = scene.members
        self.uuids: dict[str, str] = {}
        self.copies: dict[str, Copy] = {}
        self.operations = read_operations(build_document())
        self.clients = {
            name: JSONClient(member) for name, member in scene.members.items()
        }

    def address(self, operation_id: str, call: Call) -> tuple[str, str, dict[str, str]]:
        """Return method, path and query of the call."""
        method, path, _ = self.operations[operation_id]
        query = {
            name: json.dumps(value) if isinstance(value, bool) else str(value)
            for name, value in self.real(dict(call.query)).items()
        }
        return method, path.format(**self.real(dict(call.path))), query

    def send_without_body(self, operation_id: str, call: Call) -> Any:
        method, path, query = self.address(operation_id, call)
        client = self.clients.get(call.caller) or JSONClient()
        return client.send(method, path, query_params=query)

    def send(self, operation_id: str, call: Call, **headers: Any) -> Any:
        method, path, query = self.address(operation_id, call)
        # The scene is one transaction, and would have one revision.
        begin_transaction()
        # A new client each time for anybody: logins set a cookie.
        client = self.clients.get(call.caller) or JSONClient()
        extra: Any = {"HTTP_ACCEPT": self.accept} | headers
        if call.upload:
            file = SimpleUploadedFile("lunch.png", draw(), "image/png")
            if operation_id == "restoreBackup":
                file = SimpleUploadedFile("backup.json", json.dumps(ROWS).encode())
            if operation_id == "createImport":
                file = SimpleUploadedFile("list.csv", BANK_LIST.encode())
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
            case int(), int() if field == "version":
                return True
            case str(), str() if field in SEALED:
                return True
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
        calls: list[Any] = [("answer", example, example.status, example.answer)]
        if refusal := example.refusal:
            problem = render_problem(refusal.error)
            calls.insert(0, ("refusal", refusal.call, refusal.error.status, problem))
        for name, call, status, answer in calls:
            response = self.send(operation_id, call)
            if response.status_code != status:
                yield f"{operation_id} {name}: {response.status_code} {response.content!r}"
            elif answer is not None:
                text = response.content.decode()
                actual = json.loads(text, parse_float=Decimal)
                yield from self.differences(answer, actual, f"{operation_id} {name}")

    def check_names(self, operation_id: str, example: Example) -> Iterator[str]:
        """Send unknown names, then the example, then its answer; yield what is wrong."""
        rows = read_rows()
        method, path, operation = self.operations[operation_id]
        for call, place in vary(example, method, operation):
            field = PASSED_OVER.sub(r"\1", place)
            response = self.send(operation_id, call)
            # A response to an upload has no `data`.
            problem = json.loads(response.content or b"{}")
            found = [(e["field"], e["code"]) for e in problem.get("errors", [])]
            if response.status_code != 400 or (field, "unknown") not in found:
                yield f"{operation_id} {field}: {response.status_code} {found}"
        changed = [label for label, each in read_rows().items() if each != rows[label]]
        if changed:
            yield f"{operation_id}: a refused request changed {', '.join(changed)}"
        response = self.send(operation_id, example)
        if example.answer is not None:
            answer = json.loads(response.content, parse_float=Decimal)
            list(self.differences(example.answer, answer, operation_id))
        if self.is_echoed(operation_id, response):
            path = path.format(**self.real(dict(example.path)))
            client = self.clients.get(example.caller) or JSONClient()
            text = json.loads(response.content, parse_float=Decimal)
            body = json.loads(dump_json(text))
            again = client.send(method, path, body)
            codes = {e["code"] for e in (again.data or {}).get("errors", [])}
            if "unknown" in codes or (method != "post" and again.status_code != 200):
                yield f"{operation_id} sent back: {again.content!r}"
            elif method != "post" and without_times(again.data) != without_times(text):
                yield f"{operation_id} sent back changed {again.data}"

    def check_nulls(self, operation_id: str, example: Example) -> Iterator[str]:
        """Send null in each optional field, then the example; yield what is wrong."""
        method, _, operation = self.operations[operation_id]
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        # A body that is a list has no fields.
        if "$ref" in schema:
            is_change = method != "post" or schema["$ref"].endswith("Patch")
            for named, described, null, without in list_nulls(schema, example.body):
                place = PASSED_OVER.sub(r"\1", named)
                answer = self.try_body(operation_id, example, null)
                if not takes_null(described):
                    codes = [(e["field"], e["code"]) for e in answer[1]["errors"]]
                    is_right = answer[0] == 400 and (place, "null") in codes
                elif is_change and "." not in place:
                    cleared = find_cleared(schema, place)
                    is_right = cleared is None or answer == self.try_body(
                        operation_id, example, {**without, place: cleared}
                    )
                else:
                    is_right = answer == self.try_body(operation_id, example, without)
                if not is_right and (operation_id, place) not in OTHER_NULLS:
                    yield f"{operation_id} {place}: {answer}"
        response = self.send(operation_id, example)
        if example.answer is not None:
            actual = json.loads(response.content, parse_float=Decimal)
            list(self.differences(example.answer, actual, operation_id))

    def check_headers(self, operation_id: str, example: Example) -> Iterator[str]:
        """Send a write of another version, then the example twice under one key."""
        method, path, operation = self.operations[operation_id]
        is_write = operation_id in KEYED_OPERATIONS_OF_THE_BOARD or (
            method != "get" and path.startswith("/api/account")
        )
        names = {each["name"] for each in operation.get("parameters", [])}
        if "If-Match" in names:
            stale = self.send(operation_id, example, HTTP_IF_MATCH='"999999"')
            if stale.status_code != 412:
                yield f"{operation_id}: {stale.status_code} for another version"
        key = {"HTTP_IDEMPOTENCY_KEY": f"key of {operation_id}".replace(" ", "-")}
        first = self.send(operation_id, example, **key if is_write else {})
        if example.answer is not None:
            answer = json.loads(first.content, parse_float=Decimal)
            list(self.differences(example.answer, answer, operation_id))
        if not is_write:
            return
        before = read_rows()
        again = self.send(operation_id, example, **key)
        is_replayed = again.headers.get("Idempotency-Replayed") == "true"
        takes_key = operation_id not in KEYLESS_OPERATIONS
        if is_replayed != (takes_key and not example.query.get("dryRun")):
            yield f"{operation_id}: {again.status_code} {again.content!r}"
        if is_replayed and read_rows() != before:
            yield f"{operation_id}: a second effect"
        for name in ("Location", "ETag", "Operation-Id", "Content-Type"):
            if is_replayed and again.headers.get(name) != first.headers.get(name):
                yield f"{operation_id}: {name} {again.headers.get(name)}"
        if is_replayed and (again.status_code, again.content) != (
            first.status_code,
            first.content,
        ):
            yield f"{operation_id}: another answer {again.content!r}"

    def check_feed(self, operation_id: str, example: Example) -> Iterator[str]:
        """Yield the operation if a copy by the feed of changes is not whole after it."""
        client = self.clients["member"]
        copy = self.copies.setdefault("member", Copy(client))
        copy.read()
        response = self.send(operation_id, example)
        if example.answer is not None:
            answer = json.loads(response.content, parse_float=Decimal)
            list(self.differences(example.answer, answer, operation_id))
        if operation_id in REPLACING_OPERATIONS:
            self.copies.clear()
            return
        copy.read()
        whole = Copy(client)
        whole.read()
        if copy.rows != whole.rows:
            yield f"{operation_id}: its rows are not in the feed"

    def check_undo(self, operation_id: str, example: Example) -> Iterator[str]:
        """Undo what the example did; yield the operation if the data are others."""
        before = dump_ledger(self.members["member"])
        response = self.send(operation_id, example)
        if example.answer is not None:
            answer = json.loads(response.content, parse_float=Decimal)
            list(self.differences(example.answer, answer, operation_id))
        number = response.headers.get("Operation-Id")
        is_recorded = "Operation-Id" in describe_headers(self.operations[operation_id])
        if is_recorded and example.query.get("dryRun"):
            return
        if is_recorded != (number is not None):
            yield f"{operation_id}: Operation-Id {number}"
        if number is None:
            return
        begin_transaction()
        path = f"{OPERATIONS}/{number}/undo"
        answer = self.clients["member"].send("POST", path, {})
        if answer.status_code != 200 or answer.data["keptCount"]:
            yield f"{operation_id}: {answer.content!r}"
        if dump_ledger(self.members["member"]) != before:
            yield f"{operation_id}: other data after its undo"
        begin_transaction()
        again = f"{OPERATIONS}/{answer.data['operationId']}/undo"
        self.clients["member"].send("POST", again, {})

    def try_body(self, operation_id: str, call: Call, body: Any) -> tuple[int, Any]:
        """Return status and answer to another body, and undo what it writes."""
        with transaction.atomic():
            response = self.send(operation_id, replace(call, body=body))
            transaction.set_rollback(True)
        return response.status_code, without_ids(response.data)

    def is_echoed(self, operation_id: str, response: Any) -> bool:
        """Return whether the answer is the resource that the body writes."""
        method, path, operation = self.operations[operation_id]
        is_item = method in {"put", "patch"} or "{" not in path
        if method == "post" and response.status_code != 201:
            return False
        if operation_id in NO_RESOURCES:
            return False
        body = operation.get("requestBody", {}).get("content", {})
        if "application/json" not in body or not isinstance(response.data, dict):
            return False
        schema = body["application/json"]["schema"]
        if reference := schema.get("$ref"):
            name = reference.rpartition("/")[2]
            schema = build_document()["components"]["schemas"][name]
        return is_item and response.data.keys() >= set(schema.get("required", ()))


def describe_headers(operation: tuple[str, str, Any]) -> set[str]:
    responses = operation[2]["responses"].values()
    return {name for each in responses for name in each.get("headers", ())}


def vary(example: Example, method: str, operation: Any) -> Iterator[tuple[Call, str]]:
    """Yield the call with an unknown name in the query and at each depth of the body."""
    base = {
        name: getattr(example, name)
        for name in ("path", "query", "body", "upload", "caller")
    }
    yield Call(**base | {"query": {**example.query, "unknownName": "1"}}), "unknownName"
    takes_json = "application/json" in operation.get("requestBody", {}).get(
        "content", {"application/json": ...}
    )
    if method == "get" or not takes_json:
        return
    body = {} if example.body is None else example.body
    for place, changed in add_name(body):
        yield Call(**base | {"body": changed}), place


def add_name(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the value with an unknown name in each of its objects, and the place."""
    if isinstance(value, dict):
        yield "unknownName", value | {"unknownName": 1}
        for key, part in value.items():
            for place, changed in add_name(part):
                yield f"{key}.{place}", value | {key: changed}
    elif isinstance(value, list):
        for index, part in enumerate(value):
            for place, changed in add_name(part):
                yield f"{index}.{place}", [*value[:index], changed, *value[index + 1 :]]


def list_nulls(schema: Any, value: Any) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield each optional field of a body: its place and schema, with null, without."""
    if isinstance(value, list):
        # All items have one schema.
        first, *others = value
        for place, described, null, without in list_nulls(schema["items"], first):
            yield f"0.{place}", described, [null, *others], [without, *others]
        return
    body, schema = value or {}, resolve(schema)
    for name, described in schema.get("properties", {}).items():
        without = {key: part for key, part in body.items() if key != name}
        if name not in schema.get("required", ()):
            yield name, described, {**without, name: None}, without
        if body.get(name) and "$ref" in described.get("items", ()):
            for place, deeper, null, less in list_nulls(described, body[name]):
                bodies = {**body, name: null}, {**body, name: less}
                yield f"{name}.{place}", deeper, *bodies


def resolve(schema: Any) -> Any:
    name = schema["$ref"].rpartition("/")[2]
    return build_document()["components"]["schemas"][name]


def takes_null(described: Any) -> bool:
    return "null" in described.get("type", ()) or "oneOf" in described


def find_cleared(schema: Any, name: str) -> Any:
    """Return what is sent to clear a field without null; None if nothing can be."""
    properties = resolve(schema)["properties"]
    schemas = build_document()["components"]["schemas"]
    whole = schema["$ref"].rpartition("/")[2].replace("Patch", "Write")
    # Without PUT there is no schema of the whole.
    described = schemas.get(whole, {"properties": {}})["properties"].get(name)
    described = described or properties[name]
    empty = {"array": [], "boolean": False}
    if "minLength" not in described and not described.keys() & {"format", "oneOf"}:
        empty["string"] = ""
    kind, _null = described.get("type", ("", ""))
    return described.get("x-default", empty.get(kind))


def without_ids(body: Any, name: str = "") -> Any:
    """Return an answer without what differs each time."""
    match body:
        case dict():
            return {key: without_ids(part, key) for key, part in body.items()}
        case list():
            return [without_ids(part, name) for part in body]
        case int() if ID_FIELD.fullmatch(name):
            return 0
        case str():
            return "" if name in RANDOM else UUID.sub("", IDP_LOGIN_ID.sub("", body))
    return body


def read_rows() -> dict[str, list[Any]]:
    """Return the rows of all tables but sessions and counts of attempts."""
    return {
        model._meta.label: list(model._default_manager.order_by("pk").values())
        for model in apps.get_models()
        if model._meta.managed
        and "ession" not in model.__name__
        and model is not RateLimit
    }


def without_times(body: Any) -> Any:
    return {name: value for name, value in body.items() if name != "updatedAt"}


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
    monkeypatch.setattr("accounts.login.second_factor.make_seed", lambda: SEED)
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


# Generated clients accept nothing else where a success has no content.
@pytest.mark.parametrize("accept", ["application/json", "application/problem+json"])
@pytest.mark.parametrize("module", SCENARIOS)
def test_examples_are_answered_as_they_say_whatever_the_client_accepts(
    module: str, accept: str, scene: Scene
) -> None:
    scenario = Scenario(scene, accept)
    examples = import_module(module).EXAMPLES
    assert examples
    differences = [
        difference
        for operation_id, example in examples.items()
        for difference in scenario.check(operation_id, example)
    ]
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("module", SCENARIOS)
def test_unknown_names_are_refused_and_answers_can_be_sent_back(
    module: str, scene: Scene
) -> None:
    scenario = Scenario(scene)
    wrong = [
        line
        for operation_id, example in import_module(module).EXAMPLES.items()
        if operation_id not in OPEN_OPERATIONS
        for line in scenario.check_names(operation_id, example)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "module", [module for module in SCENARIOS if module.startswith("ledger.")]
)
def test_every_write_of_a_ledger_is_in_the_feed_of_changes(
    module: str, scene: Scene
) -> None:
    scenario = Scenario(scene)
    missing = [
        text
        for operation_id, example in import_module(module).EXAMPLES.items()
        for text in scenario.check_feed(operation_id, example)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    "module", [module for module in SCENARIOS if module.startswith("ledger.")]
)
def test_ledger_is_as_open_to_a_silenced_member_as_before(
    module: str, scene: Scene
) -> None:
    silenced = Member.objects.filter(role="MEMBER")
    silenced.update(silenced_until=NOW + timedelta(days=9), silence_reason="Spam.")
    scenario = Scenario(scene)
    differences = [
        difference
        for operation_id, example in import_module(module).EXAMPLES.items()
        for difference in scenario.check(operation_id, example)
    ]
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize(
    "module", [module for module in SCENARIOS if module.startswith("ledger.")]
)
def test_every_operation_on_a_ledger_is_undone(module: str, scene: Scene) -> None:
    scenario = Scenario(scene)
    wrong = [
        text
        for operation_id, example in import_module(module).EXAMPLES.items()
        for text in scenario.check_undo(operation_id, example)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_deletion_of_a_row_is_recorded() -> None:
    missing = [
        operation_id
        for operation_id, operation in read_operations(build_document()).items()
        if operation[0] == "delete"
        and operation[1].startswith("/api/account/")
        and "Operation-Id" not in describe_headers(operation)
    ]
    # Clients keep no copy of it.
    assert sorted(missing) == ["deleteImport", "deleteTaughtLayout"]


@pytest.mark.parametrize("module", SCENARIOS)
def test_writes_have_one_effect_under_a_key_and_none_on_another_version(
    module: str, scene: Scene
) -> None:
    scenario = Scenario(scene)
    wrong = [
        line
        for operation_id, example in import_module(module).EXAMPLES.items()
        for line in scenario.check_headers(operation_id, example)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", SCENARIOS)
def test_null_leaves_out_on_creation_and_clears_in_changes(
    module: str, scene: Scene
) -> None:
    scenario = Scenario(scene)
    wrong = [
        line
        for operation_id, example in import_module(module).EXAMPLES.items()
        for line in scenario.check_nulls(operation_id, example)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", SCENARIOS)
def test_bodies_are_required_where_the_answer_is_400_without(
    module: str, scene: Scene
) -> None:
    scenario = Scenario(scene)
    wrong = []
    for operation_id, example in import_module(module).EXAMPLES.items():
        _, _, operation = scenario.operations[operation_id]
        body = operation.get("requestBody")
        if body and operation_id not in OPEN_OPERATIONS:
            with rolled_back():
                status = scenario.send_without_body(operation_id, example).status_code
            if (status == 400) != body.get("required", False):
                wrong.append(f"{operation_id}: {status}")
        # The next ones may need what it makes.
        response = scenario.send(operation_id, example)
        if example.answer is not None:
            answer = json.loads(response.content, parse_float=Decimal)
            list(scenario.differences(example.answer, answer, operation_id))
    assert wrong == []


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
    if example.refusal is None:
        return
    error = example.refusal.error
    problems = responses[str(error.status)]["content"]["application/problem+json"][
        "examples"
    ]
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
        text = render_problem(NotFoundError())["detail"]
    assert text == "Not found."
