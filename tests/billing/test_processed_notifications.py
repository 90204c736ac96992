"""Notifications of the store, processed by a job: what they do to plans."""

import json
import random
from collections import Counter
from datetime import datetime, timedelta
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
from tests.support.purchases import (
    TOKEN,
    Outcome,
    buy,
    notification_data,
    outcomes,
    plan_of,
    push_body,
    push_notification,
    push_raw,
    renewal_data,
)
from tests.support.scale import scaled

# The response of the store, the number of the notification, and the plan. An expiry is
# days after the first one.
REPORTS: list[tuple[dict[str, Any], int, tuple[str, int | None, bool]]] = [
    ({"order": "GPA.1..0", "days": 30}, 2, ("PREMIUM", 30, True)),
    ({"state": "IN_GRACE_PERIOD", "days": 7}, 6, ("PREMIUM", 7, True)),
    ({"state": "CANCELED", "auto_renew": False}, 3, ("PREMIUM", 0, False)),
    ({"state": "EXPIRED"}, 13, ("FREE", None, False)),
    ({"state": "ON_HOLD"}, 5, ("FREE", None, False)),
    ({"state": "PAUSED"}, 10, ("FREE", None, False)),
    ({"state": "REVOKED_ONE_DAY"}, 12, ("FREE", None, False)),
]
KINDS = ["subscriptionNotification", "voidedPurchaseNotification"]


@pytest.mark.parametrize(("report", "number", "plan"), REPORTS)
@pytest.mark.parametrize("kind", KINDS)
def test_plan_follows_the_store(
    free_member: Member,
    play: FakePlay,
    sold: datetime,
    report: dict[str, Any],
    number: int,
    plan: tuple[str, int | None, bool],
    kind: str,
) -> None:
    fields = dict(report)
    play.sell(TOKEN, expires_at=sold + timedelta(fields.pop("days", 0)), **fields)
    data = notification_data(kind, notificationType=number, purchaseToken=TOKEN)
    push_notification(data)
    process_store_notifications()
    assert outcomes() == [Outcome.REFRESHED]
    name, days, auto_renew = plan
    expiry = None if days is None else sold + timedelta(days)
    product = "premium_monthly" if name == "PREMIUM" else ""
    assert plan_of(free_member) == (name, expiry, product, auto_renew)
    assert Purchase.objects.count() == (2 if "order" in report else 1)


def test_token_that_is_gone_ends_the_plan_until_the_store_recovers_it(
    free_member: Member, play: FakePlay, sold: datetime
) -> None:
    play.fail(410)
    push_notification(renewal_data(kind=13), "1")
    process_pending_notifications(timezone.now())
    assert plan_of(free_member)[0] == "FREE"
    play.refusal = None
    play.sell(TOKEN, order="GPA.1..0")
    push_notification(renewal_data(kind=1), "2")
    process_pending_notifications(timezone.now())
    assert plan_of(free_member)[0] == "PREMIUM"


def test_body_is_not_trusted(free_member: Member, sold: datetime) -> None:
    # A forged notification only makes the service ask the store.
    for number, kind in enumerate((12, 13, 2, 4)):
        push_notification(renewal_data(kind=kind), f"forged-{number}")
    process_pending_notifications(timezone.now())
    assert plan_of(free_member)[:2] == ("PREMIUM", sold)


def test_other_notifications_are_sorted_out_without_asking(
    play: FakePlay, sold: datetime
) -> None:
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
    play: FakePlay, sold: datetime
) -> None:
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


def test_run_ends_when_the_store_is_unavailable(play: FakePlay, sold: datetime) -> None:
    play.fail(503)
    for number in range(10):
        push_notification(renewal_data(), str(number))
    asked = len(play.calls)
    assert process_pending_notifications(timezone.now()).failed == 3
    assert len(play.calls) == asked + 3


def test_waits_between_attempts_grow_to_an_hour(play: FakePlay, sold: datetime) -> None:
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
    free_member: Member, play: FakePlay, sold: datetime
) -> None:
    override_plan(free_member, "FREE")
    play.sell(TOKEN, expires_at=sold)
    push_notification(renewal_data(kind=19))
    process_pending_notifications(timezone.now())
    assert plan_of(free_member)[0] == "FREE"
    override_plan(free_member, "PREMIUM")
    play.sell(TOKEN, state="EXPIRED")
    push_notification(renewal_data(kind=13), "2")
    process_pending_notifications(timezone.now())
    assert plan_of(free_member)[:2] == ("PREMIUM", None)


def test_notifications_go_with_the_member(buyer: JSONClient, sold: datetime) -> None:
    push_notification(renewal_data(), "1")
    push_notification(renewal_data("of somebody else"), "2")
    assert buyer.send("DELETE", "/api/auth/me").status_code == 204
    assert [row.message_id for row in StoreNotification.objects.all()] == ["2"]


def test_worker_looks_every_minute() -> None:
    entry = app.conf.beat_schedule["process_store_notifications"]
    assert entry["schedule"] == timedelta(minutes=1)
    assert entry["task"] == process_store_notifications.name


def test_shuffled_messages_are_each_handled_once(
    play: FakePlay, vouch: MakeIdToken
) -> None:
    # Duplicates, shuffled, unknown types, bad base64, wrong audience, old tokens.
    #
    # In the end the plan of each member is what Play says.
    wrong = [f"Bearer {sign({'aud': 'https://elsewhere.example'})}", "", "Bearer x"]
    right = f"Bearer {vouch()}"
    count = scaled(400, 1_000)
    members = [make_member() for _ in range(20)]
    for number, member in enumerate(members):
        play.sell(f"t{number}", order=f"GPA.{number}")
        buy(JSONClient(member), f"t{number}")
    bodies = [make_message(n) for n in range(count * 2 // 5)]
    dice = random.Random(6)
    pushes = [(body, right) for body in bodies]
    pushes += [(dice.choice(bodies), right) for _ in range(count // 2)]
    pushes += [(dice.choice(bodies), dice.choice(wrong)) for _ in range(count // 10)]
    dice.shuffle(pushes)
    for number in range(0, 20, 2):
        play.sell(f"t{number}", order=f"GPA.{number}", state="EXPIRED")
    asked = len(play.calls)
    statuses = Counter(push_raw(*parts).status_code for parts in pushes)
    assert statuses == {200: count * 9 // 10, 401: count // 10}
    assert StoreNotification.objects.count() == len(bodies)
    while process_pending_notifications(timezone.now()).processed:
        pass
    assert not StoreNotification.objects.filter(processed_at=None).exists()
    tried = StoreNotification.objects.filter(attempts=1).count()
    unknown = StoreNotification.objects.filter(outcome=Outcome.UNKNOWN_PURCHASE).count()
    assert tried == len(bodies) - unknown + 1
    followed = StoreNotification.objects.filter(outcome=Outcome.REFRESHED).count()
    assert len(play.calls) - asked - 1 == followed > count // 10
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
