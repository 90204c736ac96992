"""Sending: each mail once, or given up, whatever the server does (spec 2.10)."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from accounts import tasks
from accounts.mail import delivery, transport
from accounts.mail.delivery import DeliveryResult, purge_mails, send_due_mails
from accounts.mail.outbox import queue_mail
from accounts.models import Mail, Member
from core.jobs.models import JobRun
from tests.support.mail import make_attempts_due, read_folder
from tests.support.races import call_before, run_concurrently
from tests.support.smtp import (
    HOST,
    Inbox,
    make_certificate,
    run_smtp_server,
    run_trickling_server,
)

Queue = Callable[..., Mail]


@pytest.fixture
def queue(free_member: Member) -> Queue:
    def queue(**options: Any) -> Mail:
        values: dict[str, Any] = {"to": "minji@example.com", "language": "ko"}
        return queue_mail(free_member, "email_change", {}, **values | options)

    return queue


def read(mail: Mail) -> Mail:
    return Mail.objects.get(pk=mail.pk)


def assert_waits(mail: Mail, error: str) -> None:
    """Run the job once, in which this mail fails for now."""
    assert send_due_mails() == DeliveryResult(failed=1)
    assert (read(mail).state, read(mail).error) == ("WAITING", error)


def assert_given_up(mail: Mail, error: str) -> None:
    """Run the job once, in which this mail ends unsent."""
    assert send_due_mails() == DeliveryResult()
    ended = read(mail)
    assert (ended.state, ended.content, ended.error) == ("GIVEN_UP", None, error)


def test_mail_is_sent_by_starttls_with_a_login_and_wiped(
    queue: Queue, inbox: Inbox
) -> None:
    mail = queue()
    assert send_due_mails() == DeliveryResult(sent=1)
    (received,) = inbox.mails
    assert received["To"] == "minji@example.com"
    assert received["From"] == "Ledger <no-reply@ledger.example>"
    assert received["Message-ID"] == mail.message_id
    assert received["Auto-Submitted"] == "auto-generated"
    kinds = [part.get_content_type() for part in received.walk()]
    assert kinds == ["multipart/alternative", "text/plain", "text/html"]
    sent = read(mail)
    assert (sent.state, sent.content, sent.error) == ("SENT", None, "")
    assert sent.ended_at is not None
    assert send_due_mails() == DeliveryResult()


def test_mail_is_sent_by_tls_from_the_first_byte(
    queue: Queue, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox, context = Inbox(), make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    with run_smtp_server(inbox, ssl_context=context) as port:
        settings.MAIL_SERVER = {"host": HOST, "port": port, "use_ssl": True}
        queue()
        assert send_due_mails() == DeliveryResult(sent=1)
    assert len(inbox.mails) == 1


def test_nothing_is_said_to_a_server_without_starttls(
    queue: Queue, inbox: Inbox, settings: Any
) -> None:
    other = Inbox()
    with run_smtp_server(other) as port:
        settings.MAIL_SERVER = settings.MAIL_SERVER | {"port": port}
        assert_waits(queue(), "SMTPNotSupportedError")
    assert other.commands == []


def test_nothing_is_said_to_a_server_with_a_foreign_certificate(
    queue: Queue, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    assert_waits(queue(), "SSLCertVerificationError")
    assert inbox.commands == []


@pytest.mark.parametrize(
    "answers", [{"rcpt": "550 no such user"}, {"data": "554 no"}], ids=["rcpt", "data"]
)
def test_refusal_that_lasts_ends_a_mail(
    queue: Queue, inbox: Inbox, answers: dict[str, str]
) -> None:
    vars(inbox).update(answers)
    mail, other = queue(), queue()
    assert_given_up(mail, f"SMTP {next(iter(answers.values()))[:3]}")
    assert read(other).state == "GIVEN_UP"


def test_refusal_that_may_pass_is_tried_again_later_and_later(
    queue: Queue, inbox: Inbox
) -> None:
    inbox.data = "451 later"
    mail = queue()
    for minutes in (1, 2, 4, 8, 16, 32, 64, 64):
        started_at = timezone.now()
        assert send_due_mails() == DeliveryResult(failed=1)
        waits = read(mail).next_attempt_at - started_at
        assert timedelta() <= waits - timedelta(minutes=minutes) < timedelta(minutes=1)
        assert send_due_mails() == DeliveryResult()
        make_attempts_due()
    inbox.data = "250 OK"
    assert send_due_mails() == DeliveryResult(sent=1)
    assert inbox.message_ids == [mail.message_id]


def test_one_recipient_that_must_wait_does_not_keep_the_others(
    queue: Queue, inbox: Inbox
) -> None:
    inbox.rcpt = "450 busy"
    queue(), queue()
    assert send_due_mails() == DeliveryResult(failed=2)


def test_mail_is_given_up_when_its_time_is_over(queue: Queue, inbox: Inbox) -> None:
    assert_given_up(queue(expires_at=timezone.now() - timedelta(seconds=1)), "expired")
    assert inbox.mails == []


def test_mail_with_a_code_is_not_tried_beyond_its_life(
    queue: Queue, inbox: Inbox
) -> None:
    inbox.data = "451 later"
    mail = queue(expires_at=timezone.now() + timedelta(seconds=30))
    assert send_due_mails() == DeliveryResult(failed=1)
    assert read(mail).state == "GIVEN_UP"


def test_login_that_is_refused_waits_for_the_operator(
    queue: Queue, inbox: Inbox
) -> None:
    inbox.refuses_login = True
    mail = queue()
    queue()
    # The other mail would fare no better.
    assert_waits(mail, "SMTP 535")


def test_server_that_is_away_keeps_the_mails(
    queue: Queue, inbox: Inbox, settings: Any
) -> None:
    settings.MAIL_SERVER = settings.MAIL_SERVER | {"port": 1}
    mail, other = queue(), queue()
    assert send_due_mails() == DeliveryResult(failed=1)
    assert (read(mail).attempts, read(other).attempts) == (1, 0)


def test_server_that_hangs_holds_a_run_for_one_step(
    queue: Queue, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "STEP_TIMEOUT_SECONDS", 0.2)
    inbox.hangs = True
    mail, other = queue(), queue()
    # After a minute the server would take the mail.
    assert send_due_mails() == DeliveryResult(failed=1)
    assert (read(mail).state, read(mail).attempts) == ("WAITING", 1)
    assert read(other).attempts == 0


def test_server_that_trickles_holds_a_run_for_the_time_of_a_mail(
    queue: Queue, inbox: Inbox, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAIL_TIMEOUT_SECONDS", 0.3)
    mail = queue()
    with run_trickling_server() as (port, is_exhausted):
        settings.MAIL_SERVER = settings.MAIL_SERVER | {"port": port}
        assert send_due_mails() == DeliveryResult(failed=1)
        assert not is_exhausted.is_set()
    assert read(mail).state == "WAITING"


def test_mail_of_a_server_that_closes_half_way_shows_once(
    queue: Queue, inbox: Inbox
) -> None:
    inbox.closes = True
    mail = queue()
    assert send_due_mails() == DeliveryResult(failed=1)
    assert read(mail).state == "WAITING"
    inbox.closes = False
    make_attempts_due()
    assert send_due_mails() == DeliveryResult(sent=1)
    # The server had taken it: the same id twice, which mail programs show once.
    assert inbox.message_ids == [mail.message_id] * 2


def test_run_begins_no_mail_after_its_time(
    queue: Queue, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "RUN_SECONDS", 0)
    mail = queue()
    assert send_due_mails() == DeliveryResult()
    assert read(mail).attempts == 0


def test_mail_of_a_killed_worker_is_sent_after_its_lease(
    queue: Queue, inbox: Inbox
) -> None:
    mail = queue()
    assert delivery._claim_mail(timezone.now()) == mail
    assert send_due_mails() == DeliveryResult()
    Mail.objects.update(next_attempt_at=timezone.now())
    assert send_due_mails() == DeliveryResult(sent=1)


def test_late_end_of_an_attempt_does_not_count(queue: Queue, inbox: Inbox) -> None:
    queue()
    slow = delivery._claim_mail(timezone.now())
    assert slow is not None
    make_attempts_due()
    delivery._claim_mail(timezone.now())
    delivery._end(slow, Mail.State.GIVEN_UP, "late")
    assert read(slow).state == "WAITING"


def test_mail_whose_key_is_lost_is_given_up(
    queue: Queue, inbox: Inbox, settings: Any
) -> None:
    mail = queue()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 8, []
    assert_given_up(mail, "UnsealingError")


def test_folder_gets_a_file_for_each_mail_of_its_owner_only(
    queue: Queue, settings: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "new" / "mail"
    settings.MAIL_SERVER = {"folder": folder}
    queue(), queue()
    assert send_due_mails() == DeliveryResult(sent=2)
    mails = read_folder(folder)
    assert [mail["To"] for mail in mails] == ["minji@example.com"] * 2
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 2


def test_folder_that_cannot_be_written_keeps_the_mails(
    queue: Queue, settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "mail").write_text("a file")
    settings.MAIL_SERVER = {"folder": tmp_path / "mail"}
    mail = queue()
    assert send_due_mails() == DeliveryResult(failed=1)
    assert read(mail).state == "WAITING"


def test_job_records_no_run_without_a_mail(mail_folder: Path) -> None:
    tasks.send_mail()
    assert JobRun.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_job_fails_visibly_while_the_server_takes_no_mail(
    queue: Queue, inbox: Inbox
) -> None:
    inbox.data = "451 later"
    queue()
    with pytest.raises(tasks.MailServerError):
        tasks.send_mail()
    inbox.data = "250 OK"
    make_attempts_due()
    tasks.send_mail()
    assert [*JobRun.objects.order_by("id").values_list("state", "count")] == [
        ("FAILED", None),
        ("DONE", 1),
    ]


def test_rows_of_mails_that_ended_go_after_a_week(queue: Queue, inbox: Inbox) -> None:
    queue()
    send_due_mails()
    waiting = queue()
    now = timezone.now()
    assert purge_mails(now + timedelta(days=6)) == 0
    assert purge_mails(now + timedelta(days=8)) == 1
    assert Mail.objects.get() == waiting


def test_mails_of_a_run_share_a_connection(queue: Queue, inbox: Inbox) -> None:
    ids = [queue().message_id for _ in range(3)]
    assert send_due_mails() == DeliveryResult(sent=3)
    assert inbox.message_ids == ids
    assert inbox.logins == 1


def test_connection_that_the_server_ends_between_mails_is_opened_again(
    queue: Queue, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox.ends_after_each = True
    ids = [queue().message_id for _ in range(3)]

    def claim_later(now: datetime) -> Mail | None:
        time.sleep(0.2)
        return claim(now)

    claim = delivery._claim_mail
    monkeypatch.setattr(delivery, "_claim_mail", claim_later)
    assert send_due_mails() == DeliveryResult(sent=3)
    assert inbox.message_ids == ids
    assert inbox.logins == 3


def test_refused_mail_leaves_the_connection_to_the_next(
    queue: Queue, inbox: Inbox
) -> None:
    inbox.rcpt = "550 no such user"
    queue(), queue()
    assert send_due_mails() == DeliveryResult()
    assert set(Mail.objects.values_list("state", flat=True)) == {"GIVEN_UP"}


@pytest.mark.django_db(transaction=True)
def test_run_uses_as_many_connections_as_the_setting_says(
    queue: Queue, inbox: Inbox, settings: Any
) -> None:
    settings.MAIL_CONNECTIONS = 4
    inbox.delay = 0.05
    ids = [queue().message_id for _ in range(20)]
    assert send_due_mails() == DeliveryResult(sent=20)
    assert sorted(inbox.message_ids) == sorted(ids)
    assert 1 < inbox.logins <= 4
    assert set(Mail.objects.values_list("state", flat=True)) == {"SENT"}


@pytest.mark.django_db(transaction=True)
def test_all_connections_stop_when_the_server_fails(
    queue: Queue, inbox: Inbox, settings: Any
) -> None:
    settings.MAIL_CONNECTIONS = 4
    inbox.closes = True
    for _ in range(20):
        queue()
    result = send_due_mails()
    assert result.sent == 0
    assert 1 <= result.failed <= 4
    assert Mail.objects.filter(attempts=0).count() == 20 - result.failed


@pytest.mark.django_db(transaction=True)
def test_runs_at_once_send_each_mail_once(queue: Queue, inbox: Inbox) -> None:
    ids = {queue().message_id for _ in range(12)}
    results = run_concurrently([send_due_mails] * 3)
    assert sum(result.sent for result in results) == 12
    assert sorted(inbox.message_ids) == sorted(ids)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_locked", [False, True])
def test_claim_takes_what_no_other_run_has(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, is_locked: bool, inbox: Inbox
) -> None:
    mail, now = queue(), timezone.now()
    if not is_locked:
        monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_: rows)
    with call_before('UPDATE "mail"', lambda: delivery._claim_mail(now)) as other:
        claimed = delivery._claim_mail(now)
    assert claimed == mail
    # Without the lock both send it.
    assert other.result(timeout=20) == (None if is_locked else mail)
