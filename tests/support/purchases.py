"""Purchases through the API."""

from typing import Any

from tests.support.clients import JSONClient


def buy(client: JSONClient, token: Any, product: Any = "premium_monthly") -> Any:
    """Return the response to a verification."""
    body = {"productId": product, "purchaseToken": token}
    return client.send("POST", "/api/billing/store/verify", body)
