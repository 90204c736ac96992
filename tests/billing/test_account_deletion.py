"""Account deletion leaves keyed hashes of the orders, and nothing else of payments."""

from typing import Any

import pytest
from django.db.models import ProtectedError
from django.utils.crypto import get_random_string

from accounts.models import Member
from billing.account_deletion import delete_member_data
from billing.models import Purchase, RedeemedOrder
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of
from tests.support.purchases import buy

pytestmark = pytest.mark.usefixtures("test_mode")


def test_only_a_keyed_hash_of_each_order_stays(
    buyer: JSONClient, free_member: Member, other_member: Member
) -> None:
    for token in ("test-1", "test-2"):
        buy(buyer, token)
    buy(JSONClient(other_member), "test-3")
    assert buyer.send("DELETE", "/api/auth/me").status_code == 204
    assert not any(count_rows_of(free_member).values())
    assert Purchase.objects.get().member == other_member
    redeemed = list(RedeemedOrder.objects.values_list("order_hash", flat=True))
    assert len(redeemed) == 2
    assert all(len(value) == 64 and "test" not in value for value in redeemed)


@pytest.mark.parametrize("path", ["/api/admin/members", "/api/users"])
def test_deletion_by_an_administrator_leaves_the_hash_too(
    buyer: JSONClient,
    free_member: Member,
    other_member: Member,
    administrator: Member,
    path: str,
) -> None:
    buy(buyer, "test-1")
    response = JSONClient(administrator).send("DELETE", f"{path}/{free_member.pk}")
    assert response.status_code == 204
    assert RedeemedOrder.objects.count() == 1
    assert buy(JSONClient(other_member), "test-1").status_code == 409
    assert not Purchase.objects.exists()


def test_hash_needs_the_key(
    buyer: JSONClient, other_member: Member, settings: Any
) -> None:
    # Order ids cannot be guessed from the table alone.
    buy(buyer, "test-1")
    buyer.send("DELETE", "/api/auth/me")
    old = settings.SECRET_KEY
    settings.SECRET_KEY = get_random_string(50)
    settings.SECRET_KEY_FALLBACKS = [old]
    client = JSONClient(other_member)
    assert buy(client, "test-1").status_code == 409
    settings.SECRET_KEY_FALLBACKS = []
    assert buy(client, "test-1").status_code == 200


def test_member_with_purchases_is_protected(
    buyer: JSONClient, free_member: Member
) -> None:
    buy(buyer, "test-1")
    with pytest.raises(ProtectedError):
        free_member.delete()
    delete_member_data(free_member)
    free_member.delete()


def test_member_without_purchases_leaves_no_hash(free_member: Member) -> None:
    delete_member_data(free_member)
    assert not RedeemedOrder.objects.exists()
