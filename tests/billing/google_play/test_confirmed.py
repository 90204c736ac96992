"""Purchases that Google Play confirms, against its wire format on a loopback address."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from billing.models import Purchase
from core import http_client
from tests.support.clients import JSONClient
from tests.support.fake_store import FakePlay
from tests.support.purchases import TOKEN, assert_not_granted, buy, expiry_of


def test_store_sets_its_own_expiry(buyer: JSONClient, play: FakePlay) -> None:
    expiry = play.sell(TOKEN, expires_at=timezone.now() + timedelta(days=11))
    response = buy(buyer, TOKEN)
    assert response.status_code == 200
    assert expiry_of(response) == expiry
    assert response.data["applied"] is True
    assert response.data["autoRenew"] is True
    purchase = Purchase.objects.get()
    assert (purchase.store, purchase.order_id) == ("google_play", "GPA.1")
    assert (purchase.state, purchase.expires_at) == ("ACTIVE", expiry)


def test_purchase_is_verified_and_then_acknowledged(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    assert play.calls == [
        f"GET subscriptionsv2/tokens/{TOKEN}",
        f"POST subscriptions/premium_monthly/tokens/{TOKEN}:acknowledge",
    ]
    assert Purchase.objects.get().is_acknowledged
    buy(buyer, TOKEN)
    assert play.calls[2:] == [f"GET subscriptionsv2/tokens/{TOKEN}"]
    # An access token is used for its hour.
    paths = [request.path for request, _ in play.server.log]
    assert paths.count("/oauth2/token") == 1


def test_store_is_asked_outside_of_transactions(
    buyer: JSONClient, play: FakePlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths = []
    real = http_client._send

    def watch(*args: Any, **parts: Any) -> Any:
        depths.append(len(connection.savepoint_ids))
        return real(*args, **parts)

    outside = len(connection.savepoint_ids)
    monkeypatch.setattr(http_client, "_send", watch)
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    assert set(depths) == {outside}


def test_purchase_counts_though_the_acknowledgement_failed(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.deaf.add("acknowledge")
    play.sell(TOKEN)
    assert buy(buyer, TOKEN).data["applied"] is True
    assert not Purchase.objects.get().is_acknowledged
    play.deaf.clear()
    assert buy(buyer, TOKEN).data["applied"] is False
    assert Purchase.objects.get().is_acknowledged


@pytest.mark.parametrize("state", ["ACTIVE", "IN_GRACE_PERIOD", "CANCELED"])
def test_state_that_entitles(buyer: JSONClient, play: FakePlay, state: str) -> None:
    play.sell(TOKEN, state=state, auto_renew=state != "CANCELED")
    response = buy(buyer, TOKEN)
    assert response.data["plan"] == "PREMIUM"
    assert response.data["autoRenew"] is (state != "CANCELED")


@pytest.mark.parametrize(
    "state",
    ["PENDING", "PENDING_PURCHASE_CANCELED", "ON_HOLD", "PAUSED", "EXPIRED", "NEW_ONE"],
)
def test_other_state_gives_nothing(
    buyer: JSONClient, play: FakePlay, state: str
) -> None:
    play.sell(TOKEN, state=state)
    assert_not_granted(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")


@pytest.mark.parametrize(
    "fields",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"product": "premium_yearly"},
        {"product": "coins_100"},
    ],
)
def test_past_period_and_other_products_give_nothing(
    buyer: JSONClient, play: FakePlay, fields: Any
) -> None:
    play.sell(TOKEN, **fields)
    assert_not_granted(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")


def test_prepaid_plan_does_not_renew(buyer: JSONClient, play: FakePlay) -> None:
    play.sell(TOKEN)
    line = play.bodies[TOKEN]["lineItems"][0]
    del line["autoRenewingPlan"]
    line["prepaidPlan"] = {}
    assert buy(buyer, TOKEN).data["autoRenew"] is False


def test_line_without_an_order_id_has_that_of_the_subscription(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN, order="GPA.7")
    del play.bodies[TOKEN]["lineItems"][0]["latestSuccessfulOrderId"]
    buy(buyer, TOKEN)
    assert Purchase.objects.get().order_id == "GPA.7"


def test_renewal_is_an_order_of_its_own_under_the_same_token(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN, order="GPA.1")
    buy(buyer, TOKEN)
    expiry = play.sell(
        TOKEN, order="GPA.1..0", expires_at=timezone.now() + timedelta(days=60)
    )
    response = buy(buyer, TOKEN)
    assert response.data["applied"] is True
    assert expiry_of(response) == expiry
    assert Purchase.objects.count() == 2


def test_known_order_is_updated_from_the_store(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    play.sell(TOKEN, state="CANCELED", auto_renew=False)
    answer = buy(buyer, TOKEN).data
    assert (answer["applied"], answer["autoRenew"]) == (False, False)
    play.sell(TOKEN, state="EXPIRED", auto_renew=False)
    answer = buy(buyer, TOKEN).data
    assert (answer["applied"], answer["plan"]) == (False, "FREE")
