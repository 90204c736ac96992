"""Codes in mails, spent and guessed at once (spec 2.11, 2.12)."""

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from accounts.codes import email_verification
from accounts.codes.codes import check_code
from accounts.codes.waiting_requests import process_requests
from accounts.errors import CodeInvalidError
from accounts.models import AuthSession, CodeRequest, Mail
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.mail import (
    VERIFY,
    ask_reset,
    ask_verification,
    confirm_reset,
    log_in,
    process_resets,
)
from tests.support.races import call_before, run_concurrently, sorted_statuses

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("mail_folder"),
]


@pytest.mark.parametrize("is_spent", [False, True])
def test_of_64_confirmations_at_once_one_wins(
    monkeypatch: pytest.MonkeyPatch, is_spent: bool
) -> None:
    member = make_member()
    _, body = ask_verification(JSONClient(member))
    if not is_spent:
        # Without the deletion that decides, all of them win.
        monkeypatch.setattr(email_verification, "spend_code", lambda code: None)
    calls = [
        lambda: JSONClient().send("POST", f"{VERIFY}/confirm", body) for _ in range(64)
    ]
    statuses = [
        status
        for start in range(0, 64, 8)
        for status in sorted_statuses(run_concurrently(calls[start : start + 8]))
    ]
    assert sorted(statuses).count(204) == (1 if is_spent else 64)
    assert set(statuses) <= {204, 400}


@pytest.mark.parametrize("is_locked", [False, True])
def test_guesses_at_once_are_all_counted(
    monkeypatch: pytest.MonkeyPatch, is_locked: bool
) -> None:
    member = make_member()
    ask_verification(JSONClient(member))
    request = CodeRequest.objects.get()
    if not is_locked:
        monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_: rows)

    def guess() -> None:
        with pytest.raises(CodeInvalidError):
            check_code("VERIFY_EMAIL", request.pk, "XXXXXXXX", timezone.now())

    with call_before('UPDATE "code_request"', guess):
        guess()
    request.refresh_from_db()
    # Without the lock both read the same number of tries.
    assert request.tries == (2 if is_locked else 1)


def test_of_confirmations_at_once_one_sets_the_password() -> None:
    member = make_member()
    ask_reset(loginId=member.login_id)
    (mail,) = process_resets()
    calls = [lambda: confirm_reset(mail) for _ in range(8)]
    assert sorted_statuses(run_concurrently(calls)) == [204] + [400] * 7


@pytest.mark.parametrize("is_locked", [False, True])
def test_login_during_a_reset_leaves_no_session_of_the_old_password(
    monkeypatch: pytest.MonkeyPatch, is_locked: bool
) -> None:
    member = make_member()
    ask_reset(loginId=member.login_id)
    (mail,) = process_resets()
    if not is_locked:
        monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_: rows)
    # The sessions are revoked by then, and the transaction is still open.
    with call_before('INSERT INTO "mail"', lambda: log_in(member, PASSWORD)) as login:
        assert confirm_reset(mail).status_code == 204
    status = login.result(timeout=20).status_code
    lives = AuthSession.objects.filter(member=member).exists()
    # Without the lock, the login gets in by the password of before.
    assert (status, lives) == ((401, False) if is_locked else (200, True))


def test_reset_during_a_login_ends_its_session() -> None:
    member = make_member()
    ask_reset(loginId=member.login_id)
    (mail,) = process_resets()
    with call_before(
        'INSERT INTO "auth_session"', lambda: confirm_reset(mail)
    ) as reset:
        log_in(member, PASSWORD)
    assert reset.result(timeout=20).status_code == 204
    assert not AuthSession.objects.filter(member=member).exists()


def test_two_runs_of_the_job_send_one_mail() -> None:
    member = make_member()
    ask_reset(loginId=member.login_id)
    now = timezone.now()
    run_concurrently([lambda: process_requests(now)] * 4)
    assert Mail.objects.filter(template="reset_password").count() == 1
