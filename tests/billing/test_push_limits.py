"""Pushes of strangers: how many, how large and how many rows they may become."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_httpserver import HTTPServer

from billing import store_notifications
from billing.models import StoreNotification
from billing.pubsub_auth import (
    PUSHES_IN_ALL,
    PUSHES_PER_ADDRESS,
    TOKEN_CHECKS_PER_ADDRESS,
)
from billing.store_notifications import purge_notifications
from tests.support.fake_google import AUDIENCE, EMAIL, MakeIdToken, sign
from tests.support.problems import assert_problem
from tests.support.purchases import (
    make_store_notification,
    push_notification,
    renewal_data,
)


def push(address: str = "192.0.2.1", message_id: str = "1", token: str = "") -> Any:
    extra = {"HTTP_AUTHORIZATION": f"Bearer {token}"} if token else {}
    return push_notification(renewal_data(), message_id, REMOTE_ADDR=address, **extra)


def assert_limited(response: Any) -> None:
    assert_problem(response, 429, "RATE_LIMITED")
    assert int(response.headers["Retry-After"]) > 0


def test_one_address_pushes_120_times_a_minute() -> None:
    for number in range(PUSHES_PER_ADDRESS.max_attempts):
        assert push(message_id=str(number)).status_code == 200
    assert_limited(push(message_id="one too many"))
    assert StoreNotification.objects.count() == 120
    assert push("192.0.2.2", "another").status_code == 200


def test_all_addresses_together_push_300_times_a_minute() -> None:
    # The attack: as much as it takes, from as many addresses as it takes.
    statuses = [
        push(f"192.0.2.{number % 50}", str(number)).status_code for number in range(350)
    ]
    assert statuses == [200] * 300 + [429] * 50
    assert StoreNotification.objects.count() == PUSHES_IN_ALL.max_attempts == 300


def test_verified_pushes_have_no_limit_and_strangers_use_up_none(
    vouch: MakeIdToken,
) -> None:
    token = vouch()
    for number in range(130):
        assert push(message_id=str(number)).status_code == 401
        assert push(message_id=str(number), token=token).status_code == 200
    assert StoreNotification.objects.count() == 130


def test_google_is_asked_about_few_tokens_of_one_address(
    vouch: MakeIdToken, httpserver: HTTPServer
) -> None:
    known = vouch()
    assert push("198.51.100.7", token=known).status_code == 200
    httpserver.clear()
    httpserver.expect_request("/tokeninfo").respond_with_json({}, status=400)
    claims = {"aud": AUDIENCE, "email": EMAIL, "email_verified": True}
    forged = [sign(claims | {"number": number}) for number in range(15)]
    statuses = [push(token=token).status_code for token in forged]
    limit = TOKEN_CHECKS_PER_ADDRESS.max_attempts
    assert statuses == [401] * limit + [429] * (15 - limit)
    assert len(httpserver.log) == limit
    assert push(token=known).status_code == 200


def test_pushes_are_refused_while_too_many_are_pending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_notifications, "MAX_PENDING", 3)
    for number in range(3):
        assert push(message_id=str(number)).status_code == 200
    assert_limited(push(message_id="4"))
    done = StoreNotification.objects.order_by("id")[:1].values("id")
    StoreNotification.objects.filter(id__in=done).update(
        processed_at=timezone.now(), outcome="REFRESHED"
    )
    assert push(message_id="4").status_code == 200
    assert_limited(push(message_id="5"))


def test_purge_keeps_the_newest_processed_and_all_pending_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_notifications, "MAX_PROCESSED", 2)
    now = timezone.now()
    for number in range(6):
        make_store_notification(
            str(number),
            processed_at=None if number % 3 == 0 else now,
            outcome="PENDING" if number % 3 == 0 else "REFRESHED",
        )
    assert purge_notifications(now - timedelta(days=180)) == 2
    kept = StoreNotification.objects.order_by("id")
    assert [row.body for row in kept] == ["0", "3", "4", "5"]
    assert purge_notifications(now - timedelta(days=180)) == 0
