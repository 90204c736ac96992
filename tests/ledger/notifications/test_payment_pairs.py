"""One payment that several channels announce is one entry, whichever comes first.

The samples were labeled by somebody who does not know the code.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Member
from card_alerts import parse
from ledger.models import Entry
from ledger.notifications.message import normalize_merchant
from tests.support.alert_samples import RECEIVED_AT
from tests.support.alert_texts import ENTRIES, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.flush import rolled_back

pytestmark = pytest.mark.django_db

WALLETS = "/api/account/wallets"
# The fields of an entry that come from the announcements.
SAME = (
    *("type", "amount", "currency", "original_amount", "memo", "wallet_id", "pending"),
    *("installment_months", "category_id", "category_type", "refund_of_id", "date"),
)
SAMPLES = Path(__file__).parents[2] / "samples"
PAIRS = [
    json.loads(line)
    for line in (SAMPLES / "payment_pairs.jsonl").read_text().splitlines()
]
# Labels that the rule of spec 4.5 does not give, with the reason.
NOT_BY_THE_RULE = {
    "xp-46": "two spellings of one shop: no gateway, no cut, no balance",
}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_channels_of_one_payment_make_one_entry(
    premium_member: Member, pair: dict[str, Any]
) -> None:
    client = JSONClient(premium_member)
    for order in itertools.permutations(pair["messages"]):
        with rolled_back():
            for message in order * 2:
                response = client.send("POST", NOTIFICATION, message)
                assert response.status_code in {200, 201}, response.content
            assert_is_one_payment(pair, order)


def assert_is_one_payment(pair: dict[str, Any], order: Any) -> None:
    entries = list(Entry.objects.all())
    expected = 2 if pair["id"] in NOT_BY_THE_RULE else pair["entries"]
    assert len(entries) == expected, (order, entries)
    if expected == 1:
        # Without legal forms and blanks.
        names = [entries[0].memo, pair["merchant"]]
        assert len({normalize_merchant(name) for name in names}) == 1, names
        amount = entries[0].original_amount or entries[0].amount
        assert amount == pair["amount"]


def make_wallets_of(client: JSONClient, pair: dict[str, Any]) -> None:
    """Create two cards of each company that the messages name, one with their digits.

    And a card of a company that they do not name.
    """
    parsed = [
        parse(message["text"], RECEIVED_AT, message.get("sender", ""))
        for message in pair["messages"]
    ]
    hints = {each.card_hint or "" for each in parsed}
    digits = {hint for hint in hints if hint.isdigit()}
    companies = {each.card_company for each in parsed if each.card_company}
    for company in sorted(companies):
        for number in (*sorted(digits), "0909"):
            body = {"name": f"{company} {number}", "kind": "CARD"}
            client.create_json(WALLETS, body | {"institution": company})
    client.create_json(WALLETS, {"name": "저축은행 카드", "kind": "CARD"})


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["id"])
def test_every_order_of_the_announcements_gives_the_same_entry(
    premium_member: Member, pair: dict[str, Any]
) -> None:
    client = JSONClient(premium_member)
    make_wallets_of(client, pair)
    found = []
    for order in itertools.permutations(pair["messages"]):
        with rolled_back():
            for message in order:
                client.send("POST", NOTIFICATION, message)
            entries = sorted(map(repr, Entry.objects.values(*SAME)))
            listed = client.get_json(ENTRIES)["results"]
            doubts = sorted(each.get("doubts", []) for each in listed)
            found.append((entries, doubts))
    assert [each for each in found if each != found[0]] == []
