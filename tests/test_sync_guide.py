"""The example of docs/sync.md, by which two phones keep copies of one ledger."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from accounts.models import Member
from ledger.models import Entry, Tag
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_tag, make_wallet
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db

GUIDE = Path(__file__).parent.parent / "docs" / "sync.md"
DAYS = 7


def load_example() -> Any:
    """Return the class of the guide."""
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    return names["Copy"]


class Phone:
    """Sends what the copy asks for; every tenth answer gets lost on the way."""

    def __init__(self, member: Member, seed: int) -> None:
        self.client, self.draw = JSONClient(member), random.Random(seed)
        self.copy = load_example()(self.call)

    def call(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        with connection.cursor() as cursor:
            # Each request is a transaction of its own.
            cursor.execute("SET LOCAL ledger.revision = ''")
        extra = {
            f"HTTP_{name.upper().replace('-', '_')}": v for name, v in headers.items()
        }
        answer = self.client.send(method, f"/api/account{path}", body, **extra)
        if method == "POST" and self.draw.random() < 0.1:
            return None
        return answer.status_code, json.loads(answer.content)

    def list_entries(self) -> list[int]:
        return [row_id for kind, row_id in self.copy.rows if kind == "entry"]

    def write_offline(self, category_ids: list[int], tag_ids: list[int]) -> None:
        draw, known = self.draw, self.list_entries()
        values = {
            "memo": f"memo {draw.random()}",
            "categoryId": draw.choice(category_ids),
        }
        match draw.randrange(4):
            case 0 if known:
                self.copy.delete(draw.choice(known))
            case 1 if known:
                self.copy.update(draw.choice(known), memo=values["memo"])
            case 2 if known:
                self.copy.update(draw.choice(known), amount=draw.randrange(1, 99))
            case _:
                tags = draw.sample(tag_ids, draw.randrange(len(tag_ids) + 1))
                day = {"date": "2026-11-21", "type": "expense", "amount": 5}
                self.copy.create(**day, **values, tagIds=tags)


@pytest.mark.parametrize("seed", range(scaled(4, 60)))
def test_two_phones_end_with_what_the_server_has(
    seed: int, premium_member: Member
) -> None:
    draw = random.Random(seed)
    make_wallet(premium_member)
    categories = [make_category(premium_member).pk for _ in range(3)]
    tags = [make_tag(premium_member).pk for _ in range(3)]
    phones = [Phone(premium_member, 10 * seed + number) for number in range(2)]
    workbook = download_backup(premium_member)
    created = 0
    for _ in range(DAYS):
        for phone in phones:
            for _ in range(draw.randrange(6)):
                phone.write_offline(categories, tags)
            created += sum(each["op"] == "create" for each in phone.copy.queue)
            if draw.random() < 0.7:
                phone.copy.synchronize()
    for phone in phones * 2:
        phone.copy.synchronize()
    assert phones[0].copy.rows == phones[1].copy.rows
    assert all(phone.copy.is_whole() for phone in phones)
    assert_rollups_are_right()
    # Nothing twice and nothing lost: what is not there was deleted, or refused.
    deleted = created - Entry.objects.count()
    refused = [each for phone in phones for each in phone.copy.refused]
    assert {error["code"] for _, error in refused} <= {"VERSION_CONFLICT", "NOT_FOUND"}
    assert deleted >= 0
    client_ids = Entry.objects.values_list("client_id", flat=True)
    assert len(set(client_ids)) == Entry.objects.count()
    # A restore on one phone, and both begin anew.
    assert upload(JSONClient(premium_member), workbook).status_code == 200
    for phone in phones:
        phone.copy.synchronize()
        assert phone.copy.is_whole()
        assert phone.list_entries() == []


def test_deleted_tag_is_taken_off_the_copy(premium_member: Member) -> None:
    phone, tag = Phone(premium_member, 0), make_tag(premium_member)
    values = {"date": "2026-11-21", "type": "expense", "amount": 5}
    phone.copy.create(**values, tagIds=[tag.pk])
    phone.copy.synchronize()
    (entry_id,) = phone.list_entries()
    assert phone.copy.rows["entry", entry_id]["data"]["tagIds"] == [tag.pk]
    phone.client.delete(f"/api/account/tags/{tag.pk}")
    phone.copy.synchronize()
    assert phone.copy.rows["entry", entry_id]["data"]["tagIds"] == []
    assert not Tag.objects.exists()


def test_edits_of_two_phones_are_both_kept(premium_member: Member) -> None:
    phones = [Phone(premium_member, number) for number in range(2)]
    values = {"date": "2026-11-21", "type": "expense", "amount": 5}
    phones[0].copy.create(**values)
    for phone in phones:
        phone.copy.synchronize()
    (entry_id,) = phones[0].list_entries()
    phones[0].copy.update(entry_id, memo="one")
    phones[1].copy.update(entry_id, amount=7)
    for phone in phones:
        phone.copy.synchronize()
    entry = Entry.objects.get()
    assert (entry.memo, entry.amount) == ("one", 7)
    # What was used in the meantime is not deleted.
    phones[0].copy.delete(entry_id)
    phones[0].copy.synchronize()
    ((operation, error),) = phones[0].copy.refused
    assert (operation["op"], error["code"]) == ("delete", "VERSION_CONFLICT")
    assert Entry.objects.count() == 1
