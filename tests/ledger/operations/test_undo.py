"""Undo of operations whose rows others have changed since (spec 3.27)."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Member
from ledger.base.quotas import MAX_ROWS
from ledger.models import (
    Category,
    Entry,
    Notification,
    Operation,
    OperationRow,
    Tag,
    Trade,
    Valuation,
    Wallet,
)
from ledger.operations import undo
from ledger.recurring.occurrences import process_due_rules
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_member,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_trade,
    make_wallet,
)
from tests.support.operations import (
    OPERATIONS,
    Phone,
    begin_transaction,
    dump_ledger,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.rollups import assert_rollups_are_right
from tests.support.whole_accounts import give_notification

pytestmark = pytest.mark.django_db
A = "/api/account"
ENTRIES = f"{A}/entries"


@pytest.fixture
def member(premium_member: Member) -> Member:
    return premium_member


@pytest.fixture
def phone(member: Member) -> Phone:
    return Phone(member)


def do(phone: Phone, method: str, path: str, body: Any = None) -> int:
    """Return the operation that a request was."""
    answer = phone.send(method, f"{A}/{path}", body)
    assert answer.status_code < 300, answer.content
    return int(answer.headers["Operation-Id"])


def delete(phone: Phone, path: str) -> int:
    return do(phone, "DELETE", path)


def patch(phone: Phone, path: str, **body: Any) -> Any:
    answer = phone.send("PATCH", f"{A}/{path}", body)
    assert answer.status_code == 200, answer.content
    return answer.data


def kept(result: Any) -> list[tuple[str, int, str]]:
    assert result["keptCount"] == len(result["kept"])
    return [(row["kind"], row["id"], row["reason"]) for row in result["kept"]]


def counts(result: Any) -> tuple[int, int, int]:
    return result["restored"], result["reverted"], result["removed"]


def test_rows_that_were_changed_since_are_kept_and_named(
    phone: Phone, member: Member
) -> None:
    entries = [make_entry(member, memo=f"{number}") for number in range(4)]
    ids = [entry.pk for entry in entries]
    body = {"ids": ids, "set": {"category": "new"}, "addTags": ["t"]}
    operation_id = do(phone, "PATCH", "entries", body)
    patch(phone, f"entries/{ids[0]}", memo="edited")
    delete(phone, f"entries/{ids[1]}")
    result = phone.undo(operation_id)
    # The kept entries use the category and the tag.
    category, tag = Category.objects.get(name="new"), Tag.objects.get(name="t")
    assert kept(result) == [
        ("category", category.pk, "IN_USE"),
        ("entry", ids[0], "CHANGED"),
        ("entry", ids[1], "DELETED"),
        ("tag", tag.pk, "IN_USE"),
    ]
    assert counts(result) == (0, 2, 0)
    rows = {row["id"]: row for row in phone.get_json(ENTRIES)["results"]}
    assert rows.keys() == {ids[0], ids[2], ids[3]}
    edited = rows[ids[0]]
    assert (edited["memo"], edited["category"], edited["tags"]) == (
        *("edited", "new"),
        ["t"],
    )
    assert [(rows[pk]["category"], rows[pk]["tags"]) for pk in ids[2:]] == [
        (None, [])
    ] * 2


def test_what_a_batch_made_and_was_edited_since_stays(phone: Phone) -> None:
    new = {"date": "2026-11-12", "type": "expense", "amount": 7, "category": "A"}
    operations = [{"op": "create", "entry": new}, {"op": "create", "entry": new}]
    answer = phone.send("POST", f"{ENTRIES}/batch", {"operations": operations})
    operation_id = answer.data["operationId"]
    assert answer.headers["Operation-Id"] == str(operation_id)
    first, second = (result["id"] for result in answer.data["results"])
    patch(phone, f"entries/{second}", amount=8)
    result = phone.undo(operation_id)
    category = Category.objects.get(name="A")
    assert kept(result) == [
        ("category", category.pk, "IN_USE"),
        ("entry", second, "CHANGED"),
    ]
    assert counts(result) == (0, 0, 1)
    assert [row["id"] for row in phone.get_json(ENTRIES)["results"]] == [second]
    # The feed has the entry that is gone again.
    assert not Entry.objects.filter(pk=first).exists()


@pytest.mark.parametrize("edited", ["transfer", "nothing"])
def test_a_merge_is_undone_as_a_whole_or_not_at_all(
    phone: Phone, member: Member, edited: str
) -> None:
    wallets = [make_wallet(member), make_wallet(member)]
    expense = make_entry(member, wallet=wallets[0], amount=9)
    income = make_entry(member, type="income", wallet=wallets[1], amount=9)
    give_notification(member)
    text = Notification.objects.get()
    Notification.objects.filter(pk=text.pk).update(entry_id=income.pk)
    before = dump_ledger(member)
    body = {"with": income.pk}
    operation_id = do(phone, "POST", f"entries/{expense.pk}/merge", body)
    assert Notification.objects.get().entry_id == expense.pk
    if edited == "nothing":
        assert counts(phone.undo(operation_id)) == (1, 1, 0)
        assert dump_ledger(member) == before
        return
    patch(phone, f"entries/{expense.pk}", memo="edited")
    merged = dump_ledger(member)
    result = phone.undo(operation_id)
    assert kept(result) == [
        ("entry", expense.pk, "CHANGED"),
        ("entry", income.pk, "CHANGED"),
    ]
    assert result["operationId"] is None
    assert dump_ledger(member) == merged
    # Nothing was undone: it can still be.
    (row,) = phone.get_json(OPERATIONS)["results"]
    assert (row["undone"], row["undoableUntil"] is None) == (False, False)


def test_redo_of_a_merge_keeps_both_entries(phone: Phone, member: Member) -> None:
    wallets = [make_wallet(member), make_wallet(member)]
    expense = make_entry(member, wallet=wallets[0], amount=9)
    income = make_entry(member, type="income", wallet=wallets[1], amount=9)
    body = {"with": income.pk}
    operation_id = do(phone, "POST", f"entries/{expense.pk}/merge", body)
    undone = phone.undo(operation_id)["operationId"]
    patch(phone, f"entries/{income.pk}", memo="edited")
    result = phone.undo(undone)
    assert [row[1] for row in kept(result)] == [expense.pk, income.pk]
    assert Entry.objects.filter(type="transfer").count() == 0


def test_a_wallet_that_is_gone_needs_another(phone: Phone, member: Member) -> None:
    wallet, other = make_wallet(member), make_wallet(member)
    entry = make_entry(member, wallet=wallet)
    operation_id = delete(phone, f"entries/{entry.pk}")
    delete(phone, f"wallets/{wallet.pk}")
    path = f"{OPERATIONS}/{operation_id}/undo"
    for body in ({}, {"dryRun": True}, {"walletId": None}):
        assert_problem(phone.send("POST", path, body), 409, "REFERENCE_GONE")
    foreign = make_wallet(make_member()).pk
    for wrong in (foreign, 10**9, 0, -1, "1", 1.5, True, [other.pk], 2**70):
        assert_invalid(phone.send("POST", path, {"walletId": wrong}), "walletId")
    assert counts(phone.undo(operation_id, walletId=other.pk)) == (1, 0, 0)
    assert Entry.objects.get(pk=entry.pk).wallet_id == other.pk


def test_a_transfer_does_not_get_one_wallet_twice(phone: Phone, member: Member) -> None:
    wallet, other = make_wallet(member), make_wallet(member)
    entry = make_entry(member, type="transfer", wallet=wallet, to_wallet=other)
    operation_id = delete(phone, f"entries/{entry.pk}")
    delete(phone, f"wallets/{wallet.pk}")
    result = phone.undo(operation_id, walletId=other.pk)
    assert kept(result) == [("entry", entry.pk, "CONFLICT")]
    assert result["operationId"] is None


def test_another_wallet_has_to_fit(phone: Phone, member: Member) -> None:
    gone, other = make_wallet(member, kind="CARD"), make_wallet(member)
    split = {"date": "2026-11-02", "type": "expense", "amount": 5, "walletId": other.pk}
    lines = [{"amount": 3, "walletId": gone.pk}, {"amount": 2}]
    parts = {"date": "2026-11-02", "type": "expense", "amount": 9, "walletId": gone.pk}
    template = {"name": "q", "type": "transfer", "walletId": gone.pk}
    created = [
        phone.send("POST", ENTRIES, split | {"lines": lines}).data,
        phone.send("POST", ENTRIES, parts | {"installmentMonths": 3}).data,
        phone.send(
            "POST", f"{A}/quick-entries", template | {"toWalletId": other.pk}
        ).data,
    ]
    paths = [f"entries/{row['id']}" for row in created[:2]]
    paths.append(f"quick-entries/{created[2]['id']}")
    operations = [delete(phone, path) for path in paths]
    delete(phone, f"wallets/{gone.pk}")
    # Installments end with the card.
    assert kept(phone.undo(operations.pop(1), walletId=other.pk)) == []
    row = phone.get_json(f"{ENTRIES}/{created[1]['id']}")
    assert (row["walletId"], row["installmentMonths"]) == (other.pk, None)
    for operation_id in operations:
        result = phone.undo(operation_id, walletId=other.pk)
        assert [reason for _, _, reason in kept(result)] == ["CONFLICT"]
        # A third one, a card, fits.
        third = make_wallet(member, kind="CARD").pk
        assert kept(phone.undo(operation_id, walletId=third)) == []


def test_categories_and_tags_that_are_gone_are_made_again_by_name(
    phone: Phone, member: Member
) -> None:
    category = make_category(member, name="food")
    entry = make_entry(member, category=category, tags=("a", "b"))
    tag = Tag.objects.get(name="a")
    operation_id = delete(phone, f"entries/{entry.pk}")
    delete(phone, f"categories/{category.pk}")
    delete(phone, f"tags/{tag.pk}")
    phone.undo(operation_id)
    row = phone.get_json(f"{ENTRIES}/{entry.pk}")
    assert (row["category"], row["tags"]) == ("food", ["a", "b"])
    assert row["categoryId"] != category.pk
    assert row["tagIds"][0] != tag.pk


def test_a_category_whose_name_is_taken_gives_its_rows_to_that(
    phone: Phone, member: Member
) -> None:
    food, other = make_category(member, name="food"), make_category(member)
    entry = make_entry(member, category=food)
    make_budget(member, category=food)
    operation_id = delete(phone, f"categories/{food.pk}?moveTo={other.pk}")
    new = make_category(member, name="food")
    result = phone.undo(operation_id)
    assert kept(result) == [("category", food.pk, "CONFLICT")]
    assert Entry.objects.get(pk=entry.pk).category_id == new.pk


def test_a_wallet_whose_name_is_taken_comes_back_under_another(
    phone: Phone, member: Member
) -> None:
    wallet, other = make_wallet(member, name="cash"), make_wallet(member)
    entry = make_entry(member, wallet=wallet)
    operation_id = delete(phone, f"wallets/{wallet.pk}?moveTo={other.pk}")
    make_wallet(member, name="cash")
    make_wallet(member, name="cash (2)")
    assert kept(phone.undo(operation_id)) == []
    assert Wallet.objects.get(pk=wallet.pk).name == "cash (3)"
    assert Entry.objects.get(pk=entry.pk).wallet_id == wallet.pk


def test_a_deleted_tag_comes_back_to_what_had_it(phone: Phone, member: Member) -> None:
    entry, gone = make_entry(member, tags=("t", "u")), make_entry(member, tags=("t",))
    full = make_entry(member, tags=("t",))
    tag = Tag.objects.get(name="t")
    quick = make_quick_entry(member)
    patch(phone, f"quick-entries/{quick.pk}", tags=["t"])
    version = phone.get_json(f"{ENTRIES}/{entry.pk}")["version"]
    operation_id = delete(phone, f"tags/{tag.pk}")
    delete(phone, f"entries/{gone.pk}")
    patch(phone, f"entries/{full.pk}", tags=[f"{number}" for number in range(50)])
    phone.undo(operation_id)
    row = phone.get_json(f"{ENTRIES}/{entry.pk}")
    assert row["tags"] == ["t", "u"]
    # Clients have taken the tag off their copy.
    assert row["version"] > version
    assert phone.get_json(f"{A}/quick-entries")[0]["tags"] == ["t"]
    assert "t" not in phone.get_json(f"{ENTRIES}/{full.pk}")["tags"]
    assert phone.get_json(f"{A}/tags")[0]["id"] == tag.pk


def test_refunds_get_their_expense_back(phone: Phone, member: Member) -> None:
    expense = make_entry(member, amount=10)
    refund = phone.send("POST", f"{ENTRIES}/{expense.pk}/refund", {"amount": 4}).data
    other = phone.send("POST", f"{ENTRIES}/{expense.pk}/refund", {"amount": 2}).data
    operation_id = delete(phone, f"entries/{expense.pk}")
    patch(phone, f"entries/{other['id']}", memo="edited")
    assert kept(phone.undo(operation_id)) == [("entry", other["id"], "CHANGED")]
    path = f"{ENTRIES}/{refund['id']}"
    assert phone.get_json(path)["refundOf"] == expense.pk
    assert phone.get_json(f"{ENTRIES}/{expense.pk}")["refunded"] == 4


def test_a_refund_that_exceeds_its_expense_stands_alone(
    phone: Phone, member: Member
) -> None:
    expense = make_entry(member, amount=10)
    refund = phone.send("POST", f"{ENTRIES}/{expense.pk}/refund", {"amount": 8}).data
    operation_id = delete(phone, f"entries/{refund['id']}")
    patch(phone, f"entries/{expense.pk}", amount=5)
    assert kept(phone.undo(operation_id)) == []
    assert phone.get_json(f"{ENTRIES}/{refund['id']}")["refundOf"] is None


def test_a_refund_whose_expense_is_gone_stands_alone(
    phone: Phone, member: Member
) -> None:
    expense = make_entry(member, amount=10)
    refund = phone.send("POST", f"{ENTRIES}/{expense.pk}/refund", {"amount": 8}).data
    operation_id = delete(phone, f"entries/{refund['id']}")
    delete(phone, f"entries/{expense.pk}")
    assert kept(phone.undo(operation_id)) == []
    assert phone.get_json(f"{ENTRIES}/{refund['id']}")["refundOf"] is None


def test_a_new_row_in_the_place_of_a_deleted_one_stays(
    phone: Phone, member: Member
) -> None:
    food = make_category(member, name="food")
    budget = make_budget(member, category=food, amount=5)
    operation_id = delete(phone, f"budgets/{budget.pk}")
    new = make_budget(member, category=food, amount=6)
    assert kept(phone.undo(operation_id)) == [("budget", budget.pk, "CONFLICT")]
    delete(phone, f"budgets/{new.pk}")
    assert counts(phone.undo(operation_id)) == (1, 0, 0)


def test_a_value_comes_back_and_counts(phone: Phone, member: Member) -> None:
    fund = make_wallet(member, kind="INVESTMENT", manual_valuation=True)
    path = f"wallets/{fund.pk}/valuations"
    for day, value in (("2026-11-03", 5), ("2026-11-04", 6)):
        phone.send("POST", f"{A}/{path}", {"date": day, "value": value})
    operation_id = delete(phone, f"{path}?date=2026-11-04")
    # The wallet is changed since, and still shows the value that is there again.
    patch(phone, f"wallets/{fund.pk}", memo="edited")
    assert kept(phone.undo(operation_id)) == [("wallet", fund.pk, "CHANGED")]
    row = phone.get_json(f"{A}/wallets/{fund.pk}")
    assert (row["memo"], row["currentValue"]) == ("edited", 6)
    operation_id = delete(phone, f"{path}?date=2026-11-04")
    delete(phone, f"wallets/{fund.pk}")
    result = phone.undo(operation_id)
    assert {reason for _, _, reason in kept(result)} == {"REFERENCE_GONE", "DELETED"}
    assert Valuation.objects.count() == 0


def test_a_trade_that_does_not_fit_any_more_stays_away(
    phone: Phone, member: Member
) -> None:
    stock = make_stock(member)
    make_trade(member, stock=stock, side="BUY", quantity=Decimal(5), date="2026-11-02")
    sale = make_trade(
        member, stock=stock, side="SELL", quantity=Decimal(4), date="2026-11-03"
    )
    operation_id = delete(phone, f"trades/{sale.pk}")
    make_trade(member, stock=stock, side="SELL", quantity=Decimal(3), date="2026-11-04")
    assert kept(phone.undo(operation_id)) == [("trade", sale.pk, "CONFLICT")]
    assert Trade.objects.count() == 2


def test_a_rule_goes_on_where_it_was(phone: Phone, member: Member) -> None:
    rule = make_rule(member, anchor_date=date(2026, 9, 1), next_date=date(2026, 9, 1))
    day = datetime(2026, 10, 15, 12, tzinfo=timezone.get_current_timezone())
    process_due_rules(day)
    booked = set(Entry.objects.values_list("pk", flat=True))
    assert len(booked) == 2
    begin_transaction()
    operation_id = delete(phone, f"recurring/{rule.pk}")
    process_due_rules(day + timedelta(days=31))
    assert Entry.objects.count() == 2
    begin_transaction()
    assert kept(phone.undo(operation_id)) == []
    process_due_rules(day + timedelta(days=31))
    days = Entry.objects.order_by("date").values_list("date", flat=True)
    assert list(days) == [date(2026, month, 1) for month in (9, 10, 11)]
    assert booked < set(Entry.objects.values_list("pk", flat=True))


def test_an_unmerge_is_undone_as_a_whole_or_not_at_all(
    phone: Phone, member: Member
) -> None:
    wallets = [make_wallet(member), make_wallet(member)]
    expense = make_entry(member, wallet=wallets[0], amount=103)
    income = make_entry(member, type="income", wallet=wallets[1], amount=100)
    body = {"with": income.pk, "fee": {"category": "fee"}}
    do(phone, "POST", f"entries/{expense.pk}/merge", body)
    operation_id = do(phone, "POST", f"entries/{expense.pk}/unmerge", {})
    fee = Category.objects.get(name="fee")
    patch(phone, f"categories/{fee.pk}", type="income")
    # The category is made again, with its type.
    assert kept(phone.undo(operation_id)) == []
    assert Category.objects.filter(name="fee").count() == 2
    transfer = phone.get_json(f"{ENTRIES}/{expense.pk}")
    assert (transfer["type"], transfer["amount"]) == ("transfer", 103)


def test_a_group_of_which_one_row_does_not_fit_stays(
    phone: Phone, member: Member
) -> None:
    wallets = [make_wallet(member) for _ in range(3)]
    expense = make_entry(member, wallet=wallets[0], amount=9)
    income = make_entry(member, type="income", wallet=wallets[1], amount=9)
    body = {"with": income.pk}
    do(phone, "POST", f"entries/{expense.pk}/merge", body)
    operation_id = do(phone, "POST", f"entries/{expense.pk}/unmerge", {})
    rows = OperationRow.objects.filter(
        operation_id=operation_id, kind="entry", row_id=expense.pk
    )
    before = rows.get().before
    before["row"]["amount"] = -1
    rows.update(before=before)
    unmerged = dump_ledger(member)
    result = phone.undo(operation_id)
    assert [row[1:] for row in kept(result)] == [
        (expense.pk, "CONFLICT"),
        (income.pk, "CONFLICT"),
    ]
    assert (result["operationId"], dump_ledger(member)) == (None, unmerged)


@pytest.mark.parametrize("edited", [0, 1])
def test_rules_that_a_move_split_stay_together(
    phone: Phone, member: Member, edited: int
) -> None:
    target, wallet = make_wallet(member), make_wallet(member)
    lines = [
        {"amount": 5, "category": "A"},
        {"amount": -5, "category": "B"},
        {"amount": 3, "walletId": target.pk},
    ]
    rule = {"name": "r", "type": "expense", "amount": 3, "walletId": wallet.pk}
    rule |= {"frequency": "MONTHLY", "anchorDate": "2027-01-01"}
    phone.send("POST", f"{A}/recurring", rule | {"lines": lines})
    operation_id = delete(phone, f"wallets/{target.pk}?moveTo={wallet.pk}")
    rules = phone.get_json(f"{A}/recurring")
    assert len(rules) == 2
    patch(phone, f"recurring/{rules[edited]['id']}", name="edited")
    moved = [row["amount"] for row in phone.get_json(f"{A}/recurring")]
    phone.undo(operation_id)
    assert [row["amount"] for row in phone.get_json(f"{A}/recurring")] == moved


def test_a_purchase_whose_shares_were_sold_since_is_not_removed(
    phone: Phone, member: Member
) -> None:
    stock = make_stock(member)
    buy = make_trade(
        member, stock=stock, side="BUY", quantity=Decimal(5), date="2026-11-02"
    )
    undone = phone.undo(delete(phone, f"trades/{buy.pk}"))["operationId"]
    make_trade(member, stock=stock, side="SELL", quantity=Decimal(4), date="2026-11-03")
    assert kept(phone.undo(undone)) == [("trade", buy.pk, "IN_USE")]
    assert Trade.objects.count() == 2


@pytest.mark.parametrize("path", ["entries", "budgets"])
def test_a_category_of_another_type_is_made_again(
    phone: Phone, member: Member, path: str
) -> None:
    food = make_category(member, name="food")
    make: Any = make_entry if path == "entries" else make_budget
    row = make(member, category=food)
    operation_id = delete(phone, f"{path}/{row.pk}")
    patch(phone, f"categories/{food.pk}", type="income")
    assert kept(phone.undo(operation_id)) == []
    again = phone.get_json(f"{A}/{path}/{row.pk}")
    assert (again["category"], again["categoryId"] == food.pk) == ("food", False)


def test_a_minor_category_comes_back_below_the_major_one_there_is(
    phone: Phone, member: Member
) -> None:
    major, top = make_category(member), make_category(member)
    minor, target = make_category(member, parent=major), make_category(member)
    entries = [make_entry(member, category=minor).pk for _ in range(3)]
    operation_id = delete(phone, f"categories/{minor.pk}?moveTo={target.pk}")
    patch(phone, f"categories/{major.pk}", parentId=top.pk)
    assert kept(phone.undo(operation_id)) == []
    assert Category.objects.get(pk=minor.pk).parent_id == top.pk
    assert set(
        Entry.objects.filter(pk__in=entries).values_list("category_id", flat=True)
    ) == {minor.pk}


def test_many_rows_that_do_not_fit_take_a_bounded_time(
    phone: Phone, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo, "MAX_ATTEMPTS", 10)
    ids = [make_entry(member).pk for _ in range(30)]
    body = {"ids": ids, "set": {"memo": "x"}}
    operation_id = do(phone, "PATCH", "entries", body)
    for row in OperationRow.objects.filter(kind="entry", row_id__in=ids[::2]):
        row.before["row"]["amount"] = -1
        OperationRow.objects.filter(row_id=row.row_id).update(before=row.before)
    with CaptureQueriesContext(connection) as queries:
        result = phone.undo(operation_id)
    assert len(queries) < 200
    assert result["keptCount"] + result["reverted"] == 30


def test_rows_that_need_each_other_come_back_beside_one_that_does_not_fit(
    phone: Phone, member: Member
) -> None:
    refund = make_entry(member, type="income", amount=4)
    unfit, expense = make_entry(member), make_entry(member, amount=9)
    patch(phone, f"entries/{refund.pk}", refundOf=expense.pk)
    ids = [refund.pk, unfit.pk, expense.pk]
    body = {"operations": [{"op": "delete", "id": pk} for pk in ids]}
    operation_id = do(phone, "POST", "entries/batch", body)
    rows = OperationRow.objects.filter(kind="entry", row_id=unfit.pk)
    before = rows.get().before
    before["row"]["amount"] = -1
    rows.update(before=before)
    assert kept(phone.undo(operation_id)) == [("entry", unfit.pk, "CONFLICT")]
    assert phone.get_json(f"{ENTRIES}/{refund.pk}")["refundOf"] == expense.pk
    assert phone.get_json(f"{ENTRIES}/{expense.pk}")["amount"] == 9


def test_refunds_that_were_there_before_stay(phone: Phone, member: Member) -> None:
    expense = make_entry(member, amount=10)
    refund = make_entry(member, type="income", amount=12, refund_of=expense)
    foreign = {"currency": "USD", "originalAmount": "100", "exchangeRate": "1300"}
    body: dict[str, Any] = {"date": "2026-11-02", "type": "expense", **foreign}
    bought = phone.send("POST", ENTRIES, body).data["id"]
    back = {"date": "2026-11-03", "type": "income", "amount": 140_000}
    answer = phone.send("POST", ENTRIES, back | {"refundOf": bought})
    assert answer.status_code == 201, answer.content
    before = dump_ledger(member)
    ids = [expense.pk, refund.pk, bought, answer.data["id"]]
    body = {"ids": ids, "set": {"memo": "x"}}
    assert kept(phone.undo(do(phone, "PATCH", "entries", body))) == []
    assert dump_ledger(member) == before
    for row_id in ids:
        assert kept(phone.undo(delete(phone, f"entries/{row_id}"))) == []
        assert dump_ledger(member) == before


def test_installments_end_where_the_wallet_is_no_card_any_more(
    phone: Phone, member: Member
) -> None:
    card = make_wallet(member, kind="CARD")
    body = {"date": "2026-11-02", "type": "expense", "amount": 9, "walletId": card.pk}
    entry = phone.send("POST", ENTRIES, body | {"installmentMonths": 3}).data["id"]
    operation_id = delete(phone, f"entries/{entry}")
    patch(phone, f"wallets/{card.pk}", kind="BANK")
    assert kept(phone.undo(operation_id)) == []
    assert phone.get_json(f"{ENTRIES}/{entry}")["installmentMonths"] is None
    patch(phone, f"wallets/{card.pk}", memo="x")


def test_notifications_come_back_though_another_row_is_kept(
    phone: Phone, member: Member
) -> None:
    wallets = [make_wallet(member), make_wallet(member)]
    expense = make_entry(member, wallet=wallets[0], amount=103)
    income = make_entry(member, type="income", wallet=wallets[1], amount=100)
    give_notification(member)
    Notification.objects.update(entry_id=income.pk)
    body = {"with": income.pk, "fee": {"category": "fee"}}
    operation_id = do(phone, "POST", f"entries/{expense.pk}/merge", body)
    make_entry(member, category=Category.objects.get(name="fee"))
    assert [row[0] for row in kept(phone.undo(operation_id))] == ["category"]
    assert Notification.objects.get().entry_id == income.pk


def test_an_undo_that_does_nothing_makes_nothing(phone: Phone, member: Member) -> None:
    wallet, other = make_wallet(member), make_wallet(member)
    food = make_category(member, name="food")
    body = {"date": "2026-11-02", "type": "expense", "amount": 5, "walletId": other.pk}
    lines = [{"amount": 3, "walletId": wallet.pk}, {"amount": 2, "category": "food"}]
    entry = phone.send("POST", ENTRIES, body | {"lines": lines}).data["id"]
    operation_id = delete(phone, f"entries/{entry}")
    delete(phone, f"wallets/{wallet.pk}")
    delete(phone, f"categories/{food.pk}")
    result = phone.undo(operation_id, walletId=other.pk)
    assert kept(result) == [("entry", entry, "CONFLICT")]
    assert result["operationId"] is None
    assert not Category.objects.exists()


def test_a_client_id_is_known_again(phone: Phone) -> None:
    client_id = "0190a5c8-7a0e-7c5b-8d5e-2f1f0e6b7a01"
    body = {"date": "2026-11-02", "type": "expense", "amount": 5, "clientId": client_id}
    entry = phone.send("POST", ENTRIES, body).data
    operation_id = delete(phone, f"entries/{entry['id']}")
    assert_problem(phone.send("POST", ENTRIES, body), 409, "DELETED")
    phone.undo(operation_id)
    again = phone.send("POST", ENTRIES, body)
    assert (again.status_code, again.data["id"]) == (200, entry["id"])


def test_a_dry_run_tells_and_writes_nothing(phone: Phone, member: Member) -> None:
    entry = make_entry(member)
    operation_id = delete(phone, f"entries/{entry.pk}")
    before = dump_ledger(member)
    result = phone.undo(operation_id, dryRun=True)
    assert (counts(result), result["operationId"]) == ((1, 0, 0), None)
    assert dump_ledger(member) == before
    assert Operation.objects.count() == 1
    assert counts(phone.undo(operation_id)) == (1, 0, 0)


def test_an_operation_is_undone_once(phone: Phone, member: Member) -> None:
    entry = make_entry(member)
    operation_id = delete(phone, f"entries/{entry.pk}")
    undone = phone.undo(operation_id)["operationId"]
    path = f"{OPERATIONS}/{operation_id}/undo"
    assert_problem(phone.send("POST", path, {}), 409, "NOT_UNDOABLE")
    assert_problem(phone.send("POST", path, {"dryRun": True}), 409, "NOT_UNDOABLE")
    # The undo can be undone, and so on.
    redone = phone.undo(undone)["operationId"]
    assert not Entry.objects.exists()
    phone.undo(redone)
    assert Entry.objects.get().pk == entry.pk


def test_operations_are_undoable_for_30_days(phone: Phone, member: Member) -> None:
    operation_id = delete(phone, f"entries/{make_entry(member).pk}")
    at = timezone.now() - undo.LIFETIME
    stored = Operation.objects.filter(id=operation_id)
    stored.update(at=at + timedelta(minutes=1))
    assert phone.get_json(f"{OPERATIONS}/{operation_id}")["undoableUntil"]
    stored.update(at=at - timedelta(minutes=1))
    assert phone.get_json(f"{OPERATIONS}/{operation_id}")["undoableUntil"] is None
    path = f"{OPERATIONS}/{operation_id}/undo"
    assert_problem(phone.send("POST", path, {}), 409, "NOT_UNDOABLE")


def test_rows_beyond_the_quota_do_not_come_back(
    phone: Phone, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    tag = make_tag(member)
    operation_id = delete(phone, f"tags/{tag.pk}")
    make_tag(member)
    monkeypatch.setitem(MAX_ROWS, Tag, 1)
    path = f"{OPERATIONS}/{operation_id}/undo"
    assert_problem(phone.send("POST", path, {}), 409, "LIMIT_REACHED")
    assert Tag.objects.count() == 1


def test_bodies_of_undo_are_checked(phone: Phone, member: Member) -> None:
    operation_id = delete(phone, f"entries/{make_entry(member).pk}")
    path = f"{OPERATIONS}/{operation_id}/undo"
    for name in ("dryRun", "force"):
        wrong: Any
        for wrong in (1, "true", []):
            assert_invalid(phone.send("POST", path, {name: wrong}), name)
    assert_invalid(phone.send("POST", path, {"dryrun": True}), "dryrun")
    other = Phone(make_member())
    for number in (operation_id, 10**9, 2**63 - 1, 2**70):
        answer = other.send("POST", f"{OPERATIONS}/{number}/undo", {})
        assert_problem(answer, 404, "NOT_FOUND")
        assert_problem(other.send("GET", f"{OPERATIONS}/{number}"), 404, "NOT_FOUND")
    assert_rollups_are_right()
