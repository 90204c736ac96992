"""Long work says how far it is; quick work says nothing."""

import io
import time

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.sessions.store import create_session
from core import progress
from core.progress import SILENT_PROGRESS, Progress


def test_word_comes_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, said = [100.0], list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    report = Progress(said.append)
    for second in range(13):
        now[0] = 100.0 + second
        report.update(f"{second} done")
    assert said == ["5 done", "10 done"]


def test_nobody_is_told_where_nobody_waits(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "UPDATE_INTERVAL_SECONDS", 0)
    SILENT_PROGRESS.update("done")
    assert capfd.readouterr() == ("", "")


@pytest.mark.django_db
def test_command_shows_how_far_it_is_and_then_what_it_did(
    monkeypatch: pytest.MonkeyPatch, free_member: Member
) -> None:
    monkeypatch.setattr(progress, "UPDATE_INTERVAL_SECONDS", 0)
    for _ in range(2):
        create_session(free_member)
    AuthSession.objects.update(expires_at=timezone.now())
    out, err = io.StringIO(), io.StringIO()
    call_command("purge_sessions", stdout=out, stderr=err)
    assert "2 sessions so far" in err.getvalue()
    assert "2 sessions and 0 rate limits purged." in out.getvalue()
