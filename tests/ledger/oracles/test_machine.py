"""After every step of any history, the API agrees with a replay of the entries."""

from collections import Counter
from datetime import UTC, date, datetime
from random import Random
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from ledger.rollup_repair import count_wrong_rows
from tests.support.clients import JSONClient
from tests.support.comparison import assert_contains
from tests.support.factories import make_member
from tests.support.ledger_replay import read_entries, read_ledger
from tests.support.random_ledgers import ALL_KINDS, END, ENTRIES, START, A, RandomLedger
from tests.support.scale import scaled

NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
RANDOMS = st.randoms(use_true_random=False)
# Of requests that may be refused for what they ask.
TAKEN_OR_REFUSED = {200, 201, 204, 400, 404, 409}
YEARS = range(START.year, END.year + 1)


class LedgerMachine(RuleBasedStateMachine):
    """Writes, changes, merges and moves of one member, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.member = make_member(plan="PREMIUM")
        self.client = JSONClient(self.member)
        self.ledger = RandomLedger(self.client, Random(1))
        self.ledger.add_wallets(["BANK", "CARD", "PREPAID", "RECEIVABLE"])
        self.ledger.add_categories()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        response = self.client.send(method, path, body)
        assert response.status_code in TAKEN_OR_REFUSED, (path, body, response.content)
        return response

    def pick_entry(self, random: Random) -> dict[str, Any] | None:
        rows = self.client.get_json(ENTRIES, size=100)["results"]
        return random.choice(rows) if rows else None

    @rule(random=RANDOMS)
    def write(self, random: Random) -> None:
        self.ledger.random = random
        self.ledger.refundable = {
            row["id"]: row["amount"] - row["refunded"]
            for row in self.client.get_json(ENTRIES, type="expense")["results"]
            if row["currency"] is None
        }
        self.ledger.bodies = {key: {} for key in self.ledger.refundable}
        body = random.choice(ALL_KINDS)(self.ledger)
        if body.get("refundOf"):
            body["category"] = "식비"
        self.ledger.write(body)

    @rule(random=RANDOMS)
    def replace(self, random: Random) -> None:
        if row := self.pick_entry(random):
            self.ledger.random = random
            body = random.choice(ALL_KINDS)(self.ledger)
            method = random.choice(["PUT", "PATCH"])
            self.send(method, f"{ENTRIES}/{row['id']}", body)

    @rule(random=RANDOMS)
    def change_part(self, random: Random) -> None:
        if row := self.pick_entry(random):
            self.ledger.random = random
            body = random.choice(ALL_KINDS)(self.ledger)
            name = random.choice(sorted(body))
            self.send("PATCH", f"{ENTRIES}/{row['id']}", {name: body[name]})

    @rule(random=RANDOMS)
    def leave_out_or_take_in(self, random: Random) -> None:
        if row := self.pick_entry(random):
            body = {"excluded": not row["excluded"]}
            response = self.send("PATCH", f"{ENTRIES}/{row['id']}", body)
            assert response.status_code == 200, response.content

    @rule(random=RANDOMS)
    def delete(self, random: Random) -> None:
        if row := self.pick_entry(random):
            response = self.send("DELETE", f"{ENTRIES}/{row['id']}")
            assert response.status_code == 204, response.content

    @rule(random=RANDOMS)
    def move_wallet(self, random: Random) -> None:
        wallets = self.ledger.wallet_ids
        if len(wallets) > 2:
            source, target = random.sample(wallets, 2)
            path = f"{A}/wallets/{source}?moveTo={target}"
            if self.send("DELETE", path).status_code == 204:
                wallets.remove(source)

    @rule(random=RANDOMS)
    def move_category(self, random: Random) -> None:
        rows = self.client.get_json(f"{A}/categories")
        source, target = random.sample(rows, 2)
        self.send("DELETE", f"{A}/categories/{source['id']}?moveTo={target['id']}")

    @invariant()
    def entries_are_whole(self) -> None:
        rows = read_entries(self.client)
        refunds: Counter[int] = Counter()
        for row in rows:
            if row["refundOf"] is not None and not row["pending"]:
                refunds[row["refundOf"]] += row["amount"]
            lines = row["lines"]
            assert len(lines) != 1, row
            if lines:
                assert sum(line["amount"] for line in lines) == row["amount"], row
                assert (row["category"], row["toWalletId"]) == (None, None), row
            targets = {line["walletId"] for line in lines} | {row["toWalletId"]}
            assert row["walletId"] is None or row["walletId"] not in targets, row
        for row in rows:
            if row["type"] == "expense":
                assert row["refunded"] == refunds[row["id"]], row

    @invariant()
    def totals_equal_the_rows(self) -> None:
        assert not +count_wrong_rows(self.member.pk)

    @invariant()
    def api_equals_the_replay(self) -> None:
        replay = read_ledger(self.client)
        assert_contains(self.client.get_json(f"{A}/networth"), replay.net_worth())
        for year in YEARS:
            body = self.client.get_json(f"{A}/statistics/year", year=year)
            assert_contains(body, replay.year(year))
        month = self.client.get_json(f"{A}/statistics/month", year=2026, month=2)
        assert_contains(month, replay.month(2026, 2))
        first = date(2026, 2, 1)
        body = self.client.get_json(
            f"{A}/statistics/range",
            **{"from": first.isoformat(), "to": "2026-04-30"},
            groupBy="week",
        )
        assert_contains(body, replay.range(first, date(2026, 4, 30), "week"))


@pytest.mark.django_db
def test_every_step_leaves_the_ledger_equal_to_its_replay() -> None:
    with time_machine.travel(NOON, tick=False):
        run_state_machine_as_test(
            LedgerMachine,
            settings=settings(
                max_examples=scaled(8, 15),
                stateful_step_count=20,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            ),
        )
