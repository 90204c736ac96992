"""The account token: what an app passes to the stores, and whom it names (spec 6.10)."""

import hashlib
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Member
from billing.models import AccountToken, Purchase, StoreNotification
from billing.store_notifications import process_pending_notifications
from core.api.exception_handler import AuthenticationRequiredError
from tests.support.clients import JSONClient
from tests.support.fake_store import FakePlay
from tests.support.problems import assert_problem
from tests.support.purchases import TOKEN, buy, push_notification, renewal_data
from tests.support.races import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "/api/billing/account-token"
WAYS: dict[str, Callable[[Member], str]] = {
    "id": lambda member: str(member.pk),
    "hash of the id": lambda member: hash_of(str(member.pk)),
    "digest": lambda member: get_token(member)["googlePlay"],
    "uuid": lambda member: get_token(member)["appStore"],
    "uuid in capitals": lambda member: get_token(member)["appStore"].upper(),
}
each_way = pytest.mark.parametrize("way", WAYS)


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def get_token(member: Member) -> Any:
    return JSONClient(member).get_json(PATH)


def named(account_id: str) -> dict[str, Any]:
    """Return the part of the store's response that names an account."""
    ids = {"obfuscatedExternalAccountId": account_id}
    return {"externalAccountIdentifiers": ids}


def test_token_is_a_uuid_and_its_sha_256(free_member: Member) -> None:
    token = get_token(free_member)
    assert uuid.UUID(token["appStore"]).version == 4
    assert token == {
        "appStore": token["appStore"],
        "googlePlay": hash_of(token["appStore"]),
    }


def test_token_never_changes_and_is_nobody_elses(
    free_member: Member, other_member: Member
) -> None:
    assert get_token(free_member) == get_token(free_member)
    assert get_token(free_member)["appStore"] != get_token(other_member)["appStore"]


def test_calls_at_once_get_one_token(free_member: Member) -> None:
    got = run_concurrently([lambda: get_token(free_member)] * 8)
    assert [token == got[0] for token in got] == [True] * 8
    assert AccountToken.objects.count() == 1


def test_member_who_was_deleted_meanwhile_gets_none(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, new_uuid = JSONClient(free_member), uuid.uuid4

    def delete_and_make() -> uuid.UUID:
        Member.objects.filter(pk=free_member.pk).delete()
        return new_uuid()

    monkeypatch.setattr(uuid, "uuid4", delete_and_make)
    response = client.send("GET", PATH)
    assert_problem(response, 401, AuthenticationRequiredError.code)


@each_way
def test_buyer_may_be_named_by_the_token_and_as_before(
    buyer: JSONClient, free_member: Member, play: FakePlay, way: str
) -> None:
    play.sell(TOKEN, **named(WAYS[way](free_member)))
    assert buy(buyer, TOKEN).data["applied"] is True


@each_way
def test_purchase_that_names_another_member_is_refused(
    buyer: JSONClient, other_member: Member, play: FakePlay, way: str
) -> None:
    play.sell(TOKEN, **named(WAYS[way](other_member)))
    assert_problem(buy(buyer, TOKEN), 409, "PURCHASE_ALREADY_USED")
    assert not Purchase.objects.exists()


@pytest.mark.parametrize(
    "account_id",
    ["0b6c5e0e-6d0f-4a3e-9a53-2f1c7f0d9a11", hash_of("x"), "9" * 40, "-"],
)
def test_purchase_that_names_nobody_we_know_is_refused(
    buyer: JSONClient, play: FakePlay, account_id: str
) -> None:
    get_token(Member.objects.get())
    play.sell(TOKEN, **named(account_id))
    assert_problem(buy(buyer, TOKEN), 409, "PURCHASE_ALREADY_USED")


@each_way
def test_purchase_that_nobody_presents_finds_its_member(
    free_member: Member, other_member: Member, play: FakePlay, way: str
) -> None:
    get_token(other_member)
    play.sell(TOKEN, **named(WAYS[way](free_member)))
    assert push_notification(renewal_data()).status_code == 200
    process_pending_notifications(StoreNotification.objects.get().next_attempt_at)
    assert Purchase.objects.get().member == free_member


def test_token_goes_with_the_account(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    token = buyer.get_json(PATH)
    assert buyer.send("DELETE", "/api/auth/me").status_code == 204
    assert not AccountToken.objects.exists()
    play.sell(TOKEN, **named(token["googlePlay"]))
    refused = buy(JSONClient(other_member), TOKEN)
    assert_problem(refused, 409, "PURCHASE_ALREADY_USED")
