"""POST /api/billing/store/verify with test tokens and with the stub."""

import logging
from datetime import datetime
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, transaction

from accounts.models import AuthSession, Member
from billing.models import Purchase
from billing.products import Product
from billing.stores import StubVerifier, Subscription
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem
from tests.support.purchases import buy

pytestmark = pytest.mark.usefixtures("test_mode")

NOON = datetime.fromisoformat("2027-01-31T12:00:00+09:00")
MONTH_LATER = datetime.fromisoformat("2027-02-28T12:00:00+09:00")
YEAR_LATER = datetime.fromisoformat("2028-01-31T12:00:00+09:00")


def test_purchase_makes_a_free_member_premium(buyer: JSONClient) -> None:
    with time_machine.travel(NOON, tick=False):
        buyer = JSONClient(Member.objects.get())
        response = buy(buyer, "test-1")
        shown = buyer.get_json("/api/billing/subscription")
    assert response.status_code == 200
    assert response.data == shown | {"applied": True}
    answer = dict(response.data)
    assert datetime.fromisoformat(answer.pop("planExpiresAt")) == MONTH_LATER
    assert datetime.fromisoformat(answer.pop("nextPaymentAt")) == MONTH_LATER
    assert answer == {
        "plan": "PREMIUM",
        "autoRenew": True,
        "product": "premium_monthly",
        "applied": True,
    }


def test_purchase_is_recorded_with_its_order(
    buyer: JSONClient, free_member: Member
) -> None:
    buy(buyer, "test-1", "premium_yearly")
    purchase = Purchase.objects.get()
    assert purchase.member == free_member
    assert (purchase.store, purchase.order_id) == ("test", "test-1")
    assert (purchase.product_id, purchase.auto_renew) == ("premium_yearly", True)
    free_member.refresh_from_db()
    assert purchase.expires_at == free_member.plan_expires_at


@pytest.mark.parametrize(
    ("product", "end"),
    [("premium_monthly", MONTH_LATER), ("premium_yearly", YEAR_LATER)],
)
def test_period_is_a_calendar_month_or_year(
    free_member: Member, product: str, end: datetime
) -> None:
    with time_machine.travel(NOON, tick=False):
        response = buy(JSONClient(free_member), "test-1", product)
    assert datetime.fromisoformat(response.data["planExpiresAt"]) == end


def test_month_begins_on_the_day_of_the_home_clock(free_member: Member) -> None:
    # Half an hour after midnight in Seoul it is still the day before in UTC.
    with time_machine.travel("2027-01-30T15:30:00Z", tick=False):
        response = buy(JSONClient(free_member), "test-1")
    end = datetime.fromisoformat("2027-02-28T00:30:00+09:00")
    assert datetime.fromisoformat(response.data["planExpiresAt"]) == end


def test_running_plan_is_extended_from_its_expiry(free_member: Member) -> None:
    with time_machine.travel(NOON, tick=False):
        client = JSONClient(free_member)
        buy(client, "test-1")
        response = buy(client, "test-2", "premium_yearly")
    end = datetime.fromisoformat("2028-02-28T12:00:00+09:00")
    assert datetime.fromisoformat(response.data["planExpiresAt"]) == end
    assert response.data["product"] == "premium_yearly"


def test_purchase_is_not_applied_twice(buyer: JSONClient) -> None:
    first = buy(buyer, "test-1").data
    again = buy(buyer, "test-1")
    assert again.status_code == 200
    assert again.data == first | {"applied": False}
    # Nor does it undo a cancellation.
    buyer.send("POST", "/api/billing/cancel")
    assert buy(buyer, "test-1").data["autoRenew"] is False
    assert Purchase.objects.count() == 1


def test_purchase_of_another_member_is_refused(
    buyer: JSONClient, other_member: Member
) -> None:
    buy(buyer, "test-1")
    assert_problem(
        buy(JSONClient(other_member), "test-1"), 409, "PURCHASE_ALREADY_USED"
    )
    other_member.refresh_from_db()
    assert other_member.plan == "FREE"
    assert Purchase.objects.count() == 1


def test_database_keeps_each_order_once(
    buyer: JSONClient, other_member: Member
) -> None:
    # The unique constraint, whatever the member and the token.
    buy(buyer, "test-1")
    purchase = Purchase.objects.get()
    purchase.pk, purchase.member = None, other_member
    purchase.token_hash = "another"
    once = pytest.raises(IntegrityError, match="iap_purchase_unique_order")
    with once, transaction.atomic():
        purchase.save()
    purchase.store = "another"
    purchase.save()


def test_purchase_is_in_the_mirror_of_every_session(
    buyer: JSONClient, free_member: Member
) -> None:
    JSONClient(free_member)
    buy(buyer, "test-1")
    rows = AuthSession.objects.filter(member=free_member)
    assert list(rows.values_list("plan", flat=True)) == ["PREMIUM", "PREMIUM"]


def test_permanent_plan_is_not_shortened_by_a_purchase() -> None:
    member = make_member(plan="PREMIUM")
    response = buy(JSONClient(member), "test-1")
    assert response.data["applied"] is True
    assert response.data["plan"] == "PREMIUM"
    assert response.data["planExpiresAt"] is None
    assert response.data["nextPaymentAt"] is None
    assert response.data["product"] == "premium_monthly"


# Product, token, and the field in error; without a field the stub refuses.
REFUSALS: list[tuple[str, Any, list[str]]] = [
    ("gold", "test-1", ["productId"]),
    *(
        ("premium_monthly", token, ["purchaseToken"])
        for token in ("", None, 7, "x" * 1001, "test-\0", ["test-1"])
    ),
    *(
        ("premium_monthly", token, [])
        for token in ("Test-1", "a-test-1", "test", " test-1")
    ),
]


@pytest.mark.parametrize(("product", "token", "fields"), REFUSALS)
def test_purchase_is_refused(
    buyer: JSONClient, product: str, token: Any, fields: list[str]
) -> None:
    response = buy(buyer, token, product)
    code = "VALIDATION_ERROR" if fields else "PURCHASE_INVALID"
    assert_problem(response, 400, code)
    assert [each["field"] for each in response.data.get("errors", [])] == fields
    assert not Purchase.objects.exists()


@pytest.mark.parametrize(
    "token", ["test-한글", "test-a\tb", "test-1 ", "test-" + "x" * 995]
)
def test_token_of_the_test_mode_may_go_on_in_any_way(
    buyer: JSONClient, token: str
) -> None:
    assert buy(buyer, token).data["applied"] is True
    assert Purchase.objects.get().order_id == token


def test_without_test_mode_the_stub_refuses_everything(
    buyer: JSONClient, settings: Any
) -> None:
    settings.BILLING_TEST_MODE = False
    assert_problem(buy(buyer, "test-1"), 400, "PURCHASE_INVALID")
    assert buyer.get_json("/api/billing/subscription")["plan"] == "FREE"


class OtherStore(StubVerifier):
    """Another store, which knows one token."""

    store = "shop"

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        if token != "sold" or product is None:
            return super().fetch_subscription(token, product)
        return Subscription(self.store, token, "order 7", product, auto_renew=False)


def test_verifier_of_the_setting_replaces_the_stub(
    buyer: JSONClient, settings: Any
) -> None:
    settings.STORE_VERIFIER = f"{__name__}.OtherStore"
    answer = buy(buyer, "sold", "premium_yearly").data
    assert (answer["plan"], answer["autoRenew"]) == ("PREMIUM", False)
    assert answer["nextPaymentAt"] is None
    purchase = Purchase.objects.get()
    assert (purchase.store, purchase.order_id) == ("shop", "order 7")
    assert_problem(buy(buyer, "stolen"), 400, "PURCHASE_INVALID")
    assert buy(buyer, "test-1").data["applied"] is True, "test mode goes first"


def test_deleted_account_does_not_free_its_purchase(
    buyer: JSONClient, free_member: Member, other_member: Member
) -> None:
    # Only the keyed hash of the order stays.
    buy(buyer, "test-1")
    assert buyer.send("DELETE", "/api/auth/me").status_code == 204
    assert not Purchase.objects.exists()
    assert_problem(
        buy(JSONClient(other_member), "test-1"), 409, "PURCHASE_ALREADY_USED"
    )
    assert not Purchase.objects.exists()
    other_member.refresh_from_db()
    assert other_member.plan == "FREE"
    assert buy(JSONClient(other_member), "test-2").data["applied"] is True


def test_token_is_never_logged(
    buyer: JSONClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    buy(buyer, "test-very-secret")
    buy(buyer, "other-very-secret")
    assert "very-secret" not in caplog.text
