"""Members with transfers, splits and refunds beside one with flat entries only.

The entries of one member are all flat; of the others, 10 % are transfers, 10 % are
split into three lines and 5 % are refunds. Reads of both are timed in turn, and writes
of a flat entry, of a transfer and of an entry with five lines. At the end eight writers
change the ledger of one member at random, and the totals must be right.
"""

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg

from benchmarks.client import (
    REQUEST_TIMEOUT_SECONDS,
    Client,
    Target,
    time_interleaved,
)
from benchmarks.dataset import IDS_PER_MEMBER, DatasetSpec, vacuum_and_checkpoint
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import (
    Row,
    format_milliseconds,
    log_progress,
    max_ratio_row,
)
from benchmarks.storm.connection import Connection, Record
from devstack.stores.data_dir import LOOPBACK

NAME = "lines"
ENTRIES, SMALLEST, LARGEST = 100_000, 1_000, 1_000_000
# Of the large members, by their number.
FLAT, MIXED, MIXED_SMALL, MIXED_LARGE, WRITTEN = range(5)
MAX_READ_RATIO, MAX_GROWTH, MAX_SPLIT_WRITE_RATIO = 1.15, 1.5, 2.0
REPEATS = 20
WRITERS, OPERATIONS = 8, 10_000
ENTRIES_PATH = "/api/account/entries"
PATHS = {
    "month": "/api/account/statistics/month?year=2023&month=3",
    "year": "/api/account/statistics/year?year=2023",
    "trend of 60 months": "/api/account/networth/trend?months=60",
    "balances": "/api/account/wallets",
    "newest 50": f"{ENTRIES_PATH}?size=50",
    "history of a wallet": "/api/account/wallets/{wallet}/history?from=2016-01-01",
}
# Ten years of entries. Of twenty two are transfers, two split and one is a refund;
# where lines are not wanted these are expenses.
ADD_ENTRIES = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, is_reversal,
    wallet_id, to_wallet_id, line_count, memo, pending, created_at, updated_at)
SELECT %(member)s, DATE '2016-01-01' + (number::bigint * 3652 / %(count)s)::int,
    CASE kind WHEN 'transfer' THEN 'transfer' WHEN 'refund' THEN 'income'
        WHEN 'income' THEN 'income' ELSE 'expense' END,
    1000 + 3 * (hash %% 30000),
    CASE kind WHEN 'transfer' THEN NULL WHEN 'split' THEN NULL
        WHEN 'income' THEN %(first)s + 8 + shop %% 10
        ELSE %(first)s + 18 + shop %% 30 END,
    kind = 'refund',
    %(first)s + number %% 5,
    CASE kind WHEN 'transfer' THEN %(first)s + (number + 1) %% 5 END,
    CASE kind WHEN 'split' THEN 3 ELSE 0 END,
    'memo of shop ' || shop, false, now(), now()
FROM generate_series(0, %(count)s - 1) number,
    LATERAL (SELECT abs(hashint8(number)::bigint) AS hash) h,
    LATERAL (SELECT hash %% 300 AS shop, CASE
        WHEN number %% 20 IN (3, 13) THEN 'income'
        WHEN NOT %(has_lines)s THEN 'expense'
        WHEN number %% 20 IN (0, 10) THEN 'transfer'
        WHEN number %% 20 IN (5, 15) THEN 'split'
        WHEN number %% 20 = 18 THEN 'refund'
        ELSE 'expense' END AS kind) kinds
"""
# Two of a category each, and one for another wallet.
ADD_LINES = """
INSERT INTO account_entry_line (member_id, entry_id, position, amount, category_id,
    category_type, wallet_id, memo)
SELECT entry.member_id, entry.id, position,
    CASE position WHEN 0 THEN entry.amount - 600 ELSE 300 END,
    CASE WHEN position < 2 THEN %(first)s + 18 + (entry.id + position) %% 30 END,
    'expense',
    CASE position WHEN 2 THEN %(first)s + (entry.wallet_id - %(first)s + 2) %% 5 END, ''
FROM account_entry entry, generate_series(0, 2) position
WHERE entry.member_id = %(member)s AND entry.line_count = 3
"""


# Of the expense before it.
LINK_REFUNDS = """
UPDATE account_entry SET refund_of_id = id - 1
WHERE member_id = %(member)s AND is_reversal
"""


def make_dataset(scale: float) -> DatasetSpec:
    """Return large members, whose entries are added later."""
    return DatasetSpec(20, 1_000, (0,) * 5, scale)


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    scale = environment.spec.scale
    log_progress("loading entries with lines")
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        connection.execute("UPDATE member SET plan = 'PREMIUM'")
        connection.execute("SET session_replication_role = replica")
        for index, count in (
            (FLAT, ENTRIES),
            (MIXED, ENTRIES),
            (MIXED_SMALL, SMALLEST),
            (MIXED_LARGE, LARGEST),
        ):
            member = environment.spec.large_member(index)
            scaled = max(SMALLEST, int(count * scale))
            add_entries(connection, member, scaled, has_lines=index != FLAT)
    environment.manage("check_totals", "--repair")
    vacuum_and_checkpoint(environment.database.url)
    return [
        *measure_reads(environment, rounds),
        *measure_writes(environment, rounds),
        *measure_writers(environment),
    ]


def add_entries(
    connection: psycopg.Connection, member: int, count: int, *, has_lines: bool
) -> None:
    values = {"member": member, "first": member * IDS_PER_MEMBER, "count": count}
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(ADD_ENTRIES, values | {"has_lines": has_lines})
    cursor.execute(ADD_LINES, values)
    cursor.execute(LINK_REFUNDS, values)


def measure_reads(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Time the same reads of the members in turn."""
    members = {
        "flat": environment.spec.large_member(FLAT),
        "mixed": environment.spec.large_member(MIXED),
        "small": environment.spec.large_member(MIXED_SMALL),
        "large": environment.spec.large_member(MIXED_LARGE),
    }
    rows = []
    for text, path in PATHS.items():
        calls: dict[str, Callable[[], object]] = {
            name: Client(
                environment.service_target(
                    path.format(wallet=member * IDS_PER_MEMBER), member
                )
            )
            for name, member in members.items()
        }
        times = time_interleaved(calls, rounds, REPEATS)
        shown = {name: format_milliseconds(times[name].median) for name in times}
        rows += [
            max_ratio_row(
                NAME,
                f"{text}, with lines : without",
                f"{shown['mixed']} : {shown['flat']}",
                times["mixed"].ratio_to(times["flat"]),
                MAX_READ_RATIO,
            ),
            max_ratio_row(
                NAME,
                f"{text}, growth {LARGEST:,} : {SMALLEST:,}",
                f"{shown['large']} : {shown['small']}",
                times["large"].ratio_to(times["small"]),
                MAX_GROWTH,
            ),
        ]
    return rows


def measure_writes(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Time the creation of entries of the mixed member."""
    member = environment.spec.large_member(MIXED)
    first = member * IDS_PER_MEMBER
    target = environment.service_target(ENTRIES_PATH, member)
    base = {"date": "2023-03-07", "type": "expense", "amount": 5_000}
    base |= {"walletId": first, "memo": "market"}
    lines: list[dict[str, object]] = [
        {"amount": 1_000, "category": f"Minor {10 + number}"} for number in range(4)
    ]
    lines.append({"amount": 1_000, "walletId": first + 1})
    bodies = {
        "flat": base | {"category": "Minor 10"},
        "transfer": base | {"type": "transfer", "toWalletId": first + 1},
        "split": base | {"lines": lines},
    }
    calls = {name: write(target, body) for name, body in bodies.items()}
    times = time_interleaved(calls, rounds, REPEATS)
    flat = times["flat"]
    level = f" : {format_milliseconds(flat.median)}"
    return [
        max_ratio_row(
            NAME,
            f"{text} : a flat one",
            format_milliseconds(times[name].median) + level,
            times[name].ratio_to(flat),
            MAX_SPLIT_WRITE_RATIO,
        )
        for name, text in (
            ("transfer", "write of a transfer"),
            ("split", "write of an entry with 5 lines"),
        )
    ]


def write(target: Target, body: dict[str, object]) -> Callable[[], object]:
    """Return a function that creates the entry."""
    connection = http.client.HTTPConnection(
        LOOPBACK, target.port, timeout=REQUEST_TIMEOUT_SECONDS
    )
    headers = {**target.headers, "Content-Type": "application/json"}
    text = json.dumps(body)

    def call() -> object:
        connection.request("POST", target.path, text, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != http.client.CREATED:
            raise AssertionError(f"{response.status} {answer[:300]!r}")
        return answer

    return call


class Writer:
    """One of the writers of a ledger; `known` has the entries of all of them."""

    def __init__(
        self, connection: Connection, seed: int, first: int, known: list[int]
    ) -> None:
        self.connection, self.random = connection, random.Random(seed)
        self.first, self.known = first, known

    def act(self) -> None:
        action = self.random.choice(
            (self.create, self.create, self.edit, self.delete, self.refund, self.merge)
        )
        self.connection.record.add_operation(action.__name__)
        action()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.connection.send(method, f"{ENTRIES_PATH}{path}", body)
        if method == "POST" and answer.status == http.client.CREATED:
            self.known.append(answer.body["id"])
        return answer

    def make_body(self) -> dict[str, Any]:
        wallet, other = self.random.sample(range(5), 2)
        day = f"2026-{self.random.randint(1, 12):02}-{self.random.randint(1, 28):02}"
        body: dict[str, Any] = {"date": day, "amount": self.random.choice((60, 100))}
        body["walletId"] = self.first + wallet
        kind = self.random.choice(("income", "expense", "transfer", "split"))
        category = f"Minor {self.random.randint(10, 39)}"
        if kind == "transfer":
            return body | {"type": kind, "toWalletId": self.first + other}
        if kind == "split":
            parts = (
                {"amount": body["amount"] + 20, "category": category},
                {"amount": 30, "walletId": self.first + other},
                {"amount": -50, "category": "Minor 1", "categoryType": "income"},
            )
            return body | {"type": "expense", "lines": list(parts)}
        # On an income, this takes an expense back.
        return body | {"type": kind, "category": category, "categoryType": "expense"}

    def create(self) -> None:
        self.send("POST", "", self.make_body() | {"tags": ["tag 1"]})

    def pick(self) -> int:
        # Of the last ones, so that writers meet.
        return self.random.choice(self.known[-20:] or [0])

    def edit(self) -> None:
        excluded = self.random.random() < 0.3
        self.send("PUT", f"/{self.pick()}", self.make_body() | {"excluded": excluded})

    def delete(self) -> None:
        self.send("DELETE", f"/{self.pick()}")

    def refund(self) -> None:
        self.send("POST", f"/{self.pick()}/refund", {"amount": 40})

    def merge(self) -> None:
        """Merge an expense and an income, and take half of them apart again."""
        wallet, other = self.random.sample(range(5), 2)
        body = {"date": "2026-05-05", "amount": 70}
        expense = body | {"type": "expense", "walletId": self.first + wallet}
        income = body | {"type": "income", "walletId": self.first + other}
        answers = [self.send("POST", "", each) for each in (expense, income)]
        if any(answer.status != http.client.CREATED for answer in answers):
            return
        first, second = (answer.body["id"] for answer in answers)
        self.send("POST", f"/{first}/merge", {"with": second})
        if self.random.random() < 0.5:
            self.send("POST", f"/{first}/unmerge")


def measure_writers(environment: BenchmarkEnvironment) -> list[Row]:
    """Write at random on several connections; count errors and wrong totals."""
    member = environment.spec.large_member(WRITTEN)
    port = environment.service_target(ENTRIES_PATH, member).port
    record, known = Record(), list[int]()
    operations = max(WRITERS, int(OPERATIONS * environment.spec.scale))
    log_progress(f"{operations:,} operations by {WRITERS} writers of one ledger")

    def run(seed: int) -> None:
        connection = Connection(port, environment.get_token(member), record)
        writer = Writer(connection, seed, member * IDS_PER_MEMBER, known)
        while record.operation_count < operations:
            writer.act()
        connection.close()

    started = time.monotonic()
    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - started
    # It ends with an error, and this run with it, if a total is wrong.
    environment.manage("check_totals")
    statuses = dict(sorted(record.statuses.items()))
    errors = sum(n for status, n in statuses.items() if status == 0 or status >= 500)
    text = f"{record.operation_count:,} operations by {WRITERS} writers, totals right"
    level = f"{seconds:.0f} s, {statuses}, {dict(record.codes)}"
    return [max_ratio_row(NAME, f"{text}; ratio: errors", level, errors, 0)]
