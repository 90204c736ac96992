"""After any history of refunds and merges nothing is lost or refunded twice (C4, C5)."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from ledger.rollups.repair import count_wrong_rows
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.households import ENTRIES, Body, Household, category_line
from tests.support.scale import scaled

NOON = datetime(2026, 11, 21, 3, tzinfo=UTC)
RANDOMS = st.randoms(use_true_random=False)
CATEGORIES = ("의류", "식비", "교통", None)
TAGS = ("하나", "둘", "셋")
WALLETS = ("통장", "현금", "카드")
KEPT = ("date", "time", "memo", "tags", "excluded")


class RefundMachine(RuleBasedStateMachine):
    """Purchases, refunds of every kind, corrections, merges and unmerges."""

    def __init__(self) -> None:
        super().__init__()
        self.member = make_member()
        self.household = Household(JSONClient(self.member))
        # The two entries of each merged transfer, as they were.
        self.merged: dict[int, tuple[Body, Body]] = {}

    def send(self, method: str, path: str, body: Any) -> Any:
        response = self.household.client.send(method, path, body)
        assert response.status_code in {200, 201, 204, 400, 409}, response.content
        return response

    def list_entries(self, type_: str) -> list[Body]:
        answer = self.household.client.get_json(ENTRIES, type=type_, size=100)
        rows: list[Body] = answer["results"]
        return rows

    def pick(self, random: Random, type_: str) -> Body | None:
        rows = self.list_entries(type_)
        return random.choice(rows) if rows else None

    def draw(self, random: Random, type_: str, amount: int) -> Body:
        return self.household.body(
            type_,
            amount,
            random.choice(WALLETS),
            date=(date(2026, 11, 10) + timedelta(random.randint(0, 5))).isoformat(),
            memo=random.choice(["", "가", "나"]),
            tags=random.sample(TAGS, random.randint(0, 2)),
        )

    @rule(random=RANDOMS)
    def buy(self, random: Random) -> None:
        amount = random.randint(2, 50) * 100
        body = self.draw(random, "expense", amount)
        kind = random.choice(["flat", "split", "foreign"])
        if kind == "split":
            part = random.randint(1, amount - 1)
            body["lines"] = [category_line(part, "식비")]
            body["lines"].append(category_line(amount - part, "의류"))
        else:
            body["category"] = random.choice(CATEGORIES)
        if kind == "foreign":
            body |= {"amount": None, "currency": "USD", "exchangeRate": 1_300}
            body["originalAmount"] = random.randint(1, 40)
        assert self.send("POST", ENTRIES, body).status_code == 201

    @rule(random=RANDOMS)
    def give_back(self, random: Random) -> None:
        if bought := self.pick(random, "expense"):
            body: Body = {"date": "2026-11-16"}
            if random.random() < 0.7:
                body["amount"] = random.randint(1, bought["amount"])
            self.send("POST", f"{ENTRIES}/{bought['id']}/refund", body)

    @rule(random=RANDOMS)
    def give_back_dollars(self, random: Random) -> None:
        bought = self.pick(random, "expense")
        if bought and bought["currency"]:
            body = self.draw(random, "income", 1) | {"amount": None}
            body |= {"originalAmount": random.randint(1, 20), "date": "2026-11-16"}
            self.send("POST", ENTRIES, body | {"refundOf": bought["id"]})

    @rule(random=RANDOMS)
    def give_several_back(self, random: Random) -> None:
        bought = [self.pick(random, "expense") for _ in range(2)]
        lines = [
            category_line(random.randint(1, 300), None) | {"refundOf": each["id"]}
            for each in bought
            if each is not None
        ]
        lines.append(category_line(100, "이자", "income"))
        amount = sum(line["amount"] for line in lines)
        body = self.draw(random, "income", amount)
        if len(lines) > 1:
            body |= {"lines": lines, "date": "2026-11-16"}
            self.send("POST", ENTRIES, body)

    @rule(random=RANDOMS)
    def refer_later(self, random: Random) -> None:
        bought = self.pick(random, "expense")
        body = self.draw(random, "income", random.randint(1, 500))
        income = self.send("POST", ENTRIES, body | {"date": "2026-11-16"}).json()
        if bought:
            change = {"refundOf": bought["id"]}
            response = self.send("PATCH", f"{ENTRIES}/{income['id']}", change)
            if response.status_code == 200:
                assert set(income["tags"]) <= set(response.json()["tags"])

    @rule(random=RANDOMS)
    def correct(self, random: Random) -> None:
        if bought := self.pick(random, "expense"):
            body: Body = random.choice(
                [
                    {"category": random.choice(CATEGORIES)},
                    {"tags": random.sample(TAGS, random.randint(0, 3))},
                    {"amount": random.randint(1, 5_000)},
                    {"date": "2026-11-17"},
                ]
            )
            before = {row["id"]: row for row in self.list_entries("income")}
            path = f"{ENTRIES}/{bought['id']}"
            if self.send("PATCH", path, body).status_code == 200:
                self.check_followers(bought, self.household.read(bought), before)

    def check_followers(self, old: Body, new: Body, before: dict[int, Body]) -> None:
        """Flat refunds got what changed where they had the same, and nothing else."""
        for row in self.list_entries("income"):
            was = before[row["id"]]
            is_flat = not row["lines"] and row["refundOf"] == old["id"]
            for name in ("category", "tags"):
                had_same = set(was[name] or ()) == set(old[name] or ())
                follows = is_flat and not old["lines"] and had_same
                expected = new[name] if follows and old[name] != new[name] else None
                assert row[name] == (was[name] if expected is None else expected)

    @rule(random=RANDOMS)
    def delete(self, random: Random) -> None:
        if row := self.pick(random, random.choice(["expense", "income"])):
            self.send("DELETE", f"{ENTRIES}/{row['id']}", None)

    @rule(random=RANDOMS)
    def merge(self, random: Random) -> None:
        amount = random.randint(10, 50) * 100
        fee = random.choice([0, 0, amount // 20])
        pair = tuple(
            self.household.write(type_, value, wallet, **self.draw_details(random))
            for type_, value, wallet in (
                ("expense", amount + fee, "통장"),
                ("income", amount, "현금"),
            )
        )
        body: Body = {"with": pair[1]["id"]}
        body |= {"fee": {"category": "수수료"}} if fee else {}
        body |= {"date": random.choice(pair)["date"]}
        path = f"{ENTRIES}/{pair[0]['id']}/merge"
        assert self.send("POST", path, body).status_code == 200
        self.merged[pair[0]["id"]] = pair[0], pair[1]

    def draw_details(self, random: Random) -> Body:
        drawn = self.draw(random, "expense", 1)
        details = {name: drawn[name] for name in ("date", "memo", "tags")}
        return details | {"time": random.choice([None, "09:05"])}

    @rule(random=RANDOMS)
    def change_transfer(self, random: Random) -> None:
        if row := self.pick(random, "transfer"):
            body = random.choice(
                [self.draw_details(random), {"excluded": True}, {"tags": list(TAGS)}]
            )
            self.send("PATCH", f"{ENTRIES}/{row['id']}", body)

    @rule(random=RANDOMS)
    def unmerge(self, random: Random) -> None:
        if not (row := self.pick(random, "transfer")):
            return
        path = f"{ENTRIES}/{row['id']}/unmerge"
        tried = self.send("POST", path, {"dryRun": True})
        both = self.send("POST", path, {}).json()
        assert without_time(tried.json()) == without_time(both)
        given_up = {each["field"]: each["value"] for each in both[0].pop("givenUp")}
        halves = self.merged.pop(row["id"])
        for new, old in zip(both, halves, strict=True):
            assert {n: new[n] for n in KEPT} == {n: old[n] for n in KEPT}
        for name in ("date", "time", "excluded"):
            is_kept = row[name] in {half[name] for half in halves} or row[name] is None
            assert is_kept == (name not in given_up)
        lost = set(row["tags"]) - {tag for half in halves for tag in half["tags"]}
        assert lost == set(given_up.get("tags", ()))

    @invariant()
    def refunded_is_the_sum_of_its_refunds(self) -> None:
        sums: Counter[int] = Counter()
        for row in self.list_entries("income"):
            if row["refundOf"] is not None:
                sums[row["refundOf"]] += row["amount"]
                continue
            for line in row["lines"]:
                if line["refundOf"] is not None:
                    sums[line["refundOf"]] += line["amount"]
        for row in self.list_entries("expense"):
            assert row["refunded"] == sums.pop(row["id"], 0)
            most = row["amount"]
            if row["currency"] is not None:
                # Dollars that come back are converted at the rate of the expense, also
                # where its amount was corrected.
                converted = row["originalAmount"] * row["exchangeRate"]
                most = max(most, converted) * 1.2
            assert row["refunded"] <= Decimal(most) + 1
        assert not sums

    @invariant()
    def balances_are_income_less_expense(self) -> None:
        changes = sum(self.household.changes().values())
        flow = 0
        for row in [*self.list_entries("income"), *self.list_entries("transfer")]:
            flow += row["amount"] if row["type"] == "income" else 0
            if row["type"] == "transfer":
                parts = [part for part in row["lines"] if part["walletId"] is None]
                flow -= sum(part["amount"] for part in parts)
        flow -= sum(row["amount"] for row in self.list_entries("expense"))
        assert changes == flow
        assert not count_wrong_rows(self.member.pk)


def without_time(rows: list[Body]) -> list[Body]:
    return [row | {"updatedAt": None} for row in rows]


@pytest.mark.django_db
def test_no_refund_or_merge_loses_anything() -> None:
    with time_machine.travel(NOON, tick=False):
        run_state_machine_as_test(
            RefundMachine,
            settings=settings(
                max_examples=scaled(4, 40),
                stateful_step_count=scaled(25, 60),
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            ),
        )
