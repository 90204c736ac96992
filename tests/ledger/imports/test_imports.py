"""Imports of files, from the upload to the commit (spec 3.29)."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Member
from ledger.models import Category, Entry, Import, ImportKey, ImportRow, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.imports import (
    HEADER,
    IMPORTS,
    change_rows,
    commit,
    import_file,
    read_file,
    rows_of,
    upload,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def test_a_file_is_read_and_committed(client: JSONClient, free_member: Member) -> None:
    bank = make_wallet(free_member, name="Bank")
    text = HEADER + "2026-09-05,Bank,Food,Lunch,-9000\n2026-09-06,Cash,,Salary,100\n"
    found = read_file(client, text)
    assert found["counts"]["NEW"] == 2
    assert Entry.objects.count() == 0
    result = commit(client, found["id"])
    assert (result["created"], result["skipped"]) == (2, 0)
    entries = Entry.objects.order_by("date")
    assert [(e.type, e.amount, e.memo, e.source) for e in entries] == [
        ("expense", 9000, "Lunch", "IMPORT"),
        ("income", 100, "Salary", "IMPORT"),
    ]
    assert entries[0].wallet_id == bank.pk
    assert entries[1].wallet.name == "Cash"
    again = read_file(client, text)
    assert again["counts"]["DUPLICATE"] == 2
    assert commit(client, again["id"])["created"] == 0


def undo(client: JSONClient, operation_id: int, **body: Any) -> Any:
    path = f"/api/account/operations/{operation_id}/undo"
    answer = client.send("POST", path, body)
    assert answer.status_code == 200, answer.content
    assert_rollups_are_right()
    return answer.data


def test_two_files_at_once_are_refused(client: JSONClient) -> None:
    files = [SimpleUploadedFile("any", HEADER.encode()) for _ in range(2)]
    answer: Any = client.post(IMPORTS, {"file": files})
    assert_problem(answer, 400, "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["field"] == "file"


def test_two_rows_become_one_transfer(client: JSONClient, free_member: Member) -> None:
    for name in ("A", "B"):
        make_wallet(free_member, name=name)
    text = HEADER + "2026-09-05,A,,to B,-500\n2026-09-06,B,,from A,500\n"
    found = read_file(client, text)
    first, second = rows_of(client, found["id"])
    assert (first["status"], second["status"]) == ("TRANSFER", "PAIRED")
    assert (first["otherRow"], second["otherRow"]) == (3, 2)
    result = commit(client, found["id"])
    assert (result["created"], result["paired"], result["skipped"]) == (1, 1, 0)
    entry = Entry.objects.get()
    assert (entry.type, entry.wallet.name, entry.to_wallet.name) == (
        "transfer",
        "A",
        "B",
    )
    # The file of either bank finds it.
    for line in text.splitlines()[1:]:
        assert read_file(client, HEADER + line)["counts"]["DUPLICATE"] == 1
        Import.objects.all().delete()


def test_pair_is_separated_by_its_rows(client: JSONClient, free_member: Member) -> None:
    for name in ("A", "B"):
        make_wallet(free_member, name=name)
    text = HEADER + "2026-09-05,A,,out,-500\n2026-09-06,B,,in,500\n"
    found = read_file(client, text)
    change_rows(client, found["id"], {"row": 3, "action": "IMPORT"})
    assert commit(client, found["id"])["created"] == 2
    assert sorted(Entry.objects.values_list("type", flat=True)) == ["expense", "income"]


def test_typed_in_entry_takes_date_and_key_of_its_row(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, name="A")
    food = make_category(free_member, name="Food")
    entry = make_entry(
        free_member,
        date="2026-09-04",
        amount=500,
        wallet=wallet,
        category=food,
        memo="mine",
    )
    text = HEADER + "2026-09-05,A,Eating,SHOP 12,-500\n"
    found = read_file(client, text)
    (row,) = rows_of(client, found["id"])
    assert (row["status"], row["action"], row["entryId"]) == (
        "LIKELY_DUPLICATE",
        "MERGE",
        entry.pk,
    )
    result = commit(client, found["id"])
    assert (result["created"], result["merged"]) == (0, 1)
    entry.refresh_from_db()
    assert (str(entry.date), entry.memo, entry.category_id) == (
        "2026-09-05",
        "mine",
        food.pk,
    )
    # Nothing is made for a row that makes no entry.
    assert not Category.objects.filter(name="Eating").exists()
    assert read_file(client, text)["counts"]["DUPLICATE"] == 1


def test_pending_entry_is_confirmed_by_its_row(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, name="A")
    entry = make_entry(
        free_member, date="2026-09-05", amount=500, wallet=wallet, pending=True
    )
    import_file(client, HEADER + "2026-09-05,A,,SHOP,-500\n")
    entry.refresh_from_db()
    assert not entry.pending


@pytest.mark.django_db(transaction=True)
def test_row_and_entry_of_another_wallet_become_a_transfer(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, name="A")
    other = make_wallet(free_member, name="B")
    income = make_entry(
        free_member, type="income", date="2026-09-06", amount=500, wallet=other
    )
    result = import_file(client, HEADER + "2026-09-05,A,,to B,-500\n")
    assert (result["created"], result["paired"]) == (0, 1)
    entry = Entry.objects.get()
    assert (entry.type, entry.to_wallet_id) == ("transfer", other.pk)
    undo(client, result["operationId"])
    assert Entry.objects.get().pk == income.pk


@pytest.mark.django_db(transaction=True)
def test_undo_frees_the_keys_and_its_undo_takes_them_back(
    client: JSONClient, free_member: Member
) -> None:
    # An undone import blocked its file elsewhere.
    text = HEADER + "2026-09-05,New,Food,Lunch,-9000\n2026-09-06,New,,x,1\n"
    result = import_file(client, text)
    undone = undo(client, result["operationId"])
    assert undone["removed"] == 4
    assert not Entry.objects.exists()
    assert not Wallet.objects.exists()
    assert read_file(client, text)["counts"]["NEW"] == 2
    undo(client, undone["operationId"])
    assert Entry.objects.count() == 2
    Import.objects.all().delete()
    assert read_file(client, text)["counts"]["DUPLICATE"] == 2


@pytest.mark.django_db(transaction=True)
def test_undo_keeps_a_changed_entry_and_its_key(
    client: JSONClient, free_member: Member
) -> None:
    text = HEADER + "2026-09-05,New,,Lunch,-9000\n2026-09-06,New,,x,1\n"
    result = import_file(client, text)
    entry = Entry.objects.get(amount=9000)
    path = f"/api/account/entries/{entry.pk}"
    assert client.send("PATCH", path, {"memo": "mine"}).status_code == 200
    undone = undo(client, result["operationId"])
    assert {"kind": "entry", "id": entry.pk, "reason": "CHANGED"} in undone["kept"]
    counts = read_file(client, text)["counts"]
    assert (counts["DUPLICATE"], counts["NEW"]) == (1, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["edit", "move", "merge", "delete", "move wallet"])
def test_rows_do_not_come_back(
    client: JSONClient, free_member: Member, change: str
) -> None:
    wallet = make_wallet(free_member, name="A")
    other = make_wallet(free_member, name="B")
    text = HEADER + "2026-09-05,A,,Lunch,-9000\n"
    import_file(client, text)
    entry = Entry.objects.get()
    path = f"/api/account/entries/{entry.pk}"
    if change == "edit":
        body = {"memo": "m", "amount": 5, "date": "2026-01-01"}
        assert client.send("PATCH", path, body).status_code == 200
    elif change == "move":
        assert client.send("PATCH", path, {"walletId": other.pk}).status_code == 200
    elif change == "merge":
        income = make_entry(
            free_member, type="income", date="2026-09-05", amount=9000, wallet=other
        )
        answer = client.send("POST", f"{path}/merge", {"with": income.pk})
        assert answer.status_code == 200, answer.content
    elif change == "delete":
        assert client.delete(path).status_code == 204
    else:
        answer = client.delete(f"/api/account/wallets/{wallet.pk}?moveTo={other.pk}")
        assert answer.status_code == 204, answer.content
        text = text.replace(",A,", ",B,")
    found = read_file(client, text)
    (row,) = rows_of(client, found["id"])
    assert row["status"] == "DUPLICATE"
    assert row["deleted"] is (change == "delete")
    assert commit(client, found["id"])["created"] == 0


def test_merged_income_does_not_come_back(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, name="A")
    other = make_wallet(free_member, name="B")
    text = "date,wallet,memo,in\n2026-09-05,A,came,9000\n"
    import_file(client, text)
    expense = make_entry(free_member, date="2026-09-05", amount=9000, wallet=other)
    path = f"/api/account/entries/{expense.pk}/merge"
    answer = client.send("POST", path, {"with": Entry.objects.get(type="income").pk})
    assert answer.status_code == 200, answer.content
    (row,) = rows_of(client, read_file(client, text)["id"])
    assert (row["status"], row["deleted"], row["entryId"]) == (
        "DUPLICATE",
        False,
        expense.pk,
    )


def test_deleted_row_comes_back_only_if_it_is_wanted(
    client: JSONClient, free_member: Member
) -> None:
    text = HEADER + "2026-09-05,,,Lunch,-9000\n"
    import_file(client, text)
    client.delete(f"/api/account/entries/{Entry.objects.get().pk}")
    found = read_file(client, text)
    change_rows(client, found["id"], {"row": 2, "action": "IMPORT"})
    assert commit(client, found["id"])["created"] == 1
    (row,) = rows_of(client, read_file(client, text)["id"])
    assert (row["status"], row["deleted"]) == ("DUPLICATE", False)


def test_two_imports_of_one_file_make_its_entries_once(client: JSONClient) -> None:
    text = HEADER + "2026-09-05,New,,Lunch,-9000\n"
    first, second = read_file(client, text), read_file(client, text)
    assert commit(client, first["id"])["created"] == 1
    result = commit(client, second["id"])
    assert (result["created"], result["skipped"]) == (0, 1)
    assert Wallet.objects.count() == 1


def test_commit_is_once(client: JSONClient) -> None:
    found = read_file(client, HEADER + "2026-09-05,,,Lunch,-9000\n")
    commit(client, found["id"])
    path = f"{IMPORTS}/{found['id']}"
    assert_problem(client.send("POST", f"{path}/commit"), 409, "DUPLICATE")
    assert_problem(client.send("PATCH", path, {"balances": True}), 409, "DUPLICATE")
    rows = [{"row": 2, "action": "SKIP"}]
    assert_problem(client.send("PATCH", f"{path}/rows", rows), 409, "DUPLICATE")
    assert client.delete(path).status_code == 204
    assert_problem(client.get(path), 404, "NOT_FOUND")
    assert Entry.objects.count() == 1
    assert ImportKey.objects.count() == 1
    assert not ImportRow.objects.exists()


def test_imports_are_of_their_member(client: JSONClient, other_member: Member) -> None:
    found = read_file(client, HEADER + "2026-09-05,,,Lunch,-9000\n")
    path, stranger = f"{IMPORTS}/{found['id']}", JSONClient(other_member)
    assert stranger.get_json(IMPORTS) == []
    for method, suffix in (
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/rows"),
        ("PATCH", "/rows"),
        ("POST", "/commit"),
    ):
        body = [{"row": 2}] if suffix == "/rows" else {}
        answer = stranger.send(method, path + suffix, body)
        assert_problem(answer, 404, "NOT_FOUND")


def test_wallets_and_categories_are_chosen(
    client: JSONClient, free_member: Member
) -> None:
    bank = make_wallet(free_member, name="Bank")
    make_category(free_member, name="Eating")
    found = read_file(client, HEADER + "2026-09-05,통장,Food,Lunch,-9000\n")
    assert found["wallets"] == [
        {
            "name": "통장",
            "walletId": None,
            "create": {"kind": "BANK"},
            "guess": None,
            "rows": 1,
        }
    ]
    body = {
        "wallets": [{"name": "통장", "walletId": bank.pk}],
        "categories": [{"name": "Food", "type": "expense", "category": "Eating"}],
    }
    answer = client.send("PATCH", f"{IMPORTS}/{found['id']}", body)
    assert answer.status_code == 200, answer.content
    assert answer.data["wallets"][0]["walletId"] == bank.pk
    commit(client, found["id"])
    entry = Entry.objects.select_related("category").get()
    assert (entry.wallet_id, entry.category.name) == (bank.pk, "Eating")
    assert Wallet.objects.count() == Category.objects.count() == 1


def test_chosen_wallet_that_is_gone_stops_the_commit(
    client: JSONClient, free_member: Member
) -> None:
    bank = make_wallet(free_member, name="Bank")
    found = read_file(client, HEADER + "2026-09-05,,,Lunch,-9000\n", walletId=bank.pk)
    assert client.delete(f"/api/account/wallets/{bank.pk}").status_code == 204
    path = f"{IMPORTS}/{found['id']}/commit"
    assert_problem(client.send("POST", path), 409, "REFERENCE_GONE")
    assert not Entry.objects.exists()


def test_columns_are_corrected_and_remembered(client: JSONClient) -> None:
    text = "when,what,much,noted\n2026-09-05,Lunch,-9000,2026-01-01\n"
    found = read_file(client, text)
    names = {each["name"]: each["column"] for each in found["columns"]}
    mapping = [
        {"column": names["when"], "field": "date"},
        {"column": names["what"], "field": "memo"},
        {"column": names["much"], "field": "amount"},
    ]
    path = f"{IMPORTS}/{found['id']}"
    answer = client.send("PATCH", path, {"mapping": mapping})
    assert answer.status_code == 200, answer.content
    commit(client, found["id"])
    again = read_file(client, text)
    assert [(m["column"], m["field"]) for m in again["mapping"]] == [
        (0, "date"),
        (1, "memo"),
        (2, "amount"),
    ]
    assert again["sample"][0]["entry"]["memo"] == "Lunch"


@pytest.mark.parametrize(
    ("mapping", "field"),
    [
        ([{"column": 9, "field": "date"}], "mapping.0.column"),
        ([{"column": -1, "field": "date"}], "mapping.0.column"),
        (
            [{"column": 0, "field": "date"}, {"column": 0, "field": "memo"}],
            "mapping.1.column",
        ),
    ],
)
def test_wrong_columns_are_refused(
    client: JSONClient, mapping: Any, field: str
) -> None:
    found = read_file(client, HEADER + "2026-09-05,,,Lunch,-9000\n")
    answer = client.send("PATCH", f"{IMPORTS}/{found['id']}", {"mapping": mapping})
    assert_invalid(answer, field)


@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([{"row": 9, "action": "SKIP"}], "0.row"),
        ([{"row": 2, "action": "SKIP"}, {"row": 2, "action": "SKIP"}], "1.row"),
        ([{"row": 2, "action": "DROP"}], "0.action"),
        ([{"row": 2, "action": "MERGE"}], "0.entry.id"),
        ([{"row": 2, "entry": {"id": 1}}], "0.entry.id"),
        ([{"row": 2, "entry": {"toWalletId": 1}}], "0.entry.toWalletId"),
        ([{"row": "2"}], "0.row"),
        ([{"row": 2, "acton": "SKIP"}], "0.acton"),
    ],
)
def test_wrong_choices_of_rows_change_none(
    client: JSONClient, rows: Any, field: str
) -> None:
    found = read_file(client, HEADER + "2026-09-05,,,Lunch,-9000\n")
    path = f"{IMPORTS}/{found['id']}/rows"
    assert_invalid(client.send("PATCH", path, rows), field)
    assert ImportRow.objects.get().chosen is None


def test_two_imports_are_open_at_once(client: JSONClient) -> None:
    text = HEADER + "2026-09-05,,,Lunch,-9000\n"
    first = read_file(client, text)
    read_file(client, text)
    assert_problem(upload(client, text), 409, "LIMIT_REACHED")
    client.delete(f"{IMPORTS}/{first['id']}")
    read_file(client, text)


def test_bad_rows_do_not_stop_the_others(client: JSONClient) -> None:
    text = HEADER + (
        "2026-09-05,,,good,-9000\n"
        "2026-13-05,,,no date,-9000\n"
        "2026-09-05,,,no amount,\n"
        "2026-09-05,,,too much,-99999999999999\n"
    )
    found = read_file(client, text)
    bad = rows_of(client, found["id"], status="INVALID")
    assert [row["row"] for row in bad] == [3, 4, 5]
    assert all(row["errors"][0]["message"] for row in bad)
    result = commit(client, found["id"])
    assert (result["created"], result["skipped"]) == (1, 3)


def test_category_is_learned_from_earlier_entries(
    client: JSONClient, free_member: Member
) -> None:
    food = make_category(free_member, name="Food")
    make_entry(free_member, memo="SHOP 12", amount=1, category=food)
    found = read_file(client, HEADER + "2026-09-05,,,SHOP 12,-9000\n")
    (row,) = rows_of(client, found["id"])
    assert (row["entry"]["category"], row["entry"]["isLearned"]) == ("Food", True)
    commit(client, found["id"])
    assert Entry.objects.get(amount=9000).category_id == food.pk
