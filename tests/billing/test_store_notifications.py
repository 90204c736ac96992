"""POST /api/billing/store/rtdn: saved once and logged."""

import base64
import json
import logging
from typing import Any

import pytest
from django.utils import timezone

from billing.models import StoreNotification
from billing.store_notifications import (
    MAX_BODY_BYTES,
    MAX_STORED_BYTES,
    process_pending_notifications,
)
from billing.tasks import process_store_notifications
from tests.support.factories import make_member
from tests.support.fake_store import PACKAGE
from tests.support.problems import assert_problem
from tests.support.purchases import (
    TOKEN,
    Outcome,
    notification_data,
    outcomes,
    push_body,
    push_notification,
    push_raw,
    renewal_data,
)


def test_notification_is_kept_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert push_notification(renewal_data(), "m-1").status_code == 200
    kept = StoreNotification.objects.get()
    assert (kept.message_id, kept.kind) == ("m-1", "subscription 2")
    assert kept.package == PACKAGE
    assert json.loads(kept.body) == push_body(renewal_data(), "m-1")
    assert (kept.outcome, kept.processed_at) == ("PENDING", None)
    lines = [r for r in caplog.records if r.message == "store notification"]
    assert [line.fields for line in lines] == [  # type: ignore[attr-defined]
        {"kind": "subscription 2", "message": "m-1", "new": True}
    ]
    assert TOKEN not in caplog.text


def test_message_is_kept_once_by_its_id() -> None:
    for data in (renewal_data(), renewal_data(), renewal_data("another")):
        assert push_notification(data, "m-1").status_code == 200
    assert StoreNotification.objects.count() == 1
    push_notification(renewal_data(), "m-2")
    assert StoreNotification.objects.count() == 2


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (renewal_data(kind=4), "subscription 4"),
        (renewal_data(kind=999), "subscription 999"),
        (notification_data(purchaseToken=TOKEN), "subscription"),
        (notification_data(notificationType="x", purchaseToken=7), "subscription"),
        (
            notification_data("oneTimeProductNotification", notificationType=1),
            "one-time product 1",
        ),
        (
            notification_data("voidedPurchaseNotification", purchaseToken=TOKEN),
            "voided purchase",
        ),
        (notification_data("pendingRefundReviewNotification"), "pending refund review"),
        (notification_data("testNotification"), "test"),
        (notification_data("somethingNewNotification"), "unknown"),
        ({"subscriptionNotification": 7, "x": 1}, "unknown"),
        ([], "unreadable"),
        ("not base64!", "unreadable"),
        (base64.b64encode(b"not json").decode(), "unreadable"),
        (base64.b64encode(b"[" * 9_000).decode(), "unreadable"),
    ],
)
def test_every_kind_is_kept(data: Any, kind: str) -> None:
    assert push_notification(data).status_code == 200
    assert StoreNotification.objects.get().kind == kind


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"message": 7}',
        b'{"message": [null]}',
        b'{"message": {}}',
        b'{"message": {"messageId": {"a": 1}, "data": 7}}',
        b'{"message": {"messageId": "\\u0000"}}',
        b'{"message": {"messageId": "\\ud800"}}',
        b'{"message": {"messageId": "' + b"1" * 300 + b'"}}',
        b"\xff\xfe\0binary",
        b"[" * 100_000,
    ],
)
def test_broken_body_is_200_and_kept_raw(body: bytes) -> None:
    assert push_raw(body).status_code == 200
    kept = StoreNotification.objects.get()
    assert (kept.message_id, kept.kind) == (None, "unreadable")
    assert kept.body.isprintable()
    start = body[:9].decode("utf-8", "backslashreplace").replace("\0", r"\x00")
    assert kept.body.startswith(start)
    assert push_raw(body).status_code == 200
    assert StoreNotification.objects.count() == 2


@pytest.mark.parametrize(
    "body",
    [b"[null]", b"[]", b"null", b"7", b'"text"', b"true", b"[" + b"[]," * 9 + b"1]"],
)
def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    response = push_raw(body)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert json.loads(response.content)["errors"][0]["field"] == "body"
    assert not StoreNotification.objects.exists()


def test_large_body_is_cut() -> None:
    assert push_raw(b"x" * 50_000).status_code == 200
    assert len(StoreNotification.objects.get().body) == MAX_STORED_BYTES


def test_very_large_body_is_refused() -> None:
    assert_problem(push_raw(b"x" * (MAX_BODY_BYTES + 1)), 413, "PAYLOAD_TOO_LARGE")
    assert not StoreNotification.objects.exists()
    assert push_raw(b"x" * 3_000_000).status_code == 413


@pytest.mark.parametrize("content_type", ["text/plain", "application/x", "", "%%"])
def test_content_type_does_not_matter(content_type: str) -> None:
    body = json.dumps(push_body(renewal_data())).encode()
    assert push_raw(body, content_type=content_type).status_code == 200
    assert StoreNotification.objects.get().message_id == "1"


def test_form_is_kept_raw() -> None:
    body = b"a=b&c=d"
    form = "application/x-www-form-urlencoded"
    assert push_raw(body, content_type=form).status_code == 200
    assert StoreNotification.objects.get().body == "a=b&c=d"


def test_with_the_stub_it_is_only_kept() -> None:
    member = make_member()
    push_notification(renewal_data())
    assert process_pending_notifications(timezone.now()).processed == 0
    process_store_notifications()
    assert outcomes() == [Outcome.PENDING]
    member.refresh_from_db()
    assert member.plan == "FREE"
