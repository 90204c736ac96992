"""Entries add their income less their expense to balances, after every write."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from ledger.models import Category, Entry, EntryLine, Wallet
from ledger.rollup_repair import count_wrong_rows
from ledger.wallets import list_wallets
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_member, make_wallet
from tests.support.rollups import assert_rollups_are_right, effects_of

pytestmark = pytest.mark.django_db

A = "/api/account"
AMOUNTS = st.integers(1, 10**6)
DAYS = st.sampled_from(["2026-10-31", "2026-11-01", "2026-11-15", "2026-12-03"])
TYPES = st.sampled_from(["income", "expense", "transfer"])
CATEGORY_TYPES = st.sampled_from(["income", "expense"])
PLACES = st.integers(0, 3)
LINES = st.lists(
    st.tuples(
        st.integers(-(10**5), 10**5).filter(bool), st.booleans(), PLACES, CATEGORY_TYPES
    ),
    min_size=2,
    max_size=5,
)


class EntryMachine(RuleBasedStateMachine):
    """A ledger that is written in every way that entries, wallets and categories have."""

    @initialize()
    def make_ledger(self) -> None:
        self.member = make_member(plan="PREMIUM")
        self.client = JSONClient(self.member)
        self.wallets = [make_wallet(self.member, opening_balance=n) for n in range(4)]
        for type_ in ("income", "expense"):
            for number in range(4):
                make_category(self.member, type=type_, name=f"{type_} {number}")

    def send(self, method: str, path: str, body: Any = None) -> Any:
        response = self.client.send(method, f"{A}/{path}", body)
        assert response.status_code in {200, 201, 204, 400, 404, 409}, response.content
        return response

    def pick(self, place: int) -> Any:
        return self.wallets[place % len(self.wallets)].pk

    def name(self, type_: str, place: int) -> str:
        rows = Category.objects.owned_by(self.member).filter(type=type_).order_by("pk")
        names = list(rows.values_list("name", flat=True))
        return str(names[place % len(names)])

    def pick_entry(self, number: int, **filters: Any) -> Any:
        rows = Entry.objects.owned_by(self.member).filter(**filters).order_by("pk")
        ids = list(rows.values_list("pk", flat=True))
        return ids[number % len(ids)] if ids else 0

    @rule(
        type_=TYPES,
        category_type=CATEGORY_TYPES,
        amount=AMOUNTS,
        day=DAYS,
        place=PLACES,
        excluded=st.booleans(),
        has_wallet=st.booleans(),
    )
    def write_flat(
        self,
        type_: str,
        category_type: str,
        amount: int,
        day: str,
        place: int,
        *,
        excluded: bool,
        has_wallet: bool,
    ) -> None:
        body: Any = {"type": type_, "amount": amount, "date": day, "tags": ["하나"]}
        body["excluded"] = excluded
        if type_ == "transfer":
            body |= {"walletId": self.pick(place), "toWalletId": self.pick(place + 1)}
        else:
            body |= {
                "categoryType": category_type,
                "category": self.name(category_type, place),
                "walletId": self.pick(place) if has_wallet else None,
            }
        assert self.send("POST", "entries", body).status_code == 201

    def lines_of(self, parts: Any) -> list[Any]:
        return [
            {"amount": amount, "walletId": self.pick(place)}
            if is_wallet
            else {
                "amount": amount,
                "categoryType": type_,
                "category": self.name(type_, place),
            }
            for amount, is_wallet, place, type_ in parts
        ]

    @rule(type_=TYPES, parts=LINES, day=DAYS, place=PLACES)
    def write_split(self, type_: str, parts: Any, day: str, place: int) -> None:
        body = {
            "type": type_,
            "amount": sum(part[0] for part in parts),
            "date": day,
            "walletId": self.pick(place),
            "lines": self.lines_of(parts),
            "tags": ["둘"],
        }
        self.send("POST", "entries", body)

    @rule(number=st.integers(0, 99), parts=LINES)
    def change_lines(self, number: int, parts: Any) -> None:
        body = {"amount": sum(p[0] for p in parts), "lines": self.lines_of(parts)}
        self.send("PATCH", f"entries/{self.pick_entry(number)}", body)

    @rule(number=st.integers(0, 99), day=DAYS, excluded=st.booleans(), place=PLACES)
    def change(self, number: int, day: str, place: int, *, excluded: bool) -> None:
        path = f"entries/{self.pick_entry(number)}"
        self.send("PATCH", path, {"date": day, "excluded": excluded})
        self.send("PATCH", path, {"walletId": self.pick(place)})

    @rule(number=st.integers(0, 99), type_=TYPES, place=PLACES)
    def change_type(self, number: int, type_: str, place: int) -> None:
        body: Any = {"type": type_}
        if type_ == "transfer":
            body |= {"toWalletId": self.pick(place)}
        self.send("PATCH", f"entries/{self.pick_entry(number)}", body)

    @rule(number=st.integers(0, 99), amount=AMOUNTS, place=PLACES)
    def refund(self, number: int, amount: int, place: int) -> None:
        original = self.pick_entry(number, type="expense")
        body = {"type": "income", "date": "2026-12-03", "refundOf": original}
        body |= {"amount": amount % 1_000 + 1, "walletId": self.pick(place)}
        self.send("POST", "entries", body)

    @rule(number=st.integers(0, 99))
    def delete(self, number: int) -> None:
        self.send("DELETE", f"entries/{self.pick_entry(number)}")

    @rule(amount=AMOUNTS, day=DAYS, place=PLACES, is_kept=st.booleans())
    def merge(self, amount: int, day: str, place: int, *, is_kept: bool) -> None:
        ids = []
        for type_, shift in (("expense", 0), ("income", 1)):
            body = {"type": type_, "amount": amount, "date": day}
            body |= {"walletId": self.pick(place + shift)}
            ids.append(self.send("POST", "entries", body).data["id"])
        path = f"entries/{ids[0]}"
        merged = self.send("POST", f"{path}/merge", {"with": ids[1]})
        assert merged.status_code == 200
        if not is_kept:
            assert self.send("POST", f"{path}/unmerge").status_code == 200

    @rule(place=PLACES)
    def move_wallet(self, place: int) -> None:
        source, target = self.wallets[place], self.wallets[place - 1]
        path = f"wallets/{source.pk}?moveTo={target.pk}"
        assert self.send("DELETE", path).status_code == 204
        self.wallets[place] = make_wallet(self.member)

    @rule(type_=CATEGORY_TYPES, place=PLACES)
    def move_category(self, type_: str, place: int) -> None:
        rows = Category.objects.owned_by(self.member).filter(type=type_).order_by("pk")
        source, target = rows[place % 4], rows[(place + 1) % 4]
        path = f"categories/{source.pk}?moveTo={target.pk}"
        assert self.send("DELETE", path).status_code == 204
        make_category(self.member, type=type_)

    @invariant()
    def effects_add_up(self) -> None:
        expected = {row.pk: row.opening_balance for row in self.own_wallets()}
        for entry in Entry.objects.owned_by(self.member):
            effects = effects_of(entry)
            if entry.wallet_id is not None:
                change = effects.income - effects.expense
                assert sum(effects.balances.values()) == change
            for wallet_id, change in effects.balances.items():
                expected[wallet_id] += change
        found = {row.pk: row.balance for row in list_wallets(self.member)}
        assert found == expected
        assert not count_wrong_rows(self.member.pk)

    def own_wallets(self) -> Any:
        return Wallet.objects.owned_by(self.member)

    @invariant()
    def lines_fit_their_entries(self) -> None:
        for entry in Entry.objects.owned_by(self.member).exclude(line_count=0):
            lines = EntryLine.objects.filter(member=self.member, entry=entry.pk)
            assert len(lines) == entry.line_count
            assert sum(line.amount for line in lines) == entry.amount

    def teardown(self) -> None:
        assert_rollups_are_right()


def test_balances_change_by_income_less_expense_after_every_write() -> None:
    run_state_machine_as_test(
        EntryMachine,
        settings=settings(
            max_examples=12,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
