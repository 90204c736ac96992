"""Subscriptions of Google Play: cancel, resume, restore."""

from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import Member
from billing.decisions import PurchaseChange
from billing.products import MONTHLY
from billing.purchases import apply_subscription
from billing.stores import verify_token
from billing.subscriptions import override_plan
from tests.support.clients import JSONClient
from tests.support.fake_store import FakePlay
from tests.support.purchases import SUBSCRIPTION, TOKEN, buy, expiry_of


def test_cancel_stops_the_stores_charges(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    answer = buyer.send("POST", "/api/billing/cancel")
    assert (answer.status_code, answer.data["autoRenew"]) == (200, False)
    assert play.calls[-1] == f"POST subscriptions/premium_monthly/tokens/{TOKEN}:cancel"
    assert buyer.send("POST", "/api/billing/cancel").status_code == 200
    assert len([call for call in play.calls if "cancel" in call]) == 1


def test_cancel_changes_nothing_when_the_store_does_not_answer(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    play.deaf.add("cancel")
    assert buyer.send("POST", "/api/billing/cancel").status_code == 502
    assert buyer.get_json(SUBSCRIPTION)["autoRenew"] is True


def test_resume_takes_the_state_of_the_store(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    buyer.send("POST", "/api/billing/cancel")
    assert buyer.send("POST", "/api/billing/resume").data["autoRenew"] is False
    play.sell(TOKEN)  # the member resumed it in the store
    assert buyer.send("POST", "/api/billing/resume").data["autoRenew"] is True


def test_restore_gives_back_what_the_store_granted(
    buyer: JSONClient, sold: datetime
) -> None:
    override_plan(Member.objects.get(), "FREE")
    response = buyer.send("POST", "/api/billing/restore")
    assert expiry_of(response) == sold


def test_update_of_a_known_order_does_not_undo_the_administrators_plan(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    override_plan(Member.objects.get(), "FREE")
    play.sell(TOKEN, state="CANCELED", auto_renew=False, expires_at=sold)
    assert buy(buyer, TOKEN).data["plan"] == "FREE"
    play.sell(TOKEN, order="GPA.1..0", expires_at=sold + timedelta(days=30))
    assert buy(buyer, TOKEN).data["plan"] == "PREMIUM"


def test_late_response_does_not_overwrite_a_newer_one(
    buyer: JSONClient, free_member: Member, play: FakePlay, sold: datetime
) -> None:
    # The first request gets its response last.
    checked_at = timezone.now()
    late = verify_token(TOKEN, MONTHLY)
    play.sell(TOKEN, state="EXPIRED", auto_renew=False)
    assert buy(buyer, TOKEN).data["plan"] == "FREE"
    _, change = apply_subscription(free_member.pk, late, checked_at)
    assert change is PurchaseChange.NONE
    assert buyer.get_json(SUBSCRIPTION)["plan"] == "FREE"
