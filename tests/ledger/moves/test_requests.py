"""Deletion with `moveTo` of a wallet or category: at once, or accepted for the job."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from ledger import moves
from ledger.models import Budget, QuickEntry, RecurringRule
from ledger.move_job import list_moves
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_wallet
from tests.support.moves import LIMIT, A, MovingLedger, entries_of, make_moving_ledger
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_as_many_entries_as_fit_into_a_request_move_at_once(
    premium_member: Member, client: JSONClient, kind: str
) -> None:
    ledger = make_moving_ledger(premium_member, kind)
    surplus = entries_of(ledger.source).values_list("pk", flat=True)[LIMIT:]
    for pk in list(surplus):
        client.send("DELETE", f"{A}/entries/{pk}")
    response = client.send("DELETE", ledger.deletion)
    assert (response.status_code, response.content) == (204, b"")
    assert not list_moves()
    assert entries_of(ledger.target).count() == LIMIT + 1
    assert_rollups_are_right()


def test_more_entries_are_accepted_and_stay_for_now(
    ledger: MovingLedger, client: JSONClient
) -> None:
    before = client.get_json(ledger.path)
    count = entries_of(ledger.source).count()
    response = client.send("DELETE", ledger.deletion)
    assert (response.status_code, response.data) == (202, before | {"moving": True})
    assert entries_of(ledger.source).count() == count
    assert_rollups_are_right()


def test_list_and_detail_show_what_is_moving(
    moving: MovingLedger, client: JSONClient
) -> None:
    assert client.get_json(moving.path)["moving"] is True
    assert client.get_json(moving.target_path)["moving"] is False
    rows = client.get_json(f"{A}/{moving.kind}")
    assert [row["id"] for row in rows if row["moving"]] == [moving.source.pk]


def test_quick_entries_and_rules_move_at_once(moving: MovingLedger) -> None:
    for model in (QuickEntry, RecurringRule):
        assert getattr(model.objects.get(), f"{moving.field}_id") == moving.target.pk


def test_budgets_stay_until_the_end(moving: MovingLedger) -> None:
    amounts = Budget.objects.order_by("amount").values_list("category", "amount")
    source, target = moving.category.pk, moving.category_target.pk
    assert list(amounts) == [(source, 5), (source, 30), (target, 50)]


def test_small_move_leaves_other_totals_alone(
    premium_member: Member, client: JSONClient
) -> None:
    # In a ledger that is large otherwise it would take too long to compute them.
    source, target = make_wallet(premium_member), make_wallet(premium_member)
    make_entry(premium_member, wallet=source)

    path = f"{A}/wallets/{source.pk}?moveTo={target.pk}"
    with CaptureQueriesContext(connection) as queries:
        assert client.send("DELETE", path).status_code == 204
    written = " ".join(query["sql"] for query in queries)
    assert "account_wallet_total" in written
    assert "account_day_total" not in written
    assert_rollups_are_right()


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_totals_of_flat_entries_move_without_a_look_at_lines(
    premium_member: Member,
    client: JSONClient,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    # After a restore PostgreSQL may read all lines again for each of the entries.
    monkeypatch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", 1_000)
    ledger = make_moving_ledger(premium_member, kind)
    with CaptureQueriesContext(connection) as queries:
        assert client.send("DELETE", ledger.deletion).status_code == 204
    statements = [query["sql"] for query in queries if "WITH moved AS" in query["sql"]]
    assert len(statements) == 2
    assert not any("account_entry_line" in sql for sql in statements)
    assert_rollups_are_right()
