"""Versions beside other writers: each race is shown first without the ledger's lock."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Member
from ledger.base import ledger_write
from ledger.models import Entry, Ledger, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_tag
from tests.support.races import call_before, caller, run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db(transaction=True)

ENTRIES = "/api/account/entries"


def run_without_and_with_lock(
    monkeypatch: pytest.MonkeyPatch, race: Callable[[], Any]
) -> tuple[Any, Any]:
    with monkeypatch.context() as patch:
        patch.setattr(ledger_write, "advisory_xact_lock", lambda *_: None)
        without = race()
    return without, race()


def test_two_phones_that_change_a_row_do_not_overwrite_each_other(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    phones = [JSONClient(free_member) for _ in range(2)]

    def change_twice() -> tuple[int, int]:
        entry = make_entry(free_member)
        path, tag = f"{ENTRIES}/{entry.pk}", f'"{entry.version}"'

        def change(phone: JSONClient) -> Any:
            body = {"memo": f"phone {phones.index(phone)}"}
            return phone.send("PATCH", path, body, HTTP_IF_MATCH=tag)

        # After the version was compared.
        with call_before('UPDATE "account_entry"', lambda: change(phones[1])) as other:
            first = change(phones[0])
        return first.status_code, other.result().status_code

    without, with_lock = run_without_and_with_lock(monkeypatch, change_twice)
    assert (without, with_lock) == ((200, 200), (200, 412))


def test_a_deletion_beside_a_change_of_the_row(
    premium_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    phones = [JSONClient(premium_member) for _ in range(2)]

    def delete_while_changing() -> tuple[int, int, bool]:
        tag = make_tag(premium_member)
        path, header = f"/api/account/tags/{tag.pk}", f'"{tag.version}"'

        def delete() -> Any:
            return phones[1].send("DELETE", path, HTTP_IF_MATCH=header)

        with call_before('UPDATE "account_tag"', delete) as deleted:
            body = {"name": f"changed {tag.pk}"}
            changed = phones[0].send("PATCH", path, body, HTTP_IF_MATCH=header)
        exists = Tag.objects.filter(member=premium_member, pk=tag.pk).exists()
        return changed.status_code, deleted.result().status_code, exists

    without, with_lock = run_without_and_with_lock(monkeypatch, delete_while_changing)
    assert without[1] == 204
    assert with_lock == (200, 412, True)


def test_of_16_writes_of_one_version_one_succeeds(free_member: Member) -> None:
    entry = make_entry(free_member)
    path = f"{ENTRIES}/{entry.pk}"
    phones = [JSONClient(free_member) for _ in range(16)]

    def change(phone: JSONClient, number: int) -> Callable[[], Any]:
        def send() -> Any:
            body = {"memo": f"{number}"}
            return phone.send("PATCH", path, body, HTTP_IF_MATCH=f'"{entry.version}"')

        return send

    answers = run_concurrently([change(each, n) for n, each in enumerate(phones)])
    assert sorted_statuses(answers) == [200] + [412] * 15
    (winner,) = (each.data for each in answers if each.status_code == 200)
    assert phones[0].get_json(path) == winner
    # The others have got what the first one wrote.
    assert {
        each.data["current"]["memo"] for each in answers if "current" in each.data
    } <= {
        winner["memo"],
        "",
    }


def test_revisions_are_given_in_the_order_of_commits(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who reads all up to a revision has missed nothing below it."""
    phones = [JSONClient(free_member) for _ in range(8)]
    body = {"date": "2026-11-02", "type": "expense", "amount": 1, "tags": ["t"]}
    before = Ledger.objects.get(member=free_member).revision
    answers = run_concurrently(
        [caller(phone, "POST", ENTRIES, body) for phone in phones for _ in range(4)]
    )
    versions = sorted(answer.data["version"] for answer in answers)
    assert versions == list(range(before + 1, before + 33))
    stored = Entry.objects.filter(member=free_member).order_by("version")
    assert list(stored.values_list("version", flat=True)) == versions
