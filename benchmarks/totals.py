"""Check and repair of the rollups of 10 million entries while members write.

All totals are missing, the most that a repair has to do.
"""

import time
from collections.abc import Sequence

from benchmarks.client import Target
from benchmarks.dataset import DatasetSpec
from benchmarks.entries import ENTRY, PATH
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.load import observe
from benchmarks.report import Row, bounded, log_progress

NAME = "totals"
ENTRIES, LARGE_MEMBER_ENTRIES, ENTRIES_PER_MEMBER = 10_000_000, 400_000, 1_000
MAX_REPAIR_MINUTES, MAX_LOCK_SECONDS = 5, 1
WRITING_MEMBERS, RATE = 40, 20


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(1, 0, (0,), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    scale = environment.spec.scale
    large_size = int(LARGE_MEMBER_ENTRIES * scale)
    count = max(2, int((ENTRIES - LARGE_MEMBER_ENTRIES) * scale) // ENTRIES_PER_MEMBER)
    large = 4 * environment.spec.all_members[-1]
    typical = range(large + 1, large + 1 + count)
    log_progress("loading entries without totals")
    environment.add_members(typical, ENTRIES_PER_MEMBER, has_totals=False)
    environment.add_members([large], large_size, has_totals=False)
    entries = large_size + count * ENTRIES_PER_MEMBER
    posts = {
        name: [environment.service_target(PATH, m).sending(ENTRY) for m in members]
        for name, members in (
            ("the large member", [large]),
            ("typical members", typical[:WRITING_MEMBERS]),
        )
    }
    return [
        row
        for name, options, maximum in (
            ("repair, all totals missing", ["--repair"], MAX_REPAIR_MINUTES),
            ("check, nothing wrong", [], None),
        )
        for row in measure_check(environment, name, options, maximum, entries, posts)
    ]


def measure_check(
    environment: BenchmarkEnvironment,
    name: str,
    options: Sequence[str],
    maximum: float | None,
    entries: int,
    posts: dict[str, list[Target]],
) -> list[Row]:
    log_progress(f"{name}: {entries:,} entries")
    large, typical = posts.values()
    started = time.perf_counter()
    with observe(large, RATE) as first, observe(typical, RATE) as second:
        environment.manage("check_totals", *options)
    seconds = time.perf_counter() - started
    text = f"{name}; ratio: minutes for {ENTRIES:,} entries"
    level = f"{seconds:.0f} s for {entries:,} entries"
    minutes = seconds * ENTRIES / entries / 60
    return [
        bounded(NAME, text, level, minutes, maximum),
        *(
            bounded(
                NAME,
                f"{name}: longest write meanwhile, {writer}; ratio: seconds",
                str(observed),
                observed.longest,
                MAX_LOCK_SECONDS,
            )
            for writer, observed in zip(posts, (first, second), strict=True)
        ),
    ]
