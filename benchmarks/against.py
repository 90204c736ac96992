"""The figures of this checkout beside another revision's.

Both run the same benchmarks, one after the other. Ratios to T and to peers of the same
run hardly depend on the load of the machine at that time.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.report import Row, log_progress
from devstack.environment import ROOT

NAME = "against"


def measure(revision: str, options: list[str]) -> list[Row]:
    folders = {"now": ROOT, "before": check_out(revision)}
    for name, folder in folders.items():
        log_progress(f"measuring {name}")
        # A missed bound exits with 1.
        subprocess.run([str(folder / "script" / "bench"), *options], cwd=folder)
    return compare(*map(read_newest, folders.values()))


def check_out(revision: str) -> Path:
    def git(*command: str, folder: Path = ROOT) -> str:
        return subprocess.run(
            ["git", *command], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()

    commit = git("rev-parse", "--verify", f"{revision}^{{commit}}")
    folder = ROOT / "var" / "bench" / commit[:12]
    if not folder.exists():
        git("clone", "--quiet", "--no-checkout", str(ROOT), str(folder))
        git("checkout", "--quiet", commit, folder=folder)
    return folder


def read_newest(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the last run in a checkout."""
    file = max((folder / "var" / "bench").glob("*.json"))
    rows: list[dict[str, Any]] = json.loads(file.read_text())["rows"]
    return rows


def compare(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[Row]:
    """Return a row for each figure of both, with the ratio of their ratios."""
    others = {(row["measurement"], row["name"]): row for row in before}
    found = []
    for row in now:
        other = others.get((row["measurement"], row["name"]))
        if other and row["ratio"] and other["ratio"]:
            name = f"{row['measurement']}, {row['name']}, now : before"
            level = f"{row['measured']} | {other['measured']}"
            found.append(Row(NAME, name, level, row["ratio"] / other["ratio"]))
    return found
