"""The subscription: reading, cancelling, resuming, restoring, and the administrator."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Member
from billing.models import Purchase
from billing.plan_expiry import expire_lapsed_plans
from billing.subscriptions import override_plan
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem
from tests.support.purchases import buy, plan_of
from tests.support.sessions import ME, by_cookie

pytestmark = pytest.mark.usefixtures("test_mode")

PATH = "/api/billing/subscription"
NOTHING = {
    "plan": "FREE",
    "planExpiresAt": None,
    "nextPaymentAt": None,
    "autoRenew": False,
    "product": None,
}
PERMANENT = NOTHING | {"plan": "PREMIUM"}
GATED = "/api/account/tags"


def act(client: JSONClient, verb: str) -> Any:
    return client.send("POST", f"/api/billing/{verb}")


def travel(**ahead: float) -> Any:
    return time_machine.travel(timezone.now() + timedelta(**ahead), tick=False)


@pytest.mark.parametrize(("plan", "shown"), [("FREE", NOTHING), ("PREMIUM", PERMANENT)])
def test_without_a_subscription_there_is_nothing_to_pay_cancel_or_resume(
    plan: str, shown: dict[str, Any]
) -> None:
    client = JSONClient(make_member(plan=plan))
    assert client.get_json(PATH) == shown
    response = act(client, "cancel")
    assert (response.status_code, response.data) == (200, shown)
    for verb in ("resume", "restore"):
        assert_problem(act(client, verb), 404, "NOT_FOUND")
    assert client.get_json(PATH) == shown


def test_next_payment_is_at_the_expiry(buyer: JSONClient) -> None:
    buy(buyer, "test-1")
    answer = buyer.get_json(PATH)
    assert answer["nextPaymentAt"] == answer["planExpiresAt"] is not None


def test_plan_that_has_passed_reads_free_before_any_job(buyer: JSONClient) -> None:
    buy(buyer, "test-1")
    act(buyer, "cancel")
    member = Member.objects.get()
    with travel(days=40):
        later = JSONClient(member)
        assert later.get_json(PATH)["plan"] == "FREE"
        assert later.get_json(ME)["plan"] == "FREE"
        assert later.send("GET", GATED).status_code == 403
    member.refresh_from_db()
    assert member.plan == "PREMIUM"


def test_cancel_keeps_the_plan_until_its_expiry_and_resume_renews_it(
    buyer: JSONClient,
) -> None:
    before = buy(buyer, "test-1").data
    before.pop("applied")
    canceled = before | {"nextPaymentAt": None, "autoRenew": False}
    for verb, shown in (("cancel", canceled), ("resume", before)):
        for _ in range(2):
            response = act(buyer, verb)
            assert (response.status_code, response.data) == (200, shown)
            assert buyer.get_json(PATH) == shown


def test_subscription_beside_a_permanent_plan_is_cancelled_and_resumed() -> None:
    client = JSONClient(make_member(plan="PREMIUM"))
    buy(client, "test-1")
    assert act(client, "cancel").data["autoRenew"] is False
    assert act(client, "resume").data["autoRenew"] is True
    assert client.get_json(PATH)["planExpiresAt"] is None


def test_resume_after_the_expiry_opens_nothing(buyer: JSONClient) -> None:
    # Otherwise one paid month would last forever.
    buy(buyer, "test-1")
    act(buyer, "cancel")
    member = Member.objects.get()
    with travel(days=40):
        later = JSONClient(member)
        assert act(later, "resume").status_code == 404
        assert later.get_json(PATH)["plan"] == "FREE"
        expire_lapsed_plans(timezone.now())
        assert act(later, "resume").status_code == 404
        assert later.get_json(PATH) == NOTHING


@pytest.mark.django_db(transaction=True)
def test_cancel_after_the_expiry_ends_what_renewed_itself(buyer: JSONClient) -> None:
    buy(buyer, "test-1")
    member = Member.objects.get()
    with travel(days=40):
        later = JSONClient(member)
        assert later.get_json(PATH)["plan"] == "PREMIUM"
        assert act(later, "cancel").data["plan"] == "FREE"
        assert later.send("GET", GATED).status_code == 403


def test_resume_of_a_plan_without_a_recorded_purchase() -> None:
    # The expiry may come from elsewhere, such as an earlier service.
    member = make_member(
        plan="PREMIUM", plan_expires_at=timezone.now() + timedelta(days=3)
    )
    answer = act(JSONClient(member), "resume").data
    assert answer["autoRenew"] is True
    assert answer["nextPaymentAt"] == answer["planExpiresAt"]


def test_restore_after_an_administrator_set_free_gives_what_was_paid_for(
    buyer: JSONClient, free_member: Member
) -> None:
    before = buy(buyer, "test-1").data
    before.pop("applied")
    override_plan(free_member, "FREE")
    assert buyer.get_json(PATH) == NOTHING
    response = act(buyer, "restore")
    assert (response.status_code, response.data) == (200, before)


def test_restore_takes_the_payment_that_lasts_longest(buyer: JSONClient) -> None:
    buy(buyer, "test-1", "premium_yearly")
    last = buy(buyer, "test-2").data["planExpiresAt"]
    override_plan(Member.objects.get(), "FREE")
    answer = act(buyer, "restore").data
    assert (answer["planExpiresAt"], answer["product"]) == (last, "premium_monthly")


def test_restore_keeps_a_cancellation(buyer: JSONClient) -> None:
    buy(buyer, "test-1")
    act(buyer, "cancel")
    override_plan(Member.objects.get(), "FREE")
    assert act(buyer, "restore").data["autoRenew"] is False


def test_restore_of_what_has_passed_gives_nothing(buyer: JSONClient) -> None:
    buy(buyer, "test-1")
    act(buyer, "cancel")
    member = Member.objects.get()
    with travel(days=40):
        later = JSONClient(member)
        expire_lapsed_plans(timezone.now())
        response = act(later, "restore")
    assert (response.status_code, response.data) == (200, NOTHING)


@pytest.mark.parametrize("days", [None, 900])
def test_restore_does_not_shorten_a_plan(buyer: JSONClient, days: int | None) -> None:
    buy(buyer, "test-1")
    far = days and timezone.now() + timedelta(days=days)
    Member.objects.update(plan_expires_at=far)
    expiry = act(buyer, "restore").data["planExpiresAt"]
    assert expiry == (far and far.isoformat())


def test_restore_sees_the_members_own_payments_only(
    buyer: JSONClient, other_member: Member
) -> None:
    buy(buyer, "test-1")
    assert act(JSONClient(other_member), "restore").status_code == 404


@pytest.mark.parametrize("plan", ["FREE", "PREMIUM"])
def test_administrators_plan_is_permanent_and_clears_the_subscription(
    buyer: JSONClient, free_member: Member, plan: str
) -> None:
    buy(buyer, "test-1")
    changed = override_plan(free_member, plan)
    assert plan_of(free_member) == (plan, None, "", False)
    assert changed.plan == plan
    with travel(days=4000):
        expire_lapsed_plans(timezone.now())
        free_member.refresh_from_db()
        assert free_member.plan == plan


@pytest.mark.django_db(transaction=True)
def test_administrators_plan_counts_at_once(free_member: Member) -> None:
    client = JSONClient(free_member)
    assert client.send("GET", GATED).status_code == 403
    override_plan(free_member, "PREMIUM")
    assert client.send("GET", GATED).status_code == 200
    override_plan(free_member, "FREE")
    assert client.send("GET", GATED).status_code == 403


def test_purchase_after_the_administrators_free_counts_from_now(
    buyer: JSONClient,
) -> None:
    buy(buyer, "test-1", "premium_yearly")
    override_plan(Member.objects.get(), "FREE")
    answer = buy(buyer, "test-2").data
    ahead = datetime.fromisoformat(answer["planExpiresAt"]) - timezone.now()
    assert ahead < timedelta(days=32)
    assert Purchase.objects.filter(is_active=True).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("present", [JSONClient, by_cookie])
def test_purchase_and_end_of_the_plan_reach_live_sessions_at_once(
    free_member: Member, present: Any
) -> None:
    clients = here, _ = present(free_member), present(free_member)
    for client in clients:  # caches the session
        assert client.get_json(ME)["plan"] == "FREE"
        assert client.send("GET", GATED).status_code == 403
    expiry = buy(here, "test-1").data["planExpiresAt"]
    for client in clients:
        session = client.get_json(ME)
        assert (session["plan"], session["planExpiresAt"]) == ("PREMIUM", expiry)
        assert client.send("GET", GATED).status_code == 200
        assert client.get_json("/api/auth/profile")["planProduct"] == "premium_monthly"
    act(here, "cancel")
    Member.objects.update(plan_expires_at=timezone.now() - timedelta(seconds=1))
    assert expire_lapsed_plans(timezone.now()) == 1
    for client in clients:
        session = client.get_json(ME)
        assert (session["plan"], session["planExpiresAt"]) == ("FREE", None)
        assert client.send("GET", GATED).status_code == 403
