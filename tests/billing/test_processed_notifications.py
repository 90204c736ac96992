"""Notifications of the store, processed by a job: what they do to plans."""

import json
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from billing.models import Purchase, StoreNotification
from billing.store_notifications import process_pending_notifications
from billing.subscriptions import override_plan
from billing.tasks import (
    StoreUnavailableError,
    process_store_notifications,
    run_process_store_notifications,
)
from config.celery import app
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.fake_google import MakeIdToken, sign
from tests.support.fake_store import FakePlay
from tests.support.purchases import TOKEN, buy
from tests.support.store_pushes import (
    Outcome,
    notification_data,
    outcomes,
    push_body,
    push_notification,
    push_raw,
    renewal_data,
)

pytestmark = pytest.mark.django_db


# --- Processed ------------------------------------------------------------------


def test_renewal_extends_the_plan(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    expiry = play.sell(
        TOKEN, order="GPA.1..0", expires_at=timezone.now() + timedelta(days=60)
    )
    push_notification(renewal_data())
    process_store_notifications()
    assert outcomes() == [Outcome.REFRESHED]
    free_member.refresh_from_db()
    assert free_member.plan_expires_at == expiry
    assert Purchase.objects.count() == 2


@pytest.mark.parametrize("state", ["EXPIRED", "ON_HOLD", "PAUSED", "REVOKED_ONE_DAY"])
@pytest.mark.parametrize(
    "kind", ["subscriptionNotification", "voidedPurchaseNotification"]
)
def test_end_of_a_subscription_ends_the_plan(
    buyer: JSONClient, free_member: Member, play: FakePlay, state: str, kind: str
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.sell(TOKEN, state=state)
    push_notification(notification_data(kind, purchaseToken=TOKEN))
    assert process_pending_notifications(timezone.now()).processed == 1
    free_member.refresh_from_db()
    assert (free_member.plan, free_member.plan_expires_at) == ("FREE", None)
    assert (free_member.plan_product, free_member.plan_auto_renew) == ("", False)


def test_token_that_is_gone_at_the_store_ends_the_plan(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.fail(410)
    push_notification(renewal_data(kind=13))
    process_pending_notifications(timezone.now())
    free_member.refresh_from_db()
    assert free_member.plan == "FREE"


def test_cancellation_in_the_store_keeps_the_plan_to_its_expiry(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    expiry = play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.sell(TOKEN, expires_at=expiry, state="CANCELED", auto_renew=False)
    push_notification(renewal_data(kind=3))
    process_pending_notifications(timezone.now())
    free_member.refresh_from_db()
    assert (free_member.plan, free_member.plan_auto_renew) == ("PREMIUM", False)
    assert free_member.plan_expires_at == expiry


def test_recovered_subscription_opens_the_plan_again(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.sell(TOKEN, state="ON_HOLD")
    push_notification(renewal_data(kind=5), "1")
    process_pending_notifications(timezone.now())
    play.sell(TOKEN, order="GPA.1..0")
    push_notification(renewal_data(kind=1), "2")
    process_pending_notifications(timezone.now())
    free_member.refresh_from_db()
    assert free_member.plan == "PREMIUM"


def test_grace_period_of_a_known_order_lengthens_the_plan(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    expiry = play.sell(TOKEN)
    buy(buyer, TOKEN)
    longer = expiry + timedelta(days=7)
    play.sell(TOKEN, state="IN_GRACE_PERIOD", expires_at=longer)
    push_notification(renewal_data(kind=6))
    process_pending_notifications(timezone.now())
    free_member.refresh_from_db()
    assert free_member.plan_expires_at == longer


def test_body_is_not_trusted(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    # A forged notification only makes the service ask the store.
    expiry = play.sell(TOKEN)
    buy(buyer, TOKEN)
    for number, kind in enumerate((12, 13, 2, 4)):
        push_notification(renewal_data(kind=kind), f"forged-{number}")
    process_pending_notifications(timezone.now())
    free_member.refresh_from_db()
    assert (free_member.plan, free_member.plan_expires_at) == ("PREMIUM", expiry)


def test_other_notifications_are_sorted_out_without_asking(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    asked = len(play.calls)
    push_notification(renewal_data("never-seen"), "1")
    push_notification(renewal_data() | {"packageName": "com.example.other"}, "2")
    push_notification(notification_data("testNotification"), "3")
    push_notification(notification_data("somethingNewNotification"), "4")
    push_raw(b"{")
    process_pending_notifications(timezone.now())
    assert outcomes() == [
        Outcome.UNKNOWN_PURCHASE,
        Outcome.OTHER_PACKAGE,
        Outcome.NO_SUBSCRIPTION,
        Outcome.NO_SUBSCRIPTION,
        Outcome.NO_SUBSCRIPTION,
    ]
    assert len(play.calls) == asked + 1, "about the unknown token only"


def test_store_that_does_not_answer_is_asked_again_later(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.fail(503)
    push_notification(renewal_data())
    with pytest.raises(StoreUnavailableError):
        run_process_store_notifications(timezone.now())
    assert outcomes() == [Outcome.PENDING]
    play.refusal = None
    now = timezone.now()
    assert process_pending_notifications(now).processed == 0, "not at once"
    assert process_pending_notifications(now + timedelta(minutes=1)).processed == 1
    assert StoreNotification.objects.get().attempts == 2


def test_run_ends_when_the_store_is_unavailable(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.fail(503)
    for number in range(10):
        push_notification(renewal_data(), str(number))
    asked = len(play.calls)
    assert process_pending_notifications(timezone.now()).failed == 3
    assert len(play.calls) == asked + 3


def test_waits_between_attempts_grow_to_an_hour(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.fail(503)
    push_notification(renewal_data())
    now, waits = timezone.now(), []
    for _ in range(9):
        process_pending_notifications(now)
        next_attempt_at = StoreNotification.objects.get().next_attempt_at
        waits.append((next_attempt_at - now) / timedelta(minutes=1))
        now = next_attempt_at
    assert waits == [1, 2, 4, 8, 16, 32, 64, 64, 64]


def test_notification_does_not_undo_the_administrators_plan(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    expiry = play.sell(TOKEN)
    buy(buyer, TOKEN)
    override_plan(free_member, "FREE")
    play.sell(TOKEN, expires_at=expiry)
    push_notification(renewal_data(kind=19))
    process_pending_notifications(timezone.now())
    free_member.refresh_from_db()
    assert free_member.plan == "FREE"
    override_plan(free_member, "PREMIUM")
    play.sell(TOKEN, state="EXPIRED")
    push_notification(renewal_data(kind=13), "2")
    process_pending_notifications(timezone.now())
    free_member.refresh_from_db()
    assert (free_member.plan, free_member.plan_expires_at) == ("PREMIUM", None)


def test_notifications_go_with_the_member(buyer: JSONClient, play: FakePlay) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    push_notification(renewal_data(), "1")
    push_notification(renewal_data("of somebody else"), "2")
    assert buyer.send("DELETE", "/api/auth/me").status_code == 204
    assert [row.message_id for row in StoreNotification.objects.all()] == ["2"]


def test_worker_looks_every_minute() -> None:
    entry = app.conf.beat_schedule["process_store_notifications"]
    assert entry["schedule"] == timedelta(minutes=1)
    assert entry["task"] == process_store_notifications.name


# --- A storm --------------------------------------------------------------------


def test_thousand_messages_are_each_handled_once(
    play: FakePlay, vouch: MakeIdToken
) -> None:
    # Duplicates, shuffled, unknown types, bad base64, wrong audience, old tokens.
    #
    # In the end the plan of each member is what Play says.
    wrong = [f"Bearer {sign({'aud': 'https://elsewhere.example'})}", "", "Bearer x"]
    right = f"Bearer {vouch()}"
    members = [make_member() for _ in range(20)]
    for number, member in enumerate(members):
        play.sell(f"t{number}", order=f"GPA.{number}")
        buy(JSONClient(member), f"t{number}")
    bodies = [make_message(n) for n in range(400)]
    dice = random.Random(6)
    pushes = [(body, right) for body in bodies]
    pushes += [(dice.choice(bodies), right) for _ in range(500)]
    pushes += [(dice.choice(bodies), dice.choice(wrong)) for _ in range(100)]
    dice.shuffle(pushes)
    for number in range(0, 20, 2):
        play.sell(f"t{number}", order=f"GPA.{number}", state="EXPIRED")
    asked = len(play.calls)
    statuses = Counter(push_raw(*parts).status_code for parts in pushes)
    assert statuses == {200: 900, 401: 100}
    assert StoreNotification.objects.count() == len(bodies)
    while process_pending_notifications(timezone.now()).processed:
        pass
    assert not StoreNotification.objects.filter(processed_at=None).exists()
    tried = StoreNotification.objects.filter(attempts=1).count()
    unknown = StoreNotification.objects.filter(outcome=Outcome.UNKNOWN_PURCHASE).count()
    assert tried == len(bodies) - unknown + 1
    followed = StoreNotification.objects.filter(outcome=Outcome.REFRESHED).count()
    assert len(play.calls) - asked - 1 == followed > 100
    plans = [Member.objects.get(pk=member.pk).plan for member in members]
    assert plans == ["FREE", "PREMIUM"] * 10


def make_message(number: int) -> bytes:
    match number % 8:
        case 0:
            data: Any = "%%% bad base64"
        case 1:
            data = notification_data("somethingNewNotification")
        case 2:
            data = renewal_data(f"t{number // 8 % 20}", kind=1_000 + number)
        case 3:
            data = renewal_data("never-seen")
        case 4:
            data = renewal_data("t1") | {"packageName": "com.example.other"}
        case _:
            data = renewal_data(f"t{number // 8 % 20}", kind=number % 23)
    return json.dumps(push_body(data, f"m{number}")).encode()
