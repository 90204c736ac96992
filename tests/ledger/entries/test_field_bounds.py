"""A field of an entry is in every place that lists them."""

from dataclasses import fields

import pytest

from accounts.models import Member
from ledger.backup.columns import ENTRIES
from ledger.entries.serializers import EntrySerializer
from ledger.entry_shape import EntryShape
from ledger.models import Entry, MergedEntry
from tests.support.clients import JSONClient
from tests.support.factories import make_entry

# `tests/ledger/backup/test_columns.py` compares these with the model.
COLUMNS = {column.name for column in ENTRIES.columns}
# Only a notification or a restore creates a pending entry, and only a restore says when
# it was made; keys name rows in a sheet, of which the lines are another one.
IDENTITY = {"key", "client_id"}
FIELDS = COLUMNS - IDENTITY - {"pending", "not_with", "created_at"} | {"lines"}


def test_data_of_an_entry_has_every_field() -> None:
    assert {field.name for field in fields(EntryShape)} == FIELDS


def test_requests_have_every_field() -> None:
    serializer = EntrySerializer()
    writable = {field.source for field in serializer._writable_fields}
    ids = {"category_id", "tag_ids", "client_id"}
    # Parts have an address of their own.
    assert writable - ids == FIELDS - {"source", "installment_parts"}


@pytest.mark.django_db
def test_responses_have_every_field(free_member: Member) -> None:
    entry = make_entry(free_member)
    body = JSONClient(free_member).get_json(f"/api/account/entries/{entry.pk}")
    # The part that a filter matched is only in a list that is filtered, and lost parts
    # are only in the answer of a change. Doubts are of entries that are unsure.
    sometimes = {"matchedAmount", "partsReset", "unsure", "doubts", "candidates"}
    assert set(body) == set(EntrySerializer().fields) - sometimes


def test_merged_entry_keeps_every_field_but_those_of_the_transfer() -> None:
    of_transfer = {"id", "member", "amount", "wallet", "to_wallet", "updated_at"}
    of_transfer.add("version")
    # Entries with any of these are not merged.
    never_merged = {"line_count", "refund_of"}
    never_merged |= {"currency", "original_amount", "exchange_rate"}
    kept = {field.name for field in Entry._meta.concrete_fields}
    kept -= of_transfer | never_merged
    own = {"member", "entry", "former_id", "tag_ids", "notification_ids"}
    assert {field.name for field in MergedEntry._meta.concrete_fields} - own == kept
