"""The schemas of the OpenAPI document: what client generators make of them."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from config.about import VERSION
from core.api.fields import TAG_PATTERN, TEXT_PATTERN, has_control_characters
from core.api.openapi_hooks import list_operations
from core.api.openapi_view import build_document
from core.api.serializers import to_camel_case
from ledger.backup import columns
from ledger.backup.serializers import RestoreRequestSerializer

DOCUMENT = build_document()
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = list(list_operations(DOCUMENT))
REFERENCE = re.compile(r'"#/components/schemas/(\w+)"')
# Pairs that cannot grow; all other words of answers may.
CLOSED_ENUMS = {"CategoryType", "TradeSide", "VoteDirection"}
# What an answer has only if it applies.
CONDITIONAL_FIELDS = {
    # Only where the query asks for it.
    ("MonthStatistics", "installments"),
    ("YearStatistics", "installments"),
    ("RangeStatistics", "installments"),
    ("MonthlyBudgetStatus", "installments"),
    ("BudgetChart", "installments"),
    ("Health", "imageStore"),
    ("Health", "writes"),
    *(("Entry", "matchedAmount"), ("WalletHistoryRow", "matchedAmount")),
    *(("Entry", "partsReset"), ("WalletHistoryRow", "partsReset")),
    ("UnmergedEntry", "partsReset"),
    *(
        (schema, name)
        for schema in ("Entry", "UnmergedEntry", "WalletHistoryRow")
        for name in ("unsure", "doubts", "candidates")
    ),
    *(("UnmergedEntry", "matchedAmount"), ("UnmergedEntry", "givenUp")),
    *(("Wallet", "accountNumberUnreadable"), ("CompletedLoginSession", "created")),
    *(("CompletedLoginSession", "linked"), ("Problem", "errors")),
    *(
        ("Problem", "addressProved"),
        ("Problem", "counts"),
        ("Problem", "current"),
        ("Problem", "decision"),
        ("Problem", "documents"),
        ("Problem", "reason"),
        ("Problem", "until"),
        ("Problem", "expiresAt"),
        ("Problem", "methods"),
        ("Problem", "scope"),
    ),
    *(("Problem", "ticket"), ("FieldError", "sheet")),
    ("FieldError", "suggestion"),
    *(("FieldError", "row"), ("FieldError", "column")),
}
# Names, addresses and languages of members.
# A budget has a category, by name or by id.
CANNOT_BE_CLEARED = {
    "BudgetPatch",
    "BudgetWrite",
    "EntryValuesWrite",
    "ImportChangePatch",
    "OwnProfileRequest",
    "ProfileRequest",
}
# Any text: of the store, and of programs that fill each field.
TEXTS_OF_OTHERS = {
    *("PushMessageRequest.data", "PushMessageRequest.messageId"),
    *("PushRequest.subscription", "SignupRequest.website"),
    "ImportFileRequest.password",
}
# What is an exact number; money and ids are whole numbers of 64 bits.
DECIMALS = {
    *("averageCost", "balance", "exchangeRate", "originalAmount", "quantity", "rate"),
    *("paidAmount", "share", "unrealizedRate"),
}


def list_references(node: Any) -> Iterator[str]:
    """Yield the names of the schemas that a part of the document refers to."""
    if isinstance(node, list):
        for item in node:
            yield from list_references(item)
    elif isinstance(node, dict):
        if str(node.get("$ref", "")).startswith("#/components/schemas/"):
            name = node["$ref"].rpartition("/")[2]
            yield name
            yield from list_references(SCHEMAS[name])
        for item in node.values():
            yield from list_references(item)


def list_nodes(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, list):
        for item in node:
            yield from list_nodes(item)
    elif isinstance(node, dict):
        yield node
        for item in node.values():
            yield from list_nodes(item)


REQUEST_SCHEMAS = {
    name
    for _, _, operation in OPERATIONS
    for name in list_references(operation.get("requestBody"))
}
ANSWER_SCHEMAS = {
    name
    for _, _, operation in OPERATIONS
    for name in list_references(operation["responses"])
} | {*list_references(DOCUMENT["components"]["responses"])}
PROPERTIES = [
    (schema, name, described)
    for schema in SCHEMAS
    for name, described in SCHEMAS[schema].get("properties", {}).items()
]


def test_requests_and_answers_share_no_schema_but_closed_enums() -> None:
    assert REQUEST_SCHEMAS & ANSWER_SCHEMAS == CLOSED_ENUMS
    assert {"EntryWrite", "EntryPatch"} <= REQUEST_SCHEMAS
    assert {"Entry", "EntryPage"} <= ANSWER_SCHEMAS
    assert [
        name for name in SCHEMAS if re.search("Body|RequestWrite|^Patched", name)
    ] == []


def test_every_schema_is_used() -> None:
    of_queries = {
        name
        for _, _, operation in OPERATIONS
        for name in list_references(operation.get("parameters"))
    }
    assert set(SCHEMAS) == REQUEST_SCHEMAS | ANSWER_SCHEMAS | of_queries


def test_answers_always_have_their_fields() -> None:
    optional = {
        (schema, name)
        for schema, name, _ in PROPERTIES
        if schema in ANSWER_SCHEMAS and name not in SCHEMAS[schema]["required"]
    }
    assert optional == CONDITIONAL_FIELDS


def test_requests_have_no_defaults_that_generators_would_send() -> None:
    # Generators count such a property as required, and send it in every PATCH.
    assert [name for _, name, described in PROPERTIES if "default" in described] == []
    assert SCHEMAS["WalletWrite"]["required"] == ["kind", "name"]
    assert SCHEMAS["EntryWrite"]["required"] == ["date", "type"]
    for name in REQUEST_SCHEMAS:
        if name.endswith("Patch"):
            assert "required" not in SCHEMAS[name]


def test_optional_fields_of_requests_take_null() -> None:
    # Generated clients send null for what was left out.
    for schema in REQUEST_SCHEMAS - CANNOT_BE_CLEARED:
        name = schema.removesuffix("Patch")
        whole = SCHEMAS[schema] if name == schema else SCHEMAS.get(f"{name}Write")
        refuse_null = {
            field
            for field, described in SCHEMAS[schema].get("properties", {}).items()
            if "null" not in described.get("type", ()) and "oneOf" not in described
        }
        assert refuse_null <= set((whole or SCHEMAS[name]).get("required", ())), schema


def test_answers_promise_no_limits() -> None:
    # A limit that is raised later would break clients that check it.
    limits = {"maxLength", "minLength", "maximum", "minimum", "maxItems", "pattern"}
    for schema in ANSWER_SCHEMAS:
        # Those with a type: a property may be called `minimum`.
        schemas = [n for n in list_nodes(SCHEMAS[schema]) if "type" in n]
        assert [n for n in schemas if limits & n.keys()] == []


def test_whole_numbers_have_64_bits_unless_their_limits_are_small() -> None:
    for node in list_nodes([DOCUMENT["paths"], SCHEMAS]):
        if node.get("type") in ("integer", ["integer", "null"]):
            assert node["format"] in {"int32", "int64"}, node
            if {"minimum", "maximum"} <= node.keys():
                is_small = max(-node["minimum"], node["maximum"]) < 2**31
                assert node["format"] == ("int32" if is_small else "int64")
    for schema, name, described in PROPERTIES:
        is_money_or_id = re.search("(?i)amount$|balance|price$|id$|profit|value$", name)
        if is_money_or_id and "integer" in described.get("type", ""):
            assert described["format"] == "int64", (schema, name)


def test_decimals_are_exact_numbers() -> None:
    found = {name for _, name, described in PROPERTIES if described.get("x-decimal")}
    assert found == DECIMALS
    for schema, name, described in PROPERTIES:
        if "number" in described.get("type", ""):
            assert described["x-decimal"] is True, (schema, name)
            assert "format" not in described, (schema, name)


def test_null_is_a_type_or_stands_beside_one_reference() -> None:
    for node in list_nodes([DOCUMENT["paths"], SCHEMAS]):
        assert "allOf" not in node
        assert "anyOf" not in node
        if "oneOf" in node:
            reference, null = node["oneOf"]
            assert set(reference) == {"$ref"}
            assert null == {"type": "null"}
    assert "NullEnum" not in SCHEMAS


def test_growing_words_are_no_enums_in_answers() -> None:
    enums = {name for name in SCHEMAS if "enum" in SCHEMAS[name]}
    assert enums & ANSWER_SCHEMAS == CLOSED_ENUMS
    assert all("enum" not in described for _, _, described in PROPERTIES)
    for schema, name in (
        *(("Member", "plan"), ("Member", "planProduct"), ("Subscription", "product")),
        *(("Product", "id"), ("Problem", "code"), ("Health", "database")),
        *(("NotificationOutcome", "reason"), ("Wallet", "kind")),
    ):
        described = SCHEMAS[schema]["properties"][name]
        assert "string" in described["type"]
        assert described["x-known-values"], (schema, name)
    assert SCHEMAS["VoteResult"]["properties"]["myVote"]["oneOf"][0] == {
        "$ref": "#/components/schemas/VoteDirection"
    }


def test_words_that_are_read_can_be_sent() -> None:
    # A client that is older than a value reads it, and sends it back.
    enums = {name for name in SCHEMAS if "enum" in SCHEMAS[name]}
    assert enums - CLOSED_ENUMS == {
        *("BatchOperation", "CategoryLanguage", "DateOrder"),
        *("ImportRowAction", "VoteState"),
    }
    for answer, names in {
        "Entry": ["type"],
        "Wallet": ["kind"],
        "RecurringRule": ["frequency", "type"],
        "Post": ["category"],
        "QuickEntry": ["type"],
    }.items():
        for name in names:
            known = SCHEMAS[answer]["properties"][name]["x-known-values"]
            for written in (f"{answer}Write", f"{answer}Patch"):
                described = SCHEMAS[written]["properties"][name]
                assert (described["type"], described["x-known-values"]) == (
                    "string",
                    known,
                )


def test_known_codes_are_those_of_the_error_classes() -> None:
    known = set(SCHEMAS["Problem"]["properties"]["code"]["x-known-values"])
    assert {"VALIDATION_ERROR", "NEGATIVE_HOLDINGS", "SELF_VOTE"} <= known
    for response in DOCUMENT["components"]["responses"].values():
        assert set(response.get("x-codes", ())) <= known


@pytest.mark.parametrize("field", [*RestoreRequestSerializer().fields])
def test_rows_of_a_json_backup_are_those_of_the_workbook(field: str) -> None:
    (sheet,) = [each for each in columns.SHEETS if each.name == field]
    row = SCHEMAS["RestoreRequest"]["properties"][field]["items"]["$ref"]
    described = SCHEMAS[row.rpartition("/")[2]]
    assert set(described["properties"]) == {each.header for each in sheet.columns}
    assert set(described["required"]) == {
        each.header for each in sheet.columns if each.is_required
    }


def test_every_operation_names_its_errors() -> None:
    for path, method, operation in OPERATIONS:
        responses = operation["responses"]
        assert {"500", "503", "default"} <= responses.keys(), (method, path)
        assert ("401" in responses) >= bool(operation["security"])
        assert ("{" in path) <= ("404" in responses)
        if "requestBody" in operation:
            assert {"400", "413"} <= responses.keys()
    create_trade = DOCUMENT["paths"]["/api/account/trades"]["post"]["responses"]
    assert create_trade["400"]["x-codes"] == ["NEGATIVE_HOLDINGS", "VALIDATION_ERROR"]


def test_headers_that_clients_read_are_named() -> None:
    shared = DOCUMENT["components"]["responses"]
    assert "Retry-After" in shared["RateLimited"]["headers"]
    assert "Retry-After" in shared["ServiceUnavailable"]["headers"]
    image = DOCUMENT["paths"]["/api/images/{imageId}"]["get"]["responses"]
    assert {"ETag", "Content-Disposition"} <= image["200"]["headers"].keys()
    assert "ETag" in image["304"]["headers"]
    for _, _, operation in OPERATIONS:
        for response in operation["responses"].values():
            named = shared.get(response.get("$ref", "").rpartition("/")[2], response)
            assert "X-Request-ID" in named["headers"]


def test_addresses_are_uris() -> None:
    for schema, name, described in PROPERTIES:
        is_text = schema in ANSWER_SCHEMAS and not {"$ref", "oneOf"} & described.keys()
        if is_text and name in {"next", "previous", "url", "idpPicture"}:
            assert described["format"] == "uri", (schema, name)
    # Relative, unless it is the image of the identity provider.
    assert SCHEMAS["Author"]["properties"]["avatar"]["format"] == "uri-reference"


def test_document_names_its_server_and_version() -> None:
    assert DOCUMENT["servers"] == [{"url": settings.PUBLIC_URL}]
    assert DOCUMENT["info"]["version"] == VERSION
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def test_tags_are_described() -> None:
    used = {operation["tags"][0] for _, _, operation in OPERATIONS}
    assert {tag["name"] for tag in DOCUMENT["tags"]} == used


def test_path_parameters_are_named_as_in_the_path() -> None:
    for path, _, operation in OPERATIONS:
        names = [
            p["name"] for p in operation.get("parameters", []) if p["in"] == "path"
        ]
        assert sorted(names) == sorted(re.findall(r"\{(\w+)\}", path))
        assert all(name == to_camel_case(name) for name in names)


# What is told of requests: what is left out, what may be sent, what is done with it.
OF_REQUESTS = re.compile(
    r"(?i)\bleft out (or|:|of an? (new|update))|if left out|omitted|by default"
    r"|\d+ characters|\b[01] to \d{5}|\bone is created|ones are created|unless an administrator"
)


def test_texts_of_requests_are_on_no_answer() -> None:
    wrong = [
        f"{schema}.{name}: {described['description']}"
        for schema, name, described in PROPERTIES
        if schema in ANSWER_SCHEMAS
        and OF_REQUESTS.search(described.get("description", ""))
    ]
    assert wrong == []


def test_fields_of_both_directions_tell_requests_more() -> None:
    told = {
        schema: SCHEMAS[schema]["properties"]["interval"]["description"]
        for schema in ("RecurringRule", "RecurringRuleWrite", "RecurringRulePatch")
    }
    text = "Every so many days, weeks, months or years."
    assert told == {
        "RecurringRule": text,
        "RecurringRuleWrite": f"{text} Left out: 1.",
        # A partial update changes nothing that is left out.
        "RecurringRulePatch": text,
    }
    name = SCHEMAS["WalletPatch"]["properties"]["name"]["description"]
    assert name == "The name. 1 to 100 characters."


def test_patterns_are_what_the_fields_refuse() -> None:
    characters = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x11000))]
    refused = [c for c in characters if has_control_characters(c)]
    assert len(refused) == 65
    text, tag = re.compile(TEXT_PATTERN), re.compile(TAG_PATTERN)
    assert [c for c in characters if not text.search(c)] == refused
    assert [c for c in characters if not tag.search(c)] == sorted({",", *refused})


def test_texts_of_requests_have_a_pattern() -> None:
    entry = SCHEMAS["EntryWrite"]["properties"]
    assert entry["memo"]["pattern"] == TEXT_PATTERN
    assert entry["tags"]["items"]["pattern"] == TAG_PATTERN
    parameters = DOCUMENT["paths"]["/api/account/entries"]["get"]["parameters"]
    patterns = {each["name"]: each["schema"].get("pattern") for each in parameters}
    assert (patterns["keyword"], patterns["page"]) == (TEXT_PATTERN, None)
    without = {
        f"{schema}.{name}"
        for schema, name, described in PROPERTIES
        if schema in REQUEST_SCHEMAS
        and "string" in described.get("type", "")
        and not {"pattern", "format", "x-known-values"} & described.keys()
    }
    assert without == TEXTS_OF_OTHERS
