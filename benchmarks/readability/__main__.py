"""Print all reports."""

import sys
from pathlib import Path

from benchmarks.readability.project import Project
from benchmarks.readability.reports import (
    report_chains,
    report_imports,
    report_lines,
    report_used_once,
    report_words,
)


def main() -> None:
    """Print the report of a checkout, by default this repository."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2]
    project = Project(root)
    report_chains(project)
    report_used_once(project)
    report_words(project)
    report_lines(project)
    report_imports(project)


if __name__ == "__main__":
    main()
