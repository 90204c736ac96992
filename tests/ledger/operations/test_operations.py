"""Recording, listing and purging of operations (spec 3.27)."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import AuthSession, Member
from administration.tasks import purge_operations
from ledger.base import operations
from ledger.models import LedgerCopy, Operation, OperationRow, RowKind, Tombstone
from ledger.operations import undo
from ledger.operations.snapshots import TABLES
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_member,
    make_tag,
    make_wallet,
)
from tests.support.operations import OPERATIONS, Phone, dump_ledger
from tests.support.problems import assert_problem
from tests.support.second_factors import give_totp
from tests.support.whole_accounts import give_everything
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db
A = "/api/account"
ENTRIES = f"{A}/entries"


@pytest.fixture
def member(premium_member: Member) -> Member:
    return premium_member


@pytest.fixture
def phone(member: Member) -> Phone:
    return Phone(member)


def delete(phone: Phone, path: str, **headers: Any) -> Any:
    answer = phone.send("DELETE", f"{A}/{path}", **headers)
    assert answer.status_code == 204, answer.content
    return answer


def change(phone: Phone, ids: list[int], memo: str) -> int:
    body = {"ids": ids, "set": {"memo": memo}}
    answer = phone.send("PATCH", ENTRIES, body)
    assert answer.status_code == 200, answer.content
    return int(answer.data["operationId"])


def list_operations(phone: Phone, **query: Any) -> Any:
    return phone.get_json(OPERATIONS, **query)


def test_operations_are_listed_newest_first(phone: Phone, member: Member) -> None:
    wallet, other = make_wallet(member), make_wallet(member)
    entries = [make_entry(member, wallet=each) for each in (None, wallet, wallet)]
    first = int(delete(phone, f"entries/{entries[0].pk}").headers["Operation-Id"])
    path = f"wallets/{wallet.pk}?moveTo={other.pk}"
    second = int(delete(phone, path).headers["Operation-Id"])
    page = list_operations(phone)
    assert page["count"] == 2
    assert [row["id"] for row in page["results"]] == [second, first]
    newest = page["results"][0]
    assert newest["counts"] == {"entry": {"changed": 2}, "wallet": {"deleted": 1}}
    assert (newest["kind"], newest["by"], newest["undone"]) == (
        "delete",
        member.pk,
        False,
    )
    undone = phone.undo(first)["operationId"]
    kinds = [(row["kind"], row["undone"]) for row in list_operations(phone)["results"]]
    assert kinds == [("undo", False), ("delete", False), ("delete", True)]
    (row,) = list_operations(phone, size=1)["results"]
    assert row["id"] == undone
    assert list_operations(phone, size=1, page=3)["results"][0]["id"] == first
    answer = phone.send("GET", f"{OPERATIONS}?page=9")
    assert_problem(answer, 404, "NOT_FOUND")
    assert list_operations(Phone(make_member()))["count"] == 0


def test_rows_are_as_they_were_before(phone: Phone, member: Member) -> None:
    wallet = make_wallet(member, name="cash")
    new = {"date": "2026-11-12", "type": "expense", "amount": 7}
    entry = make_entry(member, memo="lunch", amount=9, date="2026-11-02")
    body = [
        {"op": "update", "id": entry.pk, "entry": {"memo": "dinner"}},
        {"op": "create", "entry": new},
    ]
    answer = phone.send("POST", f"{ENTRIES}/batch", {"operations": body})
    created = answer.data["results"][1]["id"]
    detail = phone.get_json(f"{OPERATIONS}/{answer.data['operationId']}")
    was = {"name": "lunch", "date": "2026-11-02", "amount": 9}
    nothing = {"name": None, "date": None, "amount": None}
    assert detail["rows"]["results"] == [
        {"kind": "entry", "id": entry.pk, "action": "changed"} | was,
        {"kind": "entry", "id": created, "action": "created"} | nothing,
    ]
    path = f"{OPERATIONS}/{answer.data['operationId']}"
    second = phone.get_json(path, size=1, page=2)["rows"]
    assert (second["count"], second["results"][0]["id"]) == (2, created)
    operation_id = delete(phone, f"wallets/{wallet.pk}").headers["Operation-Id"]
    (row,) = phone.get_json(f"{OPERATIONS}/{operation_id}")["rows"]["results"]
    assert (row["kind"], row["name"], row["amount"]) == ("wallet", "cash", None)


def test_rows_of_paid_kinds_are_shown_to_those_who_pay(
    phone: Phone, member: Member
) -> None:
    category, other = make_category(member), make_category(member)
    make_budget(member, category=category)
    path = f"categories/{category.pk}?moveTo={other.pk}"
    operation_id = delete(phone, path).headers["Operation-Id"]

    def list_kinds() -> list[str]:
        page = Phone(member).get_json(f"{OPERATIONS}/{operation_id}")["rows"]
        assert page["count"] == len(page["results"])
        return [row["kind"] for row in page["results"]]

    assert list_kinds() == ["budget", "budget", "category"]
    member.plan = Member.Plan.FREE
    member.save()
    assert list_kinds() == ["category"]


def test_what_changes_nothing_is_no_operation(phone: Phone, member: Member) -> None:
    entry = make_entry(member, memo="same")
    body = {"ids": [entry.pk], "set": {"memo": "same"}}
    for sent in (body, {**body, "set": {"memo": "other"}, "dryRun": True}):
        answer = phone.send("PATCH", ENTRIES, sent)
        assert answer.data["operationId"] is None
        assert "Operation-Id" not in answer.headers
    operations = [{"op": "update", "id": 10**9, "entry": {}}]
    answer = phone.send(
        "POST", f"{ENTRIES}/batch", {"operations": operations, "atomic": False}
    )
    assert (answer.status_code, answer.data["operationId"]) == (200, None)
    assert phone.send("DELETE", f"{ENTRIES}/{10**9}").status_code == 404
    assert not Operation.objects.exists()
    assert not OperationRow.objects.exists()
    # Writes of one row are none either.
    phone.send("PATCH", f"{ENTRIES}/{entry.pk}", {"memo": "new"})
    phone.send("POST", ENTRIES, {"date": "2026-11-02", "type": "income", "amount": 1})
    assert not OperationRow.objects.exists()


def test_operation_is_named_again_under_the_key(phone: Phone, member: Member) -> None:
    entry, other = make_entry(member), make_entry(member)
    key = {"HTTP_IDEMPOTENCY_KEY": "key-1"}
    first = delete(phone, f"entries/{entry.pk}", **key)
    again = delete(phone, f"entries/{entry.pk}", **key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Operation-Id"] == first.headers["Operation-Id"]
    assert Operation.objects.count() == 1
    body = {"ids": [other.pk], "set": {"memo": "x"}}
    key = {"HTTP_IDEMPOTENCY_KEY": "key-2"}
    first = phone.send("PATCH", ENTRIES, body, **key)
    again = phone.send("PATCH", ENTRIES, body, **key)
    assert again.headers["Operation-Id"] == str(first.data["operationId"])
    assert again.data == first.data
    # An undo under a key is done once.
    path = f"{OPERATIONS}/{first.data['operationId']}/undo"
    key = {"HTTP_IDEMPOTENCY_KEY": "key-3"}
    first = phone.send("POST", path, {}, **key)
    again = phone.send("POST", path, {}, **key)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.headers["Operation-Id"] == str(first.data["operationId"])


def test_large_operations_cannot_be_undone(
    phone: Phone, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [make_entry(member).pk for _ in range(4)]
    monkeypatch.setattr(operations, "MAX_ROWS", 3)
    operation_id = change(phone, ids, "x")
    detail = phone.get_json(f"{OPERATIONS}/{operation_id}")
    assert (detail["undoableUntil"], detail["undone"]) == (None, False)
    assert detail["counts"] == {"entry": {"changed": 4}}
    assert detail["rows"]["results"] == []
    answer = phone.send("POST", f"{OPERATIONS}/{operation_id}/undo", {"dryRun": True})
    assert_problem(answer, 409, "NOT_UNDOABLE")
    assert not OperationRow.objects.exists()
    assert phone.undo(change(phone, ids[:3], "y"))["reverted"] == 3


def test_names_outlive_a_large_operation(
    phone: Phone, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    food, other = make_category(member, name="food"), make_category(member)
    entries = [make_entry(member, category=food) for _ in range(4)]
    path = f"entries/{entries[0].pk}"
    operation_id = delete(phone, path).headers["Operation-Id"]
    monkeypatch.setattr(operations, "MAX_ROWS", 2)
    delete(phone, f"categories/{food.pk}?moveTo={other.pk}")
    phone.undo(operation_id)
    assert phone.get_json(f"{ENTRIES}/{entries[0].pk}")["category"] == "food"


def test_the_oldest_operations_lose_their_undo_first(
    phone: Phone, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [make_entry(member).pk for _ in range(3)]
    monkeypatch.setattr(operations, "MAX_KEPT_ROWS", 7)
    first, second, third = (change(phone, ids, f"{n}") for n in range(3))

    def list_undoable() -> list[int]:
        rows = list_operations(phone)["results"]
        return [row["id"] for row in rows if row["undoableUntil"]]

    assert list_undoable() == [third, second, first]
    # Smaller operations leave it to the daily job.
    monkeypatch.setattr("administration.operations.MAX_KEPT_ROWS", 7)
    purge_operations()
    assert list_undoable() == [third, second]
    monkeypatch.setattr(operations, "MANY_ROWS", 1)
    fourth = change(phone, ids, "4")
    assert list_undoable() == [fourth, third]
    answer = phone.send("POST", f"{OPERATIONS}/{first}/undo", {})
    assert_problem(answer, 409, "NOT_UNDOABLE")


def age(operation_id: Any, days: float) -> None:
    at = timezone.now() - timedelta(days=days)
    Operation.objects.filter(id=operation_id).update(at=at)


def test_old_operations_are_purged(phone: Phone, member: Member) -> None:
    entry, other = make_entry(member), make_entry(member)
    old = delete(phone, f"entries/{entry.pk}").headers["Operation-Id"]
    new = delete(phone, f"entries/{other.pk}").headers["Operation-Id"]
    age(old, 31.1)
    age(new, 30.9)
    purge_operations()
    assert list(Operation.objects.values_list("id", flat=True)) == [int(new)]
    assert set(OperationRow.objects.values_list("operation_id", flat=True)) == {
        int(new)
    }
    age(new, 31.1)
    call_command("purge_operations")
    assert not OperationRow.objects.exists()


def restore(phone: Phone, backup: bytes) -> int:
    answer = upload(phone, backup)
    assert answer.status_code == 200, answer.content
    return int(answer.headers["Operation-Id"])


def test_a_restore_is_undone_with_stocks_and_trades(
    phone: Phone, member: Member
) -> None:
    give_everything(member)
    backup = download_backup(member)
    before = dump_ledger(member)
    operation_id = restore(phone, backup)
    restored = dump_ledger(member)
    assert restored["Trade"] == []
    newest = list_operations(phone)["results"][0]
    assert (newest["kind"], newest["id"]) == ("restore", operation_id)
    until = timezone.now() + undo.LIFETIME_OF_COPY
    assert newest["undoableUntil"][:10] == timezone.localtime(until).isoformat()[:10]
    dry = phone.undo(operation_id, dryRun=True)
    assert (dry["operationId"], dump_ledger(member)) == (None, restored)
    result = phone.undo(operation_id)
    assert result["restored"] > 0
    # Texts are forgotten with the ledger that they were of.
    assert dump_ledger(member) | {"Notification": []} == before | {"Notification": []}
    again = phone.undo(result["operationId"])
    assert dump_ledger(member) | {"Notification": []} == restored | {"Notification": []}
    phone.undo(again["operationId"])
    assert dump_ledger(member)["Trade"] == before["Trade"]


def test_what_was_written_after_a_restore_is_not_lost_unless_forced(
    phone: Phone, member: Member
) -> None:
    make_entry(member, tags=("t",))
    operation_id = restore(phone, download_backup(member))
    path = f"{OPERATIONS}/{operation_id}/undo"
    entry = make_entry(member)
    tag = phone.get_json(f"{A}/tags")[0]["id"]
    delete(phone, f"tags/{tag}")
    for body in ({}, {"dryRun": True}, {"force": False}):
        answer = phone.send("POST", path, body)
        assert_problem(answer, 409, "CHANGED_SINCE", "counts")
        assert answer.data["counts"] == {"entry": 1, "tag": 1}
    forced = phone.undo(operation_id, force=True)
    assert phone.get_json(ENTRIES)["count"] == 1
    # Nothing is lost for ever.
    phone.undo(forced["operationId"])
    assert phone.get_json(f"{ENTRIES}/{entry.pk}")["id"] == entry.pk


def test_undo_of_a_restore_asks_for_what_a_restore_asks(
    phone: Phone, member: Member
) -> None:
    make_entry(member)
    operation_id = restore(phone, download_backup(member))
    path = f"{OPERATIONS}/{operation_id}/undo"
    body = {"name": "T", "scopes": ["ledger:read", "ledger:write"]}
    token = Phone()
    token.use_token(phone.send("POST", "/api/auth/tokens", body).data["token"])
    assert_problem(token.send("POST", path, {}), 403, "SCOPE_REQUIRED", "scope")
    deletion = delete(phone, f"entries/{phone.get_json(ENTRIES)['results'][0]['id']}")
    other = f"{OPERATIONS}/{deletion.headers['Operation-Id']}/undo"
    assert token.send("POST", other, {}).status_code == 200
    give_totp(member)
    AuthSession.objects.filter(member=member).update(fresh_until=None)
    answer = phone.send("POST", path, {"force": True})
    assert answer.status_code == 403
    assert answer.data["code"] == "REAUTHENTICATION_REQUIRED"


def test_the_newest_restore_alone_is_undone(phone: Phone, member: Member) -> None:
    make_entry(member)
    deletion = int(
        delete(phone, f"entries/{make_entry(member).pk}").headers["Operation-Id"]
    )
    backup = download_backup(member)
    older = restore(phone, backup)
    newer = restore(phone, backup)
    undoable = {
        row["id"]: row["undoableUntil"] is not None
        for row in list_operations(phone)["results"]
    }
    assert undoable == {newer: True, older: False, deletion: False}
    for number in (older, deletion):
        answer = phone.send("POST", f"{OPERATIONS}/{number}/undo", {"force": True})
        assert_problem(answer, 409, "NOT_UNDOABLE")
    assert phone.get_json(f"{OPERATIONS}/{newer}")["rows"]["results"] == []
    age(newer, 7.1)
    answer = phone.send("POST", f"{OPERATIONS}/{newer}/undo", {})
    assert_problem(answer, 409, "NOT_UNDOABLE")
    age(newer, 8.1)
    assert LedgerCopy.objects.exists()
    purge_operations()
    assert not LedgerCopy.objects.exists()
    assert Operation.objects.filter(id=newer, is_kept=False).exists()


def test_clients_start_anew_after_the_undo_of_a_restore(
    phone: Phone, member: Member
) -> None:
    make_tag(member)
    operation_id = restore(phone, download_backup(member))
    cursor = phone.get_json(f"{A}/changes")["cursor"]
    phone.undo(operation_id)
    answer = phone.send("GET", f"{A}/changes?since={cursor}")
    assert_problem(answer, 410, "CURSOR_EXPIRED")
    assert not Tombstone.objects.exists()


def test_a_copy_of_before_an_upgrade_that_took_a_column_cannot_be_used(
    phone: Phone, member: Member
) -> None:
    make_tag(member)
    operation_id = restore(phone, download_backup(member))
    copy = LedgerCopy.objects.get(table_name="account_tag")
    LedgerCopy.objects.filter(table_name=copy.table_name).update(
        columns=[*copy.columns, "gone"]
    )
    answer = phone.send("POST", f"{OPERATIONS}/{operation_id}/undo", {})
    assert_problem(answer, 409, "NOT_UNDOABLE")


def test_every_kind_of_row_can_be_undone() -> None:
    assert {table.kind for table in TABLES} == set(RowKind) - {RowKind.SETTINGS}
