"""Purchases through the API."""

from datetime import datetime
from typing import Any

from accounts.models import Member
from billing.models import Purchase
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem

TOKEN = "opaque.token-AO_J1Ox"
SUBSCRIPTION = "/api/billing/subscription"


def buy(client: JSONClient, token: Any, product: Any = "premium_monthly") -> Any:
    """Return the response to a verification."""
    body = {"productId": product, "purchaseToken": token}
    return client.send("POST", "/api/billing/store/verify", body)


def expiry_of(response: Any) -> datetime:
    return datetime.fromisoformat(response.data["planExpiresAt"])


def assert_not_granted(response: Any, status: int, code: str) -> None:
    assert_problem(response, status, code)
    assert not Purchase.objects.exists()
    assert not Member.objects.filter(plan="PREMIUM").exists()


def plan_of(member: Member) -> tuple[Any, ...]:
    """Return the plan of the member as it is stored."""
    member.refresh_from_db()
    return (
        member.plan,
        member.plan_expires_at,
        member.plan_product,
        member.plan_auto_renew,
    )
