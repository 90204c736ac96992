"""The entry list: every filter, alone and combined, against a model in Python."""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest

from accounts.models import Member
from core.api import pagination
from ledger.models import Entry, EntryTag
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, ids_of
from tests.support.factories import make_category, make_tag, make_wallet
from tests.support.scale import scaled

MEMOS = [
    "",
    "coffee",
    "Coffee to go",
    "점심 식사",
    "저녁 식사",
    "100% juice",
    "a_b",
    "back\\slash",
    "50 percent",
    "ＦＵＬＬ width",
    "coffee\u00a0\u3000to\u00a0go",
    "İSTANBUL ΑΒΓ ǅ ß",
]
OTHER_TYPES = {"income": "expense", "expense": "income"}
KEYWORDS = [
    *("coffee", "COFFEE", "식사", "점심", "%", "_", "\\", "0%", "a_", "zzz", " "),
    *("점심 식", "점심식", "to\u00a0go", "ee  to", "ǅ", "β"),
]


def build_random_ledger(member: Member, random: Random) -> list[Any]:
    """Create some 120 entries over 14 months, with everything that filters ask for."""
    wallets = [make_wallet(member) for _ in range(3)]
    tags = [make_tag(member, name=name) for name in ("여행", "work", "a b")]
    categories: dict[str, list[Any]] = {"income": [None], "expense": [None]}
    for type_ in categories:
        for major_name in ("Food", "Other", f"{type_} only"):
            major = make_category(member, name=major_name, type=type_)
            categories[type_].append(major)
            categories[type_] += [
                make_category(
                    member, name=f"{major_name} {n}", type=type_, parent=major
                )
                for n in range(2)
            ]
    entries = Entry.objects.bulk_create(
        Entry(
            member=member,
            date=date(2025, 12, 20) + timedelta(random.randrange(400)),
            type=(type_ := random.choice(["income", "expense", "expense"])),
            is_reversal=(is_reversal := random.random() < 0.1),
            excluded=random.random() < 0.1,
            amount=random.choice([1, 10, 999, 1_000, 50_000, 10**9]),
            category=random.choice(
                categories[type_ if not is_reversal else OTHER_TYPES[type_]]
            ),
            wallet=random.choice([None, *wallets]),
            memo=random.choice(MEMOS),
            pending=random.random() < 0.25,
        )
        for _ in range(120)
    )
    EntryTag.objects.bulk_create(
        EntryTag(entry=entry, tag=tag, member_id=member.pk, position=position)
        for entry in entries
        for position, tag in enumerate(random.sample(tags, random.randrange(3)))
    )
    return wallets


def pick_query(random: Random, wallets: Any) -> dict[str, Any]:
    start = date(2025, 12, 1) + timedelta(random.randrange(430))
    month_end = date(2026, random.randrange(2, 13), 1) - timedelta(1)
    options = {
        "from": random.choice([start, start.replace(day=1)]).isoformat(),
        "to": random.choice([start + timedelta(60), month_end]).isoformat(),
        "year": random.choice([2025, 2026, 2027]),
        "type": random.choice(["income", "expense"]),
        "category": random.choice(
            ["Food", "Food 0", "Other", "income only", "expense only 1", "none"]
        ),
        "walletId": random.choice(wallets).pk,
        "tag": random.choice(["여행", "work", "a b", "none"]),
        "keyword": random.choice(KEYWORDS),
        "pending": random.choice(["true", "false"]),
        "minAmount": random.choice([0, 1, 10, 11, 50_000]),
        "maxAmount": random.choice([0, 1, 999, 1_000, 10**9]),
    }
    names = random.sample(sorted(options), random.choice([0, 1, 1, 2, 2, 3, 4]))
    query = {name: options[name] for name in names}
    if "year" in query and random.random() < 0.6:
        query["month"] = random.randrange(1, 13)
    return query


def matches(entry: Entry, query: dict[str, Any]) -> bool:
    """Return True if the filters match (spec 3.5); a keyword is trimmed as all text."""
    category = entry.category
    category_names = {category.name} if category else set()
    if category and category.parent:
        category_names.add(category.parent.name)
    tag_names = {link.tag.name for link in entry.tag_links.all()}
    checks: dict[str, Callable[[Any], bool]] = {
        "from": lambda value: entry.date.isoformat() >= value,
        "to": lambda value: entry.date.isoformat() <= value,
        "year": lambda value: entry.date.year == value,
        "month": lambda value: entry.date.month == value,
        "type": lambda value: entry.type == value,
        "category": lambda value: value in category_names,
        "walletId": lambda value: entry.wallet_id == value,
        "tag": lambda value: value in tag_names,
        "keyword": lambda value: value.strip().lower() in entry.memo.lower(),
        "pending": lambda value: entry.pending == (value == "true"),
        "minAmount": lambda value: entry.amount >= value,
        "maxAmount": lambda value: entry.amount <= value,
    }
    return all(checks[name](value) for name, value in query.items())


@pytest.mark.parametrize("seed", range(scaled(2, 6)))
def test_list_equals_a_model_in_python_over_random_ledgers(
    seed: Any, free_member: Member, other_member: Member
) -> None:
    random = Random(seed)
    wallets = build_random_ledger(free_member, random)
    build_random_ledger(other_member, random)
    client = JSONClient(free_member)
    rows = Entry.objects.owned_by(free_member).select_related("category__parent")
    entries = list(rows.prefetch_related("tag_links__tag").order_by("-date", "-id"))
    for _ in range(80):
        query = pick_query(random, wallets)
        if query.get("keyword") == " ":
            query.pop("keyword")
        expected = [entry.pk for entry in entries if matches(entry, query)]
        size = random.choice([1, 7, 20, 100])
        last = max(1, -(-len(expected) // size))
        number = random.randrange(1, last + 1)
        body = client.get_json(ENTRIES, **query, size=size, page=number)
        assert body["count"] == len(expected), query
        page = expected[(number - 1) * size : number * size]
        assert [row["id"] for row in body["results"]] == page, query
        assert (body["next"] is None) == (number == last)
        assert (body["previous"] is None) == (number == 1)
        check_page_after(client, query, entries, expected, size, random)


def check_page_after(
    client: JSONClient,
    query: dict[str, Any],
    entries: list[Entry],
    expected: list[int],
    size: int,
    random: Random,
) -> None:
    """Read the same list by key, after any entry, also one that the filters exclude."""
    last_read = random.choice(entries)
    after = f"{last_read.date.isoformat()}.{last_read.pk}"
    body = client.get_json(ENTRIES, **query, size=size, after=after)
    place = {entry.pk: number for number, entry in enumerate(entries)}
    rest = [pk for pk in expected if place[pk] > place[last_read.pk]]
    assert body["count"] == len(expected), query
    assert [row["id"] for row in body["results"]] == rest[:size], query
    assert (body["next"] is None) == (len(rest) <= size)
    assert body["previous"] is None


@pytest.mark.parametrize("query", [{}, {"type": "expense"}, {"keyword": "식사"}])
@pytest.mark.parametrize("pages_by_number", [1, 3, 1_000])
def test_pages_walked_by_next_give_each_entry_once(
    free_member: Member,
    query: dict[str, Any],
    pages_by_number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pagination, "MAX_PAGE_OFFSET", 9 * (pages_by_number - 1))
    build_random_ledger(free_member, Random(1))
    client = JSONClient(free_member)
    expected = ids_of(client, **query, size=100)[:100] if query else None
    url, seen, count = f"{ENTRIES}?size=9", [], None
    for name, value in query.items():
        url += f"&{name}={value}"
    while url:
        response = client.send("GET", url)
        assert response.status_code == 200
        body = response.data
        seen += [row["id"] for row in body["results"]]
        count = body["count"]
        url = body["next"]
        if url:
            assert url.startswith("http://testserver" + ENTRIES)
            is_by_key = len(seen) >= 9 * pages_by_number
            assert ("after=" in url, "page=" in url) == (is_by_key, not is_by_key)
    assert len(seen) == len(set(seen)) == count
    if expected is not None:
        assert seen == expected
