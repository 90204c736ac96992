"""Exports of a large ledger over HTTP, compared with its backup."""

from functools import partial

import psycopg

from benchmarks.client import Client, Target, time_interleaved
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.processes import measure_peak_memory
from benchmarks.report import Row, bounded, compare

NAME = "export"
FORMATS = ("csv", "json", "xlsx", "beancount", "hledger")
# More than before, for all threads of a web process together.
MAX_ADDED_MIB = 64


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    # Members of a benchmark of its own: one in ten entries has lines.
    member = 5 * environment.spec.all_members[-1]
    size = environment.spec.large_size
    environment.add_members([member], size, has_lines=True)
    paths = {name: f"/api/account/export?format={name}" for name in FORMATS}
    paths["backup"] = "/api/account/backup"
    targets = {
        name: environment.service_target(path, member) for name, path in paths.items()
    }
    calls = {name: partial(download, target) for name, target in targets.items()}
    times = time_interleaved(
        calls, environment.effort.rounds, 1, lambda _: forget_exports(environment)
    )
    named = f"{size:,} entries as {{}} : the backup"
    rows = compare(
        NAME, times, [(named.format(name), name, ["backup"], 1.5) for name in FORMATS]
    )
    return rows + [measure_memory(environment, targets[name], name) for name in FORMATS]


def download(target: Target) -> int:
    """Return the size, over a connection of its own: others close while it waits."""
    return len(Client(target)())


def measure_memory(environment: BenchmarkEnvironment, target: Target, name: str) -> Row:
    """Compare the memory of a web process while it answers with before."""
    forget_exports(environment)
    with measure_peak_memory(environment.list_workers) as before:
        Client(environment.service_target("/api/auth/session", 1))()
    with measure_peak_memory(environment.list_workers) as peak:
        download(target)
    added = peak.mebibytes - before.mebibytes
    return bounded(
        NAME,
        f"memory of a web process while it exports {name}, MiB more than before",
        f"{before.mebibytes:.0f} + {added:.0f}",
        added,
        MAX_ADDED_MIB,
    )


def forget_exports(environment: BenchmarkEnvironment) -> None:
    """Begin the hour anew, of which a member has 12 exports."""
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM rate_limit WHERE key LIKE 'ledger-export:%'")
