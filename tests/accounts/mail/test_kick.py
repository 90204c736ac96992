"""The call of the job after a commit: never in the way of a request (spec 2.10)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from celery import current_app
from django.db import transaction

from accounts import tasks
from accounts.mail import kick
from core import redis_client


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


@pytest.mark.django_db(transaction=True)
def test_job_is_called_after_the_commit_and_not_before(sent: list[Any]) -> None:
    with transaction.atomic():
        kick.send_soon()
        assert sent == []
    ((name, options),) = sent
    assert name == tasks.send_mail.name
    # No retry, and no call that waits for longer.
    assert options["retry"] is False
    assert options["connection"]["socket_timeout"] <= 0.5
    assert options["connection"]["socket_connect_timeout"] <= 0.5


@pytest.mark.django_db(transaction=True)
def test_rolled_back_mail_calls_no_job(sent: list[Any]) -> None:
    with transaction.atomic():
        kick.send_soon()
        transaction.set_rollback(True)
    assert sent == []


@pytest.mark.django_db(transaction=True)
def test_without_valkey_the_request_goes_on(
    sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_client, "is_reachable", lambda: False)
    kick.send_soon()
    assert sent == []


@pytest.mark.django_db(transaction=True)
def test_queue_that_fails_in_the_middle_fails_no_request(
    sent: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(current_app, "send_task", fail)
    kick.send_soon()
    assert "mail job not called: ConnectionError" in caplog.text
