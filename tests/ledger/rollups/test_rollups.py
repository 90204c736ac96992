"""The kept totals equal what the entries themselves add up to, whatever wrote them."""

from datetime import date, timedelta
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.db.models import F

from accounts.models import Member
from ledger.models import CategoryRollup, Entry, EntryTag, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db

ENTRIES = "/api/account/entries"
TAGS = "/api/account/tags"
START = date(2026, 1, 28)


class Ledger:
    """A member's ledger that changes at random in every way there is."""

    def __init__(self, member: Member, random: Random) -> None:
        self.member, self.random = member, random
        self.client = JSONClient(member)
        self.wallets = [make_wallet(member) for _ in range(3)]
        self.categories = {
            type_: [make_category(member, type=type_) for _ in range(3)]
            for type_ in ("income", "expense")
        }

    def pick_values(self) -> dict[str, Any]:
        type_ = self.random.choice(["income", "expense"])
        return {
            "date": START + timedelta(self.random.randrange(70)),
            "type": type_,
            "amount": self.random.randrange(1, 10**9),
            "pending": self.random.random() < 0.3,
            "memo": self.random.choice(["", "Coffee", "coffee ", "스타 벅스"]),
            "category": self.random.choice([None, *self.categories[type_]]),
            "wallet": self.random.choice([None, *self.wallets]),
        }

    def pick_tags(self) -> Any:
        return self.random.sample(["하나", "둘", "셋", "넷"], self.random.randrange(4))

    def pick_body(self) -> Any:
        values = self.pick_values()
        category, wallet = values.pop("category"), values.pop("wallet")
        return values | {
            "date": values["date"].isoformat(),
            "category": category and category.name,
            "walletId": wallet and wallet.pk,
            "tags": self.pick_tags(),
        }

    def pick_id(self) -> Any:
        ids = list(Entry.objects.owned_by(self.member).values_list("pk", flat=True))
        return self.random.choice(sorted(ids)) if ids else 0

    def send(self, method: str, path: str, body: Any = None) -> None:
        response = self.client.send(method, path, body)
        if not path.startswith(f"{ENTRIES}/0"):
            assert response.status_code in {200, 201, 204}, response.content

    def insert_by_request(self) -> None:
        self.send("POST", ENTRIES, self.pick_body())

    def change_by_request(self) -> None:
        self.send("PUT", f"{ENTRIES}/{self.pick_id()}", self.pick_body())

    def change_part_by_request(self) -> None:
        body = self.pick_body()
        name = self.random.choice([*body])
        path = f"{ENTRIES}/{self.pick_id()}"
        self.send("PATCH", path, {name: body[name]})

    def confirm_by_request(self) -> None:
        self.send("POST", f"{ENTRIES}/{self.pick_id()}/confirm", {})

    def delete_by_request(self) -> None:
        self.send("DELETE", f"{ENTRIES}/{self.pick_id()}")

    def insert_by_orm(self) -> None:
        make_entry(self.member, **self.pick_values())

    def insert_many_by_orm(self) -> None:
        count = self.random.randrange(1, 9)
        Entry.objects.bulk_create(
            Entry(member=self.member, **self.pick_values()) for _ in range(count)
        )

    def insert_many_by_copy(self) -> None:
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY account_entry (member_id, date, type, amount, pending,"
                " category_id, wallet_id, memo, created_at, updated_at) FROM STDIN"
            ) as copy,
        ):
            for _ in range(self.random.randrange(1, 9)):
                v = self.pick_values()
                refs = [row and row.pk for row in (v["category"], v["wallet"])]
                row = [self.member.pk, v["date"], v["type"], v["amount"], v["pending"]]
                copy.write_row([*row, *refs, v["memo"], "2026-11-21", "2026-11-21"])

    def tag_many_by_copy(self) -> None:
        for name in "ab":
            self.client.send("POST", TAGS, {"name": name})
        tags = Tag.objects.owned_by(self.member).filter(name__in="ab")
        tag_ids = list(tags.values_list("pk", flat=True))
        tagged = EntryTag.objects.filter(member=self.member, tag_id__in=tag_ids)
        rows = Entry.objects.owned_by(self.member).exclude(
            pk__in=tagged.values("entry_id")
        )
        links = [
            (e, t, p)
            for e in rows.values_list("pk", flat=True)
            for p, t in enumerate(tag_ids, 20)
        ]
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY account_entry_tag (entry_id, tag_id, position, member_id) FROM STDIN"
            ) as copy,
        ):
            for link in links:
                copy.write_row([*link, self.member.pk])

    def delete_tag_by_request(self) -> None:
        tags = Tag.objects.owned_by(self.member).values_list("pk", flat=True)
        if tags:
            self.send("DELETE", f"{TAGS}/{self.random.choice(sorted(tags))}")

    def untag_many_by_orm(self) -> None:
        links = EntryTag.objects.filter(entry__member=self.member)
        links.filter(position=0).delete()

    def swap_tags_by_orm(self) -> None:
        tag = Tag.objects.owned_by(self.member).last()
        if tag:
            links = EntryTag.objects.filter(entry__member=self.member, position=0)
            tagged = EntryTag.objects.filter(tag=tag).values("entry_id")
            links.exclude(entry_id__in=tagged).update(tag=tag)

    def change_by_orm(self) -> None:
        Entry.objects.filter(pk=self.pick_id()).update(**self.pick_values())

    def change_many_by_orm(self) -> None:
        rows = Entry.objects.owned_by(self.member)
        match self.random.randrange(5):
            case 0:
                rows.update(amount=F("amount") + 1)
            case 1:
                rows.filter(amount__gt=10**8).update(date=F("date") + 31)
            case 2:
                rows.filter(pending=True).update(pending=False)
            case 3:
                rows.update(category=None)
            case _:
                rows.update(memo="another")

    def move_many_by_orm(self) -> None:
        source, target = self.random.sample(self.wallets, 2)
        rows = Entry.objects.owned_by(self.member)
        rows.filter(wallet=source).update(wallet=target)

    def delete_many_by_orm(self) -> None:
        ids = [self.pick_id() for _ in range(3)]
        EntryTag.objects.filter(entry_id__in=ids).delete()
        Entry.objects.filter(pk__in=ids).delete()

    def replace_wallet_by_request(self) -> None:
        source, target = self.random.sample(self.wallets, 2)
        path = f"/api/account/wallets/{source.pk}?moveTo={target.pk}"
        self.send("DELETE", path)
        self.wallets.remove(source)
        self.wallets.append(make_wallet(self.member))

    def replace_category_by_request(self) -> None:
        kinds = self.categories[self.random.choice(["income", "expense"])]
        source, target = self.random.sample(kinds, 2)
        path = f"/api/account/categories/{source.pk}?moveTo={target.pk}"
        self.send("DELETE", path)
        kinds.remove(source)
        kinds.append(make_category(self.member, type=source.type))


WAYS = [
    name for name in vars(Ledger) if name.endswith(("_by_request", "_by_orm", "_copy"))
]


@pytest.mark.parametrize("seed", range(scaled(3, 8)))
def test_totals_equal_the_entries_after_a_random_sequence_of_writes(
    seed: Any, premium_member: Member, administrator: Member
) -> None:
    random = Random(seed)
    ledgers = [Ledger(premium_member, random), Ledger(administrator, random)]
    for ledger in ledgers:
        ledger.insert_many_by_copy()
    for step in range(60):
        way = random.choice(WAYS)
        getattr(random.choice(ledgers), way)()
        if step % 5 == 0:
            assert_rollups_are_right()
    assert_rollups_are_right()
    assert Entry.objects.exists()


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_write_keeps_the_totals(way: Any, premium_member: Member) -> None:
    ledger = Ledger(premium_member, Random(way))
    for _ in range(4):
        ledger.insert_many_by_orm()
    for _ in range(3):
        getattr(ledger, way)()
        assert_rollups_are_right()


def test_balances_and_counts_are_read_from_right_totals(free_member: Member) -> None:
    ledger = Ledger(free_member, Random(5))
    ledger.insert_many_by_copy()
    for _ in range(5):
        ledger.insert_many_by_orm()
    for wallet in ledger.client.get_json("/api/account/wallets"):
        entries = Entry.objects.filter(wallet=wallet["id"], pending=False)
        expected = sum(e.amount if e.type == "income" else -e.amount for e in entries)
        assert wallet["balance"] == expected
    assert ledger.client.get_json(ENTRIES)["count"] == Entry.objects.count()
    pending = Entry.objects.filter(pending=True).count()
    assert ledger.client.get_json(f"{ENTRIES}/pending/count") == {"count": pending}


def test_entry_that_moves_to_another_month_leaves_nothing_behind(
    free_member: Member,
) -> None:
    entry = make_entry(free_member, date=date(2026, 1, 31))
    client = JSONClient(free_member)
    client.send("PATCH", f"{ENTRIES}/{entry.pk}", {"date": "2026-02-01"})
    assert_rollups_are_right()
    january = CategoryRollup.objects.get(month=date(2026, 1, 1))
    assert (january.amount, january.entry_count) == (0, 0)


def test_sums_far_beyond_the_largest_amount_are_exact(free_member: Member) -> None:
    wallet = make_wallet(free_member)
    for _ in range(30):
        make_entry(free_member, wallet=wallet, type="income", amount=999_999_999_999)
    assert_rollups_are_right()
    body = JSONClient(free_member).get_json("/api/account/networth")
    assert body["total"] == 30 * 999_999_999_999
