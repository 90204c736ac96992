"""Concurrent purchases: applied once, to one member, with one extension (spec 6.3)."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from billing import purchases
from billing.models import Purchase, RedeemedOrder, StoreNotification
from billing.plan_expiry import expire_lapsed_plans
from billing.products import MONTHLY, add_period
from billing.store_notifications import process_pending_notifications
from billing.stores import hash_token
from billing.subscriptions import override_plan
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_member
from tests.support.fake_store import FakePlay, fake_play_at
from tests.support.purchases import buy, push_notification, renewal_data
from tests.support.races import call_before, run_concurrently, sorted_statuses
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(2, 20)
AT_ONCE = 64
HANDLER = JSONClient().handler


@pytest.fixture(autouse=True)
def test_mode(settings: Any) -> None:
    settings.BILLING_TEST_MODE = True


def make_client(member: Member) -> JSONClient:
    client = JSONClient(member)
    client.handler = HANDLER
    return client


def is_applied(response: Any) -> bool:
    return bool(response.data["applied"])


def test_identical_purchases_are_applied_once() -> None:
    for number in range(ROUNDS):
        start = timezone.now() + timedelta(days=10)
        member = make_member(plan="PREMIUM", plan_expires_at=start)
        client = make_client(member)
        calls = [partial(buy, client, f"test-{number}")] * AT_ONCE
        responses = run_concurrently(calls)
        assert Counter(sorted_statuses(responses)) == {200: AT_ONCE}
        assert Counter(map(is_applied, responses)) == {True: 1, False: AT_ONCE - 1}
        answers = {str(r.data | {"applied": None}) for r in responses}
        assert len(answers) == 1
        assert Purchase.objects.filter(member=member).count() == 1
        member.refresh_from_db()
        home = timezone.get_default_timezone()
        assert member.plan_expires_at == add_period(start, MONTHLY.period, home)


def test_without_the_lock_the_expiry_would_be_moved_by_some_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With the member's row locked, concurrent orders add up.
    home = timezone.get_default_timezone()

    def count_months(number: int) -> int:
        # Months of a start at the end of one are not equally long.
        expires_at = timezone.now() + timedelta(minutes=5)
        member = make_member(plan="PREMIUM", plan_expires_at=expires_at)
        client = make_client(member)
        run_concurrently([partial(buy, client, f"test-{number}-{n}") for n in range(8)])
        member.refresh_from_db()
        assert member.plan_expires_at is not None
        months = 0
        while expires_at < member.plan_expires_at:
            expires_at, months = (
                add_period(expires_at, MONTHLY.period, home),
                months + 1,
            )
        assert expires_at == member.plan_expires_at
        return months

    assert [count_months(number) for number in range(3)] == [8, 8, 8]
    unlocked = Member.objects.get
    monkeypatch.setattr("billing.purchases.lock_member", lambda pk: unlocked(pk=pk))
    assert min(count_months(number) for number in range(3, 8)) < 8


def test_one_order_by_two_members_has_one_owner() -> None:
    for number in range(ROUNDS):
        clients = [make_client(make_member()) for _ in range(2)]
        calls = [partial(buy, c, f"test-{number}") for c in clients for _ in range(8)]
        responses = run_concurrently(calls)
        counts = Counter(response.status_code for response in responses)
        assert counts == {200: 8, 409: 8}
        assert sum(is_applied(r) for r in responses if r.status_code == 200) == 1
        owner = Purchase.objects.get(order_id=f"test-{number}").member
        premium = Member.objects.get(plan="PREMIUM")
        assert owner == premium
        Member.objects.update(plan="FREE")


def test_many_members_and_one_order() -> None:
    clients = [make_client(make_member()) for _ in range(32)]
    responses = run_concurrently([partial(buy, client, "test-1") for client in clients])
    assert sorted_statuses(responses) == [200] + [409] * 31
    assert Member.objects.filter(plan="PREMIUM").count() == 1


def test_purchase_while_its_owner_leaves_is_never_applied_to_another() -> None:
    # The order is always either recorded or redeemed, never free.
    for number in range(ROUNDS):
        token = f"test-{number}"
        owner, newcomer = make_member(), make_member()
        buy(make_client(owner), token)
        leave = partial(make_client(owner).send, "DELETE", "/api/auth/me")
        take = [partial(buy, make_client(newcomer), token) for _ in range(8)]
        left, *taken = run_concurrently([leave, *take])
        assert left.status_code == 204
        assert sorted_statuses(taken) == [409] * 8
        newcomer.refresh_from_db()
        assert newcomer.plan == "FREE"
    assert not Purchase.objects.exists()
    assert RedeemedOrder.objects.count() == ROUNDS


def test_member_who_leaves_while_buying_leaves_nothing() -> None:
    for number in range(ROUNDS):
        member = make_member()
        calls: list[Callable[[], Any]] = [
            partial(buy, make_client(member), f"test-{number}") for _ in range(6)
        ]
        leave = partial(make_client(member).send, "DELETE", "/api/auth/me")
        responses = run_concurrently([*calls, leave])
        assert responses[-1].status_code == 204
        assert {r.status_code for r in responses[:-1]} <= {200, 401}
        assert not any(count_rows_of(member).values())
        applied = [r for r in responses[:-1] if r.status_code == 200 and is_applied(r)]
        assert RedeemedOrder.objects.count() == len(applied)
        RedeemedOrder.objects.all().delete()


def test_jobs_at_once_demote_each_member_once() -> None:
    passed = timezone.now() - timedelta(seconds=1)
    for _ in range(40):
        make_member(plan="PREMIUM", plan_expires_at=passed)
    now = timezone.now()
    counts = run_concurrently([partial(expire_lapsed_plans, now) for _ in range(6)])
    assert sum(counts) == 40
    assert not Member.objects.filter(plan="PREMIUM").exists()


def test_purchase_beside_the_job_and_the_administrator_ends_whole() -> None:
    for number in range(ROUNDS):
        passed = timezone.now() - timedelta(seconds=1)
        member = make_member(plan="PREMIUM", plan_expires_at=passed)
        run_concurrently(
            [
                partial(buy, make_client(member), f"test-{number}"),
                partial(expire_lapsed_plans, timezone.now()),
                partial(override_plan, member, "FREE"),
                partial(make_client(member).send, "POST", "/api/billing/cancel"),
                partial(make_client(member).send, "POST", "/api/billing/restore"),
            ]
        )
        member.refresh_from_db()
        best = purchases.list_active_purchases(member).first()
        if member.plan == "FREE":
            assert best is None
            assert (member.plan_expires_at, member.plan_product) == (None, "")
        else:
            assert best is not None
            assert member.plan_expires_at == best.expires_at


def test_renewal_by_notification_and_verification_at_once_is_one_order(
    settings: Any,
) -> None:
    with fake_play_at(settings) as play:
        for number in range(8):
            member = make_member()
            client = make_client(member)
            token = f"token-{number}"
            play.sell(token, order=f"GPA.{number}")
            assert buy(client, token).status_code == 200
            later = timezone.now() + timedelta(days=60)
            expiry = play.sell(token, order=f"GPA.{number}..0", expires_at=later)
            for copy in range(4):
                push_notification(renewal_data(token), f"{number}-{copy}")
            now = timezone.now()
            handlers = [partial(process_pending_notifications, now)] * 4
            *handled, first, second = run_concurrently(
                [*handlers, partial(buy, client, token), partial(buy, client, token)]
            )
            assert sorted_statuses([first, second]) == [200, 200]
            assert sum(handling.processed for handling in handled) == 4
            assert Purchase.objects.filter(member=member).count() == 2
            member.refresh_from_db()
            assert member.plan_expires_at == expiry
        attempts = StoreNotification.objects.values_list("attempts", flat=True)
        assert set(attempts) == {1}


def sell_to(play: FakePlay, token: str, named: Member | None) -> None:
    """Sell a purchase that names the account of a member, or none."""
    ids = {"obfuscatedExternalAccountId": str(named.pk)} if named else {}
    play.sell(token, order=f"GPA.{token}", externalAccountIdentifiers=ids)


def count_acknowledgements(play: FakePlay, token: str) -> int:
    path = f"POST subscriptions/premium_monthly/tokens/{token}:acknowledge"
    return play.calls.count(path)


@pytest.mark.parametrize("named", ["the buyer", "another", "nobody"])
@pytest.mark.parametrize("order", ["notified first", "verified first", "at once"])
def test_unknown_token_of_a_notification_and_its_verification_have_one_owner(
    settings: Any, order: str, named: str
) -> None:
    # The store answers both before either is recorded where they come at once.
    with fake_play_at(settings) as play:
        for number in range(4):
            token = f"token-{number}"
            buyer, other = make_member(), make_member()
            owners = {"the buyer": buyer, "another": other, "nobody": None}
            sell_to(play, token, owners[named])
            verify = partial(buy, make_client(buyer), token)
            push_notification(renewal_data(token, 4), f"message-{number}")
            process = partial(process_pending_notifications, timezone.now())
            if order == "at once":
                play.lookups_at_once = threading.Barrier(2)
                response, _ = run_concurrently([verify, process])
                play.lookups_at_once = None
            elif order == "verified first":
                response = verify()
                process()
            else:
                process()
                response = verify()
            purchase = Purchase.objects.get(token_hash=hash_token(token))
            is_buyers = purchase.member == buyer
            assert response.status_code == (200 if is_buyers else 409)
            assert purchase.member in (buyer, owners[named])
            plans = {member.pk: member.plan for member in Member.objects.all()}
            assert plans[purchase.member_id] == "PREMIUM"
            assert plans[other.pk if is_buyers else buyer.pk] == "FREE"
            assert purchase.is_acknowledged
            assert count_acknowledgements(play, token) == 1
            process_pending_notifications(timezone.now() + timedelta(hours=2))
            assert count_acknowledgements(play, token) == 1
            assert not StoreNotification.objects.filter(processed_at=None).exists()


def test_acknowledgement_that_ends_during_a_verification_stays_noted(
    settings: Any,
) -> None:
    # The verification has read the row before, and is about to write it.
    with fake_play_at(settings) as play:
        play.deaf.add("acknowledge")
        play.sell("token")
        client = make_client(make_member())
        buy(client, "token")

        def note() -> None:
            Purchase.objects.update(
                is_acknowledged=True, acknowledged_at=timezone.now()
            )

        with call_before('UPDATE "iap_purchase"', note) as noted:
            assert buy(client, "token").status_code == 200
        noted.result()
        assert Purchase.objects.get().is_acknowledged


def test_one_message_pushed_many_times_at_once_is_kept_once() -> None:
    responses = run_concurrently(
        [partial(push_notification, renewal_data("t"), "m-1")] * 32
    )
    assert sorted_statuses(responses) == [200] * 32
    assert StoreNotification.objects.count() == 1
