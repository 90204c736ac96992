"""Run the benchmarks, print one table and save the figures as JSON."""

import argparse
import signal
import sys
import time

from benchmarks import (
    administration,
    against,
    board,
    cards,
    disk,
    entries,
    export,
    hostile,
    imports,
    jobs,
    logins,
    moves,
    notifications,
    requests,
    restore,
    sessions,
    staff,
    sync,
    totals,
    trades,
)
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import Effort, benchmark_environment
from benchmarks.report import Row, log_progress, print_table, write_json
from benchmarks.storm import run as storm
from benchmarks.storm import service_tree as service
from devstack.environment import ROOT

# Benchmarks that share one environment.
SHARED = (
    *(sessions, entries, requests, sync, trades, restore, export, notifications),
    *(board, administration, staff),
)
# Benchmarks with data or settings of their own.
ALONE = (cards, disk, jobs, logins, moves, totals, imports, hostile)
# Benchmarks that start the whole service.
WHOLE = (service, storm)
BENCHMARKS = {module.NAME: module for module in (*SHARED, *ALONE, *WHOLE)}


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
    names = f"one of {', '.join(BENCHMARKS)} (default: all)"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="size of the data; 0.1 is a tenth"
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of each comparison"
    )
    parser.add_argument("--keep", action="store_true", help="keep the servers' logs")
    parser.add_argument(
        "--against",
        metavar="REVISION",
        help="compare the figures with another revision's",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHMARKS):
        parser.error(f"unknown benchmark: {', '.join(sorted(unknown))}")
    if not (0 < arguments.scale <= 10 and 0 < arguments.rounds <= 100):
        parser.error("--scale must be above 0 and at most 10, --rounds from 1 to 100")
    return arguments


def measure(arguments: argparse.Namespace, rows: list[Row]) -> None:
    if arguments.against:
        options = ["--scale", arguments.scale, "--rounds", arguments.rounds]
        rows += against.measure(
            arguments.against, [*arguments.names, *map(str, options)]
        )
        return
    names, scale, keep = arguments.names or BENCHMARKS, arguments.scale, arguments.keep
    groups = [(DatasetSpec.scaled(scale), [m for m in SHARED if m.NAME in names])]
    groups += [(m.make_dataset(scale), [m]) for m in ALONE if m.NAME in names]
    for spec, modules in groups:
        if not modules:
            continue
        effort = Effort(arguments.rounds)
        with benchmark_environment(spec, effort, keep_logs=keep) as environment:
            for module in modules:
                log_progress(f"measuring {module.NAME}")
                rows += module.measure(environment)
    for whole in WHOLE:
        if whole.NAME in names:
            log_progress(f"measuring {whole.NAME}")
            rows += whole.measure(scale, keep_logs=keep)


if __name__ == "__main__":
    sys.exit(main())
