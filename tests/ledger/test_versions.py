"""Versions of rows and `If-Match` (spec 3.22)."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Member
from core.repeated_headers import note_repeated
from ledger.models import Entry, Ledger, QuickEntry, RecurringRule, Wallet
from ledger.models.base import VersionedModel
from ledger.recurring.occurrences import process_due_rules
from tests.support.clients import JSONClient
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_merged_entry,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_trade,
    make_wallet,
)
from tests.support.problems import assert_invalid, assert_problem

pytestmark = pytest.mark.django_db

ACCOUNT = "/api/account"
ENTRIES = f"{ACCOUNT}/entries"
ROWS: dict[str, Callable[[Member], Any]] = {
    "wallets": make_wallet,
    "categories": make_category,
    "tags": make_tag,
    "entries": make_entry,
    "quick-entries": make_quick_entry,
    "recurring": make_rule,
    "budgets": make_budget,
    "stocks": make_stock,
    "trades": make_trade,
}
CHANGES: dict[str, dict[str, Any]] = {
    "wallets": {"memo": "x"},
    "categories": {"icon": "cup"},
    "tags": {"color": "#00aaff"},
    "budgets": {"amount": 7},
    "stocks": {"market": "KOSPI"},
}
MEMO = {"memo": "changed"}


def begin_transaction() -> None:
    """Let what follows be another transaction: a test is one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('ledger.revision', '', true)")


class Phone(JSONClient):
    """Each of its requests is a transaction, as it is outside of tests."""

    def request(self, **request: Any) -> Any:
        begin_transaction()
        return super().request(**request)

    def send_if(self, tag: str, method: str, path: str, body: Any = None) -> Any:
        return self.send(method, path, body, HTTP_IF_MATCH=tag)


@pytest.fixture
def phone(premium_member: Member) -> Phone:
    return Phone(premium_member)


def get_revision(member: Member | None) -> int:
    return int(Ledger.objects.get(member=member).revision)


def version_of(row: VersionedModel) -> int:
    row.refresh_from_db(fields=["version"])
    return int(row.version)


@pytest.mark.parametrize("kind", ROWS)
def test_answers_of_a_row_have_its_version(kind: str, phone: Phone) -> None:
    assert phone.member
    path = f"{ACCOUNT}/{kind}"
    row = ROWS[kind](phone.member)
    known: dict[str, Any] = phone.get_json(f"{path}/{row.pk}")
    assert known["version"] == version_of(row) > 0
    change = CHANGES.get(kind, MEMO)
    for method, body in (("PATCH", change), ("PUT", known | change)):
        before = get_revision(phone.member)
        answer = phone.send(method, f"{path}/{row.pk}", body)
        assert answer.status_code == 200, answer.content
        assert answer.data["version"] == version_of(row) == before + 1
        assert answer.headers["ETag"] == f'"{before + 1}"'
        got = phone.send("GET", f"{path}/{row.pk}")
        assert (got.data, got.headers["ETag"]) == (answer.data, answer.headers["ETag"])
    listed = phone.get_json(path, year=2026, month=11) if kind == "budgets" else None
    rows = listed or phone.get_json(path)
    rows = rows if isinstance(rows, list) else rows["results"]
    assert [each["version"] for each in rows if each["id"] == row.pk] == [before + 1]


@pytest.mark.parametrize("kind", ROWS)
def test_creation_raises_the_revision_once(kind: str, phone: Phone) -> None:
    assert phone.member
    bodies: dict[str, dict[str, Any]] = {
        "wallets": {"name": "w", "kind": "CASH"},
        "categories": {"name": "c", "type": "expense"},
        "tags": {"name": "t"},
        "entries": {"date": "2026-11-02", "type": "expense", "amount": 5}
        | {"category": "new", "tags": ["new", "newer"]},
        "quick-entries": {"name": "q", "type": "expense", "category": "new"},
        "recurring": {"name": "r", "type": "expense", "amount": 5}
        | {"frequency": "MONTHLY", "anchorDate": "2027-01-01", "tags": ["new"]},
        "budgets": {"category": "new", "year": 2026, "month": 11, "amount": 5},
        "stocks": {"code": "005930", "name": "s"},
        "trades": {"side": "BUY", "date": "2026-11-02", "quantity": 1, "price": 1},
    }
    body = bodies[kind]
    if kind == "trades":
        body["stockId"] = make_stock(phone.member).pk
    before = get_revision(phone.member)
    answer = phone.send("POST", f"{ACCOUNT}/{kind}", body)
    assert answer.status_code == 201, answer.content
    assert get_revision(phone.member) == before + 1 == answer.data["version"]
    assert answer.headers["ETag"] == f'"{before + 1}"'
    # What it created on the way is of the same revision.
    for path in ("categories", "tags"):
        for row in phone.get_json(f"{ACCOUNT}/{path}"):
            assert row["version"] == before + 1, row


def test_what_a_row_refers_to_is_no_part_of_its_version(phone: Phone) -> None:
    assert phone.member
    wallet, category = make_wallet(phone.member), make_category(phone.member)
    tag = make_tag(phone.member)
    expense = make_entry(
        phone.member, wallet=wallet, category=category, tags=(tag.name,)
    )
    version = version_of(expense)
    for path in (f"wallets/{wallet.pk}", f"categories/{category.pk}", f"tags/{tag.pk}"):
        phone.change_json("PATCH", f"{ACCOUNT}/{path}", {"name": "renamed"})
    assert phone.send("DELETE", f"{ACCOUNT}/tags/{tag.pk}").status_code == 204
    assert version_of(expense) == version
    # Nor are sums: a refund and a balance.
    known = version_of(wallet)
    refund = {"date": "2026-11-03", "amount": 400}
    assert phone.send("POST", f"{ENTRIES}/{expense.pk}/refund", refund).data["version"]
    assert (version_of(expense), version_of(wallet)) == (version, known)
    assert phone.get_json(f"{ENTRIES}/{expense.pk}")["refunded"] == 400


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("entries", make_entry),
        ("quick-entries", make_quick_entry),
        ("recurring", make_rule),
    ],
)
@pytest.mark.parametrize(
    "change", [{"tags": ["b", "a"]}, {"lines": [{"amount": 400}, {"amount": 600}]}]
)
def test_lines_and_tags_are_part_of_a_row(
    path: str, make: Any, change: dict[str, Any], phone: Phone
) -> None:
    assert phone.member
    row = make(phone.member, amount=1_000)
    versions = [version_of(row)]
    nothing: dict[str, Any] = {"tags": [], "lines": []}
    for body in (change, nothing):
        phone.change_json("PATCH", f"{ACCOUNT}/{path}/{row.pk}", body)
        versions.append(version_of(row))
    assert versions == [versions[0], versions[0] + 1, versions[0] + 2]


def test_corrections_and_refunds_of_an_expense_have_new_versions(phone: Phone) -> None:
    assert phone.member
    names = [make_category(phone.member).name for _ in range(2)]
    new = {"date": "2026-11-02", "type": "expense", "amount": 9, "category": names[0]}
    expense = phone.create_json(ENTRIES, new)
    refund = phone.create_json(f"{ENTRIES}/{expense['id']}/refund", {"amount": 4})
    change = {"category": names[1], "tags": ["x"]}
    version = phone.change_json("PATCH", f"{ENTRIES}/{expense['id']}", change)[
        "version"
    ]
    followed = phone.get_json(f"{ENTRIES}/{refund['id']}")
    assert followed["version"] == version > refund["version"]
    assert (followed["category"], followed["tags"]) == (names[1], ["x"])
    # The deletion of the expense leaves the refund without it.
    assert phone.send("DELETE", f"{ENTRIES}/{expense['id']}").status_code == 204
    assert phone.get_json(f"{ENTRIES}/{refund['id']}")["version"] == version + 1


def test_lines_that_lose_their_expense_are_a_change(phone: Phone) -> None:
    new = {"date": "2026-11-02", "type": "expense", "amount": 9}
    first, second = (phone.create_json(ENTRIES, new)["id"] for _ in range(2))
    lines = [{"amount": 5, "refundOf": first}, {"amount": 6, "refundOf": second}]
    deposit = phone.create_json(
        ENTRIES, new | {"type": "income", "amount": 11, "lines": lines}
    )
    assert phone.send("DELETE", f"{ENTRIES}/{first}").status_code == 204
    after = phone.get_json(f"{ENTRIES}/{deposit['id']}")
    assert [line["refundOf"] for line in after["lines"]] == [None, second]
    assert after["version"] > deposit["version"]
    assert after["updatedAt"] == deposit["updatedAt"]


def test_an_older_value_of_a_wallet_is_no_change_of_it(phone: Phone) -> None:
    assert phone.member
    wallet = make_wallet(phone.member, manual_valuation=True)
    path = f"{ACCOUNT}/wallets/{wallet.pk}/valuations"
    phone.create_json(path, {"date": "2026-11-02", "value": 5})
    version = version_of(wallet)
    phone.create_json(path, {"date": "2020-01-01", "value": 4})
    assert phone.send("DELETE", f"{path}?date=2020-01-01").status_code == 204
    assert version_of(wallet) == version
    phone.create_json(path, {"date": "2026-11-03", "value": 6})
    assert version_of(wallet) > version


def test_merged_and_unmerged_entries_have_new_versions(phone: Phone) -> None:
    assert phone.member
    wallets = [make_wallet(phone.member) for _ in range(2)]
    expense = make_entry(phone.member, wallet=wallets[0])
    income = make_entry(phone.member, type="income", wallet=wallets[1])
    before = get_revision(phone.member)
    merge = phone.send("POST", f"{ENTRIES}/{expense.pk}/merge", {"with": income.pk})
    assert merge.data["version"] == before + 1
    assert merge.headers["ETag"] == f'"{before + 1}"'
    apart = phone.send("POST", f"{ENTRIES}/{expense.pk}/unmerge", {})
    assert [row["version"] for row in apart.data] == [before + 2, before + 2]
    assert "ETag" not in apart.headers


def test_moves_stamp_what_they_move(phone: Phone) -> None:
    assert phone.member
    source, target = (make_category(phone.member) for _ in range(2))
    rows = [
        make_entry(phone.member, category=source),
        make_quick_entry(phone.member, category=source),
        make_rule(phone.member, category=source),
    ]
    other = make_entry(phone.member, category=target)
    version, known = get_revision(phone.member) + 1, version_of(other)
    path = f"{ACCOUNT}/categories/{source.pk}?moveTo={target.pk}"
    assert phone.send("DELETE", path).status_code == 204
    assert [version_of(row) for row in rows] == [version] * 3
    assert version_of(other) == known


def test_the_daily_job_stamps_rules_and_entries(premium_member: Member) -> None:
    rule = make_rule(premium_member, anchor_date=date(2026, 11, 2))
    before = version_of(rule)
    begin_transaction()
    process_due_rules(timezone.now())
    entry = Entry.objects.get(member=premium_member, source=Entry.Source.RECURRING)
    assert version_of(rule) == entry.version == before + 1


def test_order_is_a_change(phone: Phone) -> None:
    assert phone.member
    rows = [make_tag(phone.member) for _ in range(3)]
    ids = [row.pk for row in reversed(rows)]
    before = get_revision(phone.member)
    phone.change_json("PUT", f"{ACCOUNT}/tags/reorder", {"ids": ids})
    assert before + 1 in {version_of(row) for row in rows}
    assert get_revision(phone.member) == before + 1


def test_a_refused_write_raises_no_revision(phone: Phone) -> None:
    assert phone.member
    taken, wallet = make_wallet(phone.member), make_wallet(phone.member)
    before = get_revision(phone.member)
    path = f"{ACCOUNT}/wallets/{wallet.pk}"
    answer = phone.send("PATCH", path, {"name": taken.name})
    assert_problem(answer, 409, "DUPLICATE")
    assert get_revision(phone.member) == before
    phone.change_json("PATCH", path, MEMO)
    assert version_of(wallet) == get_revision(phone.member) == before + 1


def test_each_ledger_has_revisions_of_its_own(
    phone: Phone, other_member: Member
) -> None:
    assert phone.member
    before = get_revision(other_member)
    phone.create_json(f"{ACCOUNT}/tags", {"name": "t"})
    make_tag(phone.member)
    assert get_revision(other_member) == before
    make_tag(other_member)
    make_tag(phone.member)
    assert get_revision(other_member) == before + 1


def test_a_version_cannot_be_assigned(phone: Phone) -> None:
    assert phone.member
    wallet = make_wallet(phone.member, version=99)
    assert wallet.version == version_of(wallet) == get_revision(phone.member)
    begin_transaction()
    Wallet.objects.filter(pk=wallet.pk, member=phone.member).update(version=99)
    assert version_of(wallet) == get_revision(phone.member)
    sent = {"name": "x", "version": 99}
    answer = phone.change_json("PATCH", f"{ACCOUNT}/wallets/{wallet.pk}", sent)
    assert answer["version"] == get_revision(phone.member)


# --- If-Match -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_write_of_another_version_is_refused_with_the_row(
    kind: str, method: str, phone: Phone
) -> None:
    assert phone.member
    row = ROWS[kind](phone.member)
    path = f"{ACCOUNT}/{kind}/{row.pk}"
    known = phone.get_json(path)
    change = CHANGES.get(kind, MEMO)
    body = None if method == "DELETE" else known | change
    stale = f'"{known["version"] - 1}"'
    answer = phone.send_if(stale, method, path, body)
    assert_problem(answer, 412, "VERSION_CONFLICT", "current")
    assert answer.data["current"] == phone.get_json(path) == known
    assert "ETag" not in answer.headers
    answer = phone.send_if(f'"{known["version"]}"', method, path, body)
    assert answer.status_code == (204 if method == "DELETE" else 200), answer.content
    # The same again: the row is another one by now.
    again = phone.send_if(f'"{known["version"]}"', method, path, body)
    assert again.status_code == (404 if method == "DELETE" else 412)


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("confirm", {}),
        ("refund", {"amount": 1}),
        ("merge", {"with": 0}),
        ("unmerge", {}),
    ],
)
def test_actions_on_an_entry_ask_for_its_version(
    action: str, body: dict[str, Any], phone: Phone
) -> None:
    member = phone.member
    assert member
    wallets = [make_wallet(member) for _ in range(2)]
    if action == "unmerge":
        entry = make_merged_entry(member, *wallets)
    else:
        entry = make_entry(member, wallet=wallets[0], pending=action == "confirm")
    if action == "merge":
        body = {"with": make_entry(member, type="income", wallet=wallets[1]).pk}
    path = f"{ENTRIES}/{entry.pk}"
    version = version_of(entry)
    answer = phone.send_if(f'"{version + 1}"', "POST", f"{path}/{action}", body)
    assert_problem(answer, 412, "VERSION_CONFLICT", "current")
    assert answer.data["current"] == phone.get_json(path)
    assert version_of(entry) == version
    answer = phone.send_if(f'"{version}"', "POST", f"{path}/{action}", body)
    assert answer.status_code in {200, 201}, answer.content


@pytest.mark.parametrize(
    ("tag", "status"),
    [
        ('"{}"', 200),
        ('W/"{}"', 200),
        ('"1000", "{}"', 200),
        ('"1000",W/"{}" ,"x"', 200),
        ("*", 200),
        (" * ", 200),
        ('"1000"', 412),
        ('W/"1000"', 412),
        ('""', 412),
        ('"0{}"', 412),
        ('"abc"', 412),
        ("{}", 400),
        ("", 400),
        ('"{}', 400),
        ('{}"', 400),
        ("'{}'", 400),
        ('w/"{}"', 400),
        ('"{}" "1"', 400),
        ('"{}",', 400),
        ('*, "{}"', 400),
        ('"a b"', 400),
        ("W/{}", 400),
    ],
)
def test_tags_of_if_match(tag: str, status: int, phone: Phone) -> None:
    assert phone.member
    wallet = make_wallet(phone.member)
    path = f"{ACCOUNT}/wallets/{wallet.pk}"
    answer = phone.send_if(tag.format(version_of(wallet)), "PATCH", path, MEMO)
    assert answer.status_code == status, answer.content
    if status == 400:
        assert_invalid(answer, "If-Match")
    wallet.refresh_from_db()
    assert (wallet.memo == MEMO["memo"]) == (status == 200)


def test_a_header_that_is_sent_twice_is_refused(phone: Phone) -> None:
    assert phone.member
    path = f"{ACCOUNT}/tags/{make_tag(phone.member).pk}"
    environ: dict[str, Any] = {}
    note_repeated(environ, "HTTP_IF_MATCH")
    answer = phone.send("DELETE", path, HTTP_IF_MATCH="*,*", **environ)
    assert_invalid(answer, "If-Match")
    assert answer.data["errors"][0]["code"] == "repeated"


def test_refusals_come_in_their_order(phone: Phone, other_member: Member) -> None:
    assert phone.member
    mine, foreign = make_wallet(phone.member), make_wallet(other_member)
    wrong = {"name": "", "kind": "?"}
    for row_id, tag, status in (
        (foreign.pk, "*", 404),
        (foreign.pk, '"1000"', 404),
        (2**40, f'"{version_of(mine)}"', 404),
        (2**40, "?", 404),
        (mine.pk, "?", 400),
        (mine.pk, '"1000"', 412),
        (mine.pk, f'"{version_of(mine)}"', 400),
    ):
        path = f"{ACCOUNT}/wallets/{row_id}"
        assert phone.send_if(tag, "PUT", path, wrong).status_code == status
    path = f"{ACCOUNT}/wallets/{mine.pk}?unknown=1"
    assert phone.send_if('"1000"', "PUT", path, wrong).status_code == 412
    anybody = JSONClient()
    path = f"{ACCOUNT}/wallets/{mine.pk}"
    answer = anybody.send("PUT", path, wrong, HTTP_IF_MATCH='"1000"')
    assert answer.status_code == 401


def test_other_requests_do_not_read_the_header(phone: Phone) -> None:
    assert phone.member
    wallet = make_wallet(phone.member)
    path = f"{ACCOUNT}/wallets"
    assert phone.send_if('"1000"', "GET", f"{path}/{wallet.pk}").status_code == 200
    assert phone.send_if("?", "GET", path).status_code == 200
    assert (
        phone.send_if("?", "PUT", f"{path}/reorder", {"ids": [wallet.pk]}).status_code
        == 200
    )
    new = {"name": "w", "kind": "CASH"}
    assert phone.send_if("?", "POST", path, new).status_code == 201
    got = phone.send("GET", f"{path}/{wallet.pk}")
    etag = got.headers["ETag"]
    again = phone.send("GET", f"{path}/{wallet.pk}", HTTP_IF_NONE_MATCH=etag)
    assert again.status_code == 200


def test_the_tag_of_a_compressed_answer_is_accepted(phone: Phone) -> None:
    assert phone.member
    entry = make_entry(phone.member, memo="가" * 500)
    path = f"{ENTRIES}/{entry.pk}"
    got = phone.get(path, HTTP_ACCEPT_ENCODING="gzip")
    assert got.headers["ETag"] == f'W/"{version_of(entry)}"'
    answer = phone.send_if(got.headers["ETag"], "PATCH", path, MEMO)
    assert answer.status_code == 200


def test_every_kind_is_stamped() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text FROM pg_trigger"
            " WHERE tgname = 'account_stamp_version'"
        )
        tables = {table for (table,) in cursor.fetchall()}
    models: set[Any] = {
        *VersionedModel.__subclasses__(),
        Entry,
        QuickEntry,
        RecurringRule,
    }
    assert tables == {model._meta.db_table for model in models}


def test_typed_in_values_have_versions(phone: Phone, premium_member: Member) -> None:
    wallet = make_wallet(premium_member, manual_valuation=True)
    path = f"{ACCOUNT}/wallets/{wallet.pk}/valuations"
    body = {"date": "2026-11-02", "value": 5}
    first = phone.send("POST", path, body)
    assert first.headers["ETag"] == f'"{first.data["version"]}"'
    second = phone.send("POST", path, body | {"value": 6})
    assert second.data["version"] > first.data["version"]
    assert phone.get_json(path) == [second.data]
    address = f"{path}?date=2026-11-02"
    stale = phone.send_if(first.headers["ETag"], "DELETE", address)
    assert_problem(stale, 412, "VERSION_CONFLICT", "current")
    assert stale.data["current"] == second.data
    missing = phone.send_if("*", "DELETE", f"{path}?date=2026-11-03")
    assert_problem(missing, 404, "NOT_FOUND")
    assert phone.send_if(second.headers["ETag"], "DELETE", address).status_code == 204


def test_expected_incomes_have_versions(phone: Phone) -> None:
    path = f"{ACCOUNT}/budgets/income"
    month = {"year": 2026, "month": 11}
    unset = phone.send("GET", f"{path}?year=2026&month=11")
    assert unset.data == month | {"amount": 0, "version": None}
    assert "ETag" not in unset.headers
    body = month | {"amount": 5}
    for tag in ("*", '"1"'):
        assert_problem(
            phone.send_if(tag, "PUT", path, body), 412, "VERSION_CONFLICT", "current"
        )
    first = phone.send("PUT", path, body)
    assert first.headers["ETag"] == f'"{first.data["version"]}"'
    second = phone.send_if(first.headers["ETag"], "PUT", path, body | {"amount": 6})
    assert second.data["version"] > first.data["version"]
    stale = phone.send_if(first.headers["ETag"], "PUT", path, body)
    assert_problem(stale, 412, "VERSION_CONFLICT", "current")
    assert stale.data["current"] == second.data
    got = phone.send("GET", f"{path}?year=2026&month=11")
    assert (got.data, got.headers["ETag"]) == (second.data, second.headers["ETag"])
    assert_invalid(phone.send_if("*", "PUT", path, month), "amount")
