"""Bodies of entries, and how they are sent."""

from typing import Any

from tests.support.clients import JSONClient

ENTRIES = "/api/account/entries"
PLAIN = {"date": "2026-11-21", "type": "expense", "amount": 5_000}
FOREIGN = {
    "date": "2026-11-21",
    "type": "expense",
    "currency": "USD",
    "originalAmount": "12.34",
    "exchangeRate": "1380.5",
}
RATELESS = {name: value for name, value in FOREIGN.items() if name != "exchangeRate"}
FIELDS = {
    "id",
    "date",
    "type",
    "amount",
    "category",
    "walletId",
    "wallet",
    "memo",
    "tags",
    "tagIds",
    "currency",
    "originalAmount",
    "exchangeRate",
    "installmentMonths",
    "billMonth",
    "pending",
    "createdAt",
    "updatedAt",
    "version",
    "toWalletId",
    "toWallet",
    "categoryId",
    "categoryType",
    "lines",
    "refundOf",
    "refunded",
    "time",
    "excluded",
    "source",
    "merged",
    "clientId",
}
# What an entry has of spec 3.19 if it uses none of it.
UNUSED: dict[str, Any] = {
    "toWalletId": None,
    "toWallet": None,
    "categoryType": "expense",
    "lines": [],
    "refundOf": None,
    "refunded": 0,
    "time": None,
    "excluded": False,
    "source": "MANUAL",
    "merged": False,
    "tagIds": [],
    "clientId": None,
}


def create_entry(client: JSONClient, body: Any) -> Any:
    """Create an entry, which must be accepted; return its body."""
    response = client.send("POST", ENTRIES, body)
    assert response.status_code == 201, response.content
    return response.data


def update_entry(client: JSONClient, method: str, entry_id: Any, body: Any) -> Any:
    response = client.send(method, f"{ENTRIES}/{entry_id}", body)
    assert response.status_code == 200, response.content
    return response.data


def ids_of(client: JSONClient, **query: Any) -> list[Any]:
    body = client.get_json(ENTRIES, **query)
    assert body["count"] == len(body["results"])
    return [row["id"] for row in body["results"]]
