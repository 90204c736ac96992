"""The same change of many entries, which a PATCH of each is the oracle of (spec 3.25)."""

import random
from typing import Any

import pytest
from django.db import transaction

from accounts.models import Member
from ledger.bulk.changes import MAX_SHOWN_REFUSALS
from ledger.models import Category, Entry, Ledger, Tag, TaughtLayout
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, PLAIN, create_entry
from tests.support.factories import make_category, make_entry, make_tag, make_wallet
from tests.support.problems import assert_invalid
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled

pytestmark = pytest.mark.django_db

STAMPS = {"updatedAt", "version"}


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def change(client: JSONClient, **body: Any) -> Any:
    answer = client.send("PATCH", ENTRIES, body)
    assert answer.status_code == 200, answer.content
    assert_rollups_are_right()
    counts = ("changed", "unchanged", "refusedCount")
    assert answer.data["matched"] == sum(answer.data[name] for name in counts)
    return answer.data


def read(client: JSONClient) -> dict[int, Any]:
    return {row["id"]: row for row in client.get_json(ENTRIES, size=100)["results"]}


class Scene:
    """A ledger with entries of every kind."""

    def __init__(self, client: JSONClient, member: Member) -> None:
        self.client = client
        card = make_wallet(member, name="card", kind="CARD").pk
        bank = make_wallet(member, name="bank").pk
        self.wallets = [card, bank, make_wallet(member, name="cash").pk, None]
        self.categories = [
            make_category(member, name="A"),
            make_category(member, name="B"),
            make_category(member, name="A", type="income"),
        ]
        by_card = {"walletId": card, "category": "A", "tags": ["x"]}
        to_bank = {"amount": 2, "walletId": bank}
        split = [{"amount": 2, "category": "A"}, {"amount": 3, "category": "B"}]
        expense = self.make(amount=90, **by_card)
        plain = {"date": "2026-11-25", "type": "income"}
        self.make(**by_card, installmentMonths=3)
        self.make(memo="old", excluded=True)
        self.make(type="income", category="A", walletId=bank)
        self.make(type="income", category="B", categoryType="expense")
        self.make(type="transfer", walletId=card, toWalletId=bank)
        self.make(amount=5, lines=split, walletId=card, tags=["y"])
        self.make(
            amount=5, walletId=card, lines=[{"amount": 3, "category": "B"}, to_bank]
        )
        self.make(**plain, amount=10, refundOf=expense["id"])
        self.make(
            **plain,
            amount=5,
            lines=[
                {"amount": 2, "categoryType": "expense", "refundOf": expense["id"]},
                {"amount": 3, "category": "A"},
            ],
        )
        foreign = {"amount": None, "currency": "USD", "originalAmount": "2.5"}
        self.make(**foreign, exchangeRate="1300")
        other = self.make(walletId=bank, memo="pair")
        income = self.make(**plain, amount=other["amount"], walletId=card)
        client.send("POST", f"{ENTRIES}/{other['id']}/merge", {"with": income["id"]})
        make_entry(member, pending=True, wallet_id=card)

    def make(self, **values: Any) -> Any:
        return create_entry(self.client, PLAIN | values)


def draw_change(draw: random.Random, scene: Scene) -> dict[str, Any]:
    values: dict[str, Any] = {
        "memo": draw.choice(["", "new", "old"]),
        "excluded": draw.choice([True, False]),
        "date": draw.choice(["2026-11-21", "2026-11-22", "2026-11-28"]),
        "walletId": draw.choice(scene.wallets),
        "category": draw.choice(["A", "B", "New", None]),
        "categoryId": draw.choice([*(row.pk for row in scene.categories), None]),
    }
    values.pop(draw.choice(["category", "categoryId"]))
    names = draw.sample(sorted(values), draw.randint(0, 3))
    body: dict[str, Any] = {"set": {name: values[name] for name in names}}
    for name in ("addTags", "removeTags"):
        if draw.random() < 0.4 or not names:
            body[name] = draw.sample(["x", "y", "z"], draw.randint(1, 2))
    return body


def patch(client: JSONClient, row: Any, body: Any) -> tuple[Any, str | None]:
    """Return what a PATCH of one entry leaves, and the code of its refusal."""
    values = dict(body["set"])
    if row["lines"] and (values.get("category") or values.get("categoryId")):
        return row, "SPLIT"
    if body.keys() & {"addTags", "removeTags"}:
        kept = [tag for tag in row["tags"] if tag not in body.get("removeTags", ())]
        added = [tag for tag in body.get("addTags", ()) if tag not in kept]
        values["tags"] = kept + added
    path = f"{ENTRIES}/{row['id']}"
    answer = client.send("PATCH", path, values)
    code = None if answer.status_code == 200 else answer.data["code"]
    return client.get_json(path), code


@pytest.mark.parametrize("seed", range(scaled(12, 300)))
def test_result_is_that_of_a_patch_of_each(
    seed: int, client: JSONClient, premium_member: Member
) -> None:
    draw = random.Random(seed)
    scene = Scene(client, premium_member)
    body = draw_change(draw, scene)
    before = read(client)
    # Each by itself: a refund follows its expense, which another may have changed.
    expected, codes = {}, {}
    for entry_id, row in before.items():
        with transaction.atomic():
            expected[entry_id], codes[entry_id] = patch(client, row, body)
            transaction.set_rollback(True)
    ids = draw.sample(sorted(before), len(before) - 2)
    dry = change(client, ids=ids, dryRun=True, **body)
    assert read(client) == before
    answer = change(client, ids=ids, **body)
    assert answer == dry
    refused = {each["id"]: each["code"] for each in answer["refused"]}
    assert refused == {pk: code for pk in ids if (code := codes[pk])}
    after = read(client)
    followers = {pk for pk, row in before.items() if is_refund(row)}
    for entry_id, row in after.items():
        if entry_id in followers:
            continue
        want = expected[entry_id] if entry_id in ids else before[entry_id]
        assert strip(row) == strip(want), (entry_id, body)
        is_new = strip(row) != strip(before[entry_id])
        assert (row["version"] != before[entry_id]["version"]) is False or is_new
    same = {pk for pk in ids if strip(expected[pk]) == strip(before[pk])}
    same -= refused.keys()
    # A refund that loses its category gets that of its expense again.
    assert len(same - followers) <= answer["unchanged"] <= len(same)


def is_refund(row: Any) -> bool:
    lines = row["lines"]
    return row["refundOf"] is not None or any(line["refundOf"] for line in lines)


def strip(row: Any) -> Any:
    """Leave out stamps, and ids of rows that a rolled back PATCH made."""
    left_out = STAMPS | {"categoryId", "tagIds"}
    return {name: value for name, value in row.items() if name not in left_out}


def test_filter_has_the_names_of_the_list(
    client: JSONClient, premium_member: Member
) -> None:
    wallet, category = make_wallet(premium_member), make_category(premium_member)
    ids = [
        create_entry(client, PLAIN | values)["id"]
        for values in (
            {"walletId": wallet.pk, "memo": "coffee", "amount": 10},
            {"category": category.name, "tags": ["x"], "amount": 20},
            {"type": "income", "date": "2026-10-03", "memo": "coffee"},
        )
    ]
    for sent, matched in (
        ({"walletId": wallet.pk}, ids[:1]),
        ({"keyword": "coff", "uncategorized": True}, [ids[0], ids[2]]),
        ({"categoryId": category.pk}, ids[1:2]),
        ({"tag": "x", "pending": False}, ids[1:2]),
        ({"year": 2026, "month": 10}, ids[2:]),
        ({"from": "2026-10-01", "to": "2026-10-31", "type": "income"}, ids[2:]),
        ({"minAmount": 10, "maxAmount": 20}, ids[:2]),
        ({"pending": True}, []),
    ):
        memo = str(sent)[:50]
        answer = change(client, filter=sent, set={"memo": memo})
        assert answer["changed"] == len(matched), sent
        rows = read(client)
        assert [pk for pk in ids if rows[pk]["memo"] == memo] == matched
        change(client, ids=[ids[0], ids[2]], set={"memo": "coffee"})


def test_what_was_so_before_gets_no_version(
    client: JSONClient, premium_member: Member
) -> None:
    entry = create_entry(client, PLAIN | {"tags": ["x"], "category": "A"})
    before = Ledger.objects.get(member=premium_member).revision
    same = {"memo": "", "date": entry["date"], "category": "A", "excluded": False}
    answer = change(client, ids=[entry["id"]], set=same, addTags=["x"])
    assert (answer["unchanged"], answer["changed"]) == (1, 0)
    assert client.get_json(f"{ENTRIES}/{entry['id']}") == entry
    assert Ledger.objects.get(member=premium_member).revision == before


def test_pending_entries_stay_pending_and_teach_nothing(
    client: JSONClient, premium_member: Member
) -> None:
    entry = make_entry(premium_member, pending=True)
    change(client, ids=[entry.pk], set={"memo": "new", "category": "A"})
    entry.refresh_from_db()
    assert (entry.pending, entry.memo) == (True, "new")
    assert not TaughtLayout.objects.exists()


def test_only_the_first_refusals_are_shown(
    client: JSONClient, premium_member: Member
) -> None:
    wallets = [make_wallet(premium_member) for _ in range(2)]
    for _ in range(MAX_SHOWN_REFUSALS + 1):
        make_entry(
            premium_member,
            type="transfer",
            wallet=wallets[0],
            to_wallet=wallets[1],
        )
    answer = change(client, filter={"type": "transfer"}, set={"category": "New"})
    assert answer["refusedCount"] == MAX_SHOWN_REFUSALS + 1
    assert len(answer["refused"]) == MAX_SHOWN_REFUSALS
    assert {each["code"] for each in answer["refused"]} == {"VALIDATION_ERROR"}
    assert not Category.objects.exists()


def test_more_tags_than_an_entry_can_have_are_refused(
    client: JSONClient, premium_member: Member
) -> None:
    tags = [f"t{number}" for number in range(50)]
    entry = create_entry(client, PLAIN | {"tags": tags})
    answer = change(client, ids=[entry["id"]], addTags=["more"])
    assert answer["refused"] == [{"id": entry["id"], "code": "VALIDATION_ERROR"}]
    answer = change(client, ids=[entry["id"]], addTags=["more"], removeTags=["t0"])
    assert answer["changed"] == 1


BAD = [
    ({"set": {"memo": "x"}}, ["ids"]),
    ({"ids": [1], "filter": {"year": 2026}, "set": {"memo": "x"}}, ["ids"]),
    ({"ids": [], "set": {"memo": "x"}}, ["ids"]),
    ({"ids": [1, 1], "set": {"memo": "x"}}, ["ids.0"]),
    ({"ids": ["1"], "set": {"memo": "x"}}, ["ids.0"]),
    ({"ids": [*range(1, 10_002)], "set": {"memo": "x"}}, ["ids"]),
    ({"filter": {}, "set": {"memo": "x"}}, ["filter"]),
    ({"filter": {"pending": None}, "set": {"memo": "x"}}, ["filter"]),
    ({"filter": {"walet": 1}, "set": {"memo": "x"}}, ["filter.walet"]),
    ({"filter": {"after": "2026-11-19.43"}, "set": {"memo": "x"}}, ["filter.after"]),
    ({"filter": {"month": 5}, "set": {"memo": "x"}}, ["year"]),
    ({"filter": {"categoryId": 9}, "set": {"memo": "x"}}, ["filter"]),
    ({"filter": [], "set": {"memo": "x"}}, ["filter"]),
    ({"ids": [1]}, ["set"]),
    ({"ids": [1], "set": {}, "addTags": []}, ["set"]),
    ({"ids": [1], "set": {"amount": 5}}, ["set.amount"]),
    ({"ids": [1], "set": {"date": None}}, ["set.date"]),
    ({"ids": [1], "set": {"excluded": "yes"}}, ["set.excluded"]),
    ({"ids": [1], "set": {"walletId": 9}}, ["set.walletId"]),
    ({"ids": [1], "addTags": ["a,b"]}, ["addTags.0"]),
    ({"ids": [1], "set": {"memo": "x"}, "dryRun": 1}, ["dryRun"]),
    ({"ids": [1], "sets": {"memo": "x"}}, ["sets"]),
]


@pytest.mark.parametrize(("body", "fields"), BAD)
def test_bad_bodies_are_refused(
    body: Any, fields: list[str], client: JSONClient
) -> None:
    assert_invalid(client.send("PATCH", ENTRIES, body), *fields)


def test_one_unknown_id_refuses_the_whole(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    mine, theirs = make_entry(premium_member), make_entry(other_member)
    category = make_category(other_member)
    for body, field in (
        ({"ids": [mine.pk, theirs.pk], "set": {"memo": "x"}}, "ids.1"),
        ({"ids": [mine.pk], "set": {"categoryId": category.pk}}, "set.categoryId"),
        (
            {"ids": [mine.pk], "set": {"walletId": make_wallet(other_member).pk}},
            "set.walletId",
        ),
        (
            {"filter": {"walletId": make_wallet(other_member).pk}, "addTags": ["x"]},
            "filter",
        ),
    ):
        assert_invalid(client.send("PATCH", ENTRIES, body), field)
    assert set(Entry.objects.values_list("memo", flat=True)) == {mine.memo}
    assert not Tag.objects.exists()


def test_id_and_name_must_agree(client: JSONClient, premium_member: Member) -> None:
    entry, row = make_entry(premium_member), make_category(premium_member, name="A")
    values = {"category": "A", "categoryId": row.pk}
    assert change(client, ids=[entry.pk], set=values)["changed"] == 1
    body = {"ids": [entry.pk], "set": values | {"category": "B"}}
    assert_invalid(client.send("PATCH", ENTRIES, body), "set.categoryId")


def test_tags_of_others_stay(
    client: JSONClient, premium_member: Member, other_member: Member
) -> None:
    make_tag(other_member, name="x")
    entry = create_entry(client, PLAIN | {"tags": ["x", "y"]})
    answer = change(client, ids=[entry["id"]], removeTags=["x", "unknown"])
    assert answer["changed"] == 1
    assert client.get_json(f"{ENTRIES}/{entry['id']}")["tags"] == ["y"]


def test_category_of_the_other_type_is_one_statement_more(
    client: JSONClient, premium_member: Member, django_assert_max_num_queries: Any
) -> None:
    income = make_category(premium_member, type="income", name="A")
    ids = [create_entry(client, PLAIN)["id"] for _ in range(40)]
    ids.append(create_entry(client, PLAIN | {"type": "income"})["id"])
    with django_assert_max_num_queries(60):
        body = {"ids": ids, "set": {"categoryId": income.pk}}
        assert client.send("PATCH", ENTRIES, body).data["changed"] == 41
    assert_rollups_are_right()
    rows = read(client)
    assert {rows[pk]["categoryType"] for pk in ids} == {"income"}


def test_refunds_are_limited(
    client: JSONClient, premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.bulk.changes.MAX_ENTRIES_ALONE", 1)
    for _ in range(2):
        expense = create_entry(client, PLAIN)
        client.send("POST", f"{ENTRIES}/{expense['id']}/refund", {"amount": 1})
    for chosen in ({"filter": {"type": "expense"}}, {"ids": [expense["id"], 10**6]}):
        body = chosen | {"addTags": ["x"]}
        answer = client.send("PATCH", ENTRIES, body)
        (field,) = (name for name in chosen)
        name = field if field == "filter" else "ids.1"
        assert_invalid(answer, name)
    assert not Tag.objects.exists()


def test_name_counts_beside_an_id_that_is_null(
    client: JSONClient, premium_member: Member
) -> None:
    expense = create_entry(client, PLAIN)
    client.send("POST", f"{ENTRIES}/{expense['id']}/refund", {"amount": 1})
    plain = create_entry(client, PLAIN)
    ids = [expense["id"], plain["id"]]
    change(client, ids=ids, set={"category": "Food", "categoryId": None})
    assert {read(client)[pk]["category"] for pk in ids} == {"Food"}
