"""A field of an entry is in every place that lists them."""

from dataclasses import fields

import pytest

from accounts.models import Member
from ledger.backup.columns import ENTRIES
from ledger.entry_data import EntryData
from ledger.serializers.entries import EntrySerializer
from tests.support.clients import JSONClient
from tests.support.factories import make_entry

# `tests/ledger/backup/test_columns.py` compares these with the model.
COLUMNS = {column.name for column in ENTRIES.columns}
# Only a notification or a restore creates a pending entry, and only a restore says when
# it was made; a key names rows in a sheet, of which the lines are another one.
FIELDS = COLUMNS - {"pending", "key", "created_at"} | {"lines"}


def test_data_of_an_entry_has_every_field() -> None:
    assert {field.name for field in fields(EntryData)} == FIELDS


def test_requests_have_every_field() -> None:
    serializer = EntrySerializer()
    writable = {field.source for field in serializer._writable_fields}
    assert writable == FIELDS - {"source"}


@pytest.mark.django_db
def test_responses_have_every_field(free_member: Member) -> None:
    entry = make_entry(free_member)
    body = JSONClient(free_member).get_json(f"/api/account/entries/{entry.pk}")
    # The part that a filter matched is only in a list that is filtered.
    assert set(body) == set(EntrySerializer().fields) - {"matchedAmount"}
