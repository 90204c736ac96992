"""Exports of a large ledger over HTTP, compared with its backup."""

import json
import resource
import sys
import tempfile
from functools import partial

import django
import psycopg

from benchmarks.client import Client, Target, time_interleaved
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.processes import measure_peak_memory, measure_tree_rss
from benchmarks.report import Row, bounded, compare

NAME = "export"
FORMATS = ("csv", "json", "xlsx", "beancount", "hledger")
# More than before the file is written.
MAX_ADDED_MIB = 64


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    # Members of a benchmark of its own: one in ten entries has lines.
    member = 5 * environment.spec.all_members[-1]
    size = environment.spec.large_size
    environment.add_members([member], size, has_lines=True)
    keep_premium(environment, member)
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
    rows += [measure_writing(environment, member, name) for name in FORMATS]
    return rows + [measure_answer(environment, targets[name], name) for name in FORMATS]


def download(target: Target) -> int:
    """Return the size, over a connection of its own: others close while it waits."""
    return len(Client(target)())


def measure_writing(environment: BenchmarkEnvironment, member: int, name: str) -> Row:
    """Measure what a process takes to write a file, without sending it."""
    output = environment.run("-m", "benchmarks.export", str(member), name)
    added, size = json.loads(output)
    level = f"{added:.0f} MiB for a file of {size:.1f} MiB"
    label = f"memory added by writing {name}, MiB"
    return bounded(NAME, label, level, added, MAX_ADDED_MIB)


def measure_answer(environment: BenchmarkEnvironment, target: Target, name: str) -> Row:
    """Measure what a web process takes to write a file and send it as a whole."""
    forget_exports(environment)
    before = max(map(measure_tree_rss, environment.list_workers()))
    with measure_peak_memory(environment.list_workers) as peak:
        size = download(target) / 2**20
    added = max(0.0, peak.mebibytes - before)
    level = f"{before:.0f} + {added:.0f} MiB for a file of {size:.1f} MiB"
    label = f"memory added to a web process that answers {name}, MiB"
    return bounded(NAME, label, level, added, MAX_ADDED_MIB)


def forget_exports(environment: BenchmarkEnvironment) -> None:
    """Delete the counter of exports: a member has 12 an hour."""
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute("DELETE FROM rate_limit WHERE key LIKE 'ledger-export:%'")


def keep_premium(environment: BenchmarkEnvironment, member: int) -> None:
    """Keep the backup open, whatever another benchmark has done to members."""
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute(
            "UPDATE member SET plan = 'PREMIUM', plan_auto_renew = true WHERE id = %s",
            [member],
        )


def main() -> None:
    """Print the MiB that an export adds to the process, and those of its file."""
    django.setup()
    from django.utils import timezone

    from accounts.models import Member
    from ledger.export.export import write_export
    from ledger.export.scope import Export, Scope

    member_id, name = int(sys.argv[1]), sys.argv[2]
    export = Export(Member.objects.get(pk=member_id), Scope(), timezone.now())
    before = read_peak_mebibytes()
    with tempfile.TemporaryFile() as file:
        write_export(name, export, file)
        print(json.dumps([read_peak_mebibytes() - before, file.tell() / 2**20]))


def read_peak_mebibytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


if __name__ == "__main__":
    main()
