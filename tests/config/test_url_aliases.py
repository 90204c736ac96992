"""The addresses without a prefix answer like the canonical ones (spec 1.2)."""

from typing import Any

import pytest
from django.urls import resolve

from accounts.models import Member
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_quick_entry

READS = [
    ("/auth/profile", "/api/auth/profile"),
    ("/auth/points", "/api/auth/points"),
    ("/auth/signup-enabled", "/api/auth/signup-enabled"),
    ("/account/quick-entries", "/api/account/quick-entries"),
    ("/entries/pending/count", "/api/account/entries/pending/count"),
    ("/board/my/posts", "/api/board/my/posts"),
    ("/board/my/comments", "/api/board/my/comments"),
]
ALIASES = [
    *READS,
    ("/auth/verify-password", "/api/auth/verify-password"),
    ("/account/categories/import", "/api/account/categories/import"),
    ("/account/quick-entries/5", "/api/account/quick-entries/5"),
    ("/account/quick-entries/reorder", "/api/account/quick-entries/reorder"),
    ("/entries/5/confirm", "/api/account/entries/5/confirm"),
    ("/trades/5", "/api/account/trades/5"),
    ("/networth/trend", "/api/account/networth/trend"),
    ("/budgets/copy", "/api/account/budgets/copy"),
    ("/tags/reorder", "/api/account/tags/reorder"),
    ("/entries/notification", "/api/account/entries/notification"),
    ("/account/entries/parse", "/api/account/entries/parse"),
    ("/board/posts/5/vote", "/api/board/posts/5/vote"),
    ("/board/comments/5/vote", "/api/board/comments/5/vote"),
    ("/board/posts/5/recommenders", "/api/board/posts/5/recommenders"),
    ("/posts/5/notice", "/api/board/posts/5/notice"),
    ("/posts/5/unnotice", "/api/board/posts/5/unnotice"),
]


def list_addresses(written: str, canonical: str) -> list[str]:
    """Return the address as written, as written below /api, and the canonical one."""
    return [written, f"/api{written}", canonical]


@pytest.mark.parametrize(("written", "canonical"), ALIASES)
def test_all_addresses_lead_to_one_view(written: str, canonical: str) -> None:
    views: list[Any] = [resolve(a).func for a in list_addresses(written, canonical)]
    assert len({view.cls for view in views}) == 1
    assert len({str(getattr(view, "actions", None)) for view in views}) == 1


@pytest.mark.parametrize(("written", "canonical"), READS)
def test_all_addresses_give_the_same_body(
    premium_member: Member, client_of: ClientOf, written: str, canonical: str
) -> None:
    make_quick_entry(premium_member)
    make_entry(premium_member, pending=True)
    client = client_of(premium_member)
    first, *others = [client.get_json(a) for a in list_addresses(written, canonical)]
    assert first
    assert others == [first, first]


@pytest.mark.parametrize("prefix", ["", "/api"])
def test_quick_entries_are_made_changed_and_deleted(
    free_member: Member, client_of: ClientOf, prefix: str
) -> None:
    client, path = client_of(free_member), f"{prefix}/account/quick-entries"
    body = {"name": "Lunch", "type": "expense", "amount": 9000}
    made = client.send("POST", path, body)
    assert made.status_code == 201
    item = f"{path}/{made.data['id']}"
    assert client.get_json(item) == made.data
    assert client.send("PUT", item, body | {"amount": 9500}).data["amount"] == 9500
    assert client.send("DELETE", item).status_code == 204
    assert client.get_json(path) == []


@pytest.mark.parametrize(("written", "canonical"), ALIASES)
def test_refusals_are_the_same_too(
    anonymous: JSONClient, written: str, canonical: str
) -> None:
    answers = [
        anonymous.send("DELETE", address)
        for address in list_addresses(written, canonical)
    ]
    assert len({(a.status_code, a.content) for a in answers}) == 1
    assert answers[0].status_code in {401, 405}
