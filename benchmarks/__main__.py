"""Run the benchmarks, print one table and save the figures as JSON."""

import argparse
import signal
import sys
import time
from contextlib import ExitStack

from benchmarks import (
    administration,
    against,
    attack,
    board,
    disk,
    entries,
    failover,
    faults,
    fuzz,
    jobs,
    lines,
    moves,
    networth,
    notifications,
    portfolio,
    resets,
    restore,
    service,
    sessions,
    statistics,
    totals,
)
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import benchmark_environment
from benchmarks.faults import Durations
from benchmarks.report import Row, log_progress, print_table, write_json
from benchmarks.servers import ROOT
from benchmarks.storm import run as storm

SPEED_BENCHMARKS = {
    module.NAME: module.measure
    for module in (
        sessions,
        entries,
        networth,
        statistics,
        portfolio,
        restore,
        notifications,
        board,
        administration,
    )
}
BENCHMARK_NAMES = (
    *SPEED_BENCHMARKS,
    service.NAME,
    disk.NAME,
    jobs.NAME,
    lines.NAME,
    moves.NAME,
    totals.NAME,
    resets.NAME,
    faults.NAME,
    failover.NAME,
    attack.NAME,
    attack.MEMORY_NAME,
    storm.NAME,
    fuzz.NAME,
)


def main() -> int:
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows: list[Row] = []
    try:
        measure(arguments, rows)
    except KeyboardInterrupt:
        log_progress("stopped")
        return 130
    finally:
        if rows:
            print_table(rows)
            path = ROOT / "var" / "bench" / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
            write_json(path, rows, vars(arguments))
            log_progress(f"figures saved to {path.relative_to(ROOT)}")
    return 1 if any(row.is_met is False for row in rows) else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one of {', '.join(BENCHMARK_NAMES)} (default: all)",
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="size of the data; 0.1 is a tenth"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of each comparison"
    )
    parser.add_argument("--keep", action="store_true", help="keep the servers' logs")
    parser.add_argument(
        "--kill-seconds", type=float, default=30, help="how long Valkey is down"
    )
    parser.add_argument(
        "--hang-seconds", type=float, default=30, help="how long Valkey hangs"
    )
    parser.add_argument(
        "--stop-seconds", type=float, default=20, help="how long PostgreSQL is down"
    )
    parser.add_argument(
        "--against",
        metavar="REVISION",
        help="only compare the throughput with that of another revision",
    )
    parser.add_argument(
        "--reference",
        metavar="REVISION",
        help="take T, the trivial GET of the ratios, from another revision",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARK_NAMES):
        parser.error(f"unknown benchmark: {', '.join(sorted(unknown))}")
    if not (0 < arguments.scale <= 10 and 0 < arguments.rounds <= 100):
        parser.error("--scale must be above 0 and at most 10, --rounds from 1 to 100")
    arguments.names = [
        name for name in BENCHMARK_NAMES if name in (arguments.names or BENCHMARK_NAMES)
    ]
    return arguments


def measure(arguments: argparse.Namespace, rows: list[Row]) -> None:
    """Run the selected benchmarks and append their results to `rows`."""
    if arguments.against:
        rows += against.measure(arguments.against, arguments.rounds)
        return
    if any(name in SPEED_BENCHMARKS for name in arguments.names):
        measure_speed(arguments, rows)
    # These need data of their own, and change settings of the stores or restart them.
    if service.NAME in arguments.names:
        rows += service.measure(arguments.rounds)
    if lines.NAME in arguments.names:
        with benchmark_environment(
            lines.make_dataset(arguments.scale), keep_logs=arguments.keep
        ) as environment:
            rows += lines.measure(environment, arguments.rounds)
    for module in (disk, jobs, moves, totals, resets):
        if module.NAME in arguments.names:
            with benchmark_environment(
                module.make_dataset(arguments.scale), keep_logs=arguments.keep
            ) as environment:
                rows += module.measure(environment)
    measure_attacks(arguments, rows)


def measure_attacks(arguments: argparse.Namespace, rows: list[Row]) -> None:
    """Run what harms the service or its stores on purpose."""
    if faults.NAME in arguments.names:
        durations = Durations(
            arguments.kill_seconds, arguments.hang_seconds, arguments.stop_seconds
        )
        with benchmark_environment(
            faults.DATASET, keep_logs=arguments.keep
        ) as environment:
            rows += faults.measure(environment, durations)
    for name, run in (
        (attack.NAME, attack.measure),
        (attack.MEMORY_NAME, attack.measure_only_memory),
    ):
        # The attacks begin with the memory.
        if name in arguments.names and not (
            name == attack.MEMORY_NAME and attack.NAME in arguments.names
        ):
            with benchmark_environment(
                attack.DATASET, keep_logs=arguments.keep
            ) as environment:
                rows += run(environment, arguments.scale)
    for test in (storm, fuzz):
        if test.NAME in arguments.names:
            rows += test.measure(arguments.scale, keep_logs=arguments.keep)
    if failover.NAME in arguments.names:
        for is_synchronous in (True, False):
            with benchmark_environment(
                failover.DATASET, keep_logs=arguments.keep
            ) as environment:
                rows += failover.measure(environment, is_synchronous=is_synchronous)


def measure_speed(arguments: argparse.Namespace, rows: list[Row]) -> None:
    """Run the speed benchmarks, which share one environment."""
    with ExitStack() as stack:
        environment = stack.enter_context(
            benchmark_environment(
                DatasetSpec.scaled(arguments.scale), keep_logs=arguments.keep
            )
        )
        if arguments.reference:
            checkout = against.check_out(arguments.reference)
            subject = stack.enter_context(
                against.run_service(arguments.reference, checkout)
            )
            environment.reference = subject.trivial_target()
            environment.trivial_name = f"T of {arguments.reference}"
        for name in arguments.names:
            if name in SPEED_BENCHMARKS:
                log_progress(f"measuring {name}")
                rows += SPEED_BENCHMARKS[name](environment, arguments.rounds)


if __name__ == "__main__":
    sys.exit(main())
