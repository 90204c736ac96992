"""Imports beside other writers: each race is shown first without the ledger's lock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import date, datetime
from functools import partial
from typing import Any
from unittest import mock

import pytest

from accounts.models import Member
from ledger.base import ledger_write
from ledger.models import (
    Entry,
    Import,
    ImportKey,
    ImportRow,
    Notification,
    Occurrence,
    Wallet,
)
from ledger.recurring.occurrences import process_due_rules
from tests.support.alert_texts import APPROVAL, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import (
    count_rows_of,
    make_category,
    make_entry,
    make_member,
    make_rule,
    make_wallet,
)
from tests.support.imports import HEADER, IMPORTS, commit, read_file
from tests.support.imports import upload as send_file
from tests.support.operations import OPERATIONS
from tests.support.problems import assert_problem
from tests.support.races import call_before, caller, race, run_concurrently
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = scaled(3, 30)
ENTRIES, WALLETS = "/api/account/entries", "/api/account/wallets"
NOW = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
# Before the rows of a commit are written, after they were judged.
BEFORE_WRITING = "SELECT array_agg(nextval"
CELLS = '"account_import"."tables"'
TWO_ROWS = HEADER + "2026-09-05,Bank,,Lunch,-9000\n2026-09-06,Bank,,Pay,100\n"
WITH_CATEGORY = TWO_ROWS.replace(",,Lunch", ",Food,Lunch")


@pytest.fixture
def phones(premium_member: Member) -> list[JSONClient]:
    return [JSONClient(premium_member) for _ in range(2)]


def member_of(phone: JSONClient) -> Member:
    assert phone.member is not None
    return phone.member


def run_without_and_with_lock(turn: Callable[[Any], Any]) -> tuple[Any, Any]:
    """`turn` gets a context in which writes have no lock, then one that does nothing."""
    return turn(without_lock), turn(nullcontext)


@contextmanager
def without_lock() -> Iterator[None]:
    with mock.patch.object(ledger_write, "advisory_xact_lock"):
        yield


def start_afresh() -> None:
    """Forget all entries, imports and keys of earlier rounds."""
    for model in (Entry, Import, ImportKey, Notification):
        model._default_manager.all().delete()


def path_of(found: dict[str, Any], suffix: str = "") -> str:
    return f"{IMPORTS}/{found['id']}{suffix}"


def commit_call(phone: JSONClient, found: dict[str, Any]) -> Callable[[], Any]:
    return caller(phone, "POST", path_of(found, "/commit"))


def assert_each_key_has_its_entry() -> None:
    ids = set(Entry.objects.values_list("pk", flat=True))
    keyed = ImportKey.objects.values_list("entry_id", flat=True)
    assert set(keyed) <= ids


def test_of_two_commits_of_one_import_one_writes(phones: list[JSONClient]) -> None:
    make_wallet(member_of(phones[0]), name="Bank")

    def commit_twice(open_: Any) -> tuple[list[int], int]:
        start_afresh()
        found = read_file(phones[0], TWO_ROWS)
        other = commit_call(phones[1], found)
        with open_(), call_before(BEFORE_WRITING, other) as second:
            first = commit_call(phones[0], found)()
        statuses = sorted([first.status_code, second.result().status_code])
        return statuses, Entry.objects.count()

    without, with_lock = run_without_and_with_lock(commit_twice)
    assert without == ([200, 200], 4)
    assert with_lock == ([200, 409], 2)
    assert_rollups_are_right()


def test_many_commits_of_one_import_write_once(premium_member: Member) -> None:
    phones = [JSONClient(premium_member) for _ in range(6)]
    for _ in range(ROUNDS):
        start_afresh()
        found = read_file(phones[0], TWO_ROWS)
        answers = run_concurrently([commit_call(phone, found) for phone in phones])
        assert sorted(each.status_code for each in answers) == [200] + [409] * 5
        codes = {each.data.get("code") for each in answers}
        assert codes == {None, "DUPLICATE"}
        assert Entry.objects.count() == 2
        assert Wallet.objects.count() == 1
        assert_rollups_are_right()


def test_two_imports_of_one_file_make_its_entries_once(
    phones: list[JSONClient],
) -> None:
    make_wallet(member_of(phones[0]), name="Bank")

    def commit_both(open_: Any) -> tuple[int, int]:
        start_afresh()
        both = [read_file(phone, TWO_ROWS) for phone in phones]
        other = commit_call(phones[1], both[1])
        with open_(), call_before(BEFORE_WRITING, other) as second:
            first = commit_call(phones[0], both[0])()
        made = sum(
            each.data["created"]
            for each in (first, second.result())
            if each.status_code == 200
        )
        return made, Entry.objects.count()

    without, with_lock = run_without_and_with_lock(commit_both)
    assert without == (4, 4)
    assert with_lock == (2, 2)
    assert_rollups_are_right()


def test_overlapping_files_make_each_row_once(phones: list[JSONClient]) -> None:
    rows = [f"2026-09-{day:02},Bank,,Row {day},-{day}\n" for day in range(1, 9)]

    def turn(_: int) -> Any:
        start_afresh()
        first = read_file(phones[0], HEADER + "".join(rows[:6]))
        second = read_file(phones[1], HEADER + "".join(rows[2:]))
        answers = yield [commit_call(phones[0], first), commit_call(phones[1], second)]
        assert sum(each.data["created"] for each in answers) == len(rows)
        days = Entry.objects.values_list("amount", flat=True)
        assert sorted(days) == list(range(1, 9))
        assert Wallet.objects.filter(name="Bank").count() == 1
        assert_each_key_has_its_entry()
        assert_rollups_are_right()

    race(turn, rounds=ROUNDS, allowed=[(200, 200)])


@pytest.mark.parametrize("query", ["", "?keepImportKeys=true"])
def test_commit_beside_a_restore(phones: list[JSONClient], query: str) -> None:
    """The import goes first and is replaced, or writes into the restored ledger."""
    make_wallet(member_of(phones[0]), name="Bank")
    make_entry(member_of(phones[0]), amount=7)
    backup = download_backup(member_of(phones[0]))

    def turn(_: int) -> Any:
        assert upload(phones[0], backup).status_code == 200
        ImportKey.objects.all().delete()
        Import.objects.all().delete()
        found = read_file(phones[0], TWO_ROWS)
        committed, _ = yield [
            commit_call(phones[0], found),
            lambda: upload(phones[1], backup, query),
        ]
        amounts = sorted(Entry.objects.values_list("amount", flat=True))
        keys = list(ImportKey.objects.values_list("entry_id", flat=True))
        if amounts == [7]:
            # The restore came last: keys stand without entries, or not at all.
            assert keys == ([None, None] if query else [])
        else:
            assert amounts == [7, 100, 9000]
            assert committed.status_code == 200
            assert_each_key_has_its_entry()
        wallets = set(Wallet.objects.values_list("pk", flat=True))
        assert set(ImportKey.objects.values_list("wallet_id", flat=True)) <= wallets
        assert_rollups_are_right()

    race(turn, rounds=ROUNDS, allowed=[(200, 200), (404, 200)])


def test_restore_within_a_commit_waits_for_it(phones: list[JSONClient]) -> None:
    make_wallet(member_of(phones[0]), name="Bank")
    backup = download_backup(member_of(phones[0]))

    def restore_while_committing(open_: Any) -> tuple[int, int, int]:
        start_afresh()
        found = read_file(phones[0], TWO_ROWS)
        call = partial(upload, phones[1], backup)
        with open_(), call_before(BEFORE_WRITING, call) as restored:
            committed = commit_call(phones[0], found)()
        count = Entry.objects.count()
        return committed.status_code, restored.result().status_code, count

    # Without the lock the commit writes to wallets that are gone.
    without, with_lock = run_without_and_with_lock(restore_while_committing)
    assert without == (500, 200, 0)
    assert with_lock == (200, 200, 0)
    assert_rollups_are_right()


@pytest.mark.parametrize("is_chosen", [False, True])
def test_commit_beside_the_deletion_of_its_wallet(
    phones: list[JSONClient], is_chosen: bool
) -> None:
    """A wallet that was found by its name is made again, a chosen one is missed."""
    member = member_of(phones[0])
    into = make_wallet(member, name="Into")

    def turn(_: int) -> Any:
        start_afresh()
        Wallet.objects.filter(name="Bank").delete()
        bank = make_wallet(member, name="Bank")
        found = read_file(phones[0], TWO_ROWS)
        if is_chosen:
            chosen = {"wallets": [{"name": "Bank", "walletId": bank.pk}]}
            phones[0].change_json("PATCH", path_of(found), chosen)
        delete = f"{WALLETS}/{bank.pk}?moveTo={into.pk}"
        committed, _ = yield [
            commit_call(phones[0], found),
            caller(phones[1], "DELETE", delete),
        ]
        assert not Wallet.objects.filter(pk=bank.pk).exists()
        if committed.status_code == 200:
            assert Entry.objects.count() == 2
        else:
            assert committed.data["code"] == "REFERENCE_GONE"
            assert not Entry.objects.exists()
            assert not ImportKey.objects.exists()
        assert bank.pk not in Entry.objects.values_list("wallet_id", flat=True)
        assert_rollups_are_right()
        # The rows are known, wherever their entries are now.
        if committed.status_code == 200:
            place = Entry.objects.get(amount=9000).wallet.name
            again = read_file(phones[0], TWO_ROWS.replace("Bank", place))
            assert again["counts"]["DUPLICATE"] == 2

    race(turn, rounds=ROUNDS, allowed=[(200, 204), *([(409, 204)] * is_chosen)])


def test_deletion_of_the_wallet_within_a_commit_waits_for_it(
    phones: list[JSONClient],
) -> None:
    member = member_of(phones[0])
    into = make_wallet(member, name="Into")

    def delete_while_committing(open_: Any) -> tuple[int, int, int]:
        start_afresh()
        bank = Wallet.objects.filter(name="Bank").first() or make_wallet(
            member, name="Bank"
        )
        found = read_file(phones[0], TWO_ROWS)
        path = f"{WALLETS}/{bank.pk}?moveTo={into.pk}"
        # After the wallets were looked up.
        with (
            open_(),
            call_before(BEFORE_WRITING, caller(phones[1], "DELETE", path)) as deleted,
        ):
            committed = commit_call(phones[0], found)()
        moved = Entry.objects.filter(wallet=into).count()
        return committed.status_code, deleted.result().status_code, moved

    without, with_lock = run_without_and_with_lock(delete_while_committing)
    assert without == (500, 204, 0)
    assert with_lock == (200, 204, 2)
    assert_rollups_are_right()


ANNOUNCED = "2026-11-10,Card,,바람커피성수,-4800\n"


def announce(phone: JSONClient, wallet: Wallet) -> Callable[[], Any]:
    body = {
        "text": APPROVAL,
        "receivedAt": "2026-11-10T08:32:00+09:00",
        "walletId": wallet.pk,
    }
    return caller(phone, "POST", NOTIFICATION, body)


def test_commit_beside_a_notification_of_the_same_payment(
    phones: list[JSONClient],
) -> None:
    card = make_wallet(member_of(phones[0]), name="Card", kind="CARD")

    def turn(_: int) -> Any:
        start_afresh()
        found = read_file(phones[0], HEADER + ANNOUNCED)
        committed, announced = yield [
            commit_call(phones[0], found),
            announce(phones[1], card),
        ]
        entry = Entry.objects.get()
        assert (entry.amount, entry.wallet_id) == (4800, card.pk)
        assert ImportKey.objects.get().entry_id == entry.pk
        assert Notification.objects.get().entry_id == entry.pk
        if announced.data["action"] == "DUPLICATE":
            assert committed.data["created"] == 1
        else:
            assert committed.data["merged"] == 1
        assert_rollups_are_right()

    race(turn, rounds=ROUNDS, allowed=[(200, 200), (200, 201)])


def test_notification_within_a_commit_waits_for_it(phones: list[JSONClient]) -> None:
    card = make_wallet(member_of(phones[0]), name="Card", kind="CARD")

    def announce_while_committing(open_: Any) -> int:
        start_afresh()
        found = read_file(phones[0], HEADER + ANNOUNCED)
        call = announce(phones[1], card)
        with open_(), call_before(BEFORE_WRITING, call) as announced:
            assert commit_call(phones[0], found)().status_code == 200
        assert announced.result().status_code in {200, 201}
        return Entry.objects.count()

    assert run_without_and_with_lock(announce_while_committing) == (2, 1)
    assert_rollups_are_right()


def make_rent(member: Member, wallet: Wallet) -> Any:
    return make_rule(
        member,
        amount=700,
        wallet=wallet,
        category=make_category(member),
        frequency="YEARLY",
        anchor_date=date(2026, 11, 20),
    )


def test_commit_beside_the_job_of_recurring_rules() -> None:
    """The row of a rule's booking is one entry if the rule came first, else two."""
    member = make_member(role="ADMIN")
    Member.objects.filter(pk=member.pk).update(
        premium_since=datetime.fromisoformat("2020-01-01T00:00:00+09:00")
    )
    phone, bank = JSONClient(member), make_wallet(member, name="Bank")
    for number in range(ROUNDS):
        start_afresh()
        rule = make_rent(member, bank)
        found = read_file(phone, HEADER + "2026-11-20,Bank,,Rent,-700\n" + TWO_ROWS)
        calls = [commit_call(phone, found), lambda: process_due_rules(NOW)]
        step = -1 if number % 2 else 1
        committed, run = run_concurrently(calls[::step])[::step]
        assert committed.status_code == 200, committed.content
        assert (run.booked, run.failed) == (1, 0)
        booked = Occurrence.objects.get(rule=rule).entry_id
        merged = committed.data["merged"]
        assert Entry.objects.filter(amount=700).count() == 2 - merged
        assert ImportKey.objects.filter(entry_id=booked).exists() is (merged == 1)
        assert_each_key_has_its_entry()
        assert_rollups_are_right()


def test_job_within_a_commit_waits_for_it() -> None:
    member = make_member(role="ADMIN")
    Member.objects.filter(pk=member.pk).update(
        premium_since=datetime.fromisoformat("2020-01-01T00:00:00+09:00")
    )
    phone, bank = JSONClient(member), make_wallet(member, name="Bank")

    def book_while_committing(open_: Any) -> int:
        start_afresh()
        make_rent(member, bank)
        found = read_file(phone, TWO_ROWS)
        seen: list[int] = []

        def book() -> None:
            process_due_rules(NOW)
            seen.append(Entry.objects.filter(memo="Lunch").count())

        with open_(), call_before(BEFORE_WRITING, book):
            assert commit_call(phone, found)().status_code == 200
        return seen[0]

    # The job ended before the rows were there, or after the commit.
    assert run_without_and_with_lock(book_while_committing) == (0, 1)


def test_commit_beside_the_deletion_of_the_account_leaves_nothing() -> None:
    for number in range(ROUNDS):
        leaving = make_member(plan="PREMIUM")
        make_wallet(leaving, name="Bank")
        phones = [JSONClient(leaving) for _ in range(2)]
        found = read_file(phones[0], TWO_ROWS)
        calls = [
            commit_call(phones[0], found),
            caller(phones[1], "DELETE", "/api/auth/me"),
        ]
        step = -1 if number % 2 else 1
        committed, deleted = run_concurrently(calls[::step])[::step]
        assert deleted.status_code == 204
        assert committed.status_code in {200, 401, 404}, committed.content
        assert not any(count_rows_of(leaving).values())


def test_deletion_of_the_account_within_a_commit_waits_for_it() -> None:
    def leave_while_committing(open_: Any) -> tuple[int, int, bool]:
        leaving = make_member(plan="PREMIUM")
        make_wallet(leaving, name="Bank")
        phones = [JSONClient(leaving) for _ in range(2)]
        found = read_file(phones[0], TWO_ROWS)
        leave = caller(phones[1], "DELETE", "/api/auth/me")
        with open_(), call_before(BEFORE_WRITING, leave) as left:
            committed = commit_call(phones[0], found)()
        has_rows = any(count_rows_of(leaving).values())
        return committed.status_code, left.result().status_code, has_rows

    # Without the lock, foreign keys alone refuse rows of a member who is gone.
    without, with_lock = run_without_and_with_lock(leave_while_committing)
    assert without == (401, 204, False)
    assert with_lock == (200, 204, False)


def test_file_read_beside_the_deletion_of_the_account_leaves_nothing() -> None:
    for number in range(ROUNDS):
        leaving = make_member()
        phones = [JSONClient(leaving) for _ in range(2)]
        calls: list[Callable[[], Any]] = [
            partial(read_file_or_not, phones[0]),
            caller(phones[1], "DELETE", "/api/auth/me"),
        ]
        step = -1 if number % 2 else 1
        read, deleted = run_concurrently(calls[::step])[::step]
        assert deleted.status_code == 204
        assert read in {201, 401, 404}
        assert not any(count_rows_of(leaving).values())


def read_file_or_not(phone: JSONClient) -> int:
    return int(send_file(phone, TWO_ROWS).status_code)


def import_beside_an_entry(phone: JSONClient) -> tuple[Entry, str]:
    """Merge a row with a typed-in entry; return it and the path of the undo."""
    start_afresh()
    member = member_of(phone)
    bank = Wallet.objects.filter(name="Bank").first() or make_wallet(
        member, name="Bank"
    )
    entry = make_entry(member, amount=9000, date="2026-09-04", wallet=bank, memo="mine")
    result = commit(phone, read_file(phone, TWO_ROWS)["id"])
    assert (result["merged"], result["created"]) == (1, 1)
    return entry, f"{OPERATIONS}/{result['operationId']}/undo"


def test_edit_of_a_merged_entry_within_the_undo_is_not_lost(
    phones: list[JSONClient],
) -> None:
    def edit_while_undoing(open_: Any) -> tuple[int, str]:
        entry, path = import_beside_an_entry(phones[0])
        edit = caller(phones[1], "PATCH", f"{ENTRIES}/{entry.pk}", {"memo": "edited"})
        # After the versions were compared.
        with open_(), call_before("WITH kept AS", edit) as edited:
            undone = phones[0].send("POST", path, {})
        assert edited.result().status_code == 200
        entry.refresh_from_db()
        return undone.status_code, entry.memo

    without, with_lock = run_without_and_with_lock(edit_while_undoing)
    assert without == (200, "mine")
    assert with_lock == (200, "edited")
    assert_rollups_are_right()


def test_undo_beside_an_edit_of_a_merged_entry(phones: list[JSONClient]) -> None:
    def turn(_: int) -> Any:
        entry, path = import_beside_an_entry(phones[0])
        edit = caller(phones[1], "PATCH", f"{ENTRIES}/{entry.pk}", {"memo": "edited"})
        undone, _edited = yield [caller(phones[0], "POST", path, {}), edit]
        entry.refresh_from_db()
        assert (entry.memo, entry.amount) == ("edited", 9000)
        is_kept = bool(undone.data["kept"])
        # A kept entry keeps the day of its row and the key; one that is not has neither.
        assert str(entry.date) == ("2026-09-05" if is_kept else "2026-09-04")
        free = ImportKey.objects.exclude(freed_by=None).values_list("entry_id")
        assert ((entry.pk,) in free) is not is_kept
        assert_rollups_are_right()

    race(turn, rounds=ROUNDS, allowed=[(200, 200)])


def test_choices_of_rows_beside_the_commit(phones: list[JSONClient]) -> None:
    make_wallet(member_of(phones[0]), name="Bank")

    def choose_while_committing(open_: Any) -> tuple[int, int]:
        start_afresh()
        found = read_file(phones[0], TWO_ROWS)
        skip = [{"row": 2, "action": "SKIP"}]
        call = caller(phones[1], "PATCH", path_of(found, "/rows"), skip)
        with open_(), call_before(BEFORE_WRITING, call) as chosen:
            assert commit_call(phones[0], found)().status_code == 200
        return chosen.result().status_code, Entry.objects.count()

    # Accepted, and not followed: only the lock refuses it.
    without, with_lock = run_without_and_with_lock(choose_while_committing)
    assert without == (200, 2)
    assert with_lock == (409, 2)


def test_choice_of_a_row_is_followed_or_refused(phones: list[JSONClient]) -> None:
    def turn(_: int) -> Any:
        start_afresh()
        found = read_file(phones[0], TWO_ROWS)
        skip = [{"row": 2, "action": "SKIP"}]
        _, chosen = yield [
            commit_call(phones[0], found),
            caller(phones[1], "PATCH", path_of(found, "/rows"), skip),
        ]
        expected = 1 if chosen.status_code == 200 else 2
        assert Entry.objects.count() == expected
        assert_rollups_are_right()

    race(turn, rounds=ROUNDS, allowed=[(200, 200), (200, 409)])


def test_deletion_of_the_import_beside_its_commit(phones: list[JSONClient]) -> None:
    """The entries and their keys are there if the commit was answered so."""

    def turn(_: int) -> Any:
        start_afresh()
        found = read_file(phones[0], TWO_ROWS)
        committed, _deleted = yield [
            commit_call(phones[0], found),
            caller(phones[1], "DELETE", path_of(found)),
        ]
        count = 2 if committed.status_code == 200 else 0
        assert Entry.objects.count() == ImportKey.objects.count() == count
        assert not Import.objects.exists()
        assert_rollups_are_right()

    race(turn, rounds=ROUNDS, allowed=[(200, 204), (404, 204)])


def change_call(
    phone: JSONClient, found: dict[str, Any], name: str
) -> Callable[[], Any]:
    """Return a call that reads the file anew, with another category for its rows."""
    body = {"categories": [{"name": "Food", "type": "expense", "category": name}]}
    return caller(phone, "PATCH", path_of(found), body)


def test_file_read_anew_beside_the_commit(phones: list[JSONClient]) -> None:
    def turn(number: int) -> Any:
        start_afresh()
        found = read_file(phones[0], WITH_CATEGORY)
        name = f"Eating {number}"
        _, changed = yield [
            commit_call(phones[0], found),
            change_call(phones[1], found, name),
        ]
        entry = Entry.objects.select_related("category").get(amount=9000)
        assert entry.category is not None
        is_changed = changed.status_code == 200
        assert entry.category.name == (name if is_changed else "Food")
        assert Import.objects.get().tables is None
        assert_rollups_are_right()

    race(turn, rounds=ROUNDS, allowed=[(200, 200), (200, 409)])


def test_commit_before_the_cells_are_read_anew(phones: list[JSONClient]) -> None:
    """A committed import has no cells; without the check this was a 500."""
    found = read_file(phones[0], WITH_CATEGORY)
    with call_before(CELLS, commit_call(phones[1], found)) as committed:
        changed = change_call(phones[0], found, "Eating")()
    assert committed.result().status_code == 200
    assert_problem(changed, 409, "DUPLICATE")
    assert Entry.objects.filter(category__name="Food").count() == 1


def test_commit_while_a_new_reading_is_stored(phones: list[JSONClient]) -> None:
    def commit_while_storing(open_: Any) -> tuple[int, int, str]:
        start_afresh()
        found = read_file(phones[0], WITH_CATEGORY)
        call = commit_call(phones[1], found)
        with open_(), call_before("DELETE FROM", call) as committed:
            changed = change_call(phones[0], found, "Eating")()
        entry = Entry.objects.select_related("category").get(amount=9000)
        assert entry.category is not None
        statuses = changed.status_code, committed.result().status_code
        return *statuses, entry.category.name

    # Without the lock the change is accepted and not followed.
    without, with_lock = run_without_and_with_lock(commit_while_storing)
    assert without == (200, 200, "Food")
    assert with_lock == (200, 200, "Eating")
    assert_rollups_are_right()


def test_deletion_while_the_file_is_read_anew(phones: list[JSONClient]) -> None:
    # Before its cells are read, and before the new rows are stored.
    for fragment in (CELLS, 'FROM "account" WHERE'):
        found = read_file(phones[0], WITH_CATEGORY)
        delete = caller(phones[1], "DELETE", path_of(found))
        with call_before(fragment, delete) as deleted:
            changed = change_call(phones[0], found, "Eating")()
        assert deleted.result().status_code == 204
        assert changed.status_code == 404
        assert not ImportRow.objects.exists()


@pytest.mark.parametrize(
    ("is_counted", "expected"), [(False, [200, 200]), (True, [200, 409])]
)
def test_of_two_readings_one_is_refused(
    phones: list[JSONClient], is_counted: bool, expected: list[int]
) -> None:
    """Without the count of readings the other change would be lost."""
    found = read_file(phones[0], WITH_CATEGORY)

    def change() -> Any:
        answer = change_call(phones[1], found, "Eating")()
        if not is_counted:
            Import.objects.update(reading=1)
        return answer

    # After the file was read, and before it is stored.
    with call_before("pg_advisory_xact_lock", change) as other:
        changed = change_call(phones[0], found, "Meals")()
    assert sorted([changed.status_code, other.result().status_code]) == expected


def test_two_readings_at_once(phones: list[JSONClient]) -> None:
    def turn(number: int) -> Any:
        start_afresh()
        found = read_file(phones[0], WITH_CATEGORY)
        names = [f"{word} {number}" for word in ("Eating", "Meals")]
        answers = yield [
            change_call(phone, found, name)
            for phone, name in zip(phones, names, strict=True)
        ]
        last = phones[0].get_json(path_of(found))
        (category,) = last["categories"]
        done = [
            name
            for name, each in zip(names, answers, strict=True)
            if each.status_code == 200
        ]
        assert category["category"] in done
        assert ImportRow.objects.count() == 2

    race(turn, rounds=ROUNDS, allowed=[(200, 200), (200, 409), (409, 200)])
