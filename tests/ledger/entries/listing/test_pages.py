"""The entry list: its pages."""

from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest

from accounts.models import Member
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES
from tests.support.factories import make_entry


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
