"""The hourly job: expiry, refresh, acknowledgement, and the output of the command."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from accounts.models import AuthSession, Member
from billing import plan_expiry
from billing.models import Purchase, StoreNotification
from billing.plan_expiry import expire_lapsed_plans, run_expiry
from billing.tasks import StoreUnavailableError, run_expire_plans
from billing.tasks import expire_plans as task
from config.celery import app
from core.jobs.models import JobRun
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.fake_store import FakePlay
from tests.support.purchases import TOKEN, buy, make_store_notification, plan_of

SECOND = timedelta(seconds=1)


def make_subscriber(**fields: Any) -> Member:
    """Create a member whose plan lapsed a second ago."""
    passed = timezone.now() - SECOND
    return make_member(
        **{
            "plan": "PREMIUM",
            "plan_expires_at": passed,
            "plan_product": "premium_monthly",
        }
        | fields
    )


def run_command() -> str:
    output = StringIO()
    call_command("expire_plans", stdout=output)
    return output.getvalue()


def test_plan_that_has_passed_becomes_free_without_subscription_info() -> None:
    member = make_subscriber()
    session = JSONClient(member)
    # Before the job runs.
    assert session.send("GET", "/api/account/tags").status_code == 403
    assert session.get_json("/api/billing/subscription")["plan"] == "FREE"
    assert expire_lapsed_plans(timezone.now()) == 1
    assert expire_lapsed_plans(timezone.now()) == 0
    assert plan_of(member) == ("FREE", None, "", False)
    assert AuthSession.objects.get().plan == "FREE"
    assert session.get_json("/api/billing/subscription")["plan"] == "FREE"


@pytest.mark.parametrize(
    "fields",
    [
        {"plan_auto_renew": True},
        {"plan_expires_at": None},
        {"plan_expires_at": timezone.now() + timedelta(days=365)},
        {"plan": "FREE"},
    ],
)
def test_other_plans_are_left_alone(fields: Any) -> None:
    member = make_subscriber(**fields)
    before = plan_of(member)
    assert expire_lapsed_plans(timezone.now()) == 0
    assert plan_of(member) == before
    # The store ends a plan that renews itself (spec 6.1).
    status = JSONClient(member).send("GET", "/api/account/tags").status_code
    assert status == (200 if member.plan == "PREMIUM" else 403)


def test_plan_of_an_administrator_has_no_end(
    administrator: Member,
) -> None:
    member = make_subscriber(plan_auto_renew=True)
    body = {"plan": "PREMIUM", "planExpiresAt": "2020-01-01T00:00:00Z"}
    path = f"/api/admin/members/{member.pk}/plan"
    assert JSONClient(administrator).send("PUT", path, body).status_code == 200
    run_expiry(timezone.now() + timedelta(days=4000))
    assert plan_of(member) == ("PREMIUM", None, "", False)


def test_run_does_all_batches(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(plan_expiry, "BATCH_SIZE", 3)
    for _ in range(7):
        make_subscriber()
    with django_assert_num_queries(3 * 3):  # a savepoint and one statement a batch
        assert expire_lapsed_plans(timezone.now()) == 7
    assert not Member.objects.filter(plan="PREMIUM").exists()


def test_command_prints_its_counts() -> None:
    make_subscriber()
    text = "{} plans expired, 0 refreshed, 0 acknowledged, "
    text += "0 orders read, 0 notifications purged.\n"
    assert run_command() == text.format(1)
    assert run_command() == text.format(0)


def test_task_is_the_command_every_hour() -> None:
    member = make_subscriber()
    task()
    assert plan_of(member)[0] == "FREE"
    entry = app.conf.beat_schedule["expire_plans"]
    assert entry["schedule"] == timedelta(hours=1)
    assert entry["task"] == task.name


def test_old_notifications_are_purged() -> None:
    now = timezone.now()
    for days in (1, 179, 181, 400):
        make_store_notification(received_at=now - timedelta(days=days))
    assert run_expiry(now).purged == 2
    assert StoreNotification.objects.count() == 2


@pytest.fixture
def subscriber(free_member: Member, play: FakePlay) -> Member:
    """Return a member whose auto-renewing plan lapsed a second ago."""
    play.sell(TOKEN)
    buy(JSONClient(free_member), TOKEN)
    passed = timezone.now() - SECOND
    Purchase.objects.update(expires_at=passed)
    Member.objects.update(plan_expires_at=passed)
    return free_member


def test_renewed_subscription_is_found_without_a_notification(
    subscriber: Member, play: FakePlay
) -> None:
    expiry = play.sell(TOKEN, order="GPA.1..0")
    run = run_expiry(timezone.now())
    assert (run.refreshed, run.expired, run.failed) == (1, 0, 0)
    assert plan_of(subscriber) == ("PREMIUM", expiry, "premium_monthly", True)


@pytest.mark.parametrize("state", ["EXPIRED", "ON_HOLD", "PAUSED", "forgotten"])
def test_ended_subscription_is_found_without_a_notification(
    subscriber: Member, play: FakePlay, state: str
) -> None:
    if state == "forgotten":
        play.fail(410)
    else:
        play.sell(TOKEN, state=state)
    assert run_expiry(timezone.now()).refreshed == 1
    assert plan_of(subscriber) == ("FREE", None, "", False)
    assert run_expiry(timezone.now()).refreshed == 0


def test_store_that_does_not_answer_leaves_the_plan(
    subscriber: Member, play: FakePlay
) -> None:
    other = make_subscriber()
    play.fail(503)
    run = run_expiry(timezone.now())
    assert (run.refreshed, run.failed, run.expired) == (0, 1, 1)
    assert plan_of(other)[0] == "FREE"
    assert plan_of(subscriber)[0] == "PREMIUM"
    with pytest.raises(CommandError, match="1 purchases without a response"):
        call_command("expire_plans", stdout=StringIO())
    with pytest.raises(StoreUnavailableError):
        run_expire_plans(timezone.now())


def test_unavailable_store_is_asked_three_times_only(play: FakePlay) -> None:
    for number in range(6):
        play.sell(f"token{number}", order=f"GPA.{number}")
        buy(JSONClient(make_member()), f"token{number}")
    passed = timezone.now() - SECOND
    Purchase.objects.update(expires_at=passed)
    Member.objects.update(plan_expires_at=passed)
    asked = len(play.calls)
    play.fail(503)
    assert run_expiry(timezone.now()).failed == 3
    assert len(play.calls) == asked + 3
    play.refusal = None
    assert run_expiry(timezone.now()).refreshed == 6


def test_run_of_the_job_is_stored_with_what_it_did(
    subscriber: Member, play: FakePlay
) -> None:
    # A run without a response of the store is FAILED, for `check_jobs`.
    make_subscriber()
    play.fail(503)
    with pytest.raises(StoreUnavailableError):
        task()
    play.refusal = None
    make_subscriber()
    task()
    runs = JobRun.objects.filter(job="expire_plans").order_by("id")
    assert [(run.state, run.error, run.count) for run in runs] == [
        ("FAILED", "StoreUnavailableError", None),
        ("DONE", "", 1),
    ]


def test_purchases_of_another_store_are_not_refreshed(
    buyer: JSONClient, play: FakePlay, settings: Any
) -> None:
    settings.BILLING_TEST_MODE = True
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    tester = JSONClient(make_member())
    buy(tester, "test-1")
    Purchase.objects.filter(store="test").update(expires_at=timezone.now() - SECOND)
    Member.objects.filter(purchases__store="test").update(
        plan_expires_at=timezone.now() - SECOND
    )
    assert run_expiry(timezone.now()).refreshed == 0


@pytest.fixture
def tester(test_mode: None, free_member: Member) -> Member:
    """Return a member who bought a month in the test mode."""
    assert buy(JSONClient(free_member), "test-1").status_code == 200
    return free_member


def test_test_purchase_ends_after_its_period(tester: Member) -> None:
    expires_at = Purchase.objects.get().expires_at
    assert run_expiry(expires_at - SECOND).expired == 0
    assert plan_of(tester) == ("PREMIUM", expires_at, "premium_monthly", True)
    assert run_expiry(expires_at).expired == 1
    assert plan_of(tester) == ("FREE", None, "", False)
    assert AuthSession.objects.get().plan == "FREE"
    assert run_expiry(expires_at).expired == 0


def test_newer_test_purchase_goes_on(tester: Member) -> None:
    first = Purchase.objects.get().expires_at
    buy(JSONClient(tester), "test-2")
    last = Purchase.objects.latest("expires_at").expires_at
    assert run_expiry(first).expired == 0
    assert plan_of(tester) == ("PREMIUM", last, "premium_monthly", True)
    assert run_expiry(last).expired == 1


def test_test_purchases_end_with_the_test_mode(tester: Member, settings: Any) -> None:
    client = JSONClient(tester)
    settings.BILLING_TEST_MODE = False
    assert run_expiry(timezone.now()).expired == 1
    assert plan_of(tester) == ("FREE", None, "", False)
    assert client.send("GET", "/api/account/tags").status_code == 403
    settings.BILLING_TEST_MODE = True
    assert client.send("POST", "/api/billing/restore").status_code == 200
    assert buy(client, "test-1").data["applied"] is False
    assert plan_of(tester)[0] == "FREE"


def test_test_purchase_is_not_restored_without_the_test_mode(
    tester: Member, administrator: Member, settings: Any
) -> None:
    path = f"/api/admin/members/{tester.pk}/plan"
    JSONClient(administrator).send("PUT", path, {"plan": "FREE"})
    settings.BILLING_TEST_MODE = False
    restored = JSONClient(tester).send("POST", "/api/billing/restore")
    assert restored.status_code == 404
    assert plan_of(tester)[0] == "FREE"


@pytest.mark.parametrize("by", ["payment", "administrator"])
def test_other_plan_outlasts_a_test_purchase(
    tester: Member, administrator: Member, play: FakePlay, settings: Any, by: str
) -> None:
    expected: tuple[Any, ...] = ("PREMIUM", None, "", False)
    if by == "payment":
        paid_until = play.sell(TOKEN, expires_at=timezone.now() + timedelta(days=3))
        buy(JSONClient(tester), TOKEN)
        expected = ("PREMIUM", paid_until, "premium_monthly", True)
    else:
        path = f"/api/admin/members/{tester.pk}/plan"
        JSONClient(administrator).send("PUT", path, {"plan": "PREMIUM"})
    settings.BILLING_TEST_MODE = False
    assert run_expiry(timezone.now()).expired == 0
    assert plan_of(tester) == expected


def test_late_acknowledgement_is_made_by_the_job(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.deaf.add("acknowledge")
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    assert run_expiry(timezone.now()).failed == 1
    play.deaf.clear()
    assert run_expiry(timezone.now()).acknowledged == 1
    assert Purchase.objects.get().is_acknowledged
    assert run_expiry(timezone.now()).acknowledged == 0


def test_purchase_is_not_acknowledged_once_the_store_has_refunded_it(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.deaf.add("acknowledge")
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    run = run_expiry(timezone.now() + timedelta(days=4))
    assert (run.acknowledged, run.failed) == (0, 0)


def test_batch_is_no_larger_than_its_limit_whatever_the_plan_of_its_statement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A nested loop that runs the subquery again would lock further rows each time.
    for _ in range(12):
        make_subscriber()
    batches: list[int] = []
    monkeypatch.setattr(plan_expiry, "BATCH_SIZE", 5)
    monkeypatch.setattr(
        plan_expiry,
        "invalidate_member_session_cache",
        lambda *member_ids: batches.append(len(member_ids)),
    )
    with connection.cursor() as cursor:
        for method in ("hashjoin", "mergejoin", "hashagg", "sort", "material"):
            cursor.execute(f"SET LOCAL enable_{method} = off")
    assert expire_lapsed_plans(timezone.now()) == 12
    assert batches == [5, 5, 2]
