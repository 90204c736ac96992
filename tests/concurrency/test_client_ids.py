"""One `clientId` in several requests at once (spec 3.25)."""

import uuid
from collections import Counter
from functools import partial
from typing import Any

import pytest

from accounts.models import Member
from ledger.entries import writing
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.entry_writing import ENTRIES, PLAIN
from tests.support.races import call_before, run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

ID = str(uuid.UUID(int=1))
# The second needs more than one statement.
BODIES = [PLAIN | {"clientId": ID}, PLAIN | {"clientId": ID, "category": "New"}]


def post(client: JSONClient, body: Any) -> Any:
    return client.send("POST", ENTRIES, body)


def send_batch(client: JSONClient, body: Any) -> Any:
    operation = {"op": "create", "entry": body}
    return client.send("POST", f"{ENTRIES}/batch", {"operations": [operation]})


def test_a_look_up_before_the_lock_would_book_twice(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show the race: the id is looked up, then both write."""
    phones = [JSONClient(free_member) for _ in range(2)]
    with monkeypatch.context() as patch:
        patch.setattr("ledger.base.ledger_write.advisory_xact_lock", lambda *_: None)
        patch.setattr(writing, "insert_plain_entry", lambda *_, **__: None)
        patch.setattr(writing, "insert_entry", lambda *_, **__: None)
        with call_before(
            'INSERT INTO "account_entry"', lambda: post(phones[1], BODIES[1])
        ) as other:
            first = post(phones[0], BODIES[1])
    # The unique index is left to undo one of them.
    assert sorted([first.status_code, other.result().status_code]) == [201, 500]
    assert Entry.objects.count() == 1


@pytest.mark.parametrize("body", BODIES, ids=["plain", "with a new name"])
def test_16_requests_and_batches_make_one_entry(body: Any, free_member: Member) -> None:
    senders = [post, send_batch] * 8
    answers = run_concurrently(
        [partial(send, JSONClient(free_member), body) for send in senders]
    )
    statuses = Counter(
        answer.data["results"][0]["status"]
        if "results" in answer.data
        else answer.status_code
        for answer in answers
    )
    assert statuses == {201: 1, 200: 15}
    assert Entry.objects.count() == 1


def test_deletion_beside_a_second_request(free_member: Member) -> None:
    for _ in range(5):
        client_id = str(uuid.uuid4())
        body = PLAIN | {"clientId": client_id}
        entry = post(JSONClient(free_member), body).data
        delete = partial(
            JSONClient(free_member).send, "DELETE", f"{ENTRIES}/{entry['id']}"
        )
        deleted, again = run_concurrently(
            [delete, partial(post, JSONClient(free_member), body)]
        )
        assert deleted.status_code == 204
        assert again.status_code in (200, 409)
        assert post(JSONClient(free_member), body).status_code == 409
    assert not Entry.objects.exists()


def test_batch_beside_an_edit_of_its_last_row(free_member: Member) -> None:
    client = JSONClient(free_member)
    rows = [post(client, PLAIN).data for _ in range(20)]
    operations = [
        {"op": "update", "id": row["id"], "ifVersion": row["version"]}
        | {"entry": {"memo": "batch"}}
        for row in rows
    ]
    last = f"{ENTRIES}/{rows[-1]['id']}"
    edit = partial(JSONClient(free_member).send, "PATCH", last, {"memo": "edit"})
    batch = partial(client.send, "POST", f"{ENTRIES}/batch", {"operations": operations})
    written, edited = run_concurrently([batch, edit])
    assert edited.status_code == 200
    memos = Counter(Entry.objects.values_list("memo", flat=True))
    # All of it, and then the edit; or nothing of it.
    if written.status_code == 200:
        assert memos == {"batch": 19, "edit": 1}
    else:
        assert written.data["errors"][0]["code"] == "VERSION_CONFLICT"
        assert memos == {"": 19, "edit": 1}
