"""The daily purge, by Beat and by hand."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import AuthSession, Member, RateLimit
from accounts.security.rate_limits import SIGNUP_PER_IP
from accounts.sessions.store import SessionStore, create_session, purge_expired_sessions
from accounts.tasks import purge_sessions
from config.celery import app


def make_sessions(member: Member, *, expired: int, live: int) -> None:
    for _ in range(expired + live):
        create_session(member)
    keys = AuthSession.objects.values_list("key_hash", flat=True)[:expired]
    AuthSession.objects.filter(key_hash__in=list(keys)).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )


@pytest.mark.parametrize("by_hand", [False, True])
def test_expired_sessions_and_limits_are_deleted(
    free_member: Member, by_hand: bool
) -> None:
    make_sessions(free_member, expired=3, live=2)
    SIGNUP_PER_IP.consume("192.0.2.1")
    RateLimit.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    if by_hand:
        for counts in ("3 sessions and 1 rate limits", "0 sessions and 0 rate limits"):
            said = StringIO()
            call_command("purge_sessions", stdout=said)
            assert said.getvalue() == f"{counts} purged.\n"
    else:
        purge_sessions()
    assert AuthSession.objects.count() == 2
    assert not RateLimit.objects.exists()


def test_purge_continues_until_all_batches_are_done(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.models.purging.BATCH_SIZE", 2)
    make_sessions(free_member, expired=5, live=1)
    assert purge_expired_sessions(timezone.now()) == 5
    assert AuthSession.objects.count() == 1


def test_djangos_clean_up_purges_sessions_with_and_without_a_member(
    free_member: Member,
) -> None:
    store = SessionStore()
    store["note"] = "kept"
    store.save()
    make_sessions(free_member, expired=1, live=0)
    AuthSession.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    create_session(free_member)
    SessionStore.clear_expired()
    assert AuthSession.objects.get().member == free_member


def test_purge_runs_daily() -> None:
    entry = app.conf.beat_schedule["purge_sessions"]
    assert entry["schedule"] == timedelta(days=1)
    assert entry["task"] in app.tasks or purge_sessions.name == entry["task"]
