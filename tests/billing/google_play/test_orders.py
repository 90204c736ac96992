"""Unusual orders and subscriptions of Google Play."""

import base64
import json
from datetime import datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from accounts.models import Member
from billing.models import Purchase
from tests.support.clients import JSONClient
from tests.support.fake_store import TOKEN_PATH, FakePlay, make_account
from tests.support.problems import assert_problem
from tests.support.purchases import SUBSCRIPTION, TOKEN, buy


def decode(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_access_token_is_requested_with_a_signed_assertion(
    play: FakePlay, sold: datetime
) -> None:
    (request,) = [r for r, _ in play.server.log if r.path == TOKEN_PATH]
    signed, _, signature = request.form["assertion"].rpartition(".")
    claims = json.loads(decode(signed.split(".")[1]))
    account = make_account()
    assert claims["iss"] == account["client_email"]
    assert claims["aud"] == "https://oauth2.googleapis.com/token"
    assert claims["scope"] == "https://www.googleapis.com/auth/androidpublisher"
    key = load_pem_private_key(account["private_key"].encode(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    key.public_key().verify(
        decode(signature), signed.encode(), padding.PKCS1v15(), SHA256()
    )


def test_order_of_another_member_is_refused_under_any_token(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell("one", order="GPA.1")
    play.sell("two", order="GPA.1")
    buy(buyer, "one")
    response = buy(JSONClient(other_member), "two")
    assert (response.status_code, response.data["code"]) == (
        409,
        "PURCHASE_ALREADY_USED",
    )
    assert buy(buyer, "two").data["applied"] is False
    assert Purchase.objects.count() == 1


def test_subscription_that_has_ended_at_the_store_can_be_cancelled(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    play.fail(410)
    answer = buyer.send("POST", "/api/billing/cancel")
    assert (answer.status_code, answer.data["autoRenew"]) == (200, False)
    assert answer.data["plan"] == "PREMIUM"
    assert Purchase.objects.get().expires_at == sold


@pytest.mark.parametrize("status", [429, 500, 503])
def test_resume_changes_nothing_when_the_store_does_not_answer(
    buyer: JSONClient, play: FakePlay, status: int, sold: datetime
) -> None:
    buyer.send("POST", "/api/billing/cancel")
    before = buyer.get_json(SUBSCRIPTION)
    play.fail(status)
    answer = buyer.send("POST", "/api/billing/resume")
    assert_problem(answer, 502, "PROVIDER_UNAVAILABLE")
    assert buyer.get_json(SUBSCRIPTION) == before


def test_resume_of_an_expired_subscription_ends_the_plan(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    play.sell(TOKEN, state="EXPIRED", auto_renew=False)
    answer: Any = buyer.send("POST", "/api/billing/resume")
    assert answer.data["plan"] == "FREE"
    assert buyer.send("GET", "/api/account/tags").status_code == 403
