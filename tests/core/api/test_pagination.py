"""Pages: `count`, `next`, `previous`, `results`."""

from typing import Any

import pytest

from accounts.models import Member
from core.api.pagination import PageRequest, UnorderedListError, paginate_queryset
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/users"


@pytest.fixture
def client(administrator: Member, client_of: ClientOf) -> JSONClient:
    """Return an administrator's client, with 25 members to list."""
    for _ in range(24):
        make_member()
    return client_of(administrator)


def test_twenty_rows_make_a_page(client: JSONClient) -> None:
    page = client.get_json(PATH)
    assert (page["count"], len(page["results"])) == (25, 20)
    assert page["previous"] is None
    assert page["next"] == f"http://testserver{PATH}?page=2"


def test_last_page_has_the_rest_and_no_next_one(client: JSONClient) -> None:
    page = client.get_json(PATH, page=2)
    assert (page["count"], len(page["results"])) == (25, 5)
    assert page["next"] is None
    assert page["previous"] == f"http://testserver{PATH}?page=1"


def test_links_begin_with_the_public_url(client: JSONClient, settings: Any) -> None:
    settings.PUBLIC_URL, settings.HAS_PUBLIC_URL = "https://ledger.example", True
    page = client.get_json(PATH, size=10, page=2)
    assert page["next"] == f"https://ledger.example{PATH}?size=10&page=3"
    assert page["previous"] == f"https://ledger.example{PATH}?size=10&page=1"


@pytest.mark.parametrize("size", [1, 7, 25, 100])
def test_pages_hold_every_row_once(client: JSONClient, size: int) -> None:
    ids, address = [], f"{PATH}?size={size}"
    while address:
        page = client.get_json(address)
        ids += [row["id"] for row in page["results"]]
        address = page["next"]
    assert ids == sorted(Member.objects.values_list("id", flat=True))


def test_links_keep_the_other_parameters(client: JSONClient) -> None:
    make_member(display_name="김 & 이")
    path = "/api/admin/members"
    link = client.get_json(path, size=1, page=2, plan="FREE")["previous"]
    assert "size=1" in link
    assert "plan=FREE" in link
    for _ in range(2):
        make_member(display_name="김 & 이")
    link = client.get_json(path, size=1, page=2, search="김 & 이")["next"]
    assert "search=%EA%B9%80+%26+%EC%9D%B4" in link


@pytest.mark.parametrize("size", [101, 1_000_000, 10**30])
def test_more_than_a_hundred_counts_as_a_hundred(client: JSONClient, size: int) -> None:
    for _ in range(80):
        make_member()
    assert len(client.get_json(PATH, size=size)["results"]) == 100


def test_page_past_the_end_is_404(client: JSONClient) -> None:
    for number in (3, 10**9):
        assert_problem(client.send("GET", f"{PATH}?page={number}"), 404, "NOT_FOUND")


def test_empty_list_has_a_first_page(free_member: Member, client_of: ClientOf) -> None:
    page = client_of(free_member).get_json("/api/account/entries")
    assert page == {"count": 0, "next": None, "previous": None, "results": []}


@pytest.mark.parametrize(
    "query",
    [
        *("page=0", "page=-1", "page=x", "page=1.5", "page=1e3", "page=" + "9" * 5000),
        *("size=0", "size=-1", "size=all", "size=%00", "page=1&size=NaN"),
    ],
)
def test_page_that_cannot_be_is_400_and_named(client: JSONClient, query: str) -> None:
    response = client.send("GET", f"{PATH}?{query}")
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert {error["field"] for error in response.data["errors"]} <= {"page", "size"}


def test_empty_parameter_is_refused(client: JSONClient) -> None:
    assert_invalid(client.send("GET", f"{PATH}?page=&size="), "page", "size")


def test_list_without_an_order_is_a_fault_of_ours(db: None) -> None:
    unordered: Any = Member.objects.order_by()
    with pytest.raises(UnorderedListError, match="Member"):
        paginate_queryset(unordered, PageRequest(1, 20))
