"""The page that deletes an account: confirmations and other changes at once (spec 2.9)."""

from typing import Any

import pytest
from django.db.models import QuerySet

from accounts.codes import deletion
from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.deletion_page import (
    begin,
    is_deleted,
    link_form,
    log_in_to_page,
    mail_deletion,
    make_without_password,
    post_page,
    read_errors,
)
from tests.support.factories import PASSWORD, count_rows_of, make_entry, make_member
from tests.support.mail import NEW_PASSWORD
from tests.support.races import call_before, run_concurrently, sorted_statuses
from tests.support.scale import scaled
from tests.support.second_factors import code_now, give_totp

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("mail_folder"),
]

ROUNDS = scaled(2, 12)


@pytest.mark.parametrize("has_factor", [False, True])
@pytest.mark.parametrize("by_mail", [False, True])
def test_of_confirmations_at_once_one_deletes(by_mail: bool, has_factor: bool) -> None:
    for _ in range(ROUNDS):
        member = make_without_password() if by_mail else make_member()
        make_entry(member)
        if has_factor:
            give_totp(member)
        form = link_form(mail_deletion(member.email)[0]) if by_mail else begin(member)
        factor = code_now() if has_factor else ""
        calls = [lambda: post_page(**form, word="delete", factor=factor)] * 4  # noqa: B023
        pages = run_concurrently(calls)
        assert sorted_statuses(pages) == [200, 400, 400, 400]
        assert {tuple(read_errors(page)) for page in pages} == {
            (),
            ("The link or code is wrong or no longer valid. Start again.",),
        }
        assert is_deleted(member)
        assert not any(count_rows_of(member).values())


def test_page_and_the_api_at_once_delete_once() -> None:
    for _ in range(ROUNDS):
        member = make_member()
        client, form = JSONClient(member), begin(member)
        answers = run_concurrently(
            [
                lambda: post_page(**form, word="delete"),  # noqa: B023
                lambda: client.send("DELETE", "/api/auth/me"),  # noqa: B023
            ]
        )
        statuses = [answer.status_code for answer in answers]
        assert statuses in ([200, 401], [400, 204]), statuses
        assert is_deleted(member)


def change_password(member: Member) -> Any:
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    return JSONClient(member).send("PUT", "/api/auth/password", body)


def suspend(member: Member) -> Any:
    path = f"/api/admin/members/{member.pk}/status"
    client = JSONClient(make_member(role="ADMIN"))
    return client.send("PUT", path, {"status": "SUSPENDED"})


@pytest.mark.parametrize("is_judged", [False, True])
@pytest.mark.parametrize("change", [change_password, suspend])
def test_change_before_the_lock_wins(
    monkeypatch: pytest.MonkeyPatch, change: Any, is_judged: bool
) -> None:
    member = make_member()
    make_entry(member)
    form = begin(member)
    if not is_judged:
        # Without the judgment under the lock, the former password deletes the account.
        monkeypatch.setattr(deletion, "spend_code", lambda code: None)
    # The ledger is deleted first, in the same transaction.
    with call_before('DELETE FROM "account_entry"', lambda: change(member)) as changed:
        page = post_page(**form, word="delete")
    assert changed.result(timeout=20).status_code < 300
    assert page.status_code == (400 if is_judged else 200)
    assert is_deleted(member) != is_judged
    if is_judged:
        # What was deleted before is there again.
        assert count_rows_of(member)["account_entry"] == 1


def test_change_after_the_lock_finds_nobody() -> None:
    member = make_member()
    client, form = JSONClient(member), begin(member)
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    with call_before(
        'DELETE FROM "code"', lambda: client.send("PUT", "/api/auth/password", body)
    ) as changed:
        assert post_page(**form, word="delete").status_code == 200
    assert changed.result(timeout=20).status_code == 401
    assert is_deleted(member)


@pytest.mark.parametrize("is_locked", [False, True])
def test_password_that_changes_while_a_code_is_made_ends_it(
    monkeypatch: pytest.MonkeyPatch, is_locked: bool
) -> None:
    member = make_member()
    with monkeypatch.context() as patch:
        if not is_locked:
            patch.setattr(QuerySet, "select_for_update", lambda rows, **_: rows)
        with call_before(
            'INSERT INTO "code_request"', lambda: change_password(member)
        ) as changed:
            form = begin(member)
        assert changed.result(timeout=20).status_code == 204
    # Without the lock, the former password deletes the account.
    page = post_page(**form, word="delete")
    assert page.status_code == (400 if is_locked else 200)
    assert is_deleted(member) != is_locked


def test_password_that_changed_before_the_code_is_made_is_refused() -> None:
    member = make_member()
    with call_before("FOR NO KEY UPDATE", lambda: change_password(member)) as changed:
        assert log_in_to_page(member).status_code == 401
    assert changed.result(timeout=20).status_code == 204
