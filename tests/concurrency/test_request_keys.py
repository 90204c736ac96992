"""Requests under one `Idempotency-Key` at once (spec 3.23)."""

from collections import Counter
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.models import Member
from administration.request_keys import purge_keys
from core.api.keyed_answers import KEY_LIFETIME
from ledger.models import Entry, RequestKey
from tests.support.clients import JSONClient
from tests.support.races import call_before, lock_timeout, run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "/api/account/entries"
ENTRY = {"date": "2026-11-02", "type": "expense", "amount": 5, "tags": ["new"]}


def post(client: JSONClient, body: Any = ENTRY) -> Any:
    return client.send("POST", ENTRIES, body, HTTP_IDEMPOTENCY_KEY="key")


def test_a_look_up_before_the_lock_would_book_twice(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show the race: the key is looked up, then both write."""
    phones = [JSONClient(free_member) for _ in range(2)]
    with monkeypatch.context() as patch:
        patch.setattr("ledger.base.ledger_write.advisory_xact_lock", lambda *_: None)
        with call_before("account_create_entry", lambda: post(phones[1])) as other:
            first = post(phones[0])
    # The primary key of the table is left to undo one of them.
    assert sorted([first.status_code, other.result().status_code]) == [201, 500]
    assert Entry.objects.count() == 1


def test_16_requests_under_one_key_have_one_effect(free_member: Member) -> None:
    phones = [JSONClient(free_member) for _ in range(16)]
    answers = run_concurrently([lambda p=phone: post(p) for phone in phones])  # type: ignore[misc]
    assert Counter(answer.status_code for answer in answers) == {201: 16}
    assert len({answer.content for answer in answers}) == 1
    replayed = [answer.headers.get("Idempotency-Replayed") for answer in answers]
    assert Counter(replayed) == {"true": 15, None: 1}
    assert Entry.objects.count() == 1


def post_patiently(client: JSONClient, body: Any) -> Any:
    with lock_timeout("20s"):
        return post(client, body)


def test_one_key_for_two_requests_at_once_is_for_one_of_them(
    free_member: Member,
) -> None:
    bodies = [ENTRY, ENTRY | {"amount": 6}]
    for number in range(4):
        phones = [JSONClient(free_member) for _ in bodies]
        answers = run_concurrently(
            [
                lambda p=phone, b=body: post_patiently(p, b)  # type: ignore[misc]
                for phone, body in zip(phones, bodies, strict=True)
            ]
        )
        contents = [answer.content for answer in answers]
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses == [201, 422], contents
        assert Entry.objects.count() == number + 1
        RequestKey.objects.filter(member=free_member).delete()


def test_a_key_that_is_purged_beside_its_replay_is_there_or_not(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = JSONClient(free_member)
    assert post(phone).status_code == 201

    def purge() -> int:
        # As if by a clock that is ahead.
        return purge_keys(timezone.now() + 2 * KEY_LIFETIME, 1, free_member.pk)

    # After the key was found.
    with monkeypatch.context() as patch:
        find = RequestKey.find

        def find_and_purge(request: Any) -> Any:
            found = find(request)
            assert run_concurrently([purge]) == [1]
            return found

        patch.setattr(RequestKey, "find", find_and_purge)
        again = post(phone)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Entry.objects.count() == 1
    # A week later the key is free.
    assert "Idempotency-Replayed" not in post(phone).headers
    assert Entry.objects.count() == 2


def test_a_lost_connection_leaves_neither_effect_nor_key(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = JSONClient(free_member)
    with monkeypatch.context() as patch:

        def fail(*_: Any) -> None:
            raise OperationalError("server closed the connection unexpectedly")

        patch.setattr(RequestKey, "store", fail)
        assert post(phone).status_code == 503
    assert not Entry.objects.exists()
    assert post(phone).status_code == 201
    assert Entry.objects.count() == RequestKey.objects.count() == 1
