"""Purchases that Google Play confirms, against its wire format on a loopback address."""

import hashlib
import logging
import socket
import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.utils import timezone
from werkzeug import Response

from accounts.models import Member
from billing.models import Purchase
from billing.products import MONTHLY
from billing.purchases import PurchaseChange, record_purchase
from billing.stores import load_verifier, verify_token
from billing.subscriptions import override_plan
from core import http_client
from tests.support.clients import JSONClient
from tests.support.fake_store import ACCESS_TOKEN, FakePlay, json_response, make_account
from tests.support.problems import assert_problem
from tests.support.purchases import buy

pytestmark = pytest.mark.django_db

TOKEN = "opaque.token-AO_J1Ox"
PATH = "/api/billing/subscription"


def expiry_of(response: Any) -> datetime:
    return datetime.fromisoformat(response.data["planExpiresAt"])


def assert_refused(response: Any, status: int, code: str) -> None:
    assert_problem(response, status, code)
    assert not Purchase.objects.exists()
    assert not Member.objects.filter(plan="PREMIUM").exists()


# --- Confirmed ------------------------------------------------------------------


def test_store_sets_its_own_expiry(buyer: JSONClient, play: FakePlay) -> None:
    expiry = play.sell(TOKEN, expires_at=timezone.now() + timedelta(days=11))
    response = buy(buyer, TOKEN)
    assert response.status_code == 200
    assert expiry_of(response) == expiry
    assert response.data["applied"] is True
    assert response.data["autoRenew"] is True
    purchase = Purchase.objects.get()
    assert (purchase.store, purchase.order_id) == ("google_play", "GPA.1")
    assert (purchase.state, purchase.expires_at) == ("ACTIVE", expiry)


def test_purchase_is_verified_and_then_acknowledged(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    assert play.calls == [
        f"GET subscriptionsv2/tokens/{TOKEN}",
        f"POST subscriptions/premium_monthly/tokens/{TOKEN}:acknowledge",
    ]
    assert Purchase.objects.get().is_acknowledged
    buy(buyer, TOKEN)
    assert play.calls[2:] == [f"GET subscriptionsv2/tokens/{TOKEN}"]


def test_access_token_is_fetched_once_for_its_hour(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    buy(buyer, TOKEN)
    paths = [request.path for request, _ in play.server.log]
    assert paths.count("/oauth2/token") == 1


def test_store_is_asked_outside_of_transactions(
    buyer: JSONClient, play: FakePlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths = []
    real = http_client._send

    def watch(*args: Any, **parts: Any) -> Any:
        depths.append(len(connection.savepoint_ids))
        return real(*args, **parts)

    outside = len(connection.savepoint_ids)
    monkeypatch.setattr(http_client, "_send", watch)
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    assert set(depths) == {outside}


def test_purchase_counts_though_the_acknowledgement_failed(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.deaf.add("acknowledge")
    play.sell(TOKEN)
    assert buy(buyer, TOKEN).data["applied"] is True
    assert not Purchase.objects.get().is_acknowledged
    play.deaf.clear()
    assert buy(buyer, TOKEN).data["applied"] is False
    assert Purchase.objects.get().is_acknowledged


@pytest.mark.parametrize("state", ["ACTIVE", "IN_GRACE_PERIOD", "CANCELED"])
def test_state_that_entitles(buyer: JSONClient, play: FakePlay, state: str) -> None:
    play.sell(TOKEN, state=state, auto_renew=state != "CANCELED")
    response = buy(buyer, TOKEN)
    assert response.data["plan"] == "PREMIUM"
    assert response.data["autoRenew"] is (state != "CANCELED")


@pytest.mark.parametrize(
    "state",
    ["PENDING", "PENDING_PURCHASE_CANCELED", "ON_HOLD", "PAUSED", "EXPIRED", "NEW_ONE"],
)
def test_other_state_gives_nothing(
    buyer: JSONClient, play: FakePlay, state: str
) -> None:
    play.sell(TOKEN, state=state)
    assert_refused(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")


def test_what_has_passed_gives_nothing(buyer: JSONClient, play: FakePlay) -> None:
    play.sell(TOKEN, expires_at=timezone.now() - timedelta(seconds=1))
    assert_refused(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")


def test_token_of_another_product_is_refused(buyer: JSONClient, play: FakePlay) -> None:
    play.sell(TOKEN, product="premium_yearly")
    assert_refused(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")
    play.sell(TOKEN, product="coins_100")
    assert_refused(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")


def test_prepaid_plan_does_not_renew(buyer: JSONClient, play: FakePlay) -> None:
    play.sell(TOKEN)
    line = play.bodies[TOKEN]["lineItems"][0]
    del line["autoRenewingPlan"]
    line["prepaidPlan"] = {}
    assert buy(buyer, TOKEN).data["autoRenew"] is False


def test_line_without_an_order_id_has_that_of_the_subscription(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN, order="GPA.7")
    del play.bodies[TOKEN]["lineItems"][0]["latestSuccessfulOrderId"]
    buy(buyer, TOKEN)
    assert Purchase.objects.get().order_id == "GPA.7"


def test_renewal_is_an_order_of_its_own_under_the_same_token(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN, order="GPA.1")
    buy(buyer, TOKEN)
    expiry = play.sell(
        TOKEN, order="GPA.1..0", expires_at=timezone.now() + timedelta(days=60)
    )
    response = buy(buyer, TOKEN)
    assert response.data["applied"] is True
    assert expiry_of(response) == expiry
    assert Purchase.objects.count() == 2


def test_known_order_is_updated_from_the_store(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.sell(TOKEN, state="CANCELED", auto_renew=False)
    answer = buy(buyer, TOKEN).data
    assert (answer["applied"], answer["autoRenew"]) == (False, False)
    play.sell(TOKEN, state="EXPIRED", auto_renew=False)
    answer = buy(buyer, TOKEN).data
    assert (answer["applied"], answer["plan"]) == (False, "FREE")


# --- Ownership ------------------------------------------------------------------


def test_token_belongs_to_its_first_member_over_renewals(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell(TOKEN, order="GPA.1")
    buy(buyer, TOKEN)
    play.sell(TOKEN, order="GPA.1..0")
    response = buy(JSONClient(other_member), TOKEN)
    assert (response.status_code, response.data["code"]) == (
        409,
        "PURCHASE_ALREADY_USED",
    )
    assert Purchase.objects.count() == 1


def test_obfuscated_account_id_must_be_of_the_member(
    buyer: JSONClient, free_member: Member, other_member: Member, play: FakePlay
) -> None:
    hashed = hashlib.sha256(str(free_member.pk).encode()).hexdigest()
    for number, name in enumerate((str(free_member.pk), hashed)):
        token = f"{TOKEN}{number}"
        names = {"obfuscatedExternalAccountId": name}
        play.sell(token, order=f"GPA.{number}", externalAccountIdentifiers=names)
        assert buy(JSONClient(other_member), token).status_code == 409
        assert buy(buyer, token).status_code == 200


def test_replaced_token_no_longer_counts(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    # An upgrade: the store calls both tokens active for a while.
    later = timezone.now() + timedelta(days=60)
    play.sell("old", order="GPA.1", product="premium_yearly", expires_at=later)
    buy(buyer, "old", "premium_yearly")
    expiry = play.sell("new", order="GPA.2", linkedPurchaseToken="old")
    response = buy(buyer, "new")
    assert expiry_of(response) == expiry
    assert response.data["product"] == "premium_monthly"
    old = Purchase.objects.get(order_id="GPA.1")
    assert (old.is_active, old.auto_renew) == (False, False)
    assert old.replaced_at is not None
    again = buy(buyer, "old", "premium_yearly")
    assert (again.data["applied"], again.data["product"]) == (False, "premium_monthly")
    play.sell("old", order="GPA.1..0", product="premium_yearly", expires_at=later)
    assert buy(buyer, "old", "premium_yearly").status_code == 409
    assert expiry_of(buyer.send("GET", PATH)) == expiry


def test_replaced_token_that_was_never_recorded_is_refused(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell("old", order="GPA.1")
    play.sell("new", order="GPA.2", linkedPurchaseToken="old")
    assert buy(buyer, "new").status_code == 200
    assert buy(JSONClient(other_member), "old").status_code == 409
    assert buy(buyer, "old").status_code == 409
    assert Purchase.objects.count() == 1


def test_replacement_of_anothers_purchase_is_refused(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell("old", order="GPA.1")
    buy(buyer, "old")
    play.sell("new", order="GPA.2", linkedPurchaseToken="old")
    assert buy(JSONClient(other_member), "new").status_code == 409
    assert Purchase.objects.get().is_active is True


def test_shorter_of_two_subscriptions_does_not_shorten_the_plan(
    buyer: JSONClient, play: FakePlay
) -> None:
    far = timezone.now() + timedelta(days=300)
    play.sell("long", order="GPA.1", product="premium_yearly", expires_at=far)
    play.sell("short", order="GPA.2")
    buy(buyer, "long", "premium_yearly")
    assert expiry_of(buy(buyer, "short")) == far


def test_order_of_a_deleted_account_is_redeemed(
    buyer: JSONClient, other_member: Member, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    assert buyer.send("DELETE", "/api/auth/me").status_code == 204
    newcomer = JSONClient(other_member)
    assert_refused(buy(newcomer, TOKEN), 409, "PURCHASE_ALREADY_USED")
    play.sell(TOKEN, order="GPA.1..0")  # a later payment is a new order
    assert buy(newcomer, TOKEN).status_code == 200


# --- Refused, and unavailable ---------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 410])
def test_token_that_the_store_does_not_know_is_invalid(
    buyer: JSONClient, play: FakePlay, status: int
) -> None:
    play.fail(status, {"error": {"code": status, "message": "x"}})
    assert_refused(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, {"error": {"status": "UNAUTHENTICATED"}}),
        (403, {"error": {"status": "PERMISSION_DENIED"}}),
        (429, ""),
        (500, "<html>"),
        (503, {"error": {"status": "UNAVAILABLE"}}),
        (302, ""),
        (200, ""),
        (200, "<html>maintenance</html>"),
        (200, "[]"),
        (200, "null"),
        (200, {"kind": "x"}),
        (200, {"lineItems": 7, "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE"}),
        (200, {"lineItems": [7], "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE"}),
        (200, "[" * 100_000),
        (200, '{"lineItems": "' + "x" * 2_000_000 + '"}'),
        (
            200,
            {
                "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
                "lineItems": [
                    {
                        "productId": "premium_monthly",
                        "latestSuccessfulOrderId": "GPA.1",
                        "expiryTime": "tomorrow",
                    }
                ],
            },
        ),
    ],
)
def test_unusable_response_is_502_and_nothing_is_stored(
    buyer: JSONClient, play: FakePlay, status: int, body: Any
) -> None:
    play.fail(status, body, Location="http://127.0.0.1:1/")
    assert_refused(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": "invalid_grant"}),
        (401, {"error": "unauthorized_client"}),
        (500, "oops"),
        (200, "<html>"),
        (200, "{}"),
        (200, '{"access_token": "x", "expires_in": "soon"}'),
    ],
)
def test_no_access_token_is_502(
    buyer: JSONClient, play: FakePlay, status: int, body: Any
) -> None:
    play.sell(TOKEN)
    play.token_refusal = (
        Response(body, status=status)
        if isinstance(body, str)
        else json_response(body, status)
    )
    assert_refused(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")
    play.token_refusal = None
    assert buy(buyer, TOKEN).status_code == 200


def test_unreachable_store_is_502(
    buyer: JSONClient, play: FakePlay, settings: Any
) -> None:
    play.sell(TOKEN)
    settings.STORE_BASE_URL = "http://127.0.0.1:1"
    assert_refused(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")


@pytest.mark.parametrize("address", ["STORE_BASE_URL", "token_uri"])
def test_store_that_hangs_is_502_within_its_time_limit(
    buyer: JSONClient,
    play: FakePlay,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    monkeypatch.setattr(http_client, "_send", send_within(0.3))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        if address == "STORE_BASE_URL":
            settings.STORE_BASE_URL = url
        else:
            account = settings.STORE_SERVICE_ACCOUNT | {"token_uri": f"{url}/token"}
            settings.STORE_SERVICE_ACCOUNT = account
        started = time.monotonic()
        assert_refused(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")
        assert time.monotonic() - started < 3


def send_within(limit: float) -> Any:
    """Return `http_client._send` with a shorter time limit."""
    real = http_client._send

    def send(method: str, url: str, seconds: float, **parts: Any) -> Any:
        assert seconds <= 10
        return real(method, url, limit, **parts)

    return send


def test_revoked_access_token_is_replaced(
    buyer: JSONClient, play: FakePlay, monkeypatch: pytest.MonkeyPatch
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    monkeypatch.setattr("tests.support.fake_store.ACCESS_TOKEN", "another")
    assert buy(buyer, TOKEN).status_code == 502
    assert buy(buyer, TOKEN).status_code == 200


def test_token_cannot_change_the_url(buyer: JSONClient, play: FakePlay) -> None:
    for token in ("../../x", "a/b", "a?b=c#d", "..", "%2e%2e/", "x:cancel"):
        assert_refused(buy(buyer, token), 400, "PURCHASE_INVALID")
    for request, _ in play.server.log:
        assert request.method in {"GET", "POST"}
        if request.path != "/oauth2/token":
            assert request.method == "GET"
            assert not request.args


def test_nothing_secret_is_logged(
    buyer: JSONClient, play: FakePlay, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("urllib3").setLevel(logging.INFO)
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.fail(500)
    buy(buyer, TOKEN)
    key = make_account()["private_key"][40:80]
    for line in caplog.records:
        if line.name.startswith("werkzeug"):
            continue
        text = line.getMessage() + str(vars(line))
        assert TOKEN not in text
        assert ACCESS_TOKEN not in text
        assert key not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORE_SERVICE_ACCOUNT", {}),
        ("STORE_SERVICE_ACCOUNT", {"client_email": "x"}),
        ("STORE_SERVICE_ACCOUNT", make_account() | {"private_key": "x"}),
        ("STORE_PACKAGE_NAME", ""),
    ],
)
def test_missing_setting_stops_the_start(
    play: FakePlay, settings: Any, name: str, value: Any
) -> None:
    setattr(settings, name, value)
    with pytest.raises(ImproperlyConfigured, match="STORE_SERVICE_ACCOUNT"):
        load_verifier()


# --- Cancel, resume, restore ----------------------------------------------------


def test_cancel_stops_the_stores_charges(buyer: JSONClient, play: FakePlay) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    answer = buyer.send("POST", "/api/billing/cancel")
    assert (answer.status_code, answer.data["autoRenew"]) == (200, False)
    assert play.calls[-1] == f"POST subscriptions/premium_monthly/tokens/{TOKEN}:cancel"
    assert buyer.send("POST", "/api/billing/cancel").status_code == 200
    assert len([call for call in play.calls if "cancel" in call]) == 1


def test_cancel_changes_nothing_when_the_store_does_not_answer(
    buyer: JSONClient, play: FakePlay
) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.deaf.add("cancel")
    assert buyer.send("POST", "/api/billing/cancel").status_code == 502
    assert buyer.get_json(PATH)["autoRenew"] is True


def test_resume_takes_the_state_of_the_store(buyer: JSONClient, play: FakePlay) -> None:
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    buyer.send("POST", "/api/billing/cancel")
    assert buyer.send("POST", "/api/billing/resume").data["autoRenew"] is False
    play.sell(TOKEN)  # the member resumed it in the store
    assert buyer.send("POST", "/api/billing/resume").data["autoRenew"] is True


def test_restore_gives_back_what_the_store_granted(
    buyer: JSONClient, play: FakePlay
) -> None:
    expiry = play.sell(TOKEN)
    buy(buyer, TOKEN)
    override_plan(Member.objects.get(), "FREE")
    response = buyer.send("POST", "/api/billing/restore")
    assert expiry_of(response) == expiry


def test_update_of_a_known_order_does_not_undo_the_administrators_plan(
    buyer: JSONClient, play: FakePlay
) -> None:
    expiry = play.sell(TOKEN)
    buy(buyer, TOKEN)
    override_plan(Member.objects.get(), "FREE")
    play.sell(TOKEN, state="CANCELED", auto_renew=False, expires_at=expiry)
    assert buy(buyer, TOKEN).data["plan"] == "FREE"
    play.sell(TOKEN, order="GPA.1..0", expires_at=expiry + timedelta(days=30))
    assert buy(buyer, TOKEN).data["plan"] == "PREMIUM"


def test_late_response_does_not_overwrite_a_newer_one(
    buyer: JSONClient, free_member: Member, play: FakePlay
) -> None:
    # The first request gets its response last.
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    checked_at = timezone.now()
    late = verify_token(TOKEN, MONTHLY)
    play.sell(TOKEN, state="EXPIRED", auto_renew=False)
    assert buy(buyer, TOKEN).data["plan"] == "FREE"
    free_member.refresh_from_db()
    now = timezone.now()
    change = record_purchase(free_member, late, checked_at=checked_at, now=now)
    assert change is PurchaseChange.NONE
    assert buyer.get_json(PATH)["plan"] == "FREE"
