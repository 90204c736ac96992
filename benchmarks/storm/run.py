"""Random writes of 16 members on the whole service while parts of it are killed.

An acknowledged write must be there at the end; an unanswered one may be.
"""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.load import in_background
from benchmarks.outside_services import run_outside_services
from benchmarks.report import Row, log_progress
from benchmarks.storm.board import Board, BoardClient, verify_board
from benchmarks.storm.connection import Connection, Record
from benchmarks.storm.ledger import LedgerClient
from benchmarks.storm.service_tree import ServiceTree, run_service_tree

NAME = "storm"
OPERATIONS, MEMBERS = 100_000, 16
KILL_INTERVAL_SECONDS = 60.0
# The share of the ledger is the rest.
BOARD_SHARE = 0.3
SEED = 20_261_122
# Logged for each deadlock and serialization failure.
CONFLICT = "transaction conflict in"
AUDITS = ("check_totals", "check_board_counters")
NO_LIMIT = "1000000"
SETTINGS = {
    "BOARD_POSTS_PER_HOUR": NO_LIMIT,
    "BOARD_COMMENTS_PER_HOUR": NO_LIMIT,
    "BOARD_VOTES_PER_HOUR": NO_LIMIT,
    "OCR_API_KEY": "",
}


@dataclass
class StormResult:
    record: Record = field(default_factory=Record)
    kills: list[tuple[str, float]] = field(default_factory=list)
    seconds: float = 0.0
    conflicts: int = 0
    failed_audits: list[str] = field(default_factory=list)


@dataclass
class Storm:
    tree: ServiceTree
    operations: int
    kill_interval: float
    seed: int
    result: StormResult = field(default_factory=StormResult)
    board: Board = field(default_factory=Board)
    has_failed: threading.Event = field(default_factory=threading.Event)

    def run(self, members: int) -> StormResult:
        tokens = self.tree.create_members(range(1, members + 1))
        record, began = self.result.record, time.monotonic()
        with in_background(*(self.make_client(*pair) for pair in tokens.items())):
            self.kill_in_turn()
        self.result.seconds = time.monotonic() - began
        reader = Connection(self.tree.port, tokens[1], record)
        verify_board(reader, self.board)
        for command in AUDITS:
            audit = self.tree.run("manage.py", command)
            if audit.returncode:
                self.result.failed_audits.append(f"{command}: {audit.stdout}")
        log = self.tree.log.read_text(errors="replace")
        self.result.conflicts = log.count(CONFLICT)
        return self.result

    def kill_in_turn(self) -> None:
        """Kill one victim after the other, each at least once."""
        kills, record = self.result.kills, self.result.record
        for name, kill in itertools.cycle(self.tree.killers.items()):
            if self.has_failed.wait(self.kill_interval):
                return
            is_done = record.operations.total() >= self.operations
            if is_done and len(kills) >= len(self.tree.killers):
                return
            seconds = kill()
            kills.append((name, seconds))
            log_progress(
                f"{record.operations.total()} operations, "
                f"{len(record.differences)} differences, "
                f"{len(record.server_errors)} × 500; "
                f"{name} back after {seconds:.1f} s"
            )

    def make_client(self, member: int, token: str) -> Callable[[threading.Event], None]:
        """Act until the kills are over, then check all."""
        connection = Connection(self.tree.port, token, self.result.record)
        chance = random.Random(f"{self.seed} {member}")
        ledger = LedgerClient(connection, chance, f"member {member}")
        board = BoardClient(connection, chance, member, self.board)

        def act(stopped: threading.Event) -> None:
            try:
                while not stopped.is_set():
                    (board if chance.random() < BOARD_SHARE else ledger).act()
                ledger.verify()
                board.check_points()
            except BaseException:
                self.has_failed.set()
                raise

        return act


def run_storm(
    operations: int,
    kill_interval: float,
    *,
    members: int = MEMBERS,
    seed: int = SEED,
    keep_logs: bool = False,
    prepare: Callable[[Path], object] = lambda data_dir: None,
) -> StormResult:
    with (
        run_outside_services() as providers,
        run_service_tree(
            SETTINGS | providers, keep_logs=keep_logs, prepare=prepare
        ) as tree,
    ):
        return Storm(tree, operations, kill_interval, seed).run(members)


def measure(scale: float, *, keep_logs: bool = False) -> list[Row]:
    operations = int(OPERATIONS * scale)
    result = run_storm(operations, KILL_INTERVAL_SECONDS, keep_logs=keep_logs)
    record = result.record
    for text in *record.differences, *record.server_errors, *result.failed_audits:
        log_progress(text[:2_000])
    log_progress(f"operations: {dict(record.operations)}")
    log_progress(f"errors: {dict(record.codes)}")
    kills = Counter(name for name, _ in result.kills)
    slowest, seconds = max(result.kills, key=lambda kill: kill[1])
    answers = ", ".join(f"{n} × {code}" for code, n in sorted(record.statuses.items()))
    what = f"{record.operations.total()} operations of {MEMBERS} members"
    level = f"{dict(kills)}; slowest return: {slowest}, {seconds:.1f} s"
    zeros = {
        "differences to the oracle": len(record.differences),
        "answers of 500": len(record.server_errors),
        "transactions in conflict": result.conflicts,
        f"failures of {' and '.join(AUDITS)}": len(result.failed_audits),
    }
    return [
        Row(NAME, what, f"{result.seconds:.0f} s, answers {answers} (0: none)"),
        Row(NAME, "killed", f"{level}; {record.uncertain} writes without an answer"),
        *(
            Row(NAME, name, str(count), None, "0", count == 0)
            for name, count in zeros.items()
        ),
    ]
