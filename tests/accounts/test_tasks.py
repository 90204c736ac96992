"""The daily purge, by Beat and by hand."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts import sessions
from accounts.models import AuthSession, Member, RateLimit
from accounts.rate_limits import SIGNUP_PER_IP, consume_attempt
from accounts.sessions import SessionStore, create_session, purge_expired_sessions
from accounts.tasks import purge_sessions
from config.celery import app


def make_sessions(member: Member, *, expired: int, live: int) -> None:
    for _ in range(expired + live):
        create_session(member)
    keys = AuthSession.objects.values_list("key_hash", flat=True)[:expired]
    AuthSession.objects.filter(key_hash__in=list(keys)).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )


def let_limits_pass() -> None:
    consume_attempt(SIGNUP_PER_IP, "192.0.2.1")
    RateLimit.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def test_task_deletes_expired_sessions_and_limits(free_member: Member) -> None:
    make_sessions(free_member, expired=3, live=2)
    let_limits_pass()
    purge_sessions()
    assert AuthSession.objects.count() == 2
    assert not RateLimit.objects.exists()


def test_command_says_what_it_did(free_member: Member) -> None:
    make_sessions(free_member, expired=3, live=2)
    let_limits_pass()
    said = StringIO()
    call_command("purge_sessions", stdout=said)
    assert said.getvalue() == "3 sessions and 1 rate limits purged.\n"
    said = StringIO()
    call_command("purge_sessions", stdout=said)
    assert said.getvalue() == "0 sessions and 0 rate limits purged.\n"


def test_purge_continues_until_all_batches_are_done(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PURGE_BATCH", 2)
    make_sessions(free_member, expired=5, live=1)
    assert purge_expired_sessions(timezone.now()) == 5
    assert AuthSession.objects.count() == 1


def test_sessions_without_a_member_are_purged_too(db: None) -> None:
    store = SessionStore()
    store["note"] = "kept"
    store.save()
    later = timezone.now() + timedelta(days=15)
    assert purge_expired_sessions(later) == 1


def test_djangos_own_clean_up_is_the_same(free_member: Member) -> None:
    make_sessions(free_member, expired=1, live=1)
    SessionStore.clear_expired()
    assert AuthSession.objects.count() == 1


def test_purge_runs_daily() -> None:
    entry = app.conf.beat_schedule["purge_sessions"]
    assert entry["schedule"] == timedelta(days=1)
    assert entry["task"] in app.tasks or purge_sessions.name == entry["task"]
