"""Wallets: fields, names, balances, order, and what happens at their end."""

from typing import Any

import pytest

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from ledger.models import Entry, QuickEntry, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_quick_entry, make_wallet
from tests.support.problems import assert_invalid

WALLETS = "/api/account/wallets"
PLAIN = {"name": "Cash", "kind": "CASH"}
KINDS = [
    "CASH",
    "BANK",
    "CARD",
    "CHECK_CARD",
    "INVESTMENT",
    "PENSION",
    "LOAN",
    "OTHER",
]


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


# --- fields -------------------------------------------------------------------


def test_wallet_needs_only_name_and_kind(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, PLAIN)
    assert wallet == {
        "id": wallet["id"],
        "name": "Cash",
        "kind": "CASH",
        "institution": "",
        "accountNumber": None,
        "openingBalance": 0,
        "balance": 0,
        "manualValuation": False,
        "currentValue": None,
        "archived": False,
        "memo": "",
        "sortOrder": 1,
        "moving": False,
    }


def test_wallet_keeps_every_field_that_is_written(client: JSONClient) -> None:
    body = {
        "name": "연금",
        "kind": "PENSION",
        "institution": "국민연금",
        "accountNumber": "110-123-456789",
        "openingBalance": 1_000,
        "manualValuation": True,
        "currentValue": 5_000_000,
        "archived": True,
        "memo": "a\nb",
    }
    wallet = client.create_json(WALLETS, body)
    computed = {"id": wallet["id"], "balance": 1_000, "sortOrder": 1, "moving": False}
    assert wallet == body | computed
    assert client.get_json(f"{WALLETS}/{wallet['id']}") == wallet
    assert client.get_json(WALLETS) == [wallet]


@pytest.mark.parametrize("kind", KINDS)
def test_wallet_may_be_of_each_kind(client: JSONClient, kind: str) -> None:
    assert client.create_json(WALLETS, PLAIN | {"kind": kind})["kind"] == kind


@pytest.mark.parametrize("name", ["name", "kind"])
def test_missing_name_or_kind_is_refused(client: JSONClient, name: str) -> None:
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("POST", WALLETS, body), name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", ""),
        ("name", "  "),
        ("name", None),
        ("name", "x" * 101),
        ("name", 5),
        ("name", "nul\x00"),
        ("kind", "cash"),
        ("kind", "WALLET"),
        ("kind", None),
        ("kind", True),
        ("kind", []),
        ("kind", {}),
        ("institution", "x" * 101),
        ("institution", 5),
        ("accountNumber", 110123456789),
        ("accountNumber", "x" * 65),
        ("accountNumber", "1\x002"),
        ("accountNumber", ["1"]),
        ("openingBalance", None),
        ("openingBalance", "5"),
        ("openingBalance", 1.5),
        ("openingBalance", True),
        ("openingBalance", MAX_AMOUNT + 1),
        ("openingBalance", -MAX_AMOUNT - 1),
        ("openingBalance", 10**30),
        ("manualValuation", "true"),
        ("manualValuation", 1),
        ("manualValuation", None),
        ("currentValue", "5"),
        ("currentValue", 0.5),
        ("currentValue", MAX_AMOUNT + 1),
        ("currentValue", -MAX_AMOUNT - 1),
        ("archived", "yes"),
        ("archived", 0),
        ("archived", None),
        ("memo", "x" * 501),
        ("memo", 5),
    ],
)
def test_value_that_does_not_fit_is_refused(
    client: JSONClient, name: str, value: Any
) -> None:
    assert_invalid(client.send("POST", WALLETS, PLAIN | {name: value}), name)
    assert Wallet.objects.count() == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "가" * 100),
        ("institution", "가" * 100),
        ("memo", "가" * 500),
        ("openingBalance", MAX_AMOUNT),
        ("openingBalance", -MAX_AMOUNT),
        ("openingBalance", -1),
    ],
)
def test_value_at_its_limit_is_kept_as_it_is(
    client: JSONClient, name: str, value: Any
) -> None:
    assert client.create_json(WALLETS, PLAIN | {name: value})[name] == value


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_id_member_balance_and_order_of_a_body_have_no_effect(
    client: JSONClient, free_member: Member, other_member: Member, method: str
) -> None:
    own = make_wallet(free_member, sort_order=1)
    forged = PLAIN | {
        "id": 1,
        "member": other_member.pk,
        "memberId": other_member.pk,
        "balance": 99,
        "sortOrder": 70,
        "sort_order": 70,
        "accountNumberUnreadable": True,
        "encryptedAccountNumber": "forged",
        "encrypted_account_number": "forged",
    }
    if method == "POST":
        body = client.create_json(WALLETS, forged)
        assert body["sortOrder"] == 2
    else:
        body = client.change_json(method, f"{WALLETS}/{own.pk}", forged)
        assert (body["id"], body["sortOrder"]) == (own.pk, 1)
    assert body["balance"] == 0
    assert body["accountNumber"] is None
    assert "accountNumberUnreadable" not in body
    assert Wallet.objects.get(pk=body["id"]).member == free_member


# --- names --------------------------------------------------------------------


def test_name_of_another_wallet_of_the_member_is_a_duplicate(
    client: JSONClient, free_member: Member
) -> None:
    make_wallet(free_member, name="Cash")
    other = make_wallet(free_member, name="Bank")
    attempts = [
        client.send("POST", WALLETS, PLAIN),
        client.send("PUT", f"{WALLETS}/{other.pk}", PLAIN),
        client.send("PATCH", f"{WALLETS}/{other.pk}", {"name": " Cash "}),
    ]
    for response in attempts:
        assert response.status_code == 409, response.content
        assert response.data["code"] == "DUPLICATE"
    other.refresh_from_db()
    assert (other.name, other.kind) == ("Bank", "CASH")


def test_two_members_may_use_the_same_name(
    client: JSONClient, other_member: Member
) -> None:
    make_wallet(other_member, name="Cash")
    client.create_json(WALLETS, PLAIN)


def test_wallet_keeps_its_own_name_on_a_change(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, PLAIN)
    assert client.change_json("PUT", f"{WALLETS}/{wallet['id']}", PLAIN) == wallet


# --- PUT and PATCH ------------------------------------------------------------

FULL = {
    "name": "Bank",
    "kind": "BANK",
    "institution": "신한",
    "accountNumber": "110-1",
    "openingBalance": -5,
    "manualValuation": True,
    "currentValue": -7,
    "archived": True,
    "memo": "m",
}


def test_put_clears_what_it_leaves_out(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, FULL)
    changed = client.change_json("PUT", f"{WALLETS}/{wallet['id']}", PLAIN)
    empty = client.create_json(WALLETS, PLAIN | {"name": "Empty"})
    same = {"id": 0, "name": "", "sortOrder": 0}
    assert changed | same == empty | same


@pytest.mark.parametrize("name", ["name", "kind"])
def test_put_without_name_or_kind_is_refused(client: JSONClient, name: str) -> None:
    wallet = client.create_json(WALLETS, FULL)
    body = {key: value for key, value in PLAIN.items() if key != name}
    assert_invalid(client.send("PUT", f"{WALLETS}/{wallet['id']}", body), name)


@pytest.mark.parametrize("name", list(FULL))
def test_patch_changes_one_field_and_leaves_the_others(
    client: JSONClient, name: Any
) -> None:
    wallet = client.create_json(WALLETS, PLAIN | {"manualValuation": True})
    changed = client.change_json(
        "PATCH", f"{WALLETS}/{wallet['id']}", {name: FULL[name]}
    )
    expected = wallet | {name: FULL[name]}
    if name == "openingBalance":
        expected["balance"] = FULL[name]
    assert changed == expected


def test_what_was_read_can_be_sent_back_as_it_is(
    client: JSONClient, free_member: Member
) -> None:
    wallet = client.create_json(WALLETS, FULL)
    make_entry(free_member, wallet_id=wallet["id"])
    wallet = client.get_json(f"{WALLETS}/{wallet['id']}")
    assert client.change_json("PUT", f"{WALLETS}/{wallet['id']}", wallet) == wallet


def test_patch_of_nothing_changes_nothing(client: JSONClient) -> None:
    wallet = client.create_json(WALLETS, FULL)
    assert client.change_json("PATCH", f"{WALLETS}/{wallet['id']}", {}) == wallet


def test_account_number_is_cleared_by_null_and_by_an_empty_text(
    client: JSONClient,
) -> None:
    wallet = client.create_json(WALLETS, FULL)
    for empty in (None, ""):
        client.change_json(
            "PATCH", f"{WALLETS}/{wallet['id']}", {"accountNumber": "110-2"}
        )
        changed = client.change_json(
            "PATCH", f"{WALLETS}/{wallet['id']}", {"accountNumber": empty}
        )
        assert changed["accountNumber"] is None
        assert "accountNumberUnreadable" not in changed


def test_card_with_installments_stays_a_card(
    client: JSONClient, free_member: Member
) -> None:
    card = make_wallet(free_member, kind="CARD", name="Card")
    entry = make_entry(free_member, wallet=card, installment_months=3)
    response = client.send("PATCH", f"{WALLETS}/{card.pk}", {"kind": "BANK"})
    assert_invalid(response, "kind")
    client.change_json("PATCH", f"{WALLETS}/{card.pk}", {"name": "Other card"})
    Entry.objects.filter(pk=entry.pk).update(installment_months=None)
    assert (
        client.change_json("PATCH", f"{WALLETS}/{card.pk}", {"kind": "BANK"})["kind"]
        == "BANK"
    )


# --- balances -----------------------------------------------------------------


def test_balance_is_opening_plus_income_minus_expense(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, opening_balance=-1_000)
    make_entry(free_member, wallet=wallet, type="income", amount=5_000)
    make_entry(free_member, wallet=wallet, type="expense", amount=700)
    make_entry(free_member, type="income", amount=9)
    make_entry(free_member, wallet=wallet, amount=50, pending=True)
    assert client.get_json(f"{WALLETS}/{wallet.pk}")["balance"] == 3_300


def test_balance_counts_later_dated_entries(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet, amount=700, date="2099-12-31")
    assert client.get_json(f"{WALLETS}/{wallet.pk}")["balance"] == -700


def test_balance_of_a_foreign_entry_is_its_converted_amount(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    body = {
        "date": "2026-11-21",
        "type": "expense",
        "walletId": wallet.pk,
        "currency": "USD",
        "originalAmount": 10,
        "exchangeRate": "1380.5",
    }
    client.send("POST", "/api/account/entries", body)
    assert client.get_json(f"{WALLETS}/{wallet.pk}")["balance"] == -13_805


def test_current_value_is_active_for_accounts_with_manual_valuation(
    client: JSONClient,
) -> None:
    body = PLAIN | {"kind": "PENSION", "currentValue": 500, "openingBalance": 7}
    manual = client.create_json(WALLETS, body | {"name": "A", "manualValuation": True})
    assert manual["currentValue"] == 500
    assert manual["balance"] == 7
    kept = client.create_json(WALLETS, body | {"name": "B", "manualValuation": False})
    assert kept["currentValue"] is None


# --- order --------------------------------------------------------------------


def test_new_wallet_goes_last(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    make_wallet(other_member, sort_order=99)
    make_wallet(free_member, sort_order=8, name="A")
    make_wallet(free_member, sort_order=3, name="B")
    assert client.create_json(WALLETS, PLAIN)["sortOrder"] == 9
    assert [row["name"] for row in client.get_json(WALLETS)] == ["B", "A", "Cash"]


def test_reorder_gives_the_wallets_the_order_of_the_ids(
    client: JSONClient, free_member: Member
) -> None:
    first, second, third = (make_wallet(free_member).pk for _ in range(3))
    response = client.send("PUT", f"{WALLETS}/reorder", {"ids": [third, first, second]})
    assert response.status_code == 200, response.content
    assert [row["id"] for row in response.data] == [third, first, second]
    assert client.get_json(WALLETS) == response.data
    orders = [row["sortOrder"] for row in response.data]
    assert orders == sorted(set(orders))
    assert client.create_json(WALLETS, PLAIN)["sortOrder"] > orders[-1]


def test_reorder_of_an_empty_list_is_empty(client: JSONClient) -> None:
    response = client.send("PUT", f"{WALLETS}/reorder", {"ids": []})
    assert (response.status_code, response.data) == (200, [])


@pytest.mark.parametrize(
    "pick",
    [
        lambda a, b, foreign: [a],
        lambda a, b, foreign: [a, b, foreign],
        lambda a, b, foreign: [a, foreign],
        lambda a, b, foreign: [a, a],
        lambda a, b, foreign: [a, b, b],
        lambda a, b, foreign: [a, b, 2**63 - 1],
        lambda a, b, foreign: [a, b, 2**80],
        lambda a, b, foreign: [a, -b],
        lambda a, b, foreign: [],
    ],
    ids=[
        "missing",
        "foreign",
        "foreign instead",
        "double instead",
        "double",
        "unknown",
        "huge",
        "negative",
        "empty",
    ],
)
def test_reorder_that_is_not_exactly_the_list_is_refused(
    client: JSONClient, free_member: Member, other_member: Member, pick: Any
) -> None:
    first, second = make_wallet(free_member), make_wallet(free_member)
    ids = pick(first.pk, second.pk, make_wallet(other_member).pk)
    before = client.get_json(WALLETS)
    response = client.send("PUT", f"{WALLETS}/reorder", {"ids": ids})
    assert response.status_code == 400, response.content
    assert response.data["code"] == "INVALID_ORDER"
    assert client.get_json(WALLETS) == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "ids"),
        ({"ids": None}, "ids"),
        ({"ids": "1,2"}, "ids"),
        ({"ids": {"0": 1}}, "ids"),
        ({"ids": ["1"]}, "ids.0"),
        ({"ids": [True]}, "ids.0"),
        ({"ids": [None]}, "ids.0"),
        ({"ids": [1.5]}, "ids.0"),
        ({"ids": [[]]}, "ids.0"),
    ],
)
def test_reorder_body_that_is_no_list_of_ids_is_refused(
    client: JSONClient, body: dict[str, Any], field: str
) -> None:
    assert_invalid(client.send("PUT", f"{WALLETS}/reorder", body), field)


# --- the end of a wallet ------------------------------------------------------


def test_unused_wallet_is_deleted(client: JSONClient, free_member: Member) -> None:
    wallet = make_wallet(free_member)
    assert client.send("DELETE", f"{WALLETS}/{wallet.pk}").status_code == 204
    assert client.get_json(WALLETS) == []
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        response = client.send(method, f"{WALLETS}/{wallet.pk}", PLAIN)
        assert response.status_code == 404, method


@pytest.mark.parametrize("pending", [True, False])
def test_wallet_with_entries_is_in_use(
    client: JSONClient, free_member: Member, pending: bool
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet, pending=pending)
    response = client.send("DELETE", f"{WALLETS}/{wallet.pk}")
    assert response.status_code == 409, response.content
    assert response.data["code"] == "IN_USE"
    assert Entry.objects.get().wallet == wallet


def test_wallet_of_a_quick_entry_is_in_use(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    make_quick_entry(free_member, wallet=wallet)
    response = client.send("DELETE", f"{WALLETS}/{wallet.pk}")
    assert (response.status_code, response.data["code"]) == (409, "IN_USE")


def test_wallet_that_once_had_entries_can_be_deleted(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet).delete()
    assert client.send("DELETE", f"{WALLETS}/{wallet.pk}").status_code == 204


def test_move_to_takes_entries_and_quick_entries_along(
    client: JSONClient, free_member: Member
) -> None:
    source = make_wallet(free_member, opening_balance=10)
    target = make_wallet(free_member, opening_balance=100)
    make_entry(free_member, wallet=source, amount=7)
    make_entry(free_member, wallet=source, amount=9, pending=True)
    make_entry(free_member, wallet=target, amount=1)
    make_quick_entry(free_member, wallet=source)
    path = f"{WALLETS}/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert set(Entry.objects.values_list("wallet", flat=True)) == {target.pk}
    assert QuickEntry.objects.get().wallet == target
    assert [row["balance"] for row in client.get_json(WALLETS)] == [100 - 7 - 1]


def test_move_to_works_for_an_unused_wallet(
    client: JSONClient, free_member: Member
) -> None:
    source, target = make_wallet(free_member), make_wallet(free_member)
    path = f"{WALLETS}/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 204


def test_move_to_itself_is_refused(client: JSONClient, free_member: Member) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet)
    response = client.send("DELETE", f"{WALLETS}/{wallet.pk}?moveTo={wallet.pk}")
    assert_invalid(response, "moveTo")
    assert Wallet.objects.count() == 1


@pytest.mark.parametrize("other", ["foreign", "missing", "0", "-1", "9" * 30])
def test_move_to_another_members_or_no_wallet_is_404(
    client: JSONClient, free_member: Member, other_member: Member, other: str
) -> None:
    wallet = make_wallet(free_member)
    make_entry(free_member, wallet=wallet)
    foreign = make_wallet(other_member).pk
    target = {"foreign": foreign, "missing": foreign + 1_000}.get(other, other)
    response = client.send("DELETE", f"{WALLETS}/{wallet.pk}?moveTo={target}")
    assert (response.status_code, response.data["code"]) == (404, "NOT_FOUND")
    assert Entry.objects.get().wallet == wallet


def test_move_to_that_is_no_id_is_refused(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member)
    response = client.send("DELETE", f"{WALLETS}/{wallet.pk}?moveTo=cash")
    assert_invalid(response, "moveTo")
    assert Wallet.objects.count() == 1


def test_installments_move_to_a_card_only(
    client: JSONClient, free_member: Member
) -> None:
    card, other_card, cash = (
        make_wallet(free_member, kind=kind) for kind in ("CARD", "CARD", "CASH")
    )
    make_entry(free_member, wallet=card, installment_months=3)
    response = client.send("DELETE", f"{WALLETS}/{card.pk}?moveTo={cash.pk}")
    assert_invalid(response, "moveTo")
    path = f"{WALLETS}/{card.pk}?moveTo={other_card.pk}"
    assert client.send("DELETE", path).status_code == 204
    assert Entry.objects.get().wallet == other_card


@pytest.mark.parametrize("row_id", [0, 2**63, 10**30])
def test_id_that_no_row_can_have_is_404(client: JSONClient, row_id: int) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        response = client.send(method, f"{WALLETS}/{row_id}", PLAIN)
        assert response.status_code == 404, method
