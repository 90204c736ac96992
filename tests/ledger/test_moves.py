"""Deletion with `moveTo` of a wallet or category with very many entries."""

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts import account_deletion
from accounts.models import Member
from accounts.tasks import delete_closed_accounts
from config.celery import app
from core.jobs.models import JobRun
from ledger import move_job, moves
from ledger.models import (
    Budget,
    Category,
    Entry,
    MemoRollup,
    QuickEntry,
    RecurringRule,
    Wallet,
)
from ledger.move_job import list_moves, run_moves
from ledger.occurrences import process_due_rules
from ledger.rollup_repair import count_wrong_rows, repair_rollups
from ledger.rollups import without_triggers
from ledger.tasks import MovesFailedError
from ledger.tasks import move_entries as move_entries_task
from tests.support.alert_texts import APPROVAL, CANCELLATION, INSTALLMENT, NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.factories import (
    count_rows_of,
    make_category,
    make_entry,
    make_wallet,
)
from tests.support.moves import (
    BATCH_SIZE,
    LIMIT,
    MOVED_ENTRIES,
    A,
    MovingLedger,
    make_moving_ledger,
)
from tests.support.problems import assert_invalid, assert_problem
from tests.support.rollups import assert_rollups_are_right
from tests.support.whole_accounts import give_everything
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db

NEW = {"date": "2026-11-21", "type": "expense", "amount": 5}
NAMED = NEW | {"name": "New"}
RULE = NAMED | {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}
NOON = datetime.fromisoformat("2026-11-20T12:00:00+09:00")


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", LIMIT)
    monkeypatch.setattr(move_job, "BATCH_SIZE", BATCH_SIZE)


@pytest.fixture(params=["wallets", "categories"])
def ledger(request: pytest.FixtureRequest, premium_member: Member) -> MovingLedger:
    return make_moving_ledger(premium_member, request.param)


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture
def moving(ledger: MovingLedger, client: JSONClient) -> MovingLedger:
    """The ledger after the request, before the job."""
    response = client.send("DELETE", ledger.deletion)
    assert response.status_code == 202, response.content
    return ledger


def entries_of(row: Any) -> Any:
    field = "wallet" if isinstance(row, Wallet) else "category"
    return Entry.objects.filter(member_id=row.member_id, **{field: row.pk})


def interrupt(
    monkeypatch: pytest.MonkeyPatch, name: str, after: int = 0
) -> pytest.MonkeyPatch:
    """Kill the job within a step, after so many of the steps of that name."""
    original: Callable[..., Any] = getattr(move_job, name)
    calls: list[None] = []

    def die(*arguments: Any) -> Any:
        result = original(*arguments)
        # Batches without entries of the wallet or category do not count.
        if result or name != "move_entries":
            calls.append(None)
        if len(calls) > after:
            raise RuntimeError("killed")
        return result

    monkeypatch.setattr(move_job, name, die)
    return monkeypatch


def read_sums(client: JSONClient) -> dict[str, Any]:
    """What a move must not change at any moment."""
    worth = client.get_json(f"{A}/networth")
    months = [
        client.get_json(f"{A}/statistics/month", year=2026, month=month)
        for month in (1, 2, 3, 11)
    ]
    budgets = client.get_json(f"{A}/budgets/status", year=2026, month=11)
    wallets = client.get_json(f"{A}/wallets")
    return {
        "worth": worth["total"],
        "flows": [
            {key: month[key] for key in ("income", "expense", "count", "byDay")}
            for month in months
        ],
        "categories": [sum(c["amount"] for c in m["byCategory"]) for m in months],
        "wallets": [sum(w["expense"] for w in m["byWallet"]) for m in months],
        "tags": [month["byTag"] for month in months],
        "budgets": budgets["total"],
        "balance": sum(row["balance"] for row in wallets),
        "entries": client.get_json(f"{A}/entries")["count"],
        "pending": client.get_json(f"{A}/entries/pending/count"),
        "trend": client.get_json(f"{A}/networth/trend"),
    }


# --- the request --------------------------------------------------------------


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
    """In a ledger that is large otherwise it would take too long to compute them."""
    source, target = make_wallet(premium_member), make_wallet(premium_member)
    make_entry(premium_member, wallet=source)

    path = f"{A}/wallets/{source.pk}?moveTo={target.pk}"
    with CaptureQueriesContext(connection) as queries:
        assert client.send("DELETE", path).status_code == 204
    written = " ".join(query["sql"] for query in queries)
    assert "account_wallet_total" in written
    assert "account_day_total" not in written
    assert_rollups_are_right()


# --- what moving ones refuse ----------------------------------------------------


def list_refused(ledger: MovingLedger) -> dict[str, tuple[str, str, Any]]:
    """Requests that name what is moving: each is to be refused."""
    inside = entries_of(ledger.source).filter(pending=False).first()
    pending = entries_of(ledger.source).get(pending=True)
    outside = Entry.objects.filter(wallet=None, category=None).first()
    assert inside is not None
    assert outside is not None
    other = make_wallet(ledger.member)
    if ledger.kind == "categories":
        other = make_category(ledger.member)  # type: ignore[assignment]
    quick, rule = QuickEntry.objects.get(), RecurringRule.objects.get()
    entry_path = f"{A}/entries/{inside.pk}"
    requests: dict[str, tuple[str, str, Any]] = {
        "rename": ("PATCH", ledger.path, {"name": "New"}),
        "delete": ("DELETE", ledger.path, None),
        "move again": ("DELETE", ledger.deletion, None),
        "move elsewhere": ("DELETE", f"{ledger.path}?moveTo={other.pk}", None),
        "move to it": (
            "DELETE",
            f"{A}/{ledger.kind}/{other.pk}?moveTo={ledger.source.pk}",
            None,
        ),
        "delete the target": ("DELETE", ledger.target_path, None),
        "move the target": (
            "DELETE",
            f"{ledger.target_path}?moveTo={other.pk}",
            None,
        ),
        "swap": ("DELETE", f"{ledger.target_path}?moveTo={ledger.source.pk}", None),
        "enter": ("POST", f"{A}/entries", NEW | ledger.naming),
        "enter with a new tag": (
            "POST",
            f"{A}/entries",
            NEW | ledger.naming | {"tags": ["new"]},
        ),
        "move an entry to it": (
            "PATCH",
            f"{A}/entries/{outside.pk}",
            ledger.naming,
        ),
        "change an entry": ("PATCH", entry_path, {"memo": "new"}),
        "take an entry out": (
            "PATCH",
            entry_path,
            {"walletId": None, "category": None},
        ),
        "replace an entry": ("PUT", entry_path, NEW),
        "delete an entry": ("DELETE", entry_path, None),
        "confirm": ("POST", f"{A}/entries/{pending.pk}/confirm", {}),
        "quick entry": ("POST", f"{A}/quick-entries", NAMED | ledger.naming),
        "change a quick entry": (
            "PATCH",
            f"{A}/quick-entries/{quick.pk}",
            ledger.naming,
        ),
        "rule": ("POST", f"{A}/recurring", RULE | ledger.naming),
        "change a rule": ("PATCH", f"{A}/recurring/{rule.pk}", ledger.naming),
    }
    if ledger.kind == "wallets":
        body = {"name": "New", "kind": "CARD"}
        return requests | {"replace": ("PUT", ledger.path, body)}
    budget = Budget.objects.filter(category=ledger.category).first()
    assert budget is not None
    month = {"year": 2027, "month": 1, "amount": 5}
    minor = {"name": "New", "type": "expense", "parentId": ledger.category.pk}
    body = {"name": "New", "type": "expense"}
    return requests | {
        "replace": ("PUT", ledger.path, body),
        "type of the target": ("PATCH", ledger.target_path, {"type": "income"}),
        "minor": ("POST", f"{A}/categories", minor),
        "become a minor": ("PATCH", f"{A}/categories/{other.pk}", minor),
        "budget": ("POST", f"{A}/budgets", month | ledger.naming),
        "change a budget": ("PATCH", f"{A}/budgets/{budget.pk}", {"amount": 9}),
        "delete a budget": ("DELETE", f"{A}/budgets/{budget.pk}", None),
    }


REFUSED_FOR_ALL = (
    *("rename", "replace", "delete", "move again", "move elsewhere", "move to it"),
    *("delete the target", "move the target", "swap", "enter", "enter with a new tag"),
    *("move an entry to it", "change an entry", "take an entry out"),
    *("replace an entry", "delete an entry", "confirm", "quick entry"),
    *("change a quick entry", "rule", "change a rule"),
)
REFUSED_FOR_CATEGORIES = (
    *("type of the target", "minor", "become a minor"),
    *("budget", "change a budget", "delete a budget"),
)


def dump(member: Member) -> dict[str, list[Any]]:
    return {
        model.__name__: list(model.objects.filter(member_id=member.pk).values())
        for model in (Wallet, Category, Entry, QuickEntry, RecurringRule, Budget)
    }


def assert_refused(ledger: MovingLedger, client: JSONClient, name: str) -> None:
    method, path, body = list_refused(ledger)[name]
    before = dump(ledger.member)
    assert_problem(client.send(method, path, body), 409, "MOVING")
    assert dump(ledger.member) == before
    assert_rollups_are_right()


@pytest.mark.parametrize("name", REFUSED_FOR_ALL)
def test_write_that_names_what_is_moving_is_refused(
    moving: MovingLedger, client: JSONClient, name: str
) -> None:
    assert_refused(moving, client, name)


@pytest.mark.parametrize("name", REFUSED_FOR_CATEGORIES)
def test_write_that_names_a_moving_category_is_refused(
    premium_member: Member, client: JSONClient, name: str
) -> None:
    ledger = make_moving_ledger(premium_member, "categories")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    assert set(list_refused(ledger)) == {*REFUSED_FOR_ALL, *REFUSED_FOR_CATEGORIES}
    assert_refused(ledger, client, name)


def test_nothing_of_this_is_refused_without_a_move(
    ledger: MovingLedger, client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", 1_000)
    statuses = {}
    for name, (method, path, body) in list_refused(ledger).items():
        with transaction.atomic():
            statuses[name] = client.send(method, path, body).status_code
            transaction.set_rollback(True)
    refused = {name: status for name, status in statuses.items() if status >= 300}
    assert refused == dict.fromkeys(["delete", "delete the target", *refused], 409)
    assert set(refused) <= {"delete", "delete the target", "type of the target"}


def test_import_of_defaults_puts_nothing_under_a_moving_category(
    premium_member: Member, client: JSONClient, administrator: Member
) -> None:
    ledger = make_moving_ledger(premium_member, "categories")
    Category.objects.filter(pk=ledger.category.pk).update(name="식비")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    before = dump(premium_member)
    assert_problem(client.send("POST", f"{A}/categories/import"), 409, "MOVING")
    assert dump(premium_member) == before


def test_moving_ones_may_be_reordered(moving: MovingLedger, client: JSONClient) -> None:
    ids = [row["id"] for row in client.get_json(f"{A}/{moving.kind}")][::-1]
    response = client.send("PUT", f"{A}/{moving.kind}/reorder", {"ids": ids})
    assert response.status_code == 200, response.content
    assert [row["id"] for row in response.data] == ids


def test_target_and_all_else_take_writes(
    moving: MovingLedger, client: JSONClient
) -> None:
    target = {
        "walletId": moving.wallet_target.pk,
        "category": moving.category_target.name,
    }
    created = client.send("POST", f"{A}/entries", NEW | target)
    assert created.status_code == 201, created.content
    path = f"{A}/entries/{created.data['id']}"
    assert client.send("PATCH", path, {"memo": "new"}).status_code == 200
    renamed = client.send("PATCH", moving.target_path, {"name": "Renamed"})
    assert (renamed.status_code, renamed.data["name"]) == (200, "Renamed")
    assert client.send("DELETE", path).status_code == 204
    assert_rollups_are_right()


def test_moving_card_takes_no_installments_and_its_target_stays_a_card(
    premium_member: Member, client: JSONClient
) -> None:
    source, target = (make_wallet(premium_member, kind="CARD") for _ in range(2))
    for _ in range(LIMIT + 1):
        make_entry(premium_member, wallet=source, installment_months=3)
    path = f"{A}/wallets/{source.pk}?moveTo={target.pk}"
    assert client.send("DELETE", path).status_code == 202
    body = NEW | {"walletId": source.pk, "installmentMonths": 3}
    assert_problem(client.send("POST", f"{A}/entries", body), 409, "MOVING")
    change = {"kind": "BANK"}
    response = client.send("PATCH", f"{A}/wallets/{target.pk}", change)
    assert_invalid(response, "kind")


def test_several_may_move_to_one(
    moving: MovingLedger, client: JSONClient, premium_member: Member
) -> None:
    other = make_moving_ledger(premium_member, moving.kind)
    path = f"{other.path}?moveTo={moving.target.pk}"
    assert client.send("DELETE", path).status_code == 202
    count = Entry.objects.count()
    assert run_moves().failed == 0
    assert Entry.objects.count() == count
    assert not list_moves()
    assert_rollups_are_right()


def test_other_member_sees_no_move(moving: MovingLedger, other_member: Member) -> None:
    client = JSONClient(other_member)
    for path in (moving.path, moving.deletion):
        assert client.send("DELETE", path).status_code == 404


# --- what goes to the target instead ----------------------------------------------


@pytest.fixture
def moving_card(premium_member: Member, client: JSONClient) -> MovingLedger:
    """The member's only card, which is moving to a bank account."""
    ledger = make_moving_ledger(premium_member, "wallets")
    Wallet.objects.filter(pk=ledger.wallet.pk).update(kind="CARD", name="신한카드")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    return ledger


@pytest.mark.parametrize("is_chosen", [True, False])
@pytest.mark.parametrize("text", [APPROVAL, INSTALLMENT])
def test_notification_goes_to_the_target(
    moving_card: MovingLedger, client: JSONClient, text: str, is_chosen: bool
) -> None:
    body: dict[str, Any] = {"text": text}
    if is_chosen:
        body["walletId"] = moving_card.wallet.pk
    response = client.send("POST", NOTIFICATION, body)
    assert response.status_code == 201, response.content
    entry = response.data["entry"]
    assert entry["walletId"] == moving_card.wallet_target.pk
    # Only a card has installments.
    assert entry["installmentMonths"] is None
    assert_rollups_are_right()


def test_notification_gets_the_target_of_the_suggested_category(
    premium_member: Member, client: JSONClient
) -> None:
    ledger = make_moving_ledger(premium_member, "categories")
    make_entry(premium_member, category=ledger.category, memo="바람커피성수")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    response = client.send("POST", NOTIFICATION, {"text": APPROVAL})
    assert response.status_code == 201, response.content
    assert response.data["entry"]["category"] == ledger.category_target.name


def test_cancellation_deletes_a_pending_entry_that_is_moving(
    premium_member: Member, client: JSONClient
) -> None:
    ledger = make_moving_ledger(premium_member, "wallets")
    body = {"text": APPROVAL, "walletId": ledger.wallet.pk}
    created = client.send("POST", NOTIFICATION, body)
    assert created.data["entry"]["walletId"] == ledger.wallet.pk
    assert client.send("DELETE", ledger.deletion).status_code == 202
    response = client.send("POST", NOTIFICATION, {"text": CANCELLATION})
    assert (response.status_code, response.data["action"]) == (200, "CANCELLED")
    assert not Entry.objects.filter(pk=created.data["entry"]["id"]).exists()
    assert_rollups_are_right()


def test_due_rule_is_booked_to_the_target(moving: MovingLedger) -> None:
    Member.objects.filter(pk=moving.member.pk).update(
        premium_since=NOON.replace(year=2025)
    )
    newest = Entry.objects.order_by("-pk").values_list("pk", flat=True)[0]
    result = process_due_rules(NOON)
    assert (result.booked, result.failed) == (1, 0)
    booked = Entry.objects.get(pk__gt=newest)
    assert getattr(booked, f"{moving.field}_id") == moving.target.pk


# --- the job ------------------------------------------------------------------


def assert_moved(ledger: MovingLedger, client: JSONClient) -> None:
    """Assert that all is as if it had moved in the request."""
    assert client.get(ledger.path).status_code == 404
    # With the one that the target had; a wallet also has an income.
    count = MOVED_ENTRIES + 1 + (ledger.kind == "wallets")
    assert entries_of(ledger.target).count() == count
    if ledger.kind == "categories":
        rows = Budget.objects.filter(member_id=ledger.member.pk).order_by("amount")
        budgets = rows.values_list("category", "amount")
        assert list(budgets) == [(ledger.target.pk, 5), (ledger.target.pk, 80)]
        assert not MemoRollup.objects.filter(category_id=ledger.source.pk).exists()
    else:
        confirmed = sum(10 + n for n in range(MOVED_ENTRIES) if n != 1)
        balance = client.get_json(ledger.target_path)["balance"]
        assert balance == 100 - 7 + 500 - confirmed
    assert_rollups_are_right()
    call_command("check_totals")


def test_job_moves_everything_and_nothing_of_others(
    moving: MovingLedger, client: JSONClient, other_member: Member
) -> None:
    give_everything(other_member)
    make_moving_ledger(other_member, moving.kind)
    theirs, others = dump(other_member), count_rows_of(other_member)
    own = Entry.objects.filter(member_id=moving.member.pk)
    unmoved = own.exclude(**{moving.field: moving.source.pk})
    before = list(unmoved.order_by("pk").values())
    ids = [row["id"] for row in before]
    move_entries_task()
    run = JobRun.objects.get(job="move_entries")
    moved = MOVED_ENTRIES + (moving.kind == "wallets")
    assert (run.state, run.count) == (JobRun.State.DONE, moved)
    assert_moved(moving, client)
    assert list(Entry.objects.filter(pk__in=ids).order_by("pk").values()) == before
    assert (dump(other_member), count_rows_of(other_member)) == (theirs, others)


def test_result_is_that_of_one_transaction(
    ledger: MovingLedger, client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", 1_000)
        assert client.send("DELETE", ledger.deletion).status_code == 204
    assert_moved(ledger, client)


def test_batches_are_small(moving: MovingLedger) -> None:
    batches = list(move_job._move_in_batches(moving.source))
    assert max(batches) <= BATCH_SIZE
    assert len([each for each in batches if each]) > LIMIT


def test_sums_are_right_after_each_batch(
    moving: MovingLedger, client: JSONClient, premium_member: Member
) -> None:
    before = read_sums(client)
    parts = set()
    for _ in move_job._move_in_batches(moving.source):
        parts.add(entries_of(moving.source).count())
        # The opening balance goes with the wallet, as in a small move.
        assert read_sums(client) == before
        assert count_wrong_rows(premium_member.pk).total() == 0
        assert_rollups_are_right()
    assert len(parts) > LIMIT
    after = read_sums(client)
    for sums in (before, after):
        for name in ("worth", "balance", "trend") if moving.kind == "wallets" else ():
            del sums[name]
    if moving.kind == "wallets":
        assert after == before


def test_totals_by_memo_go_with_their_entries(
    premium_member: Member, client: JSONClient
) -> None:
    """The last transaction must not look for them: a member has millions."""
    ledger = make_moving_ledger(premium_member, "categories")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    memos = MemoRollup.objects.owned_by(premium_member).filter(
        category_id=ledger.source.pk
    )
    counts = {memos.count()}
    for _ in move_job._move_in_batches(ledger.source):
        counts.add(memos.count())
        if not entries_of(ledger.source).exists():
            break
    assert counts > {0, 1}

    with CaptureQueriesContext(connection) as queries:
        move_job._delete_source(ledger.source)
    assert not Category.objects.filter(pk=ledger.source.pk).exists()
    written = " ".join(query["sql"] for query in queries)
    assert "account_category_total" in written
    assert "account_memo_total" not in written
    assert_rollups_are_right()


@pytest.mark.parametrize("kind", ["wallets", "categories"])
def test_last_transaction_reads_few_rows(
    premium_member: Member,
    client: JSONClient,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Writers of the ledger wait for it, however many entries have moved."""
    monkeypatch.setattr(move_job, "BATCH_SIZE", 10_000)
    ledger = make_moving_ledger(premium_member, kind)
    with without_triggers():
        Entry.objects.bulk_create(
            Entry(
                member=premium_member,
                date=date(2026, 1, 1) + timedelta(number // 20),
                type="expense",
                amount=1,
                wallet=ledger.wallet,
                category=ledger.category,
                memo=f"memo {number}",
            )
            for number in range(4_000)
        )
    repair_rollups(premium_member.pk)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE account_entry, account_memo_total")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    _, after = move_job._move_batch(ledger.source, 0)
    assert after is None

    before = count_rows_read()
    move_job._delete_source(ledger.source)
    assert not type(ledger.source).objects.filter(pk=ledger.source.pk).exists()
    assert count_rows_read() - before < 200
    assert count_wrong_rows(premium_member.pk).total() == 0


def count_rows_read() -> int:
    """Return the number of rows that the transaction has read of large tables."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(seq_tup_read + idx_tup_fetch)::int FROM pg_stat_xact_user_tables"
            " WHERE relname IN ('account_entry', 'account_memo_total')"
        )
        count: int = cursor.fetchone()[0]
    return count


@pytest.mark.parametrize("has_target", [False, True])
def test_deletion_of_a_small_category_does_not_look_for_its_memos(
    premium_member: Member, client: JSONClient, has_target: bool
) -> None:
    source, target = make_category(premium_member), make_category(premium_member)
    entry = make_entry(premium_member, category=source, memo="Shop")
    path = f"{A}/categories/{source.pk}"
    if has_target:
        path += f"?moveTo={target.pk}"
    else:
        client.send("DELETE", f"{A}/entries/{entry.pk}")

    with CaptureQueriesContext(connection) as queries:
        assert client.send("DELETE", path).status_code == 204
    deletions = [query["sql"] for query in queries if query["sql"].startswith("DELETE")]
    assert any("account_category_total" in each for each in deletions)
    assert not any("account_memo_total" in each for each in deletions)
    assert_rollups_are_right()


@pytest.mark.parametrize("stored", [None, 0, 1, 9])
def test_wrong_totals_of_the_source_stay_as_wrong_as_they_are(
    premium_member: Member, client: JSONClient, stored: int | None
) -> None:
    """A repair adds what it computed before the batch (`ledger.rollup_repair`)."""
    ledger = make_moving_ledger(premium_member, "categories")
    assert client.send("DELETE", ledger.deletion).status_code == 202
    wrong = MemoRollup.objects.owned_by(premium_member).filter(
        category_id=ledger.source.pk, memo="shop0"
    )
    assert wrong.get().entry_count == 2
    if stored is None:
        wrong.delete()
    else:
        wrong.update(entry_count=stored)
    for _ in move_job._move_in_batches(ledger.source):
        assert count_wrong_rows(premium_member.pk) == {"account_memo_total": 1}
    assert wrong.get().entry_count == (stored or 0) - 2


def test_killed_job_is_continued_from_any_batch(
    moving: MovingLedger,
    client: JSONClient,
    other_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_everything(other_member)
    others = dump(other_member)
    left, runs = entries_of(moving.source).count(), 0
    while list_moves():
        with monkeypatch.context() as patch:
            # The second batch is rolled back.
            interrupt(patch, "move_entries", after=1)
            failed = run_moves().failed
        remaining = entries_of(moving.source).count()
        assert remaining < left or not failed
        left = remaining
        assert count_wrong_rows(moving.member.pk).total() == 0
        assert_rollups_are_right()
        runs += 1
    assert runs > LIMIT
    assert_moved(moving, client)
    assert dump(other_member) == others


@pytest.mark.parametrize(
    "step",
    ["_pass_moved_entries", "_delete_source", "delete_moved_{}"],
)
def test_job_that_is_killed_later_is_continued(
    moving: MovingLedger,
    client: JSONClient,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    with monkeypatch.context() as patch:
        interrupt(patch, step.format(moving.field))
        assert run_moves().failed == 1
    assert_rollups_are_right()
    # After the transaction that deletes it, nothing is left to do.
    is_deleted = step == "_delete_source"
    assert bool(list_moves()) is not is_deleted
    assert run_moves().failed == 0
    assert_moved(moving, client)


def test_move_that_fails_does_not_keep_the_others(
    ledger: MovingLedger,
    client: JSONClient,
    other_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = make_moving_ledger(other_member, ledger.kind)
    for each, sender in ((ledger, client), (theirs, JSONClient(other_member))):
        assert sender.send("DELETE", each.deletion).status_code == 202
    move = moves.move_entries

    def fail_for_the_first(source: Any, *arguments: Any) -> int:
        if source.pk == ledger.source.pk:
            raise RuntimeError("the disk is gone")
        return move(source, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(move_job, "move_entries", fail_for_the_first)
        with pytest.raises(MovesFailedError):
            move_entries_task()
    assert JobRun.objects.get().state == JobRun.State.FAILED
    assert [row.pk for row in list_moves()] == [ledger.source.pk]
    move_entries_task()
    assert_moved(ledger, client)


def test_moves_take_turns(
    ledger: MovingLedger,
    client: JSONClient,
    other_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = make_moving_ledger(other_member, ledger.kind)
    for each, sender in ((ledger, client), (theirs, JSONClient(other_member))):
        assert sender.send("DELETE", each.deletion).status_code == 202
    order: list[int] = []
    move = moves.move_entries

    def record(source: Any, *arguments: Any) -> int:
        order.append(source.pk)
        return move(source, *arguments)

    monkeypatch.setattr(move_job, "move_entries", record)
    run_moves()
    pair = [ledger.source.pk, theirs.source.pk]
    assert order == pair * (len(order) // 2)
    assert len(order) > 2 * LIMIT


def test_job_runs_every_minute_and_records_no_run_without_a_move(db: None) -> None:
    move_entries_task()
    assert not JobRun.objects.exists()
    entry = app.conf.beat_schedule["move_entries"]
    assert entry["schedule"] == timedelta(minutes=1)
    assert entry["task"] == move_entries_task.name


# --- what ends a move ------------------------------------------------------------


def steps_of(source: Any) -> Iterator[int]:
    """The batches of a move, which goes on after the first one."""
    batches = move_job._move_in_batches(source)
    next(batches)
    return batches


def test_restore_in_the_middle_ends_the_move(
    moving: MovingLedger, client: JSONClient
) -> None:
    batches = steps_of(moving.source)
    book = download_backup(moving.member)
    assert upload(client, book).status_code == 200
    restored = dump(moving.member)
    assert sum(batches) == 0
    assert dump(moving.member) == restored
    assert not list_moves()
    # The backup shows the moment, with entries in both, and no move.
    rows = client.get_json(f"{A}/{moving.kind}")
    assert {moving.source.name, moving.target.name} <= {row["name"] for row in rows}
    assert not any(row["moving"] for row in rows)
    assert_rollups_are_right()


def test_backup_in_the_middle_has_all_entries(moving: MovingLedger) -> None:
    count = Entry.objects.count()
    steps_of(moving.source)
    member = moving.member
    client = JSONClient(member)
    assert upload(client, download_backup(member)).data["entries"] == count
    both = Entry.objects.exclude(**{moving.field: None})
    assert both.values_list(moving.field).distinct().count() == 2


@pytest.mark.parametrize("is_large", [False, True])
def test_deletion_of_the_account_in_the_middle_ends_the_move(
    moving: MovingLedger,
    client: JSONClient,
    monkeypatch: pytest.MonkeyPatch,
    is_large: bool,
) -> None:
    monkeypatch.setattr(account_deletion, "MAX_ROWS_OF_REQUEST", 0 if is_large else 99)
    batches = steps_of(moving.source)
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert not list_moves()
    if is_large:
        next(batches)
        delete_closed_accounts()
    assert sum(batches) == 0
    assert not any(count_rows_of(moving.member).values())


def test_move_of_a_closed_account_is_left_to_its_deletion(
    moving: MovingLedger, client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_deletion, "MAX_ROWS_OF_REQUEST", 0)
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert run_moves() == move_job.MovesResult(0, 0)
    assert type(moving.source).objects.filter(moving_to__isnull=False).exists()
    delete_closed_accounts()
    assert not any(count_rows_of(moving.member).values())
