"""A restore and a backup read each entry a few times, in any plan."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from ledger.backup.restore import restore_backup
from tests.support.factories import make_member
from tests.support.workbooks import ENTRY, download_backup

pytestmark = pytest.mark.django_db

ENTRY_COUNT = 600
TAGS = [f"tag {number}" for number in range(10)]
CATEGORIES = [{"type": "expense", "name": name} for name in ("food", "home")]


def make_book(count: int) -> bytes:
    """Return a backup whose entries have two tags; one in ten has two lines."""
    entries, lines = [], []
    for number in range(count):
        entry: dict[str, Any] = ENTRY | {
            "amount": 1_000,
            "memo": f"memo {number}",
            "date": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
            "tags": [TAGS[number % 5], TAGS[5 + number % 5]],
        }
        if number % 10 == 0:
            entry["key"] = f"{number}"
            lines += [
                {"entry": f"{number}", "amount": 500, "category": category["name"]}
                for category in CATEGORIES
            ]
        else:
            entry["category"] = "food"
        entries.append(entry)
    tags = [{"name": name} for name in TAGS]
    book = {"tags": tags, "categories": CATEGORIES, "entries": entries, "lines": lines}
    return json.dumps(book).encode()


def count_rows(plan: dict[str, Any]) -> int:
    """Return how many rows the steps of a plan read, compared or made."""
    rows: int = sum(
        plan.get(name, 0)
        for name in (
            *("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter"),
            "Rows Removed by Index Recheck",
        )
    )
    own: int = rows * plan["Actual Loops"]
    return own + sum(map(count_rows, plan.get("Plans", [])))


@contextmanager
def counting_rows() -> Iterator[list[int]]:
    """Yield a list of the rows of each statement that reads entries, as it is planned."""
    counts: list[int] = []

    def explain(execute: Any, sql: Any, params: Any, *arguments: Any) -> Any:
        text = str(sql)
        reads = text.startswith(("SELECT", "INSERT", "UPDATE"))
        if reads and "FROM account_entry" in text:
            with transaction.atomic(), connection.cursor() as cursor:
                # Past the wrapper.
                cursor.cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", params)
                counts.append(count_rows(cursor.cursor.fetchone()[0][0]["Plan"]))
                transaction.set_rollback(True)
        return execute(sql, params, *arguments)

    with connection.execute_wrapper(explain):
        yield counts


def test_no_step_reads_each_entry_for_each() -> None:
    member = make_member()
    with counting_rows() as counts:
        restore_backup(member, make_book(ENTRY_COUNT), timezone.now())
        download_backup(member)
    assert len(counts) >= 9
    # Plans differ with the statistics at hand: up to 27 rows an entry were seen.
    assert max(counts) <= 40 * ENTRY_COUNT
