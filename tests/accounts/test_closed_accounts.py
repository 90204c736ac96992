"""Deletion of an account with very many rows: closed at once, deleted by a job."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import Model, QuerySet
from django.utils import timezone

from accounts import account_deletion
from accounts.idp_login import Identity, login_with_identity
from accounts.member_counters import count_members
from accounts.models import AuthSession, Member
from accounts.tasks import (
    AccountDeletionsFailedError,
    delete_closed_accounts,
    run_delete_closed_accounts,
)
from billing.models import RedeemedOrder
from board.locking import lock_member_for_update, lock_member_key_share
from board.models import Comment, Post
from config.celery import app
from core.jobs.models import JobRun
from ledger import account_deletion as ledger_deletion
from ledger.models import (
    Category,
    CategoryRollup,
    Entry,
    EntryLine,
    EntryTag,
    Ledger,
    MemoRollup,
    Tag,
    TagRollup,
    WalletMonthRollup,
)
from ledger.rollup_repair import repair_rollups
from ledger.rollups import without_triggers
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import (
    PASSWORD,
    count_rows_of,
    make_category,
    make_entry,
    make_post,
)
from tests.support.whole_accounts import give_everything

PATH = "/api/auth/me"
LIMIT = 3
BATCH_SIZE = 2


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_deletion, "MAX_ROWS_OF_REQUEST", LIMIT)
    monkeypatch.setattr(ledger_deletion, "BATCH_SIZE", BATCH_SIZE)


@pytest.fixture
def leaving(free_member: Member) -> Member:
    """Return a member with rows everywhere and more entries than the limit."""
    give_everything(free_member)
    category = make_category(free_member)
    for number in range(2 * LIMIT):
        make_entry(
            free_member, memo=f"memo {number}", category=category, tags=(f"t{number}",)
        )
    return free_member


def leave(member: Member) -> None:
    response = JSONClient(member).send("DELETE", PATH)
    assert (response.status_code, response.content) == (204, b"")


def is_closed(member: Member) -> bool:
    return account_deletion.list_closed_accounts().filter(pk=member.pk).exists()


def run_job() -> int:
    return run_delete_closed_accounts(timezone.now())


def test_account_is_closed_only_above_the_limit(free_member: Member) -> None:
    for _ in range(LIMIT):
        make_entry(free_member)
    leave(free_member)
    assert not Member.including_closed.exists()


@pytest.mark.parametrize("table", ["Entry", "Trade", "Notification"])
def test_rows_of_each_large_table_count(
    free_member: Member, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr(account_deletion, "MAX_ROWS_OF_REQUEST", 0)
    give_everything(free_member)
    for name in {"Entry", "Trade", "Notification"} - {table}:
        model: Any = getattr(ledger_deletion, name)
        with transaction.atomic(), without_triggers():
            parts: list[Any] = [EntryTag, EntryLine] if name == "Entry" else []
            for each in (*parts, model):
                each.objects.owned_by(free_member)._raw_delete("default")
    leave(free_member)
    assert is_closed(free_member)


def test_closed_account_is_in_no_list_and_count(
    leaving: Member, administrator: Member, client_of: ClientOf
) -> None:
    leave(leaving)
    assert is_closed(leaving)
    staff = client_of(administrator)
    for path in ("/api/admin/members", "/api/users"):
        page = staff.get_json(path)
        assert leaving.pk not in {each["id"] for each in page["results"]}
        assert page["count"] == Member.objects.count()
        assert staff.send("GET", f"{path}/{leaving.pk}").status_code == 404
        assert staff.send("DELETE", f"{path}/{leaving.pk}").status_code == 404
    found = staff.get_json(f"/api/admin/members?search={leaving.login_id}")
    # Logins of others may begin with the same letters.
    assert leaving.pk not in {each["id"] for each in found["results"]}
    status = f"/api/admin/members/{leaving.pk}/status"
    assert staff.send("PUT", status, {"status": "ACTIVE"}).status_code == 404
    assert count_members(timezone.now()) == Member.objects.count()
    assert is_closed(leaving)


@pytest.mark.django_db(transaction=True)
def test_sessions_end_and_no_login_is_possible(
    leaving: Member, client_of: ClientOf
) -> None:
    here, phone = client_of(leaving), client_of(leaving)
    for client in (here, phone):
        client.get_json("/api/auth/session")
    assert here.send("DELETE", PATH).status_code == 204
    for client in (here, phone):
        assert client.send("GET", "/api/auth/session").status_code == 401
        assert client.send("GET", "/api/account/entries").status_code == 401
    body = {"loginId": leaving.login_id, "password": PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 401
    assert not AuthSession.objects.filter(member_id=leaving.pk).exists()


def test_login_id_email_and_identity_are_free_at_once(leaving: Member) -> None:
    Member.objects.filter(pk=leaving.pk).update(idp_id="subject-1")
    leave(leaving)
    body = {
        "loginId": leaving.login_id,
        "password": PASSWORD,
        "displayName": "Again",
        "email": "again@example.com",
    }
    assert JSONClient().send("POST", "/api/auth/signup", body).status_code == 201
    identity = Identity("subject-1", leaving.email, True, "Kim Minji", "")
    login = login_with_identity(identity)
    assert login.created
    assert login.member.pk != leaving.pk


def test_closed_account_tells_nothing_about_the_person(leaving: Member) -> None:
    Member.objects.filter(pk=leaving.pk).update(
        idp_picture="https://example.com/p", profile_image="data:", plan="PREMIUM"
    )
    leave(leaving)
    closed = account_deletion.list_closed_accounts().get()
    assert leaving.login_id not in closed.login_id
    personal = ("display_name", "email", "idp_id", "idp_picture", "profile_image")
    assert not any(getattr(closed, name) for name in personal)
    assert not closed.has_usable_password()
    assert not closed.is_active
    assert not closed.has_premium


def test_content_on_the_board_is_deleted_at_once(leaving: Member) -> None:
    leave(leaving)
    assert not Post.objects.filter(member_id=leaving.pk).exists()
    assert not Comment.objects.filter(member_id=leaving.pk).exists()


def test_request_that_began_before_writes_nothing_on_the_board(
    leaving: Member, other_member: Member
) -> None:
    make_post(other_member)
    leave(leaving)
    for lock in (lock_member_key_share, lock_member_for_update):
        with pytest.raises(Member.DoesNotExist):
            lock(leaving)


def test_job_deletes_everything_of_the_member_and_nothing_of_others(
    leaving: Member, other_member: Member
) -> None:
    give_everything(other_member)
    leave(leaving)
    # Written by a request that began before the account was closed.
    make_entry(leaving, memo="late")
    before = count_rows_of(other_member)
    delete_closed_accounts()
    assert JobRun.objects.get().state == JobRun.State.DONE
    assert not any(count_rows_of(leaving).values())
    assert not Member.including_closed.filter(pk=leaving.pk).exists()
    assert count_rows_of(other_member) == before
    assert RedeemedOrder.objects.count() == 1
    call_command("check_totals")


def test_batches_are_small(leaving: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    delete = ledger_deletion._delete_part
    largest: Counter[type[Model]] = Counter()

    def record(
        member: Member, rows: QuerySet[Model], column: str | None
    ) -> Iterator[int]:
        for deleted in delete(member, rows, column):
            largest[rows.model] = max(largest[rows.model], deleted)
            yield deleted

    monkeypatch.setattr(ledger_deletion, "_delete_part", record)
    leave(leaving)
    assert list(ledger_deletion.delete_in_batches(leaving))
    # Rows with the same value of the column, such as the tags of an entry, go together.
    tags_of_entry = 2
    at_once = {
        model for model, rows in largest.items() if rows > BATCH_SIZE + tags_of_entry
    }
    # Lists with quotas (spec 10.1), and the totals of a month: one of each row of them.
    assert at_once == {Category, Tag, CategoryRollup, TagRollup, WalletMonthRollup}
    assert not Entry.objects.owned_by(leaving).exists()
    assert not MemoRollup.objects.owned_by(leaving).exists()
    # Its reference is checked against all rows of the ledger that are dead by then.
    assert not Ledger.objects.owned_by(leaving).exists()


def test_killed_job_is_continued_from_any_batch(
    leaving: Member, other_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_everything(other_member)
    before = count_rows_of(other_member)
    leave(leaving)
    delete = ledger_deletion.delete_in_batches
    remaining = sum(count_rows_of(leaving).values())
    runs = 0
    while is_closed(leaving):

        def die_after_two_batches(member: Member) -> Iterator[int]:
            batches = 0
            for deleted in delete(member):
                yield deleted
                batches += deleted > 0
                if batches == 2:
                    raise RuntimeError("killed")

        with monkeypatch.context() as patch:
            patch.setattr(ledger_deletion, "delete_in_batches", die_after_two_batches)
            try:
                run_job()
            except AccountDeletionsFailedError:
                left = sum(count_rows_of(leaving).values())
                assert left < remaining
                remaining = left
        call_command("check_totals")
        assert repair_rollups(leaving.pk).total() == 0
        runs += 1
    assert runs > 5
    assert not any(count_rows_of(leaving).values())
    assert count_rows_of(other_member) == before


def test_account_that_fails_does_not_keep_the_others(
    leaving: Member, other_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(LIMIT + 1):
        make_entry(other_member)
    leave(leaving)
    leave(other_member)
    delete = ledger_deletion.delete_in_batches

    def fail_for_the_first(member: Member) -> Iterator[int]:
        if member.pk == leaving.pk:
            raise RuntimeError("the disk is gone")
        return delete(member)

    with monkeypatch.context() as patch:
        patch.setattr(ledger_deletion, "delete_in_batches", fail_for_the_first)
        with pytest.raises(AccountDeletionsFailedError):
            run_job()
    assert (is_closed(leaving), is_closed(other_member)) == (True, False)
    run_job()
    assert not is_closed(leaving)


def test_administrator_closes_a_large_account_too(
    leaving: Member, administrator: Member, client_of: ClientOf
) -> None:
    path = f"/api/admin/members/{leaving.pk}"
    assert client_of(administrator).send("DELETE", path).status_code == 204
    assert is_closed(leaving)


def test_job_runs_every_minute_and_records_no_run_without_an_account(db: None) -> None:
    delete_closed_accounts()
    assert not JobRun.objects.exists()
    entry = app.conf.beat_schedule["delete_closed_accounts"]
    assert entry["schedule"] == timedelta(minutes=1)
    assert entry["task"] == delete_closed_accounts.name
