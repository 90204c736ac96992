"""Payments and refunds are recorded from the orders of the store."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from billing import orders
from billing.decisions import decide_purchase
from billing.models import Purchase
from billing.orders import record_orders
from billing.plan_expiry import run_expiry
from billing.store_notifications import process_pending_notifications
from billing.stores import load_verifier
from core.errors import ProviderUnavailableError
from tests.support.clients import JSONClient
from tests.support.fake_store import FakePlay, money
from tests.support.purchases import (
    TOKEN,
    buy,
    make_purchase,
    notification_data,
    push_notification,
)

REFUNDED_AT = "2026-11-20T10:00:00.5Z"


def paid() -> tuple[Any, str, bool]:
    row = Purchase.objects.get()
    return row.paid_amount, row.paid_currency, row.is_paid_confirmed


def refunded() -> tuple[datetime | None, Any]:
    row = Purchase.objects.get()
    return row.refunded_at, row.refunded_amount


def refund(total: str) -> dict[str, Any]:
    """Return the history of an order with a refund of this total."""
    event = {"eventTime": REFUNDED_AT, "refundDetails": {"total": money(total)}}
    return {"refundEvent": event}


def test_purchase_has_the_price_of_the_settings_until_the_store_says_what_was_paid(
    buyer: JSONClient, play: FakePlay, settings: Any
) -> None:
    settings.PREMIUM_PRICES = {"premium_monthly": 5_500, "premium_yearly": 1}
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    assert paid() == (5_500, "KRW", False)
    play.bill("GPA.1", "3.99", "USD")
    assert run_expiry(timezone.now()).orders == 1
    assert paid() == (Decimal("3.99"), "USD", True)
    assert refunded() == (None, None)
    assert run_expiry(timezone.now()).orders == 0


def test_test_purchase_is_recorded_with_the_price_and_asked_of_nobody(
    buyer: JSONClient, test_mode: None, play: FakePlay
) -> None:
    buy(buyer, "test-1")
    assert paid() == (4_900, "KRW", False)
    assert record_orders() == 0
    assert play.server.log == []


def test_member_does_not_wait_for_the_order(play: FakePlay, sold: datetime) -> None:
    assert not [r for r, _ in play.server.log if "/orders/" in r.path]


@pytest.mark.parametrize(
    ("bill", "amount"),
    [
        # A free trial.
        ({"total": "0"}, (0, "KRW")),
        ({"total": "3.99", "currency": "USD"}, (Decimal("3.99"), "USD")),
        # Canceled before the payment.
        ({"total": "4900", "state": "CANCELED"}, (0, "KRW")),
    ],
)
def test_order_says_what_was_paid(
    play: FakePlay, sold: datetime, bill: Any, amount: tuple[Any, str]
) -> None:
    play.bill("GPA.1", **bill)
    record_orders()
    assert paid() == (*amount, True)


@pytest.mark.parametrize("state", ["PENDING", "PENDING_REFUND"])
def test_order_that_is_not_settled_is_read_again(
    play: FakePlay, state: str, sold: datetime
) -> None:
    play.bill("GPA.1", "4900", state=state)
    assert record_orders() == 0
    assert paid() == (4_900, "KRW", False)
    play.bill("GPA.1", "3900")
    assert record_orders() == 1
    assert paid() == (3_900, "KRW", True)


def test_voided_purchase_that_still_runs_is_refunded(
    play: FakePlay, sold: datetime
) -> None:
    play.bill("GPA.1", "4900")
    record_orders()
    play.bill("GPA.1", "4900", state="REFUNDED", orderHistory=refund("4900"))
    voided = notification_data("voidedPurchaseNotification", purchaseToken=TOKEN)
    push_notification(voided)
    process_pending_notifications(timezone.now() + timedelta(seconds=1))
    assert record_orders() == 1
    assert refunded() == (datetime.fromisoformat(REFUNDED_AT), 4_900)
    assert paid() == (4_900, "KRW", True)
    assert Member.objects.get().plan == "PREMIUM"


def test_partial_refunds_are_summed_once_they_are_processed(
    play: FakePlay, sold: datetime
) -> None:
    parts = [
        {
            "state": state,
            "createTime": f"2026-11-{day}T00:00:00Z",
            "processTime": f"2026-11-{day}T01:00:00Z",
            "refundDetails": {"total": money(total)},
        }
        for state, day, total in (
            ("PROCESSED_SUCCESSFULLY", 19, "500"),
            ("PROCESSED_SUCCESSFULLY", 12, "1000.5"),
            ("PENDING", 20, "300"),
        )
    ]
    history = {"partialRefundEvents": parts}
    play.bill("GPA.1", "4900", state="PARTIALLY_REFUNDED", orderHistory=history)
    record_orders()
    at = datetime.fromisoformat("2026-11-19T01:00:00Z")
    assert refunded() == (at, Decimal("1500.5"))


def test_purchase_that_the_store_ends_early_is_refunded_until_its_order_says_else(
    buyer: JSONClient, play: FakePlay, sold: datetime
) -> None:
    play.bill("GPA.1", "4900")
    record_orders()
    before = timezone.now()
    play.sell(TOKEN, state="EXPIRED", auto_renew=False)
    buy(buyer, TOKEN)
    at, amount = refunded()
    assert at is not None
    assert at >= before
    assert amount is None
    record_orders()
    assert refunded() == (None, None)


def test_purchase_that_ended_in_its_time_or_was_replaced_is_not_refunded(
    free_member: Member, buyer: JSONClient, play: FakePlay
) -> None:
    now = timezone.now()
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    row = Purchase.objects.get()
    for changes in (
        {"expires_at": now - timedelta(hours=1)},
        {"expires_at": now + timedelta(9), "replaced_at": now, "is_active": False},
    ):
        Purchase.objects.update(**changes)
        play.sell(TOKEN, state="EXPIRED", auto_renew=False)
        buy(buyer, TOKEN)
        row.refresh_from_db()
        assert not row.auto_renew
        assert refunded() == (None, None)


def test_order_that_becomes_due_while_it_is_read_is_read_again(
    play: FakePlay, monkeypatch: pytest.MonkeyPatch, sold: datetime
) -> None:
    play.bill("GPA.1", "4900")
    verifier = load_verifier()

    class Late:
        store, can_refresh = verifier.store, True

        def fetch_order(self, order_id: str) -> Any:
            order = verifier.fetch_order(order_id)
            Purchase.objects.update(order_due_since=timezone.now())
            return order

    with monkeypatch.context() as patch:
        patch.setattr(orders, "load_verifier", Late)
        assert record_orders() == 0
    assert record_orders() == 1


def test_orders_wait_while_the_store_is_unavailable(
    free_member: Member, play: FakePlay
) -> None:
    for number in range(5):
        make_purchase(free_member, f"GPA.{number}", order_due_since=timezone.now())
    play.fail(403, {"error": {"status": "PERMISSION_DENIED"}})
    assert record_orders() == 0
    assert len([r for r, _ in play.server.log if "/orders/" in r.path]) == 3
    assert Purchase.objects.filter(order_due_since=None).count() == 0
    run = run_expiry(timezone.now())
    assert (run.orders, run.failed) == (0, 0)


def test_order_that_the_store_does_not_know_is_asked_for_once(
    free_member: Member, play: FakePlay
) -> None:
    make_purchase(free_member, "GPA.1", order_due_since=timezone.now())
    assert record_orders() == 1
    assert record_orders() == 0
    assert paid() == (4_900, "KRW", False)


@pytest.mark.parametrize(
    "changes",
    [
        {"state": None, "total": None},
        {"total": {"units": "1"}},
        {"total": {"currencyCode": "KRW", "units": "x"}},
        {"total": {"currencyCode": "won", "units": "1"}},
        {"total": {"currencyCode": "KRW", "units": "-1"}},
        {"total": {"currencyCode": "KRW", "units": str(10**12)}},
        {"orderHistory": {"refundEvent": {"eventTime": "2026-11-20T10:00:00"}}},
        {"orderHistory": {"partialRefundEvents": [{}]}},
        {"orderHistory": []},
        {"orderHistory": {"refundEvent": [1]}},
    ],
)
def test_unreadable_order_is_no_response(
    play: FakePlay, changes: dict[str, Any]
) -> None:
    play.bill("GPA.1", "4900").update(changes)
    if changes == {"orderHistory": []}:
        # An empty list says that nothing happened.
        assert load_verifier().fetch_order("GPA.1") is not None
        return
    with pytest.raises(ProviderUnavailableError):
        load_verifier().fetch_order("GPA.1")


def test_job_that_reads_orders_and_a_verification_do_not_undo_each_other(
    buyer: JSONClient, play: FakePlay, monkeypatch: pytest.MonkeyPatch, sold: datetime
) -> None:
    # The verification has read the row before the job writes to it.
    play.bill("GPA.1", "3900")

    def decide_after_the_job(*facts: Any, **times: Any) -> Any:
        record_orders()
        return decide_purchase(*facts, **times)

    monkeypatch.setattr("billing.purchases.decide_purchase", decide_after_the_job)
    play.sell(TOKEN, expires_at=timezone.now() + timedelta(40))
    buy(buyer, TOKEN)
    assert paid() == (3_900, "KRW", True)
