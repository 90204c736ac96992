"""How long imports are kept (spec 3.29)."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Member
from administration.tasks import purge_imports
from ledger.models import Import, ImportKey, ImportRow
from tests.support.clients import JSONClient
from tests.support.imports import IMPORTS, commit, make_import
from tests.support.problems import assert_problem

pytestmark = pytest.mark.django_db


def test_imports_end_after_a_week(free_member: Member, other_member: Member) -> None:
    client = JSONClient(free_member)
    old, new = make_import(free_member), make_import(other_member)
    Import.objects.filter(id=old.id).update(
        created_at=timezone.now() - timedelta(days=7, minutes=61)
    )
    assert_problem(client.send("GET", f"{IMPORTS}/{old.id}"), 404, "NOT_FOUND")
    commit_path = f"{IMPORTS}/{old.id}/commit"
    assert_problem(client.send("POST", commit_path), 404, "NOT_FOUND")
    assert client.get_json(IMPORTS) == []
    # It counts no more, even before it is deleted.
    make_import(free_member)
    make_import(free_member)
    purge_imports()
    call_command("purge_imports")
    assert not Import.objects.filter(id=old.id).exists()
    assert not ImportRow.objects.filter(import_id=old.id).exists()
    assert Import.objects.filter(id=new.id).exists()


def test_request_that_found_an_import_before_its_end_still_finds_it(
    free_member: Member,
) -> None:
    row = make_import(free_member)
    age = timedelta(days=7, minutes=59)
    Import.objects.update(created_at=timezone.now() - age)
    purge_imports()
    assert Import.objects.filter(id=row.id).exists()


def test_keys_stay_when_the_import_is_deleted(free_member: Member) -> None:
    client, row = JSONClient(free_member), make_import(free_member)
    commit(client, row.id)
    Import.objects.update(created_at=timezone.now() - timedelta(days=8))
    purge_imports()
    assert not Import.objects.exists()
    assert ImportKey.objects.count() == 1
