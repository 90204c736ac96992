"""Purchases that only a notification tells of are given to their owners (spec 6.9)."""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Member
from billing.models import Purchase, StoreNotification
from billing.plan_expiry import retry_acknowledgements
from billing.store_notifications import process_pending_notifications
from tests.support.admin_site import get_page, logged_in_browser
from tests.support.clients import JSONClient
from tests.support.fake_store import FakePlay
from tests.support.purchases import (
    TOKEN,
    Outcome,
    buy,
    outcomes,
    push_notification,
    renewal_data,
)

NEW_TOKEN = "opaque.new-token-AO_J1Oy"
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def notify(token: str = NEW_TOKEN, message_id: str = "new") -> datetime:
    """Push a notification and process it; return the time of the run."""
    assert push_notification(renewal_data(token, 4), message_id).status_code == 200
    now = timezone.now()
    process_pending_notifications(now)
    return now


def plan_of(member: Member) -> tuple[str, datetime | None]:
    member.refresh_from_db()
    return member.plan, member.plan_expires_at


def acknowledgements(play: FakePlay, token: str = NEW_TOKEN) -> list[Any]:
    """Return the bodies of the acknowledgements of a token."""
    path = f"/tokens/{token}:acknowledge"
    return [
        json.loads(request.get_data())
        for request, _ in play.server.log
        if request.path.endswith(path)
    ]


def account_hash(member: Member) -> str:
    return hashlib.sha256(str(member.pk).encode()).hexdigest()


def lookups(play: FakePlay, token: str = NEW_TOKEN) -> int:
    return play.calls.count(f"GET subscriptionsv2/tokens/{token}")


@pytest.fixture
def lapsed(buyer: JSONClient, free_member: Member, play: FakePlay) -> Member:
    """Return a member whose subscription of `TOKEN` has ended."""
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.sell(TOKEN, state="EXPIRED")
    notify(TOKEN, "ended")
    assert plan_of(free_member)[0] == "FREE"
    return free_member


def test_linked_purchase_is_given_to_the_member_of_the_earlier_one(
    lapsed: Member, play: FakePlay
) -> None:
    expiry = play.sell(NEW_TOKEN, order="GPA.2", linkedPurchaseToken=TOKEN)
    notify()
    assert outcomes()[-1] == Outcome.ASSIGNED
    assert plan_of(lapsed) == ("PREMIUM", expiry)
    assert acknowledgements(play) == [{}]
    assert Purchase.objects.get(order_id="GPA.2").is_acknowledged
    body = JSONClient(lapsed).get_json("/api/billing/subscription")
    assert body["autoRenew"] is True


@pytest.mark.parametrize("by", ["token", "hash", "id"])
def test_resubscription_in_the_store_names_the_expired_one(
    lapsed: Member, play: FakePlay, by: str
) -> None:
    ids = {"hash": account_hash(lapsed), "id": str(lapsed.pk)}
    context = {
        "expiredPurchaseToken": TOKEN if by == "token" else "never-seen",
        "expiredExternalAccountIdentifiers": {
            "obfuscatedExternalAccountId": ids.get(by, "")
        },
    }
    expiry = play.sell(NEW_TOKEN, order="GPA.2", outOfAppPurchaseContext=context)
    notify()
    assert outcomes()[-1] == Outcome.ASSIGNED
    assert plan_of(lapsed) == ("PREMIUM", expiry)
    named = {"externalAccountIds": {"obfuscatedAccountId": account_hash(lapsed)}}
    assert acknowledgements(play) == [named]


@pytest.mark.parametrize("by", ["hash", "id"])
def test_purchase_of_a_named_account_is_given_to_it(
    free_member: Member, other_member: Member, play: FakePlay, by: str
) -> None:
    name = account_hash(free_member) if by == "hash" else str(free_member.pk)
    ids = {"obfuscatedExternalAccountId": name}
    expiry = play.sell(NEW_TOKEN, externalAccountIdentifiers=ids)
    notify()
    assert outcomes() == [Outcome.ASSIGNED]
    assert plan_of(free_member) == ("PREMIUM", expiry)
    assert plan_of(other_member)[0] == "FREE"
    again = buy(JSONClient(free_member), NEW_TOKEN)
    assert again.data["applied"] is False


def test_failed_acknowledgement_is_repeated_with_the_account(
    lapsed: Member, play: FakePlay
) -> None:
    context = {"expiredPurchaseToken": TOKEN}
    play.sell(NEW_TOKEN, order="GPA.2", outOfAppPurchaseContext=context)
    play.deaf.add("acknowledge")
    now = notify()
    assert plan_of(lapsed)[0] == "PREMIUM"
    play.deaf.clear()
    Purchase.objects.exclude(order_id="GPA.2").update(is_acknowledged=True)
    assert retry_acknowledgements(now) == (1, 0)
    named = {"externalAccountIds": {"obfuscatedAccountId": account_hash(lapsed)}}
    assert acknowledgements(play) == [named, named]


def test_purchase_that_names_different_accounts_is_rejected(
    lapsed: Member, other_member: Member, play: FakePlay
) -> None:
    ids = {"obfuscatedExternalAccountId": account_hash(other_member)}
    play.sell(
        NEW_TOKEN,
        order="GPA.2",
        linkedPurchaseToken=TOKEN,
        externalAccountIdentifiers=ids,
    )
    notify()
    assert outcomes()[-1] == Outcome.REJECTED
    assert plan_of(lapsed)[0] == plan_of(other_member)[0] == "FREE"
    assert acknowledgements(play) == []


def test_owner_is_searched_hourly_for_three_days(play: FakePlay) -> None:
    play.sell(NEW_TOKEN)
    now = notify()
    assert outcomes() == [Outcome.NO_OWNER]
    process_pending_notifications(now + HOUR - MINUTE)
    assert lookups(play) == 1
    for hour in range(1, 75):
        process_pending_notifications(now + hour * HOUR)
    notification = StoreNotification.objects.get()
    assert lookups(play) == 73
    assert notification.outcome == Outcome.NO_OWNER
    assert notification.processed_at is not None
    assert acknowledgements(play) == []


def test_member_who_presents_the_purchase_ends_the_search(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    expiry = play.sell(NEW_TOKEN)
    now = notify()
    assert buy(buyer, NEW_TOKEN).data["applied"] is True
    process_pending_notifications(now + HOUR)
    assert outcomes() == [Outcome.REFRESHED]
    assert plan_of(free_member) == ("PREMIUM", expiry)


def test_staff_see_purchases_without_an_owner_and_the_time_left(
    play: FakePlay, administrator: Member
) -> None:
    play.sell(NEW_TOKEN)
    notify()
    browser = logged_in_browser(administrator)
    path = "/admin/billing/storenotification/"
    page = get_page(browser, path, outcome__exact="NO_OWNER")
    assert "No owner found" in page
    assert "2\xa0days, 23\xa0hours" in page


def test_one_token_is_looked_up_once_a_minute(play: FakePlay) -> None:
    now = notify(message_id="1")
    notify(message_id="2")
    assert outcomes() == [Outcome.UNKNOWN_PURCHASE, Outcome.PENDING]
    assert lookups(play) == 1
    process_pending_notifications(now + 2 * MINUTE)
    assert outcomes() == [Outcome.UNKNOWN_PURCHASE] * 2
    assert lookups(play) == 2


def test_one_look_up_settles_all_that_waits_about_a_token(play: FakePlay) -> None:
    for number in range(5):
        push_notification(renewal_data(NEW_TOKEN, number), f"{number}")
    push_notification(renewal_data("another"), "6")
    assert process_pending_notifications(timezone.now()).processed == 6
    assert outcomes() == [Outcome.UNKNOWN_PURCHASE] * 6
    assert lookups(play) == lookups(play, "another") == 1


def test_one_notification_of_a_token_waits_for_the_owner(play: FakePlay) -> None:
    play.sell(NEW_TOKEN)
    now = notify(message_id="1")
    notify(message_id="2")
    process_pending_notifications(now + 2 * MINUTE)
    assert outcomes() == [Outcome.NO_OWNER] * 2
    waiting = StoreNotification.objects.get(processed_at=None)
    assert waiting.message_id == "1"


@pytest.mark.parametrize("state", ["PENDING", "ON_HOLD", "EXPIRED"])
def test_purchase_that_grants_nothing_is_not_recorded(
    free_member: Member, play: FakePlay, state: str
) -> None:
    ids = {"obfuscatedExternalAccountId": str(free_member.pk)}
    play.sell(NEW_TOKEN, state=state, externalAccountIdentifiers=ids)
    notify()
    assert outcomes() == [Outcome.UNKNOWN_PURCHASE]
    assert not Purchase.objects.exists()


@pytest.mark.parametrize("token", ["", "토큰", "a\nb"])
def test_token_that_no_store_issues_is_not_looked_up(
    play: FakePlay, token: str
) -> None:
    notify(token)
    assert outcomes() == [Outcome.UNKNOWN_PURCHASE]
    assert play.calls == []


def test_owner_by_hash_is_found_by_an_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    plan = Member.objects.with_account_id_hash("0" * 64).explain()
    assert "member_account_id_hash" in plan
