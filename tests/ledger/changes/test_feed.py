"""A copy of a ledger by the feed of changes (spec 3.26)."""

import random
import uuid
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts.models import Member
from administration.tasks import purge_tombstones
from ledger.base.encryption import ENCRYPTED_PREFIX
from ledger.changes.cursors import MAX_AGE
from ledger.changes.kinds import KINDS
from ledger.models import (
    BudgetIncome,
    DeletedClientId,
    Entry,
    Ledger,
    RowKind,
    Tombstone,
    Wallet,
)
from ledger.models.base import VersionedModel
from tests.support.clients import JSONClient
from tests.support.copies import CHANGES, Copy
from tests.support.entry_writing import ENTRIES, PLAIN, create_entry
from tests.support.factories import (
    make_category,
    make_entry,
    make_trade,
    make_wallet,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.whole_accounts import give_everything
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db

A = "/api/account"
# Their answers have these names for what the feed has by others, or not at all.
COMPUTED = {
    *("category", "wallet", "toWallet", "tags", "lines", "refunded", "version", "id"),
    *("balance", "currentValue", "subcategories", "spent", "remaining", "rate"),
}


class Phone(JSONClient):
    """Requests that are transactions of their own, as versions are concerned."""

    def request(self, **request: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL ledger.revision = ''")
        return super().request(**request)


@pytest.fixture
def phone(premium_member: Member) -> Phone:
    return Phone(premium_member)


def get(client: JSONClient, **query: Any) -> Any:
    return client.send("GET", f"{CHANGES}?{urlencode(query)}")


def read_all(phone: JSONClient, size: int = 500) -> Copy:
    copy = Copy(phone, size)
    copy.read()
    return copy


def test_every_versioned_table_is_in_the_feed() -> None:
    tables = {model._meta.db_table for model in VersionedModel.__subclasses__()}
    tables |= {"account_ledger"}
    assert {kind.table for kind in KINDS} == tables
    assert {kind.name for kind in KINDS} == set(RowKind)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_whole_copy_has_every_row_once(
    size: int, phone: Phone, premium_member: Member, other_member: Member
) -> None:
    for member in (premium_member, other_member):
        give_everything(member)
    copy = read_all(phone, size)
    assert {kind for kind, _ in copy.rows} == set(RowKind.values)
    assert len(copy.seen) == len(copy.rows)
    order = [(row["version"], row["kind"], row["id"]) for row in copy.seen]
    assert order == sorted(order)
    assert copy.is_whole()
    for kind in KINDS:
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {kind.id}, {kind.version} FROM {kind.table} r"
                f" WHERE r.member_id = {premium_member.pk}"
            )
            stored = dict(cursor.fetchall())
        name = kind.name.value
        assert stored == {
            row_id: row["version"]
            for (its_kind, row_id), row in copy.rows.items()
            if its_kind == name
        }


def test_data_is_what_the_api_has_by_ids(phone: Phone, premium_member: Member) -> None:
    give_everything(premium_member)
    copy = read_all(phone)
    lists = {
        "wallet": "wallets",
        "category": "categories",
        "tag": "tags",
        "quickEntry": "quick-entries",
        "recurring": "recurring",
        "stock": "stocks",
    }
    for kind, path in lists.items():
        rows = phone.get_json(f"{A}/{path}")
        rows = rows if isinstance(rows, list) else rows["results"]
        rows += [each for row in rows for each in row.get("children") or []]
        assert rows, kind
        for row in rows:
            data = copy.rows[kind, row["id"]]["data"]
            shared = data.keys() & row.keys() - COMPUTED
            assert {name: data[name] for name in shared} == {
                name: row[name] for name in shared
            }
            assert not data.keys() & {"category", "wallet", "tags", "id", "version"}
    for row in phone.get_json(ENTRIES, size=100)["results"]:
        data = copy.rows["entry", row["id"]]["data"]
        shared = row.keys() - COMPUTED
        assert {name: data[name] for name in shared} == {
            name: row[name] for name in shared
        }
        names = {"category", "wallet"}
        assert data["lines"] == [
            {name: line[name] for name in line if name not in names}
            | {"refundOf": data["lines"][number]["refundOf"]}
            for number, line in enumerate(row["lines"])
        ]


def test_balances_are_those_of_the_wallets(
    phone: Phone, premium_member: Member
) -> None:
    give_everything(premium_member)
    make_wallet(premium_member, manual_valuation=True, current_value=5)
    for size in (1, 500):
        copy = Copy(phone, size)
        page = copy.read_page()
        assert (page["balances"] is None) == page["hasMore"] == (size == 1)
        copy.read()
        assert copy.balances == [
            {"walletId": row["id"]}
            | {name: row[name] for name in ("balance", "currentValue")}
            for row in phone.get_json(f"{A}/wallets")
        ]


def test_only_what_changed_comes_again(phone: Phone, premium_member: Member) -> None:
    food = make_category(premium_member, name="Food")
    entry = create_entry(phone, PLAIN | {"category": "Food", "tags": ["x"]})
    copy = read_all(phone)

    def changed() -> list[tuple[str, int, bool]]:
        copy.seen = []
        copy.read()
        assert copy.is_whole()
        return [(row["kind"], row["id"], row["deleted"]) for row in copy.seen]

    assert changed() == []
    path = f"{ENTRIES}/{entry['id']}"
    phone.change_json("PATCH", path, {"memo": "new"})
    assert changed() == [("entry", entry["id"], False)]
    # Names are no part of an entry.
    phone.change_json("PATCH", f"{A}/categories/{food.pk}", {"name": "Meals"})
    assert changed() == [("category", food.pk, False)]
    (tag_id,) = entry["tagIds"]
    phone.delete(f"{A}/tags/{tag_id}")
    assert changed() == [("tag", tag_id, True)]
    phone.change_json(
        "PATCH", f"{ENTRIES}/notification-settings", {"captureBankTexts": True}
    )
    assert changed() == [("settings", 0, False)]
    assert copy.rows["settings", 0]["data"] == {"captureBankTexts": True}
    phone.delete(path)
    assert changed() == [("entry", entry["id"], True)]
    assert copy.seen[0]["data"] is None
    created = [{"op": "create", "entry": PLAIN} for _ in range(5)]
    phone.send("POST", f"{ENTRIES}/batch", {"operations": created})
    assert len(changed()) == 5
    phone.send("PATCH", ENTRIES, {"filter": {"year": 2026}, "set": {"memo": "x"}})
    assert len(changed()) == 5


def test_deletions_with_others_are_told(phone: Phone, premium_member: Member) -> None:
    trade = make_trade(premium_member)
    wallets = [make_wallet(premium_member) for _ in range(2)]
    make_entry(premium_member, type="transfer", wallet=wallets[0], to_wallet=wallets[1])
    pension = make_wallet(premium_member, manual_valuation=True)
    path = f"{A}/wallets/{pension.pk}/valuations"
    phone.create_json(path, {"date": "2026-11-01", "value": 5})
    copy = read_all(phone)
    for path in (f"trades/{trade.pk}", f"stocks/{trade.stock_id}"):
        assert phone.delete(f"{A}/{path}").status_code == 204
    phone.delete(f"{A}/wallets/{wallets[0].pk}?moveTo={wallets[1].pk}")
    phone.delete(f"{A}/wallets/{pension.pk}")
    copy.seen = []
    copy.read()
    assert copy.is_whole()
    gone = [row["kind"] for row in copy.seen if row["deleted"]]
    assert sorted(gone) == [
        *("entry", "stock", "trade", "valuation", "wallet", "wallet"),
    ]


def test_new_copy_is_not_told_of_what_was_deleted_before(phone: Phone) -> None:
    entry = create_entry(phone, PLAIN)
    phone.delete(f"{ENTRIES}/{entry['id']}")
    assert not any(row["deleted"] for row in read_all(phone).seen)
    # But of what it may have read by then.
    rows = [create_entry(phone, PLAIN) for _ in range(3)]
    copy = Copy(phone, size=1)
    while ("entry", rows[0]["id"]) not in copy.rows:
        copy.read_page()
    phone.delete(f"{ENTRIES}/{rows[0]['id']}")
    phone.delete(f"{ENTRIES}/{rows[2]['id']}")
    copy.read()
    assert copy.is_whole()


def test_row_that_changes_between_two_pages_comes_again(phone: Phone) -> None:
    rows = [create_entry(phone, PLAIN) for _ in range(4)]
    copy = Copy(phone, size=2)
    copy.read_page()
    for row in rows:
        phone.change_json("PATCH", f"{ENTRIES}/{row['id']}", {"memo": "later"})
        copy.read_page()
    copy.read()
    assert copy.is_whole()
    memos = {row["data"]["memo"] for row in copy.rows.values() if "memo" in row["data"]}
    assert memos == {"later"}


def test_random_writes_are_followed(phone: Phone, premium_member: Member) -> None:
    draw = random.Random(5)
    give_everything(premium_member)
    copies = [read_all(phone, size) for size in (1, 4, 500)]
    for _ in range(60):
        rows = list(Entry.objects.owned_by(premium_member).values_list("pk", flat=True))
        entry_id = draw.choice(rows)
        match draw.randrange(6):
            case 0:
                phone.send("PATCH", f"{ENTRIES}/{entry_id}", {"memo": str(draw)[:9]})
            case 1 if len(rows) > 5:
                phone.delete(f"{ENTRIES}/{entry_id}")
            case 2:
                tag = f"t{draw.randrange(4)}"
                phone.send("POST", ENTRIES, PLAIN | {"tags": [tag]})
            case 3:
                phone.send("POST", f"{A}/tags", {"name": f"new{draw.random()}"})
            case 4:
                phone.send("POST", f"{ENTRIES}/{entry_id}/refund", {"amount": 1})
            case _:
                body = {"operations": [{"op": "create", "entry": PLAIN}] * 3}
                phone.send("POST", f"{ENTRIES}/batch", body)
        draw.choice(copies).read_page()
    whole = read_all(phone)
    for copy in copies:
        copy.read()
        assert copy.rows == whole.rows
        assert copy.compute_digests() == whole.compute_digests()
    assert whole.is_whole()


def test_free_members_get_no_paid_kinds(
    phone: Phone, premium_member: Member, free_member: Member
) -> None:
    give_everything(premium_member)
    paid = {kind.name.value for kind in KINDS if kind.is_paid}
    before = read_all(phone)
    assert paid <= {kind for kind, _ in before.rows}
    premium_member.plan = Member.Plan.FREE
    premium_member.save()
    phone = Phone(premium_member)
    assert_problem(get(phone, since=before.cursor), 410, "CURSOR_EXPIRED")
    free = read_all(phone)
    kinds = {kind for kind, _ in free.rows}
    assert kinds == set(RowKind.values) - paid
    assert set(phone.get_json(f"{CHANGES}/digest")["kinds"]) == kinds
    # Entries name tags.
    assert "tag" in kinds
    trade = make_trade(premium_member)
    trade.delete()
    free.seen = []
    free.read()
    assert free.seen == []


def test_replaced_ledger_is_read_anew(phone: Phone, premium_member: Member) -> None:
    give_everything(premium_member)
    copy, begun = read_all(phone), Copy(phone, size=1)
    begun.read_page()
    workbook = download_backup(premium_member)
    assert upload(phone, workbook).status_code == 200
    for cursor in (copy.cursor, begun.cursor):
        assert_problem(get(phone, since=cursor), 410, "CURSOR_EXPIRED")
    assert not Tombstone.objects.exists()
    for size in (1, 500):
        assert read_all(phone, size).is_whole()
    assert BudgetIncome.objects.count() == 1


def test_cursors_live_half_a_year(
    phone: Phone, premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_entry(phone, PLAIN)
    copy = read_all(phone)
    today = timezone.localdate()
    for days, status in ((180, 200), (181, 410)):
        then = today + timedelta(days=days)
        with monkeypatch.context() as patch:
            patch.setattr("django.utils.timezone.localdate", lambda *_, t=then: t)
            answer = get(phone, since=copy.cursor)
            assert answer.status_code == status


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: "5",
        lambda text: text[:-1],
        lambda text: text[1:],
        lambda text: text + "x",
        lambda text: text.swapcase(),
        lambda text: text.partition(":")[0],
        lambda text: "null:" + text.partition(":")[2],
        lambda text: "\x00",
        lambda text: "가",
    ],
)
def test_forged_cursors_are_refused(change: Any, phone: Phone) -> None:
    cursor = read_all(phone).cursor
    assert_invalid(get(phone, since=change(cursor)), "since")


def test_cursor_of_another_member_is_refused(
    phone: Phone, other_member: Member
) -> None:
    cursor = read_all(JSONClient(other_member)).cursor
    assert_invalid(get(phone, since=cursor), "since")


def test_size_is_bounded(phone: Phone) -> None:
    for size in ("0", "-1", "x", ""):
        assert_invalid(get(phone, size=size), "size")
    assert phone.get_json(CHANGES, size=10**6)["hasMore"] is False
    assert_invalid(get(phone, sinc="x"), "sinc")


def test_tombstones_are_purged_when_no_cursor_needs_them(
    phone: Phone, premium_member: Member
) -> None:
    entries = [make_entry(premium_member) for _ in range(2)]
    for entry in entries:
        phone.delete(f"{ENTRIES}/{entry.pk}")
    old = Tombstone.objects.filter(row_id=entries[0].pk)
    old.update(deleted_at=timezone.now() - MAX_AGE - timedelta(days=3))
    purge_tombstones()
    assert Tombstone.objects.get().row_id == entries[1].pk
    Tombstone.objects.update(deleted_at=timezone.now() - MAX_AGE)
    call_command("purge_tombstones")
    assert Tombstone.objects.count() == 1


def test_release_before_can_delete_an_account(
    phone: Phone, premium_member: Member
) -> None:
    # It does not know the tables that its deletions fill.
    entry = create_entry(phone, PLAIN | {"clientId": str(uuid.uuid4())})
    phone.delete(f"{ENTRIES}/{entry['id']}")
    assert Tombstone.objects.count() == DeletedClientId.objects.count() == 1
    ledger = Ledger.objects.filter(member=premium_member)
    ledger._raw_delete(ledger.db)
    assert not Tombstone.objects.exists()
    assert not DeletedClientId.objects.exists()


def test_place_that_a_recovered_database_does_not_know_is_void(
    phone: Phone, premium_member: Member
) -> None:
    create_entry(phone, PLAIN)
    cursor = read_all(phone).cursor
    Ledger.objects.filter(member=premium_member).update(revision=0)
    assert_problem(get(phone, since=cursor), 410, "CURSOR_EXPIRED")


def test_row_that_comes_back_is_told_once(phone: Phone, premium_member: Member) -> None:
    wallets = [make_wallet(premium_member).pk for _ in range(2)]
    expense = create_entry(phone, PLAIN | {"walletId": wallets[0]})
    other = {"type": "income", "walletId": wallets[1]}
    income = create_entry(phone, PLAIN | other)
    copy = read_all(phone)
    path = f"{ENTRIES}/{expense['id']}"
    phone.send("POST", f"{path}/merge", {"with": income["id"]})
    phone.send("POST", f"{path}/unmerge")
    copy.seen = []
    copy.read()
    told = [(row["kind"], row["id"], row["deleted"]) for row in copy.seen]
    assert sorted(told) == [
        ("entry", expense["id"], False),
        ("entry", income["id"], False),
    ]


def test_answers_are_not_stored(phone: Phone) -> None:
    assert phone.get(CHANGES).headers["Cache-Control"] == "no-store"


def test_digests_are_limited(phone: Phone) -> None:
    for _ in range(12):
        phone.get_json(f"{CHANGES}/digest")
    assert_problem(phone.send("GET", f"{CHANGES}/digest"), 429, "RATE_LIMITED")


def test_account_number_is_the_plain_one(phone: Phone, premium_member: Member) -> None:
    body = {"name": "Bank", "kind": "BANK", "accountNumber": "110-234"}
    wallet = phone.create_json(f"{A}/wallets", body)
    (row,) = [row for row in read_all(phone).seen if row["kind"] == "wallet"]
    assert row["data"]["accountNumber"] == "110-234"
    stored = Wallet.objects.filter(member=premium_member, pk=wallet["id"])
    stored.update(encrypted_account_number=f"{ENCRYPTED_PREFIX}broken")
    (row,) = [row for row in read_all(phone).seen if row["kind"] == "wallet"]
    assert row["data"]["accountNumber"] is None
