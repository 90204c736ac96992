"""The entry list: every filter, alone and combined, against a model in Python."""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from accounts.models import Member
from ledger.models import Entry, EntryTag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_entry, make_tag, make_wallet
from tests.support.problems import assert_invalid

ENTRIES = "/api/account/entries"


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def ids_of(client: JSONClient, **query: Any) -> list[Any]:
    body = client.get_json(ENTRIES, **query)
    assert body["count"] == len(body["results"])
    return [row["id"] for row in body["results"]]


# --- the model: random ledgers, random questions ------------------------------

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
]
KEYWORDS = ["coffee", "COFFEE", "식사", "점심", "%", "_", "\\", "0%", "a_", "zzz", " "]


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
            amount=random.choice([1, 10, 999, 1_000, 50_000, 10**9]),
            category=random.choice(categories[type_]),
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


@pytest.mark.parametrize("seed", range(6))
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


@pytest.mark.parametrize("query", [{}, {"type": "expense"}, {"keyword": "식사"}])
def test_pages_walked_by_next_give_each_entry_once(
    free_member: Member, query: dict[str, Any]
) -> None:
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
    assert len(seen) == len(set(seen)) == count
    if expected is not None:
        assert seen == expected


# --- each filter in words -----------------------------------------------------


def test_list_is_newest_first_by_date_then_by_id(
    client: JSONClient, free_member: Member
) -> None:
    old = make_entry(free_member, date="2026-01-01")
    first = make_entry(free_member, date="2026-02-02")
    second = make_entry(free_member, date="2026-02-02")
    early = make_entry(free_member, date="2025-02-02")
    assert ids_of(client) == [second.pk, first.pk, old.pk, early.pk]


def test_from_and_to_include_their_days(
    client: JSONClient, free_member: Member
) -> None:
    days = ["2026-02-28", "2026-03-01", "2026-03-31", "2026-04-01"]
    rows = {day: make_entry(free_member, date=day).pk for day in days}
    march = [rows["2026-03-31"], rows["2026-03-01"]]
    assert ids_of(client, **{"from": "2026-03-01", "to": "2026-03-31"}) == march
    assert ids_of(client, year=2026, month=3) == march
    assert ids_of(client, **{"from": "2026-03-31"}) == [
        rows["2026-04-01"],
        rows["2026-03-31"],
    ]
    assert ids_of(client, to="2026-02-28") == [rows["2026-02-28"]]


def test_month_and_days_together_leave_what_both_leave(
    client: JSONClient, free_member: Member
) -> None:
    days = ["2026-03-01", "2026-03-15", "2026-04-01"]
    rows = [make_entry(free_member, date=day).pk for day in days]
    query = {"year": 2026, "month": 3, "from": "2026-03-02", "to": "2026-04-30"}
    assert ids_of(client, **query) == [rows[1]]
    assert ids_of(client, **{"from": "2026-05-01", "to": "2026-04-01"}) == []


def test_february_of_a_leap_year_has_its_29th(
    client: JSONClient, free_member: Member
) -> None:
    leap = make_entry(free_member, date="2028-02-29")
    assert ids_of(client, year=2028, month=2) == [leap.pk]


@pytest.mark.parametrize("year", [1, 9999])
def test_first_and_last_year_can_be_asked_for(
    client: JSONClient, free_member: Member, year: int
) -> None:
    entry = make_entry(free_member, date=date(year, 12, 31))
    assert ids_of(client, year=year, month=12) == [entry.pk]
    assert ids_of(client, year=year) == [entry.pk]
    assert ids_of(client, **{"from": f"{year:04}-12-31", "to": f"{year:04}-12-31"}) == [
        entry.pk
    ]


def test_major_category_includes_its_minor_ones(
    client: JSONClient, free_member: Member
) -> None:
    food = make_category(free_member, name="식비")
    cafe = make_category(free_member, name="카페", parent=food)
    other = make_category(free_member, name="주거")
    by_food = make_entry(free_member, category=food)
    by_cafe = make_entry(free_member, category=cafe)
    make_entry(free_member, category=other)
    make_entry(free_member)
    assert ids_of(client, category="식비") == [by_cafe.pk, by_food.pk]
    assert ids_of(client, category="카페") == [by_cafe.pk]


def test_category_name_of_both_types_finds_both(
    client: JSONClient, free_member: Member
) -> None:
    expense = make_entry(
        free_member, category=make_category(free_member, name="Allowance")
    )
    income = make_entry(
        free_member,
        type="income",
        category=make_category(free_member, name="Allowance", type="income"),
    )
    assert ids_of(client, category="Allowance") == [income.pk, expense.pk]
    assert ids_of(client, category="Allowance", type="income") == [income.pk]


def test_unknown_category_or_tag_finds_nothing(
    client: JSONClient, free_member: Member
) -> None:
    make_entry(free_member, tags=("a",))
    assert ids_of(client, category="unknown") == []
    assert ids_of(client, tag="unknown") == []


def test_tag_is_found_by_its_whole_name(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member, tags=("trip", "work"))
    make_entry(free_member, tags=("trip 2",))
    assert ids_of(client, tag="trip") == [entry.pk]
    assert client.get_json(ENTRIES, tag="trip")["results"][0]["tags"] == [
        "trip",
        "work",
    ]


@pytest.mark.parametrize(
    ("keyword", "found"),
    [
        ("%", ["100% off"]),
        ("_", ["snake_case"]),
        ("\\", ["back\\slash"]),
        ("snakeXcase", []),
        ("1%f", []),
        ("점심", ["회사 점심 식사"]),
        ("사 점", ["회사 점심 식사"]),
        ("식", ["회사 점심 식사"]),
        ("SNAKE", ["snake_case"]),
        ("'; DROP TABLE account_entry; --", []),
        ("%s", []),
    ],
)
def test_keyword_is_found_in_the_memo_as_it_is_written(
    client: JSONClient, free_member: Member, keyword: str, found: list[Any]
) -> None:
    for memo in ("100% off", "snake_case", "back\\slash", "회사 점심 식사", ""):
        make_entry(free_member, memo=memo)
    rows = client.get_json(ENTRIES, keyword=keyword)["results"]
    assert [row["memo"] for row in rows] == found


def test_amounts_at_both_limits_are_included(
    client: JSONClient, free_member: Member
) -> None:
    ids = [make_entry(free_member, amount=amount).pk for amount in (10, 20, 30)]
    assert ids_of(client, minAmount=20) == [ids[2], ids[1]]
    assert ids_of(client, maxAmount=20) == [ids[1], ids[0]]
    assert ids_of(client, minAmount=20, maxAmount=20) == [ids[1]]
    assert ids_of(client, minAmount=21, maxAmount=20) == []


@pytest.mark.parametrize(("value", "index"), [("true", 0), ("false", 1)])
def test_pending_splits_the_list(
    client: JSONClient, free_member: Member, value: str, index: int
) -> None:
    rows = [make_entry(free_member, pending=True), make_entry(free_member)]
    assert ids_of(client, pending=value) == [rows[index].pk]
    assert len(ids_of(client)) == 2


def test_empty_and_unknown_parameters_ask_for_nothing(
    client: JSONClient, free_member: Member
) -> None:
    entry = make_entry(free_member)
    names = [
        "from",
        "to",
        "year",
        "month",
        "type",
        "category",
        "walletId",
        "tag",
        "keyword",
        "pending",
    ]
    query = dict.fromkeys([*names, "minAmount", "maxAmount", "page", "size"], "")
    assert ids_of(client, **query, unknown="x") == [entry.pk]


@pytest.mark.parametrize("wallet_id", ["foreign", "missing", "0", "-1", "9" * 30])
def test_wallet_of_another_member_or_none_is_404(
    client: JSONClient, free_member: Member, other_member: Member, wallet_id: str
) -> None:
    foreign = make_wallet(other_member).pk
    value = {"foreign": foreign, "missing": foreign + 1_000}.get(wallet_id, wallet_id)
    response = client.send("GET", f"{ENTRIES}?walletId={value}")
    assert response.status_code == 404, response.content
    assert response.data["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("from", "2026-02-30"),
        ("from", "yesterday"),
        ("to", "20261121"),
        ("to", "2026-11-21T00:00:00"),
        ("year", "abc"),
        ("year", "0"),
        ("year", "10000"),
        ("year", "2026.5"),
        ("type", "loan"),
        ("walletId", "cash"),
        ("walletId", "1.5"),
        ("pending", "maybe"),
        ("minAmount", "ten"),
        ("minAmount", "1.5"),
        ("maxAmount", "NaN"),
        ("maxAmount", "Infinity"),
        ("category", "x" * 101),
        ("tag", "x" * 101),
        ("keyword", "x" * 101),
        ("keyword", "%00"),
        ("category", "%00"),
        ("tag", "%00"),
        ("page", "0"),
        ("page", "-1"),
        ("page", "abc"),
        ("page", "1.5"),
        ("size", "0"),
        ("size", "-5"),
        ("size", "abc"),
    ],
)
def test_parameter_that_does_not_fit_is_refused(
    client: JSONClient, free_member: Member, name: str, value: str
) -> None:
    make_entry(free_member)
    assert_invalid(client.send("GET", f"{ENTRIES}?{name}={value}"), name)


@pytest.mark.parametrize("month", ["0", "13", "abc", "-1"])
def test_month_that_is_none_is_refused(
    client: JSONClient, free_member: Member, month: str
) -> None:
    assert_invalid(client.send("GET", f"{ENTRIES}?year=2026&month={month}"), "month")


def test_month_without_its_year_is_refused(
    client: JSONClient, free_member: Member
) -> None:
    assert_invalid(client.send("GET", f"{ENTRIES}?month=3"), "year")


@pytest.mark.parametrize("name", ["minAmount", "maxAmount"])
@pytest.mark.parametrize("value", ["-5", "1000000000000", "9" * 25, "-" + "9" * 25])
def test_amount_outside_all_limits_is_refused(
    client: JSONClient, free_member: Member, name: str, value: str
) -> None:
    make_entry(free_member)
    assert_invalid(client.send("GET", f"{ENTRIES}?{name}={value}"), name)


@pytest.mark.parametrize("keyword", ["%ED%A0%80", "%FF%FE", "%F0%9F%8D%9C", "%1b"])
def test_keyword_of_strange_bytes_is_never_a_500(
    client: JSONClient, free_member: Member, keyword: str
) -> None:
    make_entry(free_member, memo="ramen 🍜")
    response = client.send("GET", f"{ENTRIES}?keyword={keyword}")
    assert response.status_code in {200, 400}, response.content


# --- pages --------------------------------------------------------------------


def test_page_has_20_rows_by_default_and_100_at_most(
    client: JSONClient, free_member: Member
) -> None:
    Entry.objects.bulk_create(
        Entry(member=free_member, date=date(2026, 1, 1), type="expense", amount=n + 1)
        for n in range(105)
    )
    assert len(client.get_json(ENTRIES)["results"]) == 20
    for size in (100, 101, 10**12):
        body = client.get_json(ENTRIES, size=size)
        assert len(body["results"]) == 100
        assert body["count"] == 105
    assert len(client.get_json(ENTRIES, size=101, page=2)["results"]) == 5


def test_empty_list_has_one_empty_page(client: JSONClient) -> None:
    assert client.get_json(ENTRIES) == {
        "count": 0,
        "next": None,
        "previous": None,
        "results": [],
    }


@pytest.mark.parametrize("page", [2, 3, 10**9, 10**30])
def test_page_past_the_end_is_404(
    client: JSONClient, free_member: Member, page: int
) -> None:
    make_entry(free_member)
    response = client.send("GET", f"{ENTRIES}?page={page}")
    assert response.status_code == 404, response.content
    assert response.data["code"] == "NOT_FOUND"


def test_next_and_previous_are_absolute_and_keep_the_filters(
    client: JSONClient, free_member: Member
) -> None:
    for _ in range(5):
        make_entry(free_member, memo="a&b=c 점심")
    body = client.get_json(ENTRIES, keyword="a&b=c 점심", size=2, page=2)
    for name, page in (("next", "3"), ("previous", "1")):
        parts = urlsplit(body[name])
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == (
            f"http://testserver{ENTRIES}"
        )
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        assert query == {"keyword": "a&b=c 점심", "size": "2", "page": page}
