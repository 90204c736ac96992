"""Pending entries: they count nowhere until they are confirmed, once."""

from decimal import Decimal
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.fakes import FakeRates
from tests.support.problems import assert_invalid

ENTRIES = "/api/account/entries"
COUNT = "/api/account/entries/pending/count"


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def rateless(free_member: Member) -> Entry:
    """Return a foreign entry that came while no rate could be had."""
    return make_entry(
        free_member,
        pending=True,
        amount=0,
        currency="USD",
        original_amount=Decimal("12.34"),
    )


def confirm(client: JSONClient, entry_id: Any, body: Any = None) -> Any:
    return client.send("POST", f"{ENTRIES}/{entry_id}/confirm", body)


def test_confirm_makes_a_pending_entry_an_ordinary_one(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, pending=True, memo="cafe", tags=("a",))
    before = client.get_json(f"{ENTRIES}/{entry.pk}")
    response = confirm(client, entry.pk)
    assert response.status_code == 200, response.content
    changed = {"pending": False, "updatedAt": response.data["updatedAt"]}
    assert response.data == before | changed
    assert client.get_json(f"{ENTRIES}/{entry.pk}") == response.data


@pytest.mark.parametrize(
    "path", ["/entries/{}/confirm", "/api/entries/{}/confirm", ENTRIES + "/{}/confirm"]
)
def test_confirm_answers_at_each_of_its_addresses(
    client: JSONClient, free_member: Member, path: Any
) -> None:
    entry = make_entry(free_member, pending=True)
    response = client.send("POST", path.format(entry.pk))
    assert response.status_code == 200
    assert response.data["pending"] is False


@pytest.mark.parametrize(
    "path", ["/entries/pending/count", "/api/entries/pending/count", COUNT]
)
def test_pending_count_answers_at_each_of_its_addresses(
    client: JSONClient, free_member: Member, path: Any
) -> None:
    make_entry(free_member, pending=True)
    make_entry(free_member)
    assert client.get_json(path) == {"count": 1}


def test_confirming_twice_is_a_200_without_effect(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, pending=True)
    first = confirm(client, entry.pk)
    second = confirm(client, entry.pk)
    assert second.status_code == 200
    assert second.data == first.data


def test_corrections_of_an_entry_that_is_confirmed_are_not_applied(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, amount=7)
    response = confirm(client, entry.pk, {"amount": 9, "category": "New"})
    assert response.status_code == 200
    assert response.data["amount"] == 7
    assert Category.objects.count() == 0


def test_confirm_applies_corrections(client: JSONClient, free_member: Member) -> None:
    card = make_wallet(free_member, kind="CARD")
    entry = make_entry(free_member, pending=True, memo="cafe", tags=("old",))
    body = {
        "amount": 4_500,
        "category": "Cafe",
        "walletId": card.pk,
        "tags": ["new"],
        "installmentMonths": 2,
        "date": "2026-11-20",
    }
    response = confirm(client, entry.pk, body)
    assert response.status_code == 200, response.content
    assert response.data["memo"] == "cafe"
    assert response.data["pending"] is False
    for name, value in body.items():
        assert response.data[name] == value
    assert Category.objects.get(name="Cafe").parent is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"amount": -1}, "amount"),
        ({"amount": 0}, "amount"),
        ({"amount": "5"}, "amount"),
        ({"type": "other"}, "type"),
        ({"installmentMonths": 3}, "installmentMonths"),
        ({"tags": ["a,b"]}, "tags.0"),
        ({"currency": "USD"}, "originalAmount"),
    ],
)
def test_refused_correction_leaves_the_entry_pending(
    client: JSONClient, free_member: Member, body: dict[str, Any], field: str
) -> None:
    entry = make_entry(free_member, pending=True)
    before = client.get_json(f"{ENTRIES}/{entry.pk}")
    response = confirm(client, entry.pk, {"category": "New", "tags": ["n"]} | body)
    assert_invalid(response, field)
    assert client.get_json(f"{ENTRIES}/{entry.pk}") == before
    assert Category.objects.count() == 0
    assert Tag.objects.count() == 0


@pytest.mark.parametrize("body", [None, {}, {"amount": 0}, {"amount": None}])
def test_entry_without_a_rate_is_not_confirmed_before_an_amount_is_given(
    client: JSONClient, rateless: Entry, body: dict[str, Any] | None
) -> None:
    response = confirm(client, rateless.pk, body)
    assert response.status_code == 400, response.content
    assert response.data["code"] == "VALIDATION_ERROR"
    rateless.refresh_from_db()
    assert rateless.pending


def test_amount_is_needed_even_when_the_rate_can_be_had_again(
    client: JSONClient, rateless: Entry, fx_source: FakeRates
) -> None:
    assert_invalid(confirm(client, rateless.pk), "amount")
    assert fx_source.calls == []


def test_rate_that_can_be_had_again_is_kept_beside_the_amount(
    client: JSONClient, rateless: Entry, fx_source: FakeRates
) -> None:
    fx_source.quote("USD", "KRW", "1390", "2026-11-02")
    response = confirm(client, rateless.pk, {"amount": 17_000})
    assert response.data["amount"] == 17_000
    assert response.data["exchangeRate"] == 1390


def test_editing_an_entry_without_a_rate_asks_no_source(
    client: JSONClient, rateless: Entry, fx_source: FakeRates
) -> None:
    path = f"{ENTRIES}/{rateless.pk}"
    for body in ({"memo": "x"}, {"date": "2026-11-03"}, {"originalAmount": 20}):
        assert client.send("PATCH", path, body).status_code == 200
    assert fx_source.calls == []


@pytest.mark.parametrize(
    ("body", "amount", "rate"),
    [
        ({"amount": 17_000}, 17_000, "1377.63371151"),
        ({"exchangeRate": "1380.5"}, 17_035, "1380.5"),
        ({"amount": 17_000, "exchangeRate": "1380.5"}, 17_000, "1380.5"),
        ({"amount": 17_000, "currency": None}, 17_000, None),
    ],
)
def test_entry_without_a_rate_is_confirmed_with_an_amount_or_a_rate(
    client: JSONClient,
    rateless: Entry,
    body: dict[str, Any],
    amount: int,
    rate: str | None,
) -> None:
    response = confirm(client, rateless.pk, body)
    assert response.status_code == 200, response.content
    assert response.data["amount"] == amount
    assert response.data["exchangeRate"] == (rate and Decimal(rate))
    assert response.data["pending"] is False


def test_entry_without_a_rate_that_was_edited_before_is_confirmed(
    client: JSONClient, rateless: Entry
) -> None:
    path = f"{ENTRIES}/{rateless.pk}"
    edited = client.send("PATCH", path, {"amount": 17_000})
    assert edited.status_code == 200, edited.content
    assert edited.data["pending"] is True
    assert confirm(client, rateless.pk).data["amount"] == 17_000


def test_whole_entry_may_be_sent_back_as_the_correction(
    client: JSONClient, rateless: Entry
) -> None:
    body = client.get_json(f"{ENTRIES}/{rateless.pk}")
    sent = {**body, "amount": 17_000, "originalAmount": str(body["originalAmount"])}
    response = confirm(client, rateless.pk, sent)
    assert response.status_code == 200, response.content
    assert response.data["amount"] == 17_000


def test_pending_entries_count_nowhere_until_confirmed(
    client: JSONClient, free_member: Member
) -> None:
    wallet = make_wallet(free_member, opening_balance=100)
    category = make_category(free_member)
    entry = make_entry(
        free_member, pending=True, wallet=wallet, category=category, amount=30
    )
    assert client.get_json(f"/api/account/wallets/{wallet.pk}")["balance"] == 100
    assert client.get_json("/api/account/networth")["total"] == 100
    assert client.get_json(COUNT) == {"count": 1}
    confirm(client, entry.pk)
    assert client.get_json(f"/api/account/wallets/{wallet.pk}")["balance"] == 70
    assert client.get_json("/api/account/networth")["total"] == 70
    assert client.get_json(COUNT) == {"count": 0}


def test_editing_a_pending_entry_leaves_it_pending(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, pending=True)
    body = {"date": "2026-11-21", "type": "income", "amount": 5}
    for method in ("PUT", "PATCH"):
        response = client.send(method, f"{ENTRIES}/{entry.pk}", body)
        assert response.status_code == 200, response.content
        assert response.data["pending"] is True
    assert client.get_json(COUNT) == {"count": 1}


def test_deleted_pending_entry_no_longer_counts(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, pending=True)
    client.send("DELETE", f"{ENTRIES}/{entry.pk}")
    assert client.get_json(COUNT) == {"count": 0}


def test_pending_count_is_over_all_months_and_types(
    client: JSONClient, free_member: Member
) -> None:
    for month in (1, 6, 12):
        for type_ in ("income", "expense"):
            make_entry(
                free_member, pending=True, date=f"2026-{month:02}-03", type=type_
            )
    assert client.get_json(COUNT) == {"count": 6}


def test_member_whose_plan_has_lapsed_still_confirms(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, pending=True)
    assert free_member.plan == "FREE"
    assert client.get_json(COUNT) == {"count": 1}
    assert confirm(client, entry.pk).status_code == 200
