"""The entry list: its pages."""

from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest

from accounts.models import Member
from core.api import pagination
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES
from tests.support.factories import make_entry
from tests.support.problems import assert_problem


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


def test_pages_by_number_are_bounded_and_say_so(
    client: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pagination, "MAX_PAGE_OFFSET", 4)
    newest = [make_entry(free_member).pk for _ in range(8)][::-1]
    last = client.get_json(ENTRIES, size=2, page=3)
    assert [row["id"] for row in last["results"]] == newest[4:6]
    for page in (4, 5):
        refused = client.send("GET", f"{ENTRIES}?size=2&page={page}")
        assert_problem(refused, 404, "NOT_FOUND")
        assert "after" in refused.data["detail"]
    rest = client.send("GET", last["next"]).data
    assert [row["id"] for row in rest["results"]] == newest[6:]
    assert rest["next"] is None


@pytest.mark.parametrize(
    "key",
    [
        *("x", "5", "2026-11-19", "2026-11-19.", ".5", "2026-13-01.5", "2026-11-19.x"),
        *("2026-11-19.-5", "2026-11-19.5.5", "2026-11-19.٥", "19.11.2026"),
    ],
)
def test_key_that_no_answer_gave_is_400(client: JSONClient, key: str) -> None:
    refused = client.send("GET", f"{ENTRIES}?after={key}")
    assert_problem(refused, 400, "VALIDATION_ERROR")
    assert [error["field"] for error in refused.data["errors"]] == ["after"]


def test_key_needs_no_entry(client: JSONClient, free_member: Member) -> None:
    entry = make_entry(free_member, date=date(2026, 11, 19))
    for key, expected in (
        ("9999-12-31.1", [entry.pk]),
        (f"2026-11-19.{'9' * 40}", [entry.pk]),
        (f"2026-11-19.{entry.pk}", []),
        ("0001-01-01.1", []),
    ):
        body = client.get_json(ENTRIES, after=key)
        assert [row["id"] for row in body["results"]] == expected
        assert body["count"] == 1


def test_key_of_another_members_entry_shows_own_entries_only(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    own = make_entry(free_member, date=date(2026, 11, 18))
    foreign = make_entry(other_member, date=date(2026, 11, 19))
    body = client.get_json(ENTRIES, after=f"2026-11-19.{foreign.pk}")
    assert [row["id"] for row in body["results"]] == [own.pk]


def test_key_is_made_from_the_last_entry_that_was_read(
    client: JSONClient, free_member: Member
) -> None:
    Entry.objects.bulk_create(
        Entry(member=free_member, date=date(2026, 1, 1), type="expense", amount=n + 1)
        for n in range(40)
    )
    expected = [row["amount"] for row in client.get_json(ENTRIES, size=40)["results"]]
    seen, url = [], f"{ENTRIES}?size=7"
    while url:
        body = client.send("GET", url).data
        seen += [row["amount"] for row in body["results"]]
        last = body["results"][-1]
        is_last = body["next"] is None
        url = "" if is_last else f"{ENTRIES}?size=7&after={last['date']}.{last['id']}"
    assert seen == expected
