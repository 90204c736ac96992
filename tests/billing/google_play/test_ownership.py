"""Purchases of Google Play belong to one member; tokens that others replace."""

import hashlib
from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import Member
from billing.models import Purchase
from tests.support.clients import JSONClient
from tests.support.fake_store import FakePlay
from tests.support.purchases import (
    SUBSCRIPTION,
    TOKEN,
    assert_not_granted,
    buy,
    expiry_of,
)


def test_token_belongs_to_its_first_member_over_renewals(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell(TOKEN, order="GPA.1")
    buy(buyer, TOKEN)
    play.sell(TOKEN, order="GPA.1..0")
    response = buy(JSONClient(other_member), TOKEN)
    assert (response.status_code, response.data["code"]) == (
        409,
        "PURCHASE_ALREADY_USED",
    )
    assert Purchase.objects.count() == 1


def test_obfuscated_account_id_must_be_of_the_member(
    buyer: JSONClient, free_member: Member, other_member: Member, play: FakePlay
) -> None:
    hashed = hashlib.sha256(str(free_member.pk).encode()).hexdigest()
    for number, name in enumerate((str(free_member.pk), hashed)):
        token = f"{TOKEN}{number}"
        names = {"obfuscatedExternalAccountId": name}
        play.sell(token, order=f"GPA.{number}", externalAccountIdentifiers=names)
        assert buy(JSONClient(other_member), token).status_code == 409
        assert buy(buyer, token).status_code == 200


def test_replaced_token_no_longer_counts(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    # An upgrade: the store calls both tokens active for a while.
    later = timezone.now() + timedelta(days=60)
    play.sell("old", order="GPA.1", product="premium_yearly", expires_at=later)
    buy(buyer, "old", "premium_yearly")
    expiry = play.sell("new", order="GPA.2", linkedPurchaseToken="old")
    response = buy(buyer, "new")
    assert expiry_of(response) == expiry
    assert response.data["product"] == "premium_monthly"
    old = Purchase.objects.get(order_id="GPA.1")
    assert (old.is_active, old.auto_renew) == (False, False)
    assert old.replaced_at is not None
    again = buy(buyer, "old", "premium_yearly")
    assert (again.data["applied"], again.data["product"]) == (False, "premium_monthly")
    play.sell("old", order="GPA.1..0", product="premium_yearly", expires_at=later)
    assert buy(buyer, "old", "premium_yearly").status_code == 409
    assert expiry_of(buyer.send("GET", SUBSCRIPTION)) == expiry


def test_replaced_token_that_was_never_recorded_is_refused(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell("old", order="GPA.1")
    play.sell("new", order="GPA.2", linkedPurchaseToken="old")
    assert buy(buyer, "new").status_code == 200
    assert buy(JSONClient(other_member), "old").status_code == 409
    assert buy(buyer, "old").status_code == 409
    assert Purchase.objects.count() == 1


def test_replacement_of_anothers_purchase_is_refused(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell("old", order="GPA.1")
    buy(buyer, "old")
    play.sell("new", order="GPA.2", linkedPurchaseToken="old")
    assert buy(JSONClient(other_member), "new").status_code == 409
    assert Purchase.objects.get().is_active is True


def test_order_of_a_deleted_account_is_redeemed(
    buyer: JSONClient, other_member: Member, play: FakePlay, sold: datetime
) -> None:
    assert buyer.send("DELETE", "/api/auth/me").status_code == 204
    newcomer = JSONClient(other_member)
    assert_not_granted(buy(newcomer, TOKEN), 409, "PURCHASE_ALREADY_USED")
    play.sell(TOKEN, order="GPA.1..0")  # a later payment is a new order
    assert buy(newcomer, TOKEN).status_code == 200
