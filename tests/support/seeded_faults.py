"""Seeded faults: put each into a copy of the tree and run the tests that must find it.

    python -m tests.support.seeded_faults [--only N …] [--tests PATH …]

`seeded_faults.toml` lists them. The command starts stores of its own, runs the named
tests without a fault first, and ends with 1 if a fault is not found.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from devstack.environment import ROOT

LIST = Path(__file__).with_suffix(".toml")
# A fault in a lock may let tests wait for each other without end.
TIMEOUT_SECONDS = 600
# Exit codes of pytest.
PASSED, FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Fault:
    """`new` in place of `old`, which occurs once in `file`; `tests` must find it."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]

    def files(self, root: Path) -> list[Path]:
        """Return the file, and the copy of an SQL text that a migration loads."""
        path = root / self.file
        found = [path]
        if path.suffix == ".sql":
            copies = path.parent.parent.glob(f"migrations/sql/*/{path.name}")
            found += sorted(copies)[-1:]
        return found

    def find_problem(self, root: Path) -> str | None:
        """Return why the fault cannot be seeded, None if it can."""
        for path in self.files(root):
            count = path.read_text().count(self.old) if path.exists() else 0
            if count != 1:
                return f"`old` occurs {count} times in {path.relative_to(root)}"
        for test in self.tests:
            file, _, function = test.partition("::")
            path = root / file
            if not path.exists():
                return f"no such test: {test}"
            if function and f"def {function}(" not in path.read_text():
                return f"no such test: {test}"
        return None


def load_faults() -> list[Fault]:
    """Return the list; the number of a fault is its place, from 1."""
    return [Fault(**each) for each in tomllib.loads(LIST.read_text())["fault"]]


def copy_tree(target: Path) -> None:
    """Copy what git knows or would add, and link the virtual environment."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source = ROOT / name
        if source.is_file() and not source.is_symlink():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    (target / ".venv").symlink_to(ROOT / ".venv")


def run_tests(
    root: Path, tests: list[str], *, expected: int, create_database: bool
) -> int | None:
    """Run tests until one fails; return pytest's exit code, None after the timeout.

    The output is shown unless they end as expected, or pass.
    """
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "--reuse-db"),
            *(["--create-db"] if create_database else []),
            *tests,
        ],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    if process.returncode not in {expected, PASSED}:
        sys.stdout.write(output)
    return process.returncode


def seed(root: Path, fault: Fault, tests: list[str]) -> str:
    """Return what came of the fault: `found`, `NOT FOUND` or an error."""
    originals = {path: path.read_text() for path in fault.files(root)}
    for path, text in originals.items():
        path.write_text(text.replace(fault.old, fault.new))
    try:
        # Migrations load the SQL: a database of before does not have the fault.
        is_sql = fault.file.endswith(".sql")
        code = run_tests(root, tests, expected=FAILED, create_database=is_sql)
    finally:
        for path, text in originals.items():
            path.write_text(text)
    if code is None:
        return "found: the tests did not end"
    return {PASSED: "NOT FOUND", FAILED: "found"}.get(
        code, f"ERROR: pytest ended {code}"
    )


def check(numbers: list[int], tests: list[str], root: Path) -> int:
    """Seed the faults one by one in the copy at `root`; return the exit code."""
    faults = load_faults()
    chosen = [(n, faults[n - 1]) for n in numbers or range(1, len(faults) + 1)]
    problems = [
        f"{number:3} {fault.name}: {problem}"
        for number, fault in chosen
        if (problem := fault.find_problem(root))
    ]
    if problems:
        print(*problems, sep="\n")
        return 1
    # SQL last: after it the database is created anew each time.
    chosen.sort(key=lambda each: each[1].file.endswith(".sql"))
    named = tests or list(dict.fromkeys(t for _, fault in chosen for t in fault.tests))
    if run_tests(root, named, expected=PASSED, create_database=True) != PASSED:
        print("The tests fail without a fault:", *named)
        return 1
    missed = 0
    for number, fault in chosen:
        started_at = time.monotonic()
        result = seed(root, fault, tests or fault.tests)
        missed += not result.startswith("found")
        seconds = time.monotonic() - started_at
        print(f"{number:3} {result:9} {seconds:4.0f} s  {fault.name}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return int(missed > 0)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.seeded_faults")
    parser.add_argument("--only", type=int, nargs="+", default=[], metavar="N")
    parser.add_argument("--tests", nargs="+", default=[], metavar="PATH")
    parser.add_argument("--in", dest="root", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.root:
        return check(arguments.only, arguments.tests, arguments.root)
    with tempfile.TemporaryDirectory(prefix="seeded-faults-") as folder:
        # Accounts without rights of root run the stores.
        Path(folder).chmod(0o755)
        copy_tree(Path(folder))
        return subprocess.run(
            [
                *(sys.executable, "-m", "devstack.environment", "--ephemeral"),
                *(sys.executable, "-m", "tests.support.seeded_faults"),
                *(*sys.argv[1:], "--in", folder),
            ],
            cwd=ROOT,
            check=False,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
