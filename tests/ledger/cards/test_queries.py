"""Bills take as many statements for one card or entry as for fifty."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from tests.support.cards import ACCOUNT, MONTHLY, buy, make_card, set_card
from tests.support.clients import JSONClient
from tests.support.factories import make_card_settings, make_entry, make_wallet


def count_queries(client: JSONClient, path: str) -> int:
    client.get_json(path)
    with CaptureQueriesContext(connection) as queries:
        client.get_json(path)
    return len(queries)


@pytest.mark.parametrize(
    "path", ["bills?month=2026-12", "wallets/{}/bills", "wallets/{}/bills/2026-12"]
)
def test_number_of_statements_is_the_same_for_many_rows(
    client: JSONClient, member: Member, path: str
) -> None:
    card = make_card(client, from_="2026-01", **MONTHLY)
    address = f"{ACCOUNT}/{path.format(card)}"
    buy(client, card, "2026-11-05", 9_000, installmentMonths=3)
    one = count_queries(client, address)
    for number in range(50):
        wallet = make_wallet(member, kind="CARD")
        make_card_settings(wallet)
        make_entry(member, wallet=wallet, amount=10 + number)
        buy(client, card, "2026-11-05", 9_000, installmentMonths=3)
    assert count_queries(client, address) == one
    assert one <= 4


def test_entries_take_no_statement_more_for_cards(
    client: JSONClient, member: Member
) -> None:
    card = make_card(client)

    def count() -> int:
        body: Any = {
            "type": "expense",
            "date": "2026-12-01",
            "amount": 5,
            "walletId": card,
        }
        client.create_json(f"{ACCOUNT}/entries", body)
        with CaptureQueriesContext(connection) as queries:
            client.create_json(f"{ACCOUNT}/entries", body)
        return len(queries)

    without = count()
    set_card(client, card, **MONTHLY)
    assert count() == without
