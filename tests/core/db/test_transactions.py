"""Transactions that PostgreSQL ends, and what is done about it."""

import ast
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F

from accounts.models import Member
from core.db import transactions
from core.db.locks import AdvisoryLock, advisory_xact_lock
from core.db.transactions import MAX_RETRIES, retry_on_conflict
from ledger.models import Category
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_member
from tests.support.races import lock_timeout, run_concurrently

ROOT = Path(__file__).resolve().parents[3]
APPS = ("accounts", "administration", "billing", "board", "core", "ledger")
# Functions that open a transaction without the decorator, and why.
NOT_RETRIED = {
    "accounts/profile/points.py": {"award_points": "part of a caller's transaction"},
    "administration/dashboard.py": {"read": "reads"},
    "administration/members.py": {"_locked_member": "a block of decorated functions"},
    "administration/metrics_view.py": {"collect": "reads"},
    "core/db/rollup_audit.py": {"rebuild_rollups": "a command that may be repeated"},
    "core/db/transactions.py": {"repeatable_read": "reads"},
    "core/jobs/ranges.py": {"_process": "a range that fails is recorded as failed"},
    "core/leases/holding.py": {"acquire_lease": "one row"},
    "ledger/bulk/batch.py": {
        "_attempt": "a savepoint",
        "_create": "a savepoint",
        "_write": "a savepoint",
    },
    "ledger/bulk/changes.py": {
        "change_entries": "a savepoint",
        "_write_alone": "a savepoint",
    },
    "ledger/categories/defaults.py": {"save_default_category": "a savepoint"},
    "ledger/management/commands/load_demo_data.py": {"handle": "a new member"},
    "ledger/entries/merges.py": {"preview_unmerge": "a savepoint"},
    "ledger/currencies/rates.py": {"_fetch_and_store": "one row"},
    "ledger/operations/undo.py": {
        "undo_operation": "a savepoint",
        "run": "a savepoint",
    },
    "ledger/rollups/repair.py": {"_list_wrong_rows": "reads"},
}


def make_conflict(kind: type[psycopg.Error]) -> OperationalError:
    error = OperationalError("conflict")
    error.__cause__ = kind("conflict")
    return error


def fail_first(times: int, error: Exception) -> Callable[[], int]:
    """Return a function that fails so often and then returns the number of calls."""
    calls: list[None] = []

    @retry_on_conflict
    def function() -> int:
        calls.append(None)
        if len(calls) <= times:
            raise error
        return len(calls)

    return function


@pytest.mark.parametrize(
    "kind", [psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure]
)
@pytest.mark.django_db(transaction=True)
def test_conflict_is_tried_again_three_times(kind: Any) -> None:
    assert fail_first(MAX_RETRIES, make_conflict(kind))() == 1 + MAX_RETRIES
    with pytest.raises(OperationalError):
        fail_first(MAX_RETRIES + 1, make_conflict(kind))()


@pytest.mark.parametrize(
    "kind", [psycopg.errors.LockNotAvailable, psycopg.OperationalError]
)
@pytest.mark.django_db(transaction=True)
def test_other_errors_of_the_database_are_not_tried_again(kind: Any) -> None:
    with pytest.raises(OperationalError):
        fail_first(1, make_conflict(kind))()


@pytest.mark.django_db(transaction=True)
def test_part_of_a_transaction_is_not_tried_again_by_itself() -> None:
    with pytest.raises(OperationalError), transaction.atomic():
        fail_first(1, make_conflict(psycopg.errors.DeadlockDetected))()


@pytest.mark.django_db(transaction=True)
def test_two_functions_that_lock_crosswise_both_have_their_effect_once() -> None:
    one, other = make_member(points=0), make_member(points=0)
    both_hold_one = threading.Barrier(2)
    attempts: list[Member] = []

    @retry_on_conflict
    def award(first: Member, second: Member) -> None:
        attempts.append(first)
        with transaction.atomic():
            _add_point(first)
            if attempts.count(first) == 1:
                both_hold_one.wait(10)
            _add_point(second)

    run_concurrently([partial(award, one, other), partial(award, other, one)])
    assert len(attempts) == 3
    assert list(Member.objects.values_list("points", flat=True)) == [2, 2]


def _add_point(member: Member) -> None:
    Member.objects.filter(pk=member.pk).update(points=F("points") + 1)


def meet_in_a_deadlock(client: JSONClient, category: Category) -> Any:
    """Return the response to a change of the category that first ends in a deadlock.

    PostgreSQL ends the transaction that finds the deadlock, which is the other one if
    that began to wait more than `deadlock_timeout` later: then they meet again.
    """
    for _ in range(10):
        has_ended_other, response = _meet_once(client, category)
        if not has_ended_other:
            return response
    raise AssertionError("the request was never ended")


def _meet_once(client: JSONClient, category: Category) -> list[Any]:
    member = Member(pk=category.member_id)
    holds_row = threading.Event()

    def lock_against_the_order() -> bool:
        try:
            with lock_timeout("20s"), transaction.atomic():
                rows = Category.objects.select_for_update().owned_by(member)
                assert rows.filter(pk=category.pk).exists()
                holds_row.set()
                wait_until_another_waits()
                advisory_xact_lock(AdvisoryLock.LEDGER, member.pk)
        except OperationalError as error:
            if not isinstance(error.__cause__, psycopg.errors.DeadlockDetected):
                raise
            return True
        return False

    def change() -> Any:
        assert holds_row.wait(10)
        path = f"/api/account/categories/{category.pk}"
        with lock_timeout("20s"):
            return client.send("PATCH", path, {"name": "New"})

    return run_concurrently([lock_against_the_order, change])


def wait_until_another_waits() -> None:
    """Return when another session waits for a lock of this one."""
    with connection.cursor() as cursor:
        blocked, deadline = None, time.monotonic() + 20
        while blocked is None:
            assert time.monotonic() < deadline
            cursor.execute(
                "SELECT 1 FROM pg_locks WHERE NOT granted"
                " AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            blocked = cursor.fetchone()


@pytest.mark.django_db(transaction=True)
def test_request_that_a_deadlock_ends_is_answered_as_if_there_was_none() -> None:
    member = make_member()
    category = make_category(member, name="Old")
    response = meet_in_a_deadlock(JSONClient(member), category)
    assert (response.status_code, response.data["name"]) == (200, "New")


@pytest.mark.django_db(transaction=True)
def test_conflict_is_never_told_as_a_database_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(transactions, "MAX_RETRIES", 0)
    member = make_member()
    response = meet_in_a_deadlock(JSONClient(member), make_category(member))
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert (
        response.data["detail"]
        == "Other changes were made at the same time. Try again."
    )
    assert not hasattr(response, "database_down")
    assert "database unavailable" not in caplog.text
    assert "transaction conflict in update_category" in caplog.text


def list_undecorated(module: Path) -> set[str]:
    """Return the functions of a module with a transaction and without a decorator."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any("transaction.atomic" in text for text in list_own_code(node))
        and not any(
            ast.unparse(decorator) == "retry_on_conflict"
            for decorator in node.decorator_list
        )
    }


def list_own_code(function: ast.FunctionDef) -> list[str]:
    """Return decorators and statements of a function, without those of inner ones."""
    texts = [ast.unparse(each) for each in function.decorator_list]
    nodes: list[ast.AST] = list(function.body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef):
            continue
        if isinstance(node, ast.Attribute):
            texts.append(ast.unparse(node))
        nodes.extend(ast.iter_child_nodes(node))
    return texts


def test_every_function_that_opens_a_transaction_is_tried_again() -> None:
    found = {}
    for app in APPS:
        for module in (ROOT / app).rglob("*.py"):
            if names := list_undecorated(module):
                found[module.relative_to(ROOT).as_posix()] = names
    assert found == {name: set(each) for name, each in NOT_RETRIED.items()}
