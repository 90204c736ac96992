"""Errors of workers mean the same as those of one server."""

import psycopg
import pytest
from django.db import IntegrityError, transaction

from accounts.models import Member
from core.db.sessions import open_session
from core.errors import violated_constraint_name
from tests.support.factories import make_entry, make_tag

pytestmark = pytest.mark.django_db


def test_constraint_of_a_worker_is_named_without_its_shard(free_member: Member) -> None:
    make_tag(free_member, name="trip")
    with pytest.raises(IntegrityError) as duplicate, transaction.atomic():
        make_tag(free_member, name="trip")
    with pytest.raises(IntegrityError) as negative, transaction.atomic():
        make_entry(free_member, amount=-1)
    with pytest.raises(IntegrityError) as missing, transaction.atomic():
        make_entry(free_member, wallet_id=987_654_321)
    assert [
        violated_constraint_name(caught.value)
        for caught in (duplicate, negative, missing)
    ] == [
        "account_tag_name_unique",
        "account_entry_amount_positive",
        "account_entry_wallet_owned",
    ]


def test_wait_for_a_row_of_a_worker_ends_at_the_lock_timeout() -> None:
    insert = "INSERT INTO account_ledger (member_id) VALUES (-1)"
    with open_session() as first, open_session() as second:
        first.execute(insert)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            second.execute(insert)
        first.rollback()
