"""Random writes of 16 members on the whole service while parts of it are killed.

Each member changes the own ledger and the common board, and compares every answer with
what it must be. Each minute one of web worker, Celery worker, PostgreSQL and Valkey
gets SIGKILL. What was acknowledged must be there at the end, what was not answered may
be.
"""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.outside_services import run_outside_services
from benchmarks.report import Row, log_progress
from benchmarks.storm.board_client import Board, BoardClient, verify_board
from benchmarks.storm.connection import Connection, Record
from benchmarks.storm.ledger_client import LedgerClient
from benchmarks.storm.service_tree import ServiceTree, run_service_tree

NAME = "storm"
OPERATIONS, MEMBERS = 100_000, 16
KILL_INTERVAL_SECONDS = 60.0
# Of an operation, else of the ledger.
BOARD_SHARE = 0.3
ADMINISTRATOR = 1
SEED = 20_261_122
# Logged for each deadlock and serialization failure, also where it is repeated.
CONFLICT = "transaction conflict in"
AUDITS = ("check_totals", "check_board_counters")
NO_LIMIT = "1000000"
SETTINGS = {
    "BOARD_POSTS_PER_HOUR": NO_LIMIT,
    "BOARD_COMMENTS_PER_HOUR": NO_LIMIT,
    "BOARD_VOTES_PER_HOUR": NO_LIMIT,
    "OCR_API_KEY": "",
}
PROVIDERS = ("FX_BASE_URL", "PRICE_BASE_URL", "OCR_BASE_URL", "STORE_BASE_URL")


@dataclass
class StormResult:
    """The answers, and the kills with the seconds until the return."""

    record: Record = field(default_factory=Record)
    kills: list[tuple[str, float]] = field(default_factory=list)
    seconds: float = 0.0
    conflicts: int = 0
    failed_audits: list[str] = field(default_factory=list)


@dataclass
class Storm:
    """The clients and the kills of one run."""

    tree: ServiceTree
    operations: int
    kill_interval: float
    seed: int
    result: StormResult = field(default_factory=StormResult)
    board: Board = field(default_factory=Board)
    is_over: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)

    def run(self, members: int) -> StormResult:
        tokens = self.tree.create_members(range(1, members + 1))
        began = time.monotonic()
        killer = self.make_thread(self.kill_in_turn)
        clients = [self.make_thread(self.act, *pair) for pair in tokens.items()]
        for thread in (killer, *clients):
            thread.start()
        for thread in clients:
            thread.join()
        self.is_over.set()
        killer.join()
        self.result.seconds = time.monotonic() - began
        if self.failures:
            raise self.failures[0]
        first = Connection(self.tree.port, tokens[ADMINISTRATOR], self.result.record)
        verify_board(first, self.board)
        first.close()
        for command in AUDITS:
            audit = self.tree.run("manage.py", command)
            if audit.returncode:
                self.result.failed_audits.append(f"{command}: {audit.stdout}")
        log = self.tree.log.read_text(errors="replace")
        self.result.conflicts = log.count(CONFLICT)
        return self.result

    def has_enough(self) -> bool:
        """Return True after all operations and a kill of each victim."""
        is_done = self.result.record.operation_count >= self.operations
        return is_done and len(self.result.kills) >= len(self.tree.killers)

    def make_thread(
        self, target: Callable[..., None], *arguments: Any
    ) -> threading.Thread:
        """Return a thread in which an exception ends the storm."""

        def run() -> None:
            try:
                target(*arguments)
            except BaseException as error:
                self.failures.append(error)
                self.is_over.set()

        return threading.Thread(target=run, daemon=True)

    def act(self, member: int, token: str) -> None:
        """Act until there were enough operations and kills; then check everything."""
        record = self.result.record
        connection = Connection(self.tree.port, token, record)
        chance = random.Random(f"{self.seed} {member}")
        ledger = LedgerClient(connection, chance, f"member {member}")
        board = BoardClient(
            connection, chance, member, self.board, member == ADMINISTRATOR
        )
        while not self.is_over.is_set():
            if self.has_enough():
                break
            is_board = chance.random() < BOARD_SHARE
            (board if is_board else ledger).act()
        ledger.verify()
        board.check_points()
        connection.close()

    def kill_in_turn(self) -> None:
        """Kill one victim after the other, each at least once."""
        for name, kill in itertools.cycle(self.tree.killers.items()):
            if self.is_over.wait(self.kill_interval):
                return
            if self.has_enough():
                return
            seconds = kill()
            self.result.kills.append((name, seconds))
            record = self.result.record
            log_progress(
                f"{record.operation_count} operations, "
                f"{len(record.differences)} differences, "
                f"{len(record.server_errors)} × 500; "
                f"{name} back after {seconds:.1f} s"
            )


def run_storm(
    operations: int,
    kill_interval: float,
    *,
    members: int = MEMBERS,
    seed: int = SEED,
    keep_logs: bool = False,
    prepare: Callable[[Path], object] = lambda data_dir: None,
) -> StormResult:
    """Run a storm on a service of its own and return what happened."""
    with run_outside_services() as address:
        settings = SETTINGS | dict.fromkeys(PROVIDERS, address)
        with run_service_tree(settings, keep_logs=keep_logs, prepare=prepare) as tree:
            return Storm(tree, operations, kill_interval, seed).run(members)


def measure(scale: float, *, keep_logs: bool = False) -> list[Row]:
    result = run_storm(
        int(OPERATIONS * scale), KILL_INTERVAL_SECONDS, keep_logs=keep_logs
    )
    record = result.record
    texts = *record.differences, *record.server_errors, *result.failed_audits
    for text in texts:
        log_progress(text[:2_000])
    log_progress(f"operations: {dict(record.operations)}")
    log_progress(f"errors: {dict(record.codes)}")
    kills = Counter(name for name, _ in result.kills)
    answers = ", ".join(
        f"{record.statuses[code]} × {code}" for code in sorted(record.statuses)
    )
    what = f"{record.operation_count} operations of {MEMBERS} members"
    level = f"{result.seconds:.0f} s, {sum(record.statuses.values())} requests"
    slowest = max(result.kills, key=lambda kill: kill[1])
    rows = [
        Row(NAME, what, f"{level}: {answers} (0: no answer)"),
        Row(
            NAME,
            "killed",
            f"{dict(kills)}; slowest return: {slowest[0]}, {slowest[1]:.1f} s; "
            f"{record.uncertain} writes without an answer",
        ),
    ]
    for name, count in (
        ("differences to the oracle", len(record.differences)),
        ("answers of 500", len(record.server_errors)),
        ("transactions in conflict", result.conflicts),
        (f"failures of {' and '.join(AUDITS)}", len(result.failed_audits)),
    ):
        rows.append(Row(NAME, name, str(count), None, "0", count == 0))
    return rows
