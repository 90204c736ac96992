"""Old clients and older rules beside entries with lines.

That each new table leads its keys with the member is asked by the tests of indexes.
"""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from openpyxl import load_workbook

from accounts.models import Member
from tests.support.alert_texts import APPROVAL, CANCELLATION, NOTIFICATION, PARTIAL
from tests.support.clients import JSONClient
from tests.support.comparison import assert_contains
from tests.support.entry_writing import UNUSED
from tests.support.factories import (
    count_rows_of,
    make_budget,
    make_member,
    make_stock,
    make_trade,
)
from tests.support.households import ENTRIES, A, Household, category_line, wallet_line
from tests.support.plain_requests import (
    DEPOSIT,
    STATEMENT,
    WITHDRAWAL,
    Answer,
    answer_all,
    load_recorded,
)
from tests.support.workbooks import BACKUP, RESTORE, get_file

SAMPLES = Path(__file__).parents[2] / "samples"
WORKBOOK = SAMPLES / "backup_before_lines.xlsx"
SPLIT = [category_line(60, "외식"), wallet_line(40, "받을 돈")]


# (a) A member who uses nothing of it


@pytest.fixture
def answers() -> dict[str, Answer]:
    plain = make_member(plan="PREMIUM", display_name="홍길동")
    return answer_all(JSONClient(plain))


def assert_same_order(actual: Any, expected: Any, place: str) -> None:
    """Assert that the fields of before are in their order, whatever is between them."""
    if isinstance(expected, dict):
        assert [name for name in actual if name in expected] == list(expected), place
        for name, value in expected.items():
            assert_same_order(actual[name], value, f"{place}.{name}")
    elif isinstance(expected, list):
        for number, pair in enumerate(zip(actual, expected, strict=True)):
            assert_same_order(*pair, f"{place}[{number}]")


@pytest.mark.django_db
def test_plain_ledger_gets_the_answers_of_before(answers: dict[str, Answer]) -> None:
    recorded = load_recorded()
    assert list(answers) == list(recorded)
    wrong = []
    for name, expected in recorded.items():
        actual = answers[name]
        try:
            assert actual.status == expected.status, f"{name}: {actual}"
            assert_contains(actual.body, expected.body, name)
            assert_same_order(actual.body, expected.body, name)
        except AssertionError as error:
            wrong.append(str(error).splitlines()[0])
    assert not wrong, "\n".join(wrong)


@pytest.mark.django_db
def test_plain_ledger_costs_the_queries_of_before(answers: dict[str, Answer]) -> None:
    more = {
        name: (expected.queries, answers[name].queries)
        for name, expected in load_recorded().items()
        if abs(answers[name].queries - expected.queries) > 1
    }
    # A refund of a part is linked to its approval, which is looked up for that.
    recorded, now = more.pop("부분 취소")
    assert now - recorded == 3
    assert more == {}


def test_plain_entry_has_the_new_fields_at_their_defaults(household: Household) -> None:
    entry = household.write("expense", 100, "카드", category="외식")
    assert_contains(entry, UNUSED)
    assert isinstance(entry["categoryId"], int)
    income = household.write("income", 100, "카드")
    assert (income["categoryType"], income["categoryId"]) == ("income", None)


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_plain_entry_that_changes_its_type_becomes_no_refund(
    household: Household, method: str
) -> None:
    entry = household.write("expense", 100, "카드", category="선물")
    body = {"type": "income"}
    if method == "PUT":
        body = household.body("income", 100, "카드", category="선물")
    changed = household.expect(200, method, f"{ENTRIES}/{entry['id']}", body)
    assert (changed["type"], changed["categoryType"]) == ("income", "income")
    household.assert_flows(100, 0)


# (b) What notifications make


@pytest.fixture
def card(household: Household) -> int:
    body = {"name": "신한카드", "kind": "CARD", "institution": "신한"}
    wallet: int = household.expect(201, "POST", f"{A}/wallets", body)["id"]
    return wallet


def notify(household: Household, text: str) -> Any:
    response = household.client.send("POST", NOTIFICATION, {"text": text})
    assert response.status_code in {200, 201}, response.content
    return response.data


@pytest.mark.parametrize(("text", "amount"), [(CANCELLATION, 4_800), (PARTIAL, 1_000)])
def test_refund_of_a_notification_is_a_pending_income_entry(
    household: Household, card: int, text: str, amount: int
) -> None:
    approval = notify(household, APPROVAL)["entry"]
    body = {"category": "카페"}
    household.expect(200, "POST", f"{ENTRIES}/{approval['id']}/confirm", body)
    answer = notify(household, text)
    assert answer["action"] == "REFUND_PENDING"
    refund = answer["entry"]
    expected = {
        "type": "income",
        "amount": amount,
        "pending": True,
        "walletId": card,
        # New: netted where it came from.
        "categoryType": "expense",
        "category": "카페",
        "source": "NOTIFICATION",
    }
    assert_contains(refund, expected)
    # A partial cancellation need not find its approval.
    originals = {approval["id"]} if text == CANCELLATION else {approval["id"], None}
    assert refund["refundOf"] in originals
    # It counts nowhere before it is confirmed.
    assert household.month()["expense"] == 4_800
    assert household.read(approval)["refunded"] == 0
    household.expect(200, "POST", f"{ENTRIES}/{refund['id']}/confirm")
    assert household.month()["expense"] == 4_800 - amount
    assert household.month()["income"] == 0
    refunded = amount if refund["refundOf"] else 0
    assert household.read(approval)["refunded"] == refunded


def test_approval_has_its_time_and_source(household: Household, card: int) -> None:
    entry = notify(household, APPROVAL)["entry"]
    assert_contains(entry, {"time": "08:31", "source": "NOTIFICATION"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (DEPOSIT, "BANK_TRANSFER"),
        (WITHDRAWAL, "BANK_TRANSFER"),
        (STATEMENT, "STATEMENT"),
    ],
)
def test_bank_and_statement_texts_are_still_ignored(
    household: Household, text: str, reason: str
) -> None:
    answer = notify(household, text)
    assert (answer["action"], answer["reason"]) == ("IGNORED", reason)
    assert household.client.get_json(ENTRIES)["count"] == 0


# (c) Only the caller's rows


def test_reports_of_two_members_do_not_meet(
    household: Household, other_member: Member
) -> None:
    other_member.plan = "PREMIUM"
    other_member.save()
    theirs = Household(JSONClient(other_member))
    theirs.write("expense", 100, "카드", lines=SPLIT)
    theirs.write("transfer", 7, "통장", toWalletId="적금")
    theirs.write("expense", 9, "카드", excluded=True)
    assert household.changes() == {}
    household.assert_flows(0, 0)
    month = household.month()
    assert month["transfers"] == {"amount": 0, "count": 0}
    assert month["excluded"] == {"income": 0, "expense": 0, "count": 0}
    household.write(
        "expense",
        50,
        "카드",
        lines=[category_line(20, "외식"), wallet_line(30, "현금")],
    )
    assert theirs.changes()["카드"] == -109
    theirs.assert_flows(0, 60)


# (d) A workbook of before


def read_sheets(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a workbook by header."""
    sheets: dict[str, list[dict[str, Any]]] = {}
    for sheet in load_workbook(io.BytesIO(data)):
        headers, *rows = (list(row) for row in sheet.iter_rows(values_only=True))
        names = [str(header) for header in headers]
        sheets[sheet.title] = [dict(zip(names, row, strict=True)) for row in rows]
    return sheets


def upload(client: JSONClient, data: bytes) -> Any:
    file = SimpleUploadedFile("backup.xlsx", data)
    response = client.post(RESTORE, {"file": file})
    assert response.status_code == 200, response.content
    return json.loads(response.content)


def test_workbook_of_before_restores_to_equal_data(client: JSONClient) -> None:
    before = read_sheets(WORKBOOK.read_bytes())
    counts = upload(client, WORKBOOK.read_bytes())
    # Those of two months become one.
    sizes = {name: len(rows) for name, rows in before.items()}
    sizes["budgets"] = len({row["category"] for row in before["budgets"]})
    assert {name: counts[name] for name in before} == sizes
    after = read_sheets(get_file(client, BACKUP))
    assert list(after)[: len(before)] == list(before)
    for row in (*before["budgets"], *after["budgets"]):
        # They are put into the current month.
        row.update(year=2026, month=11)
    budgets = [
        {r["category"]: r["amount"] for r in s["budgets"]} for s in (before, after)
    ]
    assert budgets[0] == budgets[1]
    for name in set(before) - {"budgets"}:
        assert_contains(after[name], before[name], name)
    assert [rows for name, rows in after.items() if name not in before] == [
        [] for _ in range(len(after) - len(before))
    ]


def test_reports_of_the_restored_workbook_are_those_of_before(
    client: JSONClient,
) -> None:
    upload(client, WORKBOOK.read_bytes())
    recorded = load_recorded()
    for path in ("/statistics/month?year=2026&month=11", "/networth/trend?months=2"):
        expected = recorded[f"after: {path}"].body
        body = client.get_json(f"{A}{path}")
        totals = {k: v for k, v in expected.items() if isinstance(v, int)}
        assert_contains(body, totals)
        if "points" in expected:
            assert_contains(body["points"], expected["points"])


# (e) Fields of this part that a PUT leaves out are kept

OLD_FIELDS = (
    "date",
    "type",
    "amount",
    "category",
    "walletId",
    "memo",
    "tags",
    "currency",
    "originalAmount",
    "exchangeRate",
    "installmentMonths",
)
KEPT = (
    "toWalletId",
    "categoryType",
    "refundOf",
    "time",
    "excluded",
    "source",
)


def put_as_before(household: Household, entry: Any, **changes: Any) -> Any:
    """Send what a client knows that was made before entries had lines."""
    body = {name: entry[name] for name in OLD_FIELDS} | changes
    return household.expect(200, "PUT", f"{ENTRIES}/{entry['id']}", body)


def line_values(entry: Any) -> list[Any]:
    names = ("amount", "category", "categoryType", "walletId", "memo")
    return [tuple(line[name] for name in names) for line in entry["lines"]]


def assert_kept(household: Household, entry: Any) -> None:
    changed = put_as_before(household, entry, memo="다시")
    assert changed["memo"] == "다시"
    assert {n: changed[n] for n in KEPT} == {n: entry[n] for n in KEPT}
    assert line_values(changed) == line_values(entry)


def test_put_of_an_old_client_keeps_what_it_does_not_know(household: Household) -> None:
    bought = household.write(
        "expense", 100, "카드", category="의류", time="08:31", excluded=True
    )
    assert_kept(household, bought)
    refund = household.write(
        "income", 40, "카드", category="의류", refundOf=bought["id"]
    )
    assert_kept(household, refund)
    assert household.read(bought)["refunded"] == 40
    assert_kept(household, household.write("transfer", 7, "통장", toWalletId="적금"))


def test_put_of_an_old_client_keeps_the_lines(household: Household) -> None:
    lines = [SPLIT[0] | {"memo": "내 몫"}, SPLIT[1] | {"memo": "친구"}]
    assert_kept(household, household.write("expense", 100, "카드", lines=lines))
    assert household.changes() == {"카드": -100, "받을 돈": 40}
    household.assert_flows(0, 60)


def test_null_and_empty_lists_clear_what_a_put_sends(household: Household) -> None:
    bought = household.write("expense", 100, "카드", category="의류", time="08:31")
    refund = household.write(
        "income", 40, "카드", category="의류", refundOf=bought["id"]
    )
    changed = put_as_before(household, bought, time=None)
    assert changed["time"] is None
    changed = put_as_before(household, refund, refundOf=None)
    assert (changed["refundOf"], changed["categoryType"]) == (None, "expense")
    assert household.read(bought)["refunded"] == 0
    split = household.write("expense", 100, "카드", lines=SPLIT)
    changed = put_as_before(household, split, lines=[], category="외식")
    assert (changed["lines"], changed["category"]) == ([], "외식")


# (f) Order of the list


def test_list_is_by_date_then_id_whatever_the_entries_are(household: Household) -> None:
    days = ("2026-11-18", "2026-11-17", "2026-11-18", "2026-11-17", "2026-11-19")
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("expense", {"lines": SPLIT, "time": "23:59"}),
        ("transfer", {"toWalletId": "적금"}),
        ("expense", {"category": "외식", "time": "00:01"}),
        ("income", {"category": "외식", "categoryType": "expense"}),
        ("expense", {"excluded": True}),
    ]
    for day, (type_, purpose) in zip(days, kinds, strict=True):
        household.write(type_, 100, "통장", date=day, **purpose)
    rows = household.client.get_json(ENTRIES)["results"]
    keys = [(row["date"], row["id"]) for row in rows]
    assert keys == sorted(keys, reverse=True)
    assert len(keys) == len(kinds)


# (g) Restore


def test_restore_still_deletes_stocks_and_keeps_notification_keys(
    household: Household, card: int, premium_member: Member
) -> None:
    make_trade(premium_member, stock=make_stock(premium_member))
    make_budget(premium_member, year=2020, month=1)
    household.write("expense", 100, "카드", lines=SPLIT)
    notify(household, APPROVAL)
    upload(household.client, WORKBOOK.read_bytes())
    assert household.client.get_json(f"{A}/stocks") == []
    assert household.client.get_json(f"{A}/trades")["results"] == []
    budgets = household.client.get_json(f"{A}/budgets", year=2026, month=11)
    rows = read_sheets(WORKBOOK.read_bytes())["budgets"]
    assert len(budgets) == len({row["category"] for row in rows})
    assert household.client.get_json(f"{A}/budgets", year=2020, month=1) == []
    answer = notify(household, APPROVAL)
    assert (answer["action"], answer["entry"]) == ("DUPLICATE", None)


def test_restore_replaces_entries_with_lines(household: Household) -> None:
    household.write("expense", 100, "카드", lines=SPLIT)
    upload(household.client, WORKBOOK.read_bytes())
    rows = household.client.get_json(ENTRIES, size=100)["results"]
    assert {tuple(row["lines"]) for row in rows} == {()}
    assert len(rows) == len(read_sheets(WORKBOOK.read_bytes())["entries"])


# (h) Deletion of the account


def test_deletion_removes_every_row_that_names_the_member(
    household: Household, card: int, premium_member: Member
) -> None:
    bought = household.write("expense", 100, "카드", lines=SPLIT, tags=["여행"])
    refund = {"refundOf": bought["id"], "category": "외식"}
    household.write("income", 40, "카드", **refund)
    household.write("transfer", 7, "통장", toWalletId="적금", time="09:00")
    household.write("expense", 5, "카드", excluded=True)
    for kind in ("quick-entries", "recurring"):
        body: dict[str, Any] = household.body("expense", 100, "카드", lines=SPLIT)
        body |= {"name": "틀", "frequency": "MONTHLY", "anchorDate": "2026-12-01"}
        household.expect(201, "POST", f"{A}/{kind}", body)
    body = {"name": "집", "kind": "OTHER", "manualValuation": True, "currentValue": 9}
    household.expect(201, "POST", f"{A}/wallets", body)
    notify(household, APPROVAL)
    assert sum(count_rows_of(premium_member).values()) > 20

    household.expect(204, "DELETE", "/api/auth/me")
    assert {t: n for t, n in count_rows_of(premium_member).items() if n} == {}
    assert not Member.objects.filter(pk=premium_member.pk).exists()


def test_wallets_and_entries_need_no_plan(free_member: Member) -> None:
    household = Household(JSONClient(free_member))
    bought = household.write("expense", 100, "카드", lines=SPLIT)
    household.write("income", 40, "카드", refundOf=bought["id"], category="외식")
    household.write("transfer", 7, "통장", toWalletId="적금")
    path = f"{A}/wallets/{household.ids['통장']}"
    for each in (f"{path}/history", f"{path}/valuations"):
        household.expect(200, "GET", each)
    household.expect(200, "GET", f"{ENTRIES}/transfer-candidates")
