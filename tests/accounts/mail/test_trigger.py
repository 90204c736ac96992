"""The call of the job after a commit: never in the way of a request (spec 2.10)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from celery import current_app
from django.db import transaction

from accounts import tasks
from accounts.mail import trigger
from core import redis_client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the tasks that are sent; Valkey is there."""
    calls: list[Any] = []

    @contextmanager
    def connect(**options: Any) -> Iterator[dict[str, Any]]:
        yield options["transport_options"]

    monkeypatch.setattr(redis_client, "is_reachable", lambda: True)
    monkeypatch.setattr(current_app, "connection_for_write", connect)
    monkeypatch.setattr(
        current_app, "send_task", lambda name, **options: calls.append((name, options))
    )
    return calls


def test_job_is_called_after_the_commit_and_not_before(sent: list[Any]) -> None:
    with transaction.atomic():
        trigger.send_on_commit()
        assert sent == []
    ((name, options),) = sent
    assert name == tasks.send_mail.name
    # No retry, and no call that waits for longer.
    assert options["retry"] is False
    assert options["connection"]["socket_timeout"] <= 0.5
    assert options["connection"]["socket_connect_timeout"] <= 0.5


@pytest.mark.parametrize("is_reachable", [True, False])
def test_rolled_back_mail_and_a_missing_valkey_call_no_job(
    sent: list[Any], monkeypatch: pytest.MonkeyPatch, is_reachable: bool
) -> None:
    monkeypatch.setattr(redis_client, "is_reachable", lambda: is_reachable)
    with transaction.atomic():
        trigger.send_on_commit()
        transaction.set_rollback(is_reachable)
    assert sent == []


def test_queue_that_fails_in_the_middle_fails_no_request(
    sent: list[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(current_app, "send_task", fail)
    trigger.send_on_commit()
    assert "mail job not called: ConnectionError" in caplog.text
