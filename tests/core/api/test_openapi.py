"""The OpenAPI document: complete, canonical, made without a warning."""

import functools
import io
import itertools
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema

from config.url_aliases import ALIASED_WITHOUT_APP
from core.api import openapi_view
from core.api.openapi_view import OpenApiSchemaView, build_document
from core.api.serializers import to_camel_case
from tests.support.clients import JSONClient
from tests.support.routes import list_routes

UNDOCUMENTED = {"/api/docs", "/api/docs/try", "/api/schema"}


@pytest.fixture(scope="module")
def document() -> Any:
    GENERATOR_STATS.reset()
    generator: Any = SchemaGenerator
    return generator().get_schema(request=None, public=True)


def list_operations(document: Any) -> list[tuple[str, str, Any]]:
    return [
        (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in {"get", "post", "put", "patch", "delete"}
    ]


def with_camel_case_parameters(path: str) -> str:
    return re.sub(r"\{\w+\}", lambda match: to_camel_case(match.group()), path)


def test_document_is_made_without_warnings(document: Any) -> None:
    assert document["paths"]
    assert not GENERATOR_STATS


def test_document_is_valid(document: Any) -> None:
    validate: Any = validate_schema
    validate(document)
    assert document["openapi"].startswith("3.1")


def test_every_canonical_path_is_in_with_all_its_methods(document: Any) -> None:
    aliases = {
        "/api/"
        + route.partition("/")[2].replace("int:", "").translate({60: "{", 62: "}"})
        for route in ALIASED_WITHOUT_APP
    }
    for route in list_routes():
        if not route.path.startswith("/api/") or route.path in aliases | UNDOCUMENTED:
            continue
        path = with_camel_case_parameters(route.path)
        assert path in document["paths"]
        documented = set(document["paths"][path])
        assert {method.lower() for method in route.methods} <= documented


def test_addresses_as_written_are_left_out(document: Any) -> None:
    assert all(path.startswith("/api/") for path in document["paths"])
    for alias in ("/api/entries/pending/count", "/api/entries/{entryId}/confirm"):
        assert alias not in document["paths"]
    assert "/api/account/entries/pending/count" in document["paths"]


def test_every_operation_may_have_another_answer(document: Any) -> None:
    for _path, _method, operation in list_operations(document):
        assert operation["responses"]["default"] == {
            "$ref": "#/components/responses/OtherProblem"
        }
    # It may be a page of a proxy.
    assert "content" not in document["components"]["responses"]["OtherProblem"]


def test_every_operation_has_a_unique_id_in_camel_case(document: Any) -> None:
    operations = [operation for _, _, operation in list_operations(document)]
    ids = [operation["operationId"] for operation in operations]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z]+([A-Z][a-z]+)+", name) for name in ids), ids


def test_command_lists_every_operation(document: Any) -> None:
    output = io.StringIO()
    call_command("list_operations", stdout=output)
    rows = re.findall(
        r"^\| `(\w+)` \| ([A-Z]+) \| `(\S+)` \| (.+?) \|$", output.getvalue(), re.M
    )
    assert sorted(rows) == sorted(
        (operation["operationId"], method.upper(), path, *operation["tags"])
        for path, method, operation in list_operations(document)
    )


def test_no_tag_has_many_operations(document: Any) -> None:
    operations = list_operations(document)
    tags = Counter(operation["tags"][0] for _, _, operation in operations)
    assert max(tags.values()) < len(operations) / 5


def test_every_operation_has_the_tag_of_its_area(document: Any) -> None:
    for path, method, operation in list_operations(document):
        is_health_check = path.startswith("/api/health")
        assert len(operation["tags"]) == 1, (path, method)
        assert (operation["tags"] == ["Service"]) == is_health_check, (path, method)


def test_every_operation_has_a_short_title(document: Any) -> None:
    for path, method, operation in list_operations(document):
        summary = operation.get("summary", "")
        assert re.fullmatch("[A-Z].{3,69}[^.;]", summary), (path, method, summary)


@pytest.mark.parametrize(
    ("method", "path", "operation_id", "summary"),
    [
        ("get", "wallets", "listWallets", "List wallets"),
        ("post", "entries", "createEntry", "Create an entry"),
        ("get", "tags/{tagId}", "getTag", "Get a tag"),
        ("put", "tags/{tagId}", "replaceTag", "Replace a tag"),
        ("get", "quick-entries", "listQuickEntries", "List quick entries"),
        ("patch", "categories/{categoryId}", "updateCategory", "Update a category"),
        ("delete", "trades/{tradeId}", "deleteTrade", "Delete a trade"),
        ("put", "stocks/reorder", "reorderStocks", "Reorder stocks"),
        ("get", "networth", "getNetWorth", "Get the net worth"),
        ("get", "networth/trend", "getNetWorthTrend", "Get the net-worth trend"),
    ],
)
def test_operation_is_named_by_its_view(
    document: Any, method: str, path: str, operation_id: str, summary: str
) -> None:
    operation = document["paths"][f"/api/account/{path}"][method]
    assert (operation["operationId"], operation["summary"]) == (operation_id, summary)


def test_description_is_what_follows_the_title(document: Any) -> None:
    operation = document["paths"]["/api/account/entries"]["get"]
    assert operation["description"].startswith("Newest first: by date, then by id. ")


@pytest.mark.parametrize("path", ["wallets", "categories", "stocks", "recurring"])
def test_list_is_described_as_an_array(document: Any, path: str) -> None:
    responses = document["paths"][f"/api/account/{path}"]["get"]["responses"]
    schema = responses["200"]["content"]["application/json"]["schema"]
    assert schema["type"] == "array"


def test_all_names_are_camel_case(document: Any) -> None:
    for name, schema in document["components"]["schemas"].items():
        for key in schema.get("properties", {}):
            assert "_" not in key, f"{name}.{key}"
    for path, _, operation in list_operations(document):
        assert "_" not in path
        for parameter in operation.get("parameters", []):
            assert "_" not in parameter["name"], path
            if parameter["in"] == "path":
                assert f"{{{parameter['name']}}}" in path


def list_descriptions(document: Any) -> Iterator[tuple[str, str | None]]:
    """Yield where a client developer looks for a text, and the text."""
    for _, _, operation in list_operations(document):
        name = operation["operationId"]
        yield name, operation.get("description")
        for parameter in operation.get("parameters", []):
            yield f"{name}({parameter['name']})", parameter.get("description")
    for name, schema in document["components"]["schemas"].items():
        for key, field in schema.get("properties", {}).items():
            yield f"{name}.{key}", field.get("description")


def test_every_operation_parameter_and_property_is_described(document: Any) -> None:
    assert [place for place, text in list_descriptions(document) if not text] == []


def test_descriptions_do_not_cite_what_client_developers_do_not_have(
    document: Any,
) -> None:
    texts = dict(list_descriptions(document)) | {
        name: schema.get("description")
        for name, schema in document["components"]["schemas"].items()
    }
    citation = re.compile(r"\b(contract|section|spec)\b|ledger\.|\.md\b", re.IGNORECASE)
    assert [place for place, text in texts.items() if citation.search(text or "")] == []


def test_id_in_a_path_is_described_by_its_noun(document: Any) -> None:
    parameters = document["paths"]["/api/account/quick-entries/{quickEntryId}"]["get"]
    assert parameters["parameters"][0]["description"] == "Id of the quick entry."


def test_paths_of_one_shape_differ_in_a_number(document: Any) -> None:
    # `/entries/{entryId}/confirm` and `/entries/layouts/{layoutId}` share no path.
    numbers = {
        f"{{{parameter['name']}}}"
        for _, _, operation in list_operations(document)
        for parameter in operation.get("parameters", [])
        # A UUID is no word of a path either.
        if parameter["in"] == "path" and "format" in parameter["schema"]
    }

    def is_told_apart(segment: str, other: str) -> bool:
        if "{" in segment:
            return segment in numbers and "{" not in other
        return segment != other and ("{" not in other or other in numbers)

    for path, other in itertools.combinations(document["paths"], 2):
        segments, others = path.split("/"), other.split("/")
        assert len(segments) != len(others) or any(
            map(is_told_apart, segments, others)
        ), (path, other)


def test_both_ways_of_presenting_a_session_are_described(document: Any) -> None:
    schemes = document["components"]["securitySchemes"]
    assert schemes["bearer"] == {"type": "http", "scheme": "bearer"}
    assert schemes["cookie"] == {"type": "apiKey", "in": "cookie", "name": "sessionid"}

    either: Any = [{"bearer": []}, {"cookie": []}]
    assert document["paths"]["/api/account/wallets"]["get"]["security"] == either


def test_what_is_public_asks_for_no_session(document: Any) -> None:
    public = {
        operation["operationId"]
        for _, _, operation in list_operations(document)
        if operation["security"] == []
    }
    assert public == {
        *("signUp", "logIn", "logInWithIdp", "completeLogin", "getIdpClientId"),
        *("listLegalDocuments", "listAnnouncements"),
        *("getSignupEnabled", "confirmEmailVerification", "requestPasswordReset"),
        *("confirmPasswordReset", "getImage", "getAvatar", "receiveStoreNotification"),
        *("getHealth", "getMeta", "getLiveness"),
    }


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "application/vnd.oai.openapi+json"),
        ("application/json", "application/json"),
        ("application/json, text/plain, */*", "application/json"),
        ("application/yaml", "application/yaml"),
        ("application/vnd.oai.openapi", "application/vnd.oai.openapi"),
    ],
)
def test_document_comes_under_the_name_that_is_asked_for(
    accept: str, kind: str
) -> None:
    response = JSONClient().get("/api/schema", HTTP_ACCEPT=accept)
    assert response.status_code == 200
    assert response.headers["Content-Type"].partition(";")[0] == kind
    assert yaml.load(response.content, yaml.CSafeLoader)["openapi"].startswith("3.")


@pytest.mark.parametrize(
    ("accept", "renderer"),
    [
        ("application/json", OpenApiJsonRenderer),
        ("application/yaml", OpenApiYamlRenderer),
    ],
)
def test_document_is_rendered_once(
    accept: str, renderer: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Everybody may request it, and to render it takes longer than most requests.
    first = JSONClient().get("/api/schema", HTTP_ACCEPT=accept)
    monkeypatch.setattr(renderer, "render", lambda *_: b"rendered again")
    again = JSONClient().get("/api/schema", HTTP_ACCEPT=accept)
    assert again.content == first.content
    # An error in the same format is not the document.
    assert JSONClient().post("/api/schema", HTTP_ACCEPT=accept).content != first.content


def test_document_is_built_by_one_of_the_first_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The library fails while two threads load its extensions.
    built: list[int] = []
    together = threading.Barrier(4)

    class SlowGenerator:
        def get_schema(self, *, public: bool) -> dict[str, str]:
            built.append(threading.get_ident())
            time.sleep(0.1)
            return {}

    def build_together(_: int) -> Any:
        together.wait(20)
        return build_document()

    monkeypatch.setattr(OpenApiSchemaView, "generator_class", SlowGenerator)
    fresh = functools.cache(openapi_view._build_document.__wrapped__)
    monkeypatch.setattr(openapi_view, "_build_document", fresh)
    with ThreadPoolExecutor(4) as pool:
        documents = list(pool.map(build_together, range(4)))
    assert documents == [{}] * 4
    assert len(built) == 1


def test_document_has_the_indent_that_is_asked_for() -> None:
    for indent in (1, 3):
        media_type = f"application/json; indent={indent}"
        content = JSONClient().get("/api/schema", HTTP_ACCEPT=media_type).content
        assert content.startswith(b"{\n" + b" " * indent + b'"')


@pytest.mark.django_db
def test_document_and_its_page_are_public() -> None:
    response = JSONClient().get("/api/schema")
    assert response.status_code == 200
    assert yaml.load(response.content, yaml.CSafeLoader)["info"]["version"]
    page = JSONClient().get("/api/docs/try")
    assert page.status_code == 200
    assert b"swagger" in page.content
    assert b"https://cdn" not in page.content
