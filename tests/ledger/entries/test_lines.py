"""Entries with lines, transfers and refunds: their shape, and what is refused."""

from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry, EntryLine
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_member, make_wallet
from tests.support.problems import assert_problem
from tests.support.rollups import assert_rollups_are_right, effects_of

pytestmark = pytest.mark.django_db

ENTRIES = "/api/account/entries"
DAY = "2026-11-02"


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def post(client: Any, **body: Any) -> Any:
    response = client.send("POST", ENTRIES, {"date": DAY} | body)
    assert response.status_code == 201, response.content
    assert_rollups_are_right()
    return response.json()


def refuse(client: Any, code: Any, field: Any = None, **body: Any) -> None:
    before = Entry.objects.count(), EntryLine.objects.count()
    response = client.send("POST", ENTRIES, {"date": DAY, "type": "expense"} | body)
    assert_problem(response, 400, code)
    if field is not None:
        assert [each["field"] for each in response.json()["errors"]] == [field]
    assert (Entry.objects.count(), EntryLine.objects.count()) == before


def test_transfer_moves_two_balances_and_flows_nowhere(
    client: Any, premium_member: Member
) -> None:
    bank, cash = make_wallet(premium_member), make_wallet(premium_member)
    entry = post(
        client, type="transfer", amount=500, walletId=bank.pk, toWalletId=cash.pk
    )
    assert entry["toWallet"] == {"id": cash.pk, "name": cash.name}
    assert (entry["category"], entry["lines"], entry["refunded"]) == (None, [], None)
    effects = effects_of(Entry.objects.get())
    assert effects.balances == {bank.pk: -500, cash.pk: 500}
    assert not effects.flows
    month = client.get_json("/api/account/statistics/month?year=2026&month=11")
    assert (month["income"], month["expense"], month["count"]) == (0, 0, 0)
    assert month["transfers"] == {"amount": 500, "count": 1}
    rows = {row["walletId"]: row for row in month["byWallet"]}
    assert (rows[bank.pk]["transferOut"], rows[cash.pk]["transferIn"]) == (500, 500)
    for wallet in (bank, cash):
        listed = client.get_json(f"{ENTRIES}?walletId={wallet.pk}")
        assert listed["count"] == len(listed["results"]) == 1


def test_split_entry_is_shown_once_with_what_its_category_has_of_it(
    client: Any, premium_member: Member
) -> None:
    make_category(premium_member, name="식비")
    lines = [
        {"amount": 700, "category": "식비"},
        {"amount": 400, "category": "가전", "memo": "전구"},
        {"amount": -100, "category": "식비"},
    ]
    entry = post(client, type="expense", amount=1_000, lines=lines)
    assert [line["amount"] for line in entry["lines"]] == [700, 400, -100]
    assert entry["lines"][1]["memo"] == "전구"
    assert entry["category"] is None
    page = client.get_json(f"{ENTRIES}?category=식비")
    assert page["count"] == 1
    assert page["results"][0]["matchedAmount"] == 600
    assert "matchedAmount" not in client.get_json(ENTRIES)["results"][0]


def test_entry_that_is_sent_back_as_it_was_read_is_unchanged(
    client: Any, premium_member: Member
) -> None:
    wallet, other = make_wallet(premium_member), make_wallet(premium_member)
    lines = [
        {"amount": 600, "walletId": other.pk},
        {"amount": 400, "category": "외식"},
    ]
    entry = post(
        client,
        type="expense",
        amount=1_000,
        walletId=wallet.pk,
        lines=lines,
        time="09:30",
        excluded=True,
    )
    path = f"{ENTRIES}/{entry['id']}"
    again = client.send("PUT", path, entry).json()
    assert again | {"updatedAt": None} == entry | {"updatedAt": None}
    # What a client does not know is kept.
    known = {"date": DAY, "type": "expense", "amount": 1_000, "walletId": wallet.pk}
    kept = client.send("PUT", path, known).json()
    assert (kept["time"], kept["excluded"]) == ("09:30", True)
    assert len(kept["lines"]) == 2
    cleared = client.send(
        "PUT", path, known | {"lines": [], "category": "외식", "time": None}
    ).json()
    assert (cleared["lines"], cleared["category"]) == ([], "외식")
    assert cleared["time"] is None
    assert not EntryLine.objects.exists()
    assert_rollups_are_right()


def test_changed_amount_or_type_of_a_split_entry_needs_its_lines(
    client: Any, premium_member: Member
) -> None:
    lines = [{"amount": 600, "category": "가"}, {"amount": 400, "category": "나"}]
    entry = post(client, type="expense", amount=1_000, lines=lines)
    path = f"{ENTRIES}/{entry['id']}"
    for change in ({"amount": 900}, {"type": "income"}):
        assert_problem(client.send("PATCH", path, change), 400, "LINES_MISMATCH")
    assert client.send("PATCH", path, {"date": "2026-10-01"}).status_code == 200
    response = client.send(
        "PATCH", path, {"amount": 900, "lines": [lines[0], lines[1] | {"amount": 300}]}
    )
    assert response.status_code == 200
    assert_rollups_are_right()
    client.send("DELETE", path)
    assert not EntryLine.objects.exists()
    assert_rollups_are_right()


def test_lines_that_do_not_fit_are_refused_with_their_field(
    client: Any, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member)
    foreign = make_wallet(make_member())
    one = {"amount": 500, "category": "가"}
    refuse(client, "LINES_MISMATCH", "lines", amount=1_001, lines=[one, one])
    refuse(client, "VALIDATION_ERROR", "lines", amount=500, lines=[one])
    many = [{"amount": 1}] * 51
    refuse(client, "VALIDATION_ERROR", "lines", amount=51, lines=many)
    zero = [one, {"amount": 0}]
    refuse(client, "VALIDATION_ERROR", "lines.1.amount", amount=500, lines=zero)
    for wallet_id in (wallet.pk, foreign.pk, 10**12):
        refuse(
            client,
            "VALIDATION_ERROR",
            "lines.1.walletId",
            amount=1_000,
            walletId=wallet.pk,
            lines=[one, {"amount": 500, "walletId": wallet_id}],
        )
    refuse(
        client,
        "VALIDATION_ERROR",
        "walletId",
        amount=1_000,
        lines=[one, {"amount": 500, "walletId": wallet.pk}],
    )
    refuse(
        client,
        "VALIDATION_ERROR",
        "category",
        amount=1_000,
        category="가",
        lines=[one, one],
    )


def test_transfer_needs_two_wallets_and_nothing_else(
    client: Any, premium_member: Member
) -> None:
    wallet, other = make_wallet(premium_member), make_wallet(premium_member)
    foreign = make_wallet(make_member())
    transfer = {"type": "transfer", "amount": 5, "walletId": wallet.pk}
    refuse(client, "VALIDATION_ERROR", "toWalletId", **transfer)
    for wallet_id in (wallet.pk, foreign.pk):
        refuse(
            client, "VALIDATION_ERROR", "toWalletId", **transfer, toWalletId=wallet_id
        )
    transfer["toWalletId"] = other.pk
    refuse(client, "VALIDATION_ERROR", "category", **transfer, category="가")
    refuse(client, "VALIDATION_ERROR", "walletId", **(transfer | {"walletId": None}))
    refuse(client, "VALIDATION_ERROR", "toWalletId", **(transfer | {"type": "income"}))
    refuse(
        client, "VALIDATION_ERROR", "installmentMonths", **transfer, installmentMonths=3
    )
    entry = post(client, **transfer)
    path = f"{ENTRIES}/{entry['id']}"
    changed = client.send("PATCH", path, {"type": "expense"}).json()
    assert (changed["toWalletId"], changed["type"]) == (None, "expense")
    assert_rollups_are_right()


def test_refund_takes_from_the_expense_of_its_category(
    client: Any, premium_member: Member
) -> None:
    expense = post(client, type="expense", amount=30_000, category="의류")
    refund = post(
        client,
        type="income",
        amount=10_000,
        refundOf=expense["id"],
        date="2026-12-01",
    )
    assert (refund["category"], refund["categoryType"]) == ("의류", "expense")
    assert client.get_json(f"{ENTRIES}/{expense['id']}")["refunded"] == 10_000
    month = client.get_json("/api/account/statistics/month?year=2026&month=12")
    assert (month["income"], month["expense"], month["refunded"]) == (
        0,
        -10_000,
        10_000,
    )
    assert month["byCategory"] == [
        {
            "type": "expense",
            "category": "의류",
            "parent": None,
            "amount": -10_000,
            "refunded": 10_000,
            "count": 1,
            "share": None,
        }
    ]


def test_refunds_never_exceed_the_expense(client: Any, premium_member: Member) -> None:
    expense = post(client, type="expense", amount=30, category="의류")
    path = f"{ENTRIES}/{expense['id']}"
    refund = {"type": "income", "refundOf": expense["id"]}
    post(client, **refund, amount=20)
    refuse(client, "REFUND_EXCEEDS", "amount", **refund, amount=11)
    assert_problem(client.send("PATCH", path, {"amount": 19}), 400, "REFUND_EXCEEDS")
    assert_problem(client.send("PATCH", path, {"type": "income"}), 409, "IN_USE")
    second = post(client, **refund, amount=10)
    other = f"{ENTRIES}/{second['id']}"
    assert_problem(client.send("PATCH", other, {"amount": 11}), 400, "REFUND_EXCEEDS")
    assert client.send("DELETE", path).status_code == 204
    left = client.get_json(other)
    assert (left["refundOf"], left["categoryType"]) == (None, "expense")
    assert_rollups_are_right()


def test_refund_of_a_split_expense_is_divided_like_it(
    client: Any, premium_member: Member
) -> None:
    wallet, other = make_wallet(premium_member), make_wallet(premium_member)
    lines = [
        {"amount": 20_000, "category": "외식"},
        {"amount": 40_000, "walletId": other.pk},
    ]
    expense = post(
        client, type="expense", amount=60_000, walletId=wallet.pk, lines=lines
    )
    refund = post(
        client,
        type="income",
        amount=100,
        walletId=wallet.pk,
        refundOf=expense["id"],
    )
    assert [line["amount"] for line in refund["lines"]] == [33, 67]
    assert refund["lines"][0]["categoryType"] == "expense"
    balances = {
        row["id"]: row["balance"] for row in client.get_json("/api/account/wallets")
    }
    assert balances == {wallet.pk: -59_900, other.pk: 39_933}


def test_refund_is_only_of_an_own_expense(client: Any, premium_member: Member) -> None:
    income = make_entry(premium_member, type="income")
    foreign = make_entry(make_member())
    for original in (income, foreign):
        refuse(
            client,
            "VALIDATION_ERROR",
            "refundOf",
            type="income",
            amount=1,
            refundOf=original.pk,
        )
    expense = make_entry(premium_member)
    refuse(client, "VALIDATION_ERROR", "refundOf", amount=1, refundOf=expense.pk)
    refuse(
        client,
        "VALIDATION_ERROR",
        "refundOf",
        type="income",
        categoryType="income",
        amount=1,
        refundOf=expense.pk,
    )


def test_excluded_entry_counts_in_balances_only(
    client: Any, premium_member: Member
) -> None:
    wallet = make_wallet(premium_member)
    post(client, type="expense", amount=70, walletId=wallet.pk, excluded=True)
    month = client.get_json("/api/account/statistics/month?year=2026&month=11")
    assert (month["expense"], month["count"], month["byWallet"]) == (0, 0, [])
    assert month["excluded"] == {"income": 0, "expense": 70, "count": 1}
    (listed,) = client.get_json("/api/account/wallets")
    assert listed["balance"] == -70
    assert client.get_json(f"{ENTRIES}?type=expense")["count"] == 1
