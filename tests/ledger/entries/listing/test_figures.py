"""Lists behind the figures of the statistics: they add up (contract C3)."""

from collections import defaultdict
from random import Random
from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES
from tests.support.factories import make_category, make_entry, make_wallet
from tests.support.journals import read_entries
from tests.support.problems import assert_invalid, assert_problem
from tests.support.random_ledgers import ALL_KINDS, RandomLedger
from tests.support.scale import scaled

STATISTICS = "/api/account/statistics"
NOVEMBER = {"year": 2026, "month": 11}
DAY = "2026-11-05"


def list_matched(client: JSONClient, **filters: Any) -> list[int]:
    return [row["matchedAmount"] for row in read_entries(client, **filters)]


def row_filters(row: dict[str, Any]) -> dict[str, Any]:
    """Return the filters of the list behind a row of `byCategory`."""
    filters = {"categoryType": row["type"]}
    if row["categoryId"] is None:
        return filters | {"uncategorized": "true"}
    return filters | {"categoryId": row["categoryId"]}


def write_random_ledger(client: JSONClient, random: Random) -> None:
    """Write entries of every kind in three months, some of them excluded."""
    ledger = RandomLedger(client, random)
    ledger.add_wallets(["BANK", "CARD", "PREPAID"])
    ledger.add_categories()
    for number in range(scaled(120, 10_000)):
        body = random.choice(ALL_KINDS)(ledger) | {"date": f"2026-1{number % 3}-07"}
        entry = client.create_json(ENTRIES, body)
        if random.random() < 0.1:
            client.send("PATCH", f"{ENTRIES}/{entry['id']}", {"excluded": True})


def assert_month_adds_up(client: JSONClient, period: dict[str, int]) -> None:
    body = client.get_json(f"{STATISTICS}/month", **period)
    assert body["byCategory"]
    for row in body["byCategory"]:
        matched = list_matched(client, **period, **row_filters(row))
        assert sum(matched) == row["amount"], row
    wallets = [row for row in body["byWallet"] if row["walletId"] is not None]
    for type_ in ("income", "expense"):
        by_type = {"categoryType": type_, **period}
        assert sum(list_matched(client, **by_type)) == body[type_]
        for row in body["byTag"]:
            matched = list_matched(client, **by_type, tag=row["tag"])
            assert sum(matched) == row[type_], row
        for row in wallets:
            matched = list_matched(client, **by_type, walletId=row["walletId"])
            assert sum(matched) == row[type_], row


def replay_by_name(entries: list[dict[str, Any]]) -> dict[tuple[str, str | None], int]:
    """Return the flow of each category that has one, by type and name."""
    flows: dict[tuple[str, str | None], int] = defaultdict(int)
    for entry in entries:
        if entry["excluded"] or entry["pending"] or entry["toWalletId"]:
            continue
        for line in entry["lines"] or [entry | {"wallet": None}]:
            if line["wallet"] is None:
                is_in = entry["type"] == "income"
                sign = 1 if is_in == (line["categoryType"] == "income") else -1
                flows[line["categoryType"], line["category"]] += sign * line["amount"]
    return {key: flow for key, flow in flows.items() if flow}


@pytest.mark.parametrize("seed", range(scaled(2, 10)))
def test_list_behind_each_figure_adds_up_to_it(
    seed: int, premium_member: Member
) -> None:
    client = JSONClient(premium_member)
    write_random_ledger(client, Random(seed))
    for month in (10, 11, 12):
        assert_month_adds_up(client, {"year": 2026, "month": month})
    rows = client.get_json(f"{STATISTICS}/year", year=2026)["byCategory"]
    for row in rows:
        matched = list_matched(client, year=2026, **row_filters(row))
        assert sum(matched) == row["amount"], row
    replayed = replay_by_name(read_entries(client, year=2026))
    figures = {(row["type"], row["category"]): row["amount"] for row in rows}
    assert replayed == {key: flow for key, flow in figures.items() if flow}


def test_category_of_one_name_in_both_types_is_told_apart_by_its_id(
    premium_member: Member,
) -> None:
    client = JSONClient(premium_member)
    ids = {}
    for type_ in ("income", "expense"):
        category = make_category(premium_member, name="이자", type=type_)
        make_entry(premium_member, type=type_, category=category, amount=7, date=DAY)
        ids[type_] = category.pk
    assert list_matched(client, category="이자") == [7, 7]
    assert list_matched(client, categoryId=ids["income"]) == [7]
    assert list_matched(client, category="이자", categoryType="expense") == [7]
    other = make_category(premium_member, name="급여", type="income")
    assert list_matched(client, category="이자", categoryId=other.pk) == []


def test_category_by_id_is_found_without_its_minor_ones(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    major = make_category(premium_member, name="식비")
    minor = make_category(premium_member, name="외식", parent=major)
    make_entry(premium_member, category=major, amount=1)
    make_entry(premium_member, category=minor, amount=3)
    assert sorted(list_matched(client, category="식비")) == [1, 3]
    assert list_matched(client, categoryId=major.pk) == [1]


def test_what_counts_in_no_statistics_adds_nothing(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    category = make_category(premium_member, name="식비")
    make_entry(premium_member, category=category, amount=5, pending=True)
    make_entry(premium_member, category=category, amount=5, excluded=True)
    assert list_matched(client, category="식비") == [0, 0]


def test_refund_takes_from_its_category(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    body = {"date": DAY, "type": "expense", "amount": 50_000, "category": "의류"}
    expense = client.create_json(ENTRIES, body)
    path = f"{ENTRIES}/{expense['id']}/refund"
    refund = client.create_json(path, {"amount": 20_000, "date": DAY})
    assert list_matched(client, category="의류") == [-20_000, 50_000]
    (found,) = client.get_json(ENTRIES, refundOf=expense["id"])["results"]
    assert found["id"] == refund["id"]
    assert "matchedAmount" not in found


def test_keyword_finds_memos_of_lines(premium_member: Member) -> None:
    client = JSONClient(premium_member)
    lines = [{"amount": 3, "memo": "두유"}, {"amount": 2, "memo": "Bread"}]
    body = {"date": DAY, "type": "expense", "amount": 5, "lines": lines}
    entry = client.create_json(ENTRIES, body)
    for keyword, count in (("bread", 1), ("두유", 1), ("rice", 0)):
        page = client.get_json(ENTRIES, keyword=keyword)
        assert page["count"] == count
        assert [row["id"] for row in page["results"]] == [entry["id"]] * count


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("uncategorized=true&category=a", "uncategorized"),
        ("uncategorized=true&categoryId=1", "uncategorized"),
        ("uncategorized=maybe", "uncategorized"),
        ("categoryType=transfer", "categoryType"),
        ("categoryId=x", "categoryId"),
        ("refundOf=x", "refundOf"),
    ],
)
def test_filter_that_does_not_fit_is_refused(
    query: str, field: str, premium_member: Member
) -> None:
    response = JSONClient(premium_member).send("GET", f"{ENTRIES}?{query}")
    assert_invalid(response, field)


def test_ids_of_others_are_not_found(
    premium_member: Member, other_member: Member
) -> None:
    client = JSONClient(premium_member)
    category = make_category(other_member, name="식비")
    entry = make_entry(other_member, wallet=make_wallet(other_member))
    for query in (f"categoryId={category.pk}", f"refundOf={entry.pk}"):
        response = client.send("GET", f"{ENTRIES}?{query}")
        assert_problem(response, 404, "NOT_FOUND")
