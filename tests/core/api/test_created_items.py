"""`Location` of what was created, and the links of the document (spec 1.3)."""

import json
from typing import Any

import pytest

from accounts.models import Member
from config.openapi_examples import EXAMPLES
from core.api.openapi_hooks import list_operations
from core.api.openapi_view import build_document
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import make_rule

WALLETS, ENTRIES = "/api/account/wallets", "/api/account/entries"
WALLET = {"name": "Cash", "kind": "CASH"}
POINTERS = {"/id", "/entry/id", "/provider"}
# A value of a wallet and a login have no address.
WITHOUT_ADDRESS = {"createValuation", "giveConsent", "signUp"}


@pytest.fixture
def client(premium_member: Member, client_of: ClientOf) -> JSONClient:
    return client_of(premium_member)


def test_location_is_the_address_of_the_new_item(client: JSONClient) -> None:
    response = client.send("POST", WALLETS, WALLET)
    location = response.headers["Location"]
    assert location == f"http://testserver{WALLETS}/{response.data['id']}"
    assert client.get_json(location) == response.data


def test_location_begins_with_the_public_url(client: JSONClient, settings: Any) -> None:
    settings.PUBLIC_URL, settings.HAS_PUBLIC_URL = "https://ledger.example", True
    response = client.send("POST", WALLETS, WALLET)
    expected = f"https://ledger.example{WALLETS}/{response.data['id']}"
    assert response.headers["Location"] == expected


def test_location_of_an_alias_is_canonical(client: JSONClient) -> None:
    body = {"name": "Lunch", "type": "expense", "amount": 9_000}
    response = client.send("POST", "/account/quick-entries", body)
    expected = f"http://testserver/api/account/quick-entries/{response.data['id']}"
    assert response.headers["Location"] == expected


def test_location_may_be_of_another_list(
    client: JSONClient, premium_member: Member
) -> None:
    rule = make_rule(premium_member)
    booked = client.send("POST", f"/api/account/recurring/{rule.pk}/run")
    assert booked.status_code == 201
    assert booked.headers["Location"].endswith(f"{ENTRIES}/{booked.data['id']}")
    refund = client.send("POST", f"{ENTRIES}/{booked.data['id']}/refund", {})
    assert refund.headers["Location"].endswith(f"{ENTRIES}/{refund.data['id']}")


def test_location_of_a_notification_is_its_entry(client: JSONClient) -> None:
    body = EXAMPLES["processNotification"].body
    first = client.send("POST", f"{ENTRIES}/notification", body)
    assert first.status_code == 201, first.content
    assert first.headers["Location"].endswith(f"{ENTRIES}/{first.data['entry']['id']}")
    again = client.send("POST", f"{ENTRIES}/notification", body)
    assert again.status_code == 200
    assert "Location" not in again.headers


def test_refused_creation_has_no_location(client: JSONClient) -> None:
    client.create_json(WALLETS, WALLET)
    for body, status in ((WALLET, 409), ({}, 400)):
        response = client.send("POST", WALLETS, body)
        assert response.status_code == status
        assert "Location" not in response.headers


def test_each_creation_is_linked_with_the_operations_of_its_item() -> None:
    document = json.loads(json.dumps(build_document(), default=str))
    paths = {
        operation["operationId"]: path
        for path, _, operation in list_operations(document)
    }
    for _, _, operation in list_operations(document):
        created = operation["responses"].get("201")
        if created is None or operation["operationId"] in WITHOUT_ADDRESS:
            continue
        assert created["headers"]["Location"] == {
            "$ref": "#/components/headers/Location"
        }
        assert created["links"], operation["operationId"]
        for name, link in created["links"].items():
            ((parameter, pointer),) = link["parameters"].items()
            assert link["operationId"] == name
            assert paths[name].endswith(f"{{{parameter}}}")
            assert pointer.removeprefix("$response.body#") in POINTERS
    assert "x-created-item" not in json.dumps(document)
